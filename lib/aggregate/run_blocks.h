#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/aggregate/simulate.h"

/// \file
/// Passes that have no duration of their own: whose blocks wait for parameters,
/// or run beside the data stream, which slows them. They run block by block.

namespace lmsimbench::aggregate {

/// Runs pass `at` of a rank class from `start`. Appends its blocks to the
/// class's segments, of which there are `segment_count` before, and returns how
/// many there are then. What it reduces is issued to the class's data stream.
size_t RunBlocks(const CostedGraph& costed, const Folds& folds,
                 int64_t rank_class, size_t at, double start,
                 size_t segment_count, ClassTimes& mine);

}  // namespace lmsimbench::aggregate
