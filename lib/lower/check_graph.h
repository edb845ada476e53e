#pragma once

#include "absl/status/status.h"
#include "lmsimbench/execution_graph.h"

namespace lmsimbench::lower {

/// OK if every pass and every chunk of the graph is there and the two ends of
/// each link agree on what goes over it, and in which order: schedules may come
/// from a user. INVALID_ARGUMENT names what is not so. Takes time in proportion
/// to the passes.
absl::Status CheckGraph(const ExecutionGraph& graph);

}  // namespace lmsimbench::lower
