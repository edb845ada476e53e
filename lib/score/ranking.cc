#include "lib/score/ranking.h"

#include <cmath>
#include <vector>

#include "lib/score/statistics.h"

namespace lmsimbench::score {

Ranking RankingOf(absl::Span<const double> y, absl::Span<const double> p,
                  double tie) {
  Ranking ranking;
  const size_t n = y.size();
  if (n < kRankingMinimum) {
    ranking.pairs_undefined = ranking.correlation_undefined =
        n == 0 ? Undefined::kNotAnswered : Undefined::kTooFew;
    return ranking;
  }
  std::vector<double> log_y(n);
  for (size_t i = 0; i < n; ++i) log_y[i] = std::log(y[i]);

  double concordant = 0, discordant = 0, tied_y = 0, tied_p = 0;
  double weight = 0, weight_right = 0;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) {
      const double distance = log_y[i] - log_y[j];
      const bool is_tied_y = std::abs(distance) < tie;
      const bool is_tied_p = p[i] == p[j];
      tied_y += is_tied_y;
      tied_p += is_tied_p;
      if (is_tied_y) continue;
      const bool right = (distance > 0) == (p[i] > p[j]);
      weight += std::abs(distance);
      if (is_tied_p) {
        weight_right += std::abs(distance) / 2;
      } else if (right) {
        concordant += 1;
        weight_right += std::abs(distance);
      } else {
        discordant += 1;
      }
    }
  }
  const double pairs = static_cast<double>(n) * static_cast<double>(n - 1) / 2;
  if (tied_y == pairs) {
    ranking.pairs_undefined = ranking.correlation_undefined =
        Undefined::kAllTied;
    return ranking;
  }
  ranking.weighted_pair_accuracy = weight_right / weight;
  if (tied_p == pairs) {
    ranking.correlation_undefined = Undefined::kNoSpread;
    return ranking;
  }
  ranking.tau_b = (concordant - discordant) /
                  std::sqrt((pairs - tied_y) * (pairs - tied_p));
  ranking.spearman = Correlation(AverageRanks(y), AverageRanks(p));
  return ranking;
}

}  // namespace lmsimbench::score
