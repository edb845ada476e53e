#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lmsimbench/values.h"

/// \file
/// Robust, bounded least squares with priors: few constants, many residuals,
/// none of which has to have a derivative.

namespace lmsimbench::calibrate {

/// A constant that is fitted. It has a meaning, a unit and a range in which it
/// is plausible; the fit never leaves the range.
struct Constant {
  std::string name;
  double initial = 0;
  double lowest = 0;
  double highest = 0;
  /// How far from `initial` the constant is expected to be: one standard
  /// deviation, of its logarithm where `lowest` is above 0. 0: no expectation.
  double spread = 0;
  /// Where the search starts; missing: at `initial`. What a constant does may
  /// be hidden there by another one, so that the search does not see it.
  double start = kNoNumber;
};

struct LeastSquaresOptions {
  /// Residuals up to here count by their square, larger ones in proportion
  /// (the loss of Huber, smoothed): a few rows that nothing explains must not
  /// decide.
  double scale = 0.1;
  int most_iterations = 60;
  /// Ends where a step lowers the loss by less than this share of it.
  double tolerance = 1e-9;
};

/// What a constant was found to be.
struct FittedConstant {
  double value = 0;
  /// One standard error, in the unit of the constant; NaN where the residuals
  /// do not depend on it.
  double error = 0;
  /// It ended at an end of its range: the range, not the data, decided.
  bool at_bound = false;
};

struct LeastSquaresFit {
  std::vector<FittedConstant> constants;
  /// Loss where the search started, and with what it found.
  double initial_loss = 0;
  double loss = 0;
  int iterations = 0;
  /// False: the most iterations were not enough.
  bool converged = false;
};

/// Writes every residual of these constants. An error ends the fit.
using Residuals = absl::FunctionRef<absl::Status(
    absl::Span<const double> constants, absl::Span<double> residuals)>;

/// Minimises, over the constants within their ranges,
///
///   sum_i rho(r_i) + 1/2 sum_j ((u_j - initial_j) / spread_j)^2 scale^2,
///   rho(r) = scale^2 (sqrt(1 + (r / scale)^2) - 1)
///
/// by steps of Levenberg and Marquardt with derivatives by differences; u is
/// the logarithm of a constant whose range is above 0, else the constant.
/// `count` is the number of residuals. INVALID_ARGUMENT for a range that is
/// empty or does not hold the initial value and the start; INTERNAL for
/// residuals that are not finite.
absl::StatusOr<LeastSquaresFit> FitLeastSquares(
    absl::Span<const Constant> constants, size_t count, Residuals residuals,
    const LeastSquaresOptions& options = {});

}  // namespace lmsimbench::calibrate
