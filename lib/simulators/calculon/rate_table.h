#pragma once

#include <array>
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
  RateTable() : RateTable(0, 1, {}) {}

  /// `peak` per second; the thresholds of `steps` are multiplied by `unit`.
  RateTable(double peak, double unit, absl::Span<const EfficiencyStep> steps);

  /// Units per second without loss.
  double Peak() const { return peak_; }

  /// Units per second for `amount`; NaN where no step reaches down to it.
  double Rate(double amount) const {
    const auto missed = [this, amount](std::size_t i) {
      return static_cast<std::size_t>(amount < first_thresholds_[i]);
    };
    static_assert(kFirst == 4);
    const std::size_t step = missed(0) + missed(1) + missed(2) + missed(3);
    return step < kFirst ? first_rates_[step] : RateOfRest(amount);
  }

 private:
  double RateOfRest(double amount) const;

  // The first steps, compared without a branch. Where there are fewer, the
  // others are reached by every amount and rate it NaN.
  static constexpr std::size_t kFirst = 4;
  std::array<double, kFirst> first_thresholds_;
  std::array<double, kFirst> first_rates_;
  double peak_ = 0;
  struct Step {
    double threshold;
    double rate;
  };
  std::vector<Step> rest_;
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
