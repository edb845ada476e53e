#pragma once

#include <string>

#include "absl/status/status.h"
#include "lmsimbench/placement.h"

namespace lmsimbench::place {

/// True if experts are divided as all other layers are: their groups are those
/// of tensor and data parallelism, whatever the order.
inline bool HasDenseExperts(const Placement& placement) {
  return placement.ep == 1 && placement.etp == placement.tp;
}

/// Sets the strides of a placement, whose sizes stand, by the rank order: the
/// parallelisms from the fastest to the slowest varying rank, joined by '-'.
/// Empty: the default order. Experts have ranks of the other parallelisms, so
/// `ep` takes none of its own: they divide the ranks of each stage anew, in the
/// same order, into `etp` (at the place of tp), `ep` and `expert_dp` (of dp),
/// as Megatron-LM's parallel folding does. INVALID_ARGUMENT unless each of tp,
/// cp, ep, dp, pp is named once, or if the stages of the two divisions differ.
absl::Status SetStrides(const std::string& rank_order, Placement& placement);

}  // namespace lmsimbench::place
