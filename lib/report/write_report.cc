#include "lib/profile/files.h"
#include "lmsimbench/report.h"

namespace lmsimbench {

absl::Status WriteReport(const std::string& path, absl::string_view text) {
  return WriteWholeFile(path, text);
}

}  // namespace lmsimbench
