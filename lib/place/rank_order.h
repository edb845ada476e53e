#pragma once

#include <string>

#include "absl/status/status.h"
#include "lmsimbench/placement.h"

namespace lmsimbench::place {

/// Sets the strides of a placement, whose sizes stand, by the rank order: the
/// parallelisms from the fastest to the slowest varying rank, joined by '-'.
/// Empty: the default order. Experts have ranks of the other parallelisms, so
/// `ep` takes none of its own. INVALID_ARGUMENT unless each of tp, cp, ep, dp,
/// pp is named once.
absl::Status SetStrides(const std::string& rank_order, Placement& placement);

}  // namespace lmsimbench::place
