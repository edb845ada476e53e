#pragma once

#include "absl/status/status.h"
#include "lib/profile/bundle_data.h"

namespace lmsimbench {

/// Checks what the tables say of each other: identifiers of rows are unique,
/// every source is known and has an SPDX licence, every platform is known (if
/// there is a table of platforms), and every link leads to rows that exist.
/// INVALID_ARGUMENT names file, line, column and what is wrong.
absl::Status CheckReferences(const BundleData& data);

}  // namespace lmsimbench
