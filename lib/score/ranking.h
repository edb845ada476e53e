#pragma once

#include "absl/types/span.h"
#include "lmsimbench/values.h"

namespace lmsimbench::score {

/// Why a figure of a setting is not defined.
enum class Undefined : uint8_t {
  kNo,  ///< it is defined
  kNotAnswered,
  kTooFew,      ///< fewer configurations than it needs
  kAllTied,     ///< every measured pair is within the noise
  kNoSpread,    ///< all predicted alike, or no regret to lose
  kNoRunnable,  ///< what was tried holds no configuration that ran
};

/// How well a setting's configurations are ordered (section B).
struct Ranking {
  double tau_b = kNoNumber;
  double spearman = kNoNumber;
  double weighted_pair_accuracy = kNoNumber;
  /// Of the weighted pair accuracy, and of the two correlations, which need a
  /// spread of the predictions too.
  Undefined pairs_undefined = Undefined::kNo;
  Undefined correlation_undefined = Undefined::kNo;
};

/// Fewest configurations for which an order says anything.
inline constexpr size_t kRankingMinimum = 3;

/// Ranks configurations by predicted `p` against measured `y`. A measured pair
/// is a tie where |ln(y_i / y_j)| < `tie`. Visits every pair: O(n^2).
Ranking RankingOf(absl::Span<const double> y, absl::Span<const double> p,
                  double tie);

}  // namespace lmsimbench::score
