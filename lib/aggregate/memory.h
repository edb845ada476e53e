#pragma once

#include <cstdint>

#include "lib/aggregate/simulate.h"
#include "lmsimbench/prediction.h"

namespace lmsimbench::aggregate {

/// The peak of a rank class.
struct ClassMemory {
  int64_t peak_bytes = 0;
  double peak_time = 0;
  MemoryParts parts;
};

/// The peak, and the pass of the class's schedule that has it; behind the last
/// one where none takes memory. What a steady state leaves out need not be gone
/// through.
struct ClassPeak {
  int64_t bytes = 0;
  size_t pass = 0;
};
ClassPeak PeakOfClass(const CostedGraph& costed, const Folds& folds,
                      const SteadyState& steady, int64_t rank_class);

ClassMemory MeasureMemory(const CostedGraph& costed, const Folds& folds,
                          const IterationTimes& times, int64_t rank_class);

}  // namespace lmsimbench::aggregate
