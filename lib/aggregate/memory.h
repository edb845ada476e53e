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

ClassMemory MeasureMemory(const CostedGraph& costed, const Folds& folds,
                          const IterationTimes& times, int64_t rank_class);

}  // namespace lmsimbench::aggregate
