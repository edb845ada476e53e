#pragma once

#include "absl/status/status.h"
#include "lib/compile/sizes.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/program.h"

namespace lmsimbench::compile {

/// Adds operators, blocks and chunks: `program.chunk_layers` says how many
/// layers each chunk along the network has.
void AddChunks(const Sizes& sizes, const ParallelConfig& config,
               Program& program);

/// Adds what each pipeline rank holds and does once an iteration.
void AddStages(const Sizes& sizes, const ParallelConfig& config,
               Program& program);

}  // namespace lmsimbench::compile
