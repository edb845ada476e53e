#pragma once

#include <cstddef>
#include <vector>

#include "absl/types/span.h"

/// \file
/// Means, quantiles and ranks. What is undefined, as the mean of nothing, is
/// NaN.

namespace lmsimbench::score {

double Mean(absl::Span<const double> values);

/// The q-quantile, 0 <= q <= 1, interpolated linearly at (n - 1) q. Takes the
/// values by value, to sort them.
double Quantile(std::vector<double> values, double q);

/// The middle value, or the mean of the middle two.
double Median(std::vector<double> values);

/// Ranks from 1 on, ascending; equal values share the mean of their ranks.
std::vector<double> AverageRanks(absl::Span<const double> values);

/// Pearson's correlation; NaN if one side does not vary.
double Correlation(absl::Span<const double> x, absl::Span<const double> y);

}  // namespace lmsimbench::score
