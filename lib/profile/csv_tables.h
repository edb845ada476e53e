#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "lib/profile/bundle_data.h"

namespace lmsimbench {

/// Reads every `<table>.csv` of a folder. Columns may come in any order and
/// those that are not required may be absent. NOT_FOUND if there is no such
/// folder or it holds no table; INVALID_ARGUMENT, with file, line, column and
/// reason, for the first cell that its column does not allow, for a column or a
/// CSV file of an unknown name (with the nearest known one) and for a required
/// column that is missing.
absl::StatusOr<BundleData> ReadCsvTables(const std::string& folder);

}  // namespace lmsimbench
