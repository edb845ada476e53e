#include "lib/profile/bundle_format.h"
#include "lib/profile/bundle_references.h"
#include "lib/profile/bundle_writer.h"
#include "lib/profile/csv_tables.h"
#include "lib/profile/files.h"
#include "lmsimbench/bundle.h"

namespace lmsimbench {

absl::Status BuildBundle(const std::string& folder, const std::string& file) {
  absl::StatusOr<BundleData> data = ReadCsvTables(folder);
  if (!data.ok()) return data.status();
  absl::Status status = CheckReferences(*data);
  if (!status.ok()) return status;
  absl::StatusOr<std::string> bytes = WriteBundle(*data);
  if (!bytes.ok()) return bytes.status();
  return WriteWholeFile(file, *bytes);
}

}  // namespace lmsimbench
