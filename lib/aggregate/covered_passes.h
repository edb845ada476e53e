#pragma once

#include <cstdint>
#include <vector>

#include "lib/aggregate/fold.h"

/// \file
/// Chains in which computation of one micro-batch covers what the experts of
/// another communicate (`Overlaps::experts`). A pass in such a chain has the
/// same operators as any other, and shorter collectives: it is folded as a
/// variant of its own.

namespace lmsimbench::aggregate {

/// Appends the variants that chains add to those that spans make, and says for
/// every pass of every class which it has. Nothing where chains cover nothing.
void FindCoveredPasses(const CostedGraph& costed, Folds& folds);

}  // namespace lmsimbench::aggregate
