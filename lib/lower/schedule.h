#pragma once

#include <cstdint>

#include "lmsimbench/execution_graph.h"
#include "lmsimbench/layout.h"
#include "lmsimbench/parallel_config.h"

namespace lmsimbench::lower {

/// What decides the order of the passes.
struct ScheduleShape {
  Schedule schedule = Schedule::k1F1B;
  int64_t pp = 1;
  int64_t chunks = 1;  ///< of a rank
  int64_t micro_batches = 1;
  /// Micro-batches that a rank runs through a chunk before it turns to the
  /// next one.
  int64_t group = 1;
  /// Communication of experts in a pass runs beside the computation of another
  /// micro-batch (`Overlaps::experts`).
  bool overlaps_experts = false;
};

/// Passes of a pipeline rank.
inline int64_t CountPasses(const ScheduleShape& shape) {
  return shape.micro_batches * shape.chunks *
         (SplitsBackward(shape.schedule) ? 3 : 2);
}

/// Writes the passes of a pipeline rank, as many as `CountPasses` at most, and
/// returns what is behind them.
Pass* WriteSchedule(const ScheduleShape& shape, int64_t pipeline_rank,
                    Pass* passes);

/// The same for schedules with weight passes.
Pass* WriteSplitSchedule(const ScheduleShape& shape, int64_t pipeline_rank,
                         Pass* passes);

}  // namespace lmsimbench::lower
