#pragma once

#include <cstdint>

#include "lib/aggregate/simulate.h"

/// \file
/// What a rank class does with its time.

namespace lmsimbench::aggregate {

struct ClassAccount {
  double compute = 0;
  /// Communication beside which nothing computes, by the stream that is held
  /// responsible: tensor before pipeline before data.
  double exposed_tensor = 0;
  double exposed_pipeline = 0;
  double exposed_data = 0;
  /// Computation beside which something is communicated.
  double overlapped = 0;
  double bubble = 0;
  double idle = 0;
  /// Computation that runs for the second time.
  double recomputed = 0;
  /// Of `compute`, contention and waiting for the host.
  double delay = 0;

  double exposed() const {
    return exposed_tensor + exposed_pipeline + exposed_data;
  }
};

ClassAccount AccountClass(const CostedGraph& costed, const Folds& folds,
                          const IterationTimes& times, int64_t rank_class);

}  // namespace lmsimbench::aggregate
