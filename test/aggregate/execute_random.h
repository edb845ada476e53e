#pragma once

#include <cstdint>

#include "lmsimbench/costed_graph.h"

namespace lmsimbench::hand_made {

/// A graph of a few ranks, chunks, blocks and steps whose every part is drawn
/// at random from the seed: costs (many are 0 or equal), joins, memory,
/// buckets, gathers, overlaps, kinds of pipeline, what follows the last pass.
/// Its schedule is GPipe or 1F1B. Collectives may be open when a block ends.
CostedGraph RandomGraph(uint32_t seed);

}  // namespace lmsimbench::hand_made
