#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "lmsimbench/program.h"

namespace lmsimbench::lower {

/// OK if every index and range of the program is sound and its chunks divide by
/// `pp` ranks: a program may come from a user. INVALID_ARGUMENT names what is
/// not. Takes time in proportion to the blocks, not to their repetitions.
absl::Status CheckProgram(const Program& program, int64_t pp);

}  // namespace lmsimbench::lower
