#pragma once

#include <cstdint>
#include <string>

#include "lmsimbench/execution_graph.h"

namespace lmsimbench::lower {

/// The units of a graph as a table; nothing where it has none.
std::string UnitsText(const ExecutionGraph& graph);

/// How many of them a pipeline rank gathers; nothing where there are none.
std::string UnitsOfRankText(const ExecutionGraph& graph, int64_t rank);

}  // namespace lmsimbench::lower
