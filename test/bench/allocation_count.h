#pragma once

#include <cstdint>

namespace lmsimbench {

/// Allocations by `operator new` since the program began, by all threads. A
/// program that links allocation_count.cc has its `operator new` replaced by
/// one that counts.
int64_t AllocationCount();

}  // namespace lmsimbench
