#include "lib/score/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lmsimbench/values.h"

namespace lmsimbench::score {

double Mean(absl::Span<const double> values) {
  if (values.empty()) return kNoNumber;
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

double Quantile(std::vector<double> values, double q) {
  if (values.empty()) return kNoNumber;
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(position);
  std::nth_element(values.begin(), values.begin() + below, values.end());
  const double low = values[below];
  const double part = position - static_cast<double>(below);
  if (part == 0) return low;
  const double high =
      *std::min_element(values.begin() + below + 1, values.end());
  return low + part * (high - low);
}

double Median(std::vector<double> values) {
  return Quantile(std::move(values), 0.5);
}

std::vector<double> AverageRanks(absl::Span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) {
      ++end;
    }
    // Ranks begin + 1 to end, shared.
    const double rank = static_cast<double>(begin + 1 + end) / 2;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = rank;
    begin = end;
  }
  return ranks;
}

double Correlation(absl::Span<const double> x, absl::Span<const double> y) {
  const double mean_x = Mean(x);
  const double mean_y = Mean(y);
  double xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : kNoNumber;
}

}  // namespace lmsimbench::score
