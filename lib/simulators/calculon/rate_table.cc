#include "lib/simulators/calculon/rate_table.h"

namespace lmsimbench::calculon {
namespace {

bool IsEfficiency(double value) { return 0 < value && value <= 1; }

}  // namespace

RateTable::RateTable(double peak, double unit,
                     absl::Span<const EfficiencyStep> steps)
    : peak_(peak) {
  rates_.clear();
  for (const EfficiencyStep& step : steps) {
    const double threshold = step.threshold * unit;
    if (!thresholds_.empty() && !(threshold < thresholds_.back())) continue;
    thresholds_.push_back(threshold);
    rates_.push_back(peak * step.efficiency);
  }
  rates_.push_back(kUncovered);
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
