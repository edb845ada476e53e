#pragma once

#include "absl/strings/string_view.h"

namespace lmsimbench {

/// True if the bytes are well-formed UTF-8 (no overlong forms, no surrogates).
bool IsUtf8(absl::string_view bytes);

}  // namespace lmsimbench
