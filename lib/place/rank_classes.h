#pragma once

#include "lmsimbench/placement.h"

namespace lmsimbench::place {

/// Finds the spans of all groups, and from them the rank classes and the kinds
/// of pipelines of a placement whose system, sizes and strides stand. Takes
/// steps in the number of tensor-parallel groups until their positions on the
/// devices repeat, not in the number of ranks.
void SetRankClasses(Placement& placement);

}  // namespace lmsimbench::place
