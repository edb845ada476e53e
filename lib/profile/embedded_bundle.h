#pragma once

#include <cstdint>

#include "absl/types/span.h"

namespace lmsimbench {

/// Bytes of the bundle built into the library, at a multiple of 16.
absl::Span<const uint8_t> EmbeddedBundleBytes();

}  // namespace lmsimbench
