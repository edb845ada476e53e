#pragma once

#include "lib/lower/buckets.h"
#include "lmsimbench/execution_graph.h"

namespace lmsimbench::lower {

/// Makes a unit of every block of the program, where more than one rank shares
/// its parameters, and adds the collectives that they need to the graph. Its
/// chunks and schedules have to be there.
void AddUnits(const BucketPlan& plan, ExecutionGraph& graph);

}  // namespace lmsimbench::lower
