#pragma once

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "lib/simulators/calculon/error.h"

namespace lmsimbench::calculon {

/// One line of an efficiency table: from `threshold` upwards the peak is
/// reached to `efficiency`.
struct EfficiencyStep {
  double threshold = 0;   ///< gflops of an engine's table, MB of a memory's
  double efficiency = 0;  ///< above 0, at most 1
};

/// How fast an engine computes or a memory moves, as a step function of the
/// amount asked for.
///
/// An amount gets the efficiency of the first step whose threshold it reaches;
/// the steps may stand in any order. A step behind one with a lower or equal
/// threshold can never be first, so only the descending steps are kept, and the
/// step of an amount is the number of thresholds that it misses.
class RateTable {
 public:
  RateTable() = default;

  /// `peak` per second; the thresholds of `steps` are multiplied by `unit`.
  RateTable(double peak, double unit, absl::Span<const EfficiencyStep> steps);

  /// Units per second without loss.
  double Peak() const { return peak_; }

  /// Units per second for `amount`; NaN where no step reaches down to it.
  double Rate(double amount) const {
    std::size_t step = 0;
    for (const double threshold : thresholds_) {
      step += static_cast<std::size_t>(amount < threshold);
    }
    return rates_[step];
  }

 private:
  double peak_ = 0;
  std::vector<double> thresholds_;  // descending
  std::vector<double> rates_ = std::vector<double>(1, kUncovered);

  static constexpr double kUncovered = __builtin_nan("");
};

/// The table of an engine: tflops and steps in gflops. PROC_EFF_RANGE,
/// PROC_EFF_ORDER.
ErrorCode MakeEngineTable(double tflops, absl::Span<const EfficiencyStep> steps,
                          RateTable& table);

/// The table of a memory: GB/s and steps in MB. MEM_EFF_RANGE; the order is
/// free.
ErrorCode MakeMemoryTable(double gigabytes_per_s,
                          absl::Span<const EfficiencyStep> steps,
                          RateTable& table);

}  // namespace lmsimbench::calculon
