#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "lib/simulators/vtrain/error.h"
#include "lib/simulators/vtrain/kernel_table.h"

namespace lmsimbench::vtrain {

/// Reads a kernel trace (one activity record a line, sorted by start) into the
/// kernels of every named region, in the order in which the names appear.
/// KeyError for a kernel that no earlier record launched, ValueError for a
/// line that cannot be read; both name file and line.
Error ReadTrace(absl::string_view file, absl::string_view text,
                std::vector<NamedKernels>& profile);

}  // namespace lmsimbench::vtrain
