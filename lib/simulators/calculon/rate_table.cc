#include "lib/simulators/calculon/rate_table.h"

#include <limits>

namespace lmsimbench::calculon {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUncovered = std::numeric_limits<double>::quiet_NaN();

bool IsEfficiency(double value) { return 0 < value && value <= 1; }

}  // namespace

RateTable::RateTable(double peak, double unit,
                     absl::Span<const EfficiencyStep> steps)
    : peak_(peak) {
  first_thresholds_.fill(-kInfinity);
  first_rates_.fill(kUncovered);
  std::size_t count = 0;
  double lowest = kInfinity;
  for (const EfficiencyStep& step : steps) {
    const double threshold = step.threshold * unit;
    const double rate = peak * step.efficiency;
    if (!(threshold < lowest)) continue;
    lowest = threshold;
    if (count < kFirst) {
      first_thresholds_[count] = threshold;
      first_rates_[count] = rate;
      ++count;
    } else {
      rest_.push_back({threshold, rate});
    }
  }
}

double RateTable::RateOfRest(double amount) const {
  for (const Step& step : rest_) {
    if (amount >= step.threshold) return step.rate;
  }
  return kUncovered;
}

ErrorCode MakeEngineTable(double tflops, absl::Span<const EfficiencyStep> steps,
                          RateTable& table) {
  double last =
      0;  // A first entry and one behind a threshold of 0 are not compared.
  for (const EfficiencyStep& step : steps) {
    const double threshold = step.threshold * 1e9;
    if (!IsEfficiency(step.efficiency)) return ErrorCode::kProcEffRange;
    if (last != 0 && !(threshold < last)) return ErrorCode::kProcEffOrder;
    last = threshold;
  }
  table = RateTable(tflops * 1e12, 1e9, steps);
  return ErrorCode::kNone;
}

ErrorCode MakeMemoryTable(double gigabytes_per_s,
                          absl::Span<const EfficiencyStep> steps,
                          RateTable& table) {
  for (const EfficiencyStep& step : steps) {
    if (!IsEfficiency(step.efficiency)) return ErrorCode::kMemEffRange;
  }
  table = RateTable(gigabytes_per_s * 1e9, 1e6, steps);
  return ErrorCode::kNone;
}

}  // namespace lmsimbench::calculon
