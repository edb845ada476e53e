#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "lib/profile/bundle_data.h"

namespace lmsimbench {

/// Bytes of the bundle with these tables. The same tables give the same bytes.
/// INVALID_ARGUMENT if they exceed the 2 GiB of one file.
absl::StatusOr<std::string> WriteBundle(const BundleData& data);

}  // namespace lmsimbench
