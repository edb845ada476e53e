#pragma once

#include <string>

#include "absl/status/status.h"

namespace lmsimbench {

/// OK if the text is an SPDX licence expression: identifiers of the SPDX
/// licence list or `LicenseRef-…`, joined by AND, OR and WITH, with
/// parentheses. INVALID_ARGUMENT names the part that is not, with the nearest
/// known identifier.
absl::Status CheckLicence(const std::string& expression);

}  // namespace lmsimbench
