#pragma once

#include <string>

#include "fmt/format.h"
#include "lmsimbench/execution_graph.h"

namespace lmsimbench::lower {

/// A pass in short: "F3.1" is the forward pass of micro-batch 3 through chunk 1
/// of its rank, "B3.1" the backward pass.
inline std::string PassNotation(const Pass& pass) {
  return fmt::format("{}{}.{}",
                     pass.direction == Direction::kForward ? 'F' : 'B',
                     pass.micro_batch, pass.chunk);
}

}  // namespace lmsimbench::lower
