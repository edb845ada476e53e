#pragma once

#include <string>

#include "lmsimbench/operator.h"

namespace lmsimbench {

/// The shape of an operator in one phrase: "4096 x 12288 x 4096" of a matrix
/// multiplication, "4096 x 1024" of elementwise work, queries, keys and heads
/// of attention.
std::string ShapeText(const Operator& op);

}  // namespace lmsimbench
