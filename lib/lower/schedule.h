#pragma once

#include <cstdint>
#include <vector>

#include "lmsimbench/execution_graph.h"
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
};

/// Appends the passes of a pipeline rank.
void AppendSchedule(const ScheduleShape& shape, int64_t pipeline_rank,
                    std::vector<Pass>& passes);

/// The same for schedules with weight passes.
void AppendSplitSchedule(const ScheduleShape& shape, int64_t pipeline_rank,
                         std::vector<Pass>& passes);

}  // namespace lmsimbench::lower
