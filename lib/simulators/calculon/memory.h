#pragma once

#include "lib/simulators/calculon/block_sums.h"

namespace lmsimbench::calculon {

/// Bytes by what they hold.
struct Spaces {
  double weight = 0;
  double activation = 0;
  double checkpoint = 0;  ///< NaN where the original gives no value
  double weight_grad = 0;
  double activation_grad = 0;
  double optimizer = 0;
};

/// Memory of one processor.
struct MemoryUse {
  Spaces all;       ///< everything, wherever it is
  Spaces resident;  ///< least that stays in the first tier while offloading
  double tier1 = 0;
  double tier2 = 0;
};

/// Sections "memory per processor" and "capacity checks" of the model, without
/// the comparison.
MemoryUse UseMemory(const Execution& execution, const Geometry& geometry,
                    const BlockSums& sums);

}  // namespace lmsimbench::calculon
