#include "lib/calibrate/usable_memory.h"

#include <algorithm>
#include <cstddef>

#include "lmsimbench/values.h"

namespace lmsimbench::calibrate {
namespace {

constexpr size_t kEnough = 20;
constexpr double kMostRefused = 0.03;

// Share of the sorted values above a limit.
double Above(const std::vector<double>& sorted, double limit) {
  const auto first = std::upper_bound(sorted.begin(), sorted.end(), limit);
  return static_cast<double>(sorted.end() - first) /
         static_cast<double>(sorted.size());
}

}  // namespace

double UsableMemory(std::vector<double> ran, std::vector<double> failed) {
  if (ran.size() < kEnough || failed.size() < kEnough) return kNoNumber;
  std::sort(ran.begin(), ran.end());
  std::sort(failed.begin(), failed.end());
  double best = 1;
  double best_accuracy = -1;
  for (int thousandths = 1000; thousandths >= 700; thousandths -= 5) {
    const double share = thousandths / 1e3;
    const double refused = Above(ran, share);
    const double accuracy = (1 - refused + Above(failed, share)) / 2;
    if (refused > kMostRefused || accuracy <= best_accuracy) continue;
    best = share;
    best_accuracy = accuracy;
  }
  return best;
}

}  // namespace lmsimbench::calibrate
