#pragma once

#include <cstddef>
#include <string>

#include "fmt/format.h"
#include "lmsimbench/execution_graph.h"

namespace lmsimbench::lower {

/// A pass in short: "F3.1" is the forward pass of micro-batch 3 through chunk 1
/// of its rank, "B3.1" the backward pass, "W3.1" the weight pass.
inline std::string PassNotation(const Pass& pass) {
  return fmt::format("{}{}.{}", "FBW"[static_cast<size_t>(pass.direction)],
                     pass.micro_batch, pass.chunk);
}

}  // namespace lmsimbench::lower
