#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace lmsimbench {

/// Whole contents of a file. NOT_FOUND if there is none; another status names
/// the file and what the system says.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

/// Writes the file beside its place and renames it, so that the place holds
/// either the old contents or the new ones. On failure nothing is left behind.
absl::Status WriteWholeFile(const std::string& path, absl::string_view bytes);

}  // namespace lmsimbench
