#pragma once

#include <string>

#include "absl/types/span.h"
#include "lmsimbench/operator.h"

namespace lmsimbench {

/// The shape of an operator in one phrase: "4096 x 12288 x 4096" of a matrix
/// multiplication, "4096 x 1024" of elementwise work, queries, keys and heads
/// of attention.
std::string ShapeText(const Operator& op);

/// A table of collectives with a head, one a line, numbered c0, c1….
std::string CollectivesText(absl::Span<const Collective> collectives);

}  // namespace lmsimbench
