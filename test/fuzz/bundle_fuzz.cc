// The bundle reader: what it accepts can be read to its last cell, also as runs
// and models.

#include <cstddef>
#include <cstdint>

#include "lib/profile/embedded_bundle.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/lookup.h"
#include "lmsimbench/measured_run.h"

namespace lmsimbench {

// No bundle is built into the fuzzers.
absl::Span<const uint8_t> EmbeddedBundleBytes() { return {}; }

}  // namespace lmsimbench

namespace {

// Keeps what is read from being left out.
volatile size_t sink = 0;

void ReadColumn(const lmsimbench::ProfileColumn& column, size_t rows) {
  size_t sum = 0;
  for (size_t row = 0; row < rows; ++row) {
    switch (column.type) {
      case lmsimbench::ColumnType::kF64:
        sum += column.f64[row] > 0 ? 1 : 0;
        break;
      case lmsimbench::ColumnType::kI64:
        sum += static_cast<size_t>(column.i64[row]);
        break;
      case lmsimbench::ColumnType::kString:
        for (const char c : column.strings[row]) {
          sum += static_cast<unsigned char>(c);
        }
        break;
    }
  }
  sink = sink + sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bundle = lmsimbench::Bundle::FromMemory({data, size});
  if (!bundle.ok()) return 0;
  for (const lmsimbench::ProfileView& view : bundle->views()) {
    for (const lmsimbench::ProfileColumn& column : view.columns()) {
      ReadColumn(column, view.rows());
    }
    sink = sink + lmsimbench::ToCsv(view).size();
  }
  sink = sink + (lmsimbench::ReadRuns(*bundle).ok() ? 1 : 0);
  sink = sink + (lmsimbench::ReadFailedRuns(*bundle).ok() ? 1 : 0);
  sink = sink + (lmsimbench::NamedModels(*bundle).ok() ? 1 : 0);
  for (const std::string& name : lmsimbench::PlatformNames(*bundle)) {
    sink = sink + (lmsimbench::FindPlatform(*bundle, name).ok() ? 1 : 0);
  }
  return 0;
}
