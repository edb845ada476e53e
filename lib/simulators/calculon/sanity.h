#pragma once

#include "lib/simulators/calculon/block_sums.h"
#include "lib/simulators/calculon/statistics.h"

namespace lmsimbench::calculon {

/// Whether the original can put every number of the block into its text of at
/// most six prefixes: no layer does 1e21 operations or more, and no size
/// reaches 2^70.
bool CanBePrinted(const Block& block, const BlockSums& sums);

/// What the original asserts of its own results at the end.
bool IsSane(const Execution& execution, const Geometry& geometry,
            const BlockSums& sums, const Statistics& statistics);

}  // namespace lmsimbench::calculon
