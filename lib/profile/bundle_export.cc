#include <filesystem>
#include <system_error>

#include "fmt/format.h"
#include "lib/profile/csv_reader.h"
#include "lib/profile/files.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/values.h"

namespace lmsimbench {
namespace {

// fmt prints the shortest decimal form that reads back as the same number.
std::string CellText(const ProfileColumn& column, size_t row) {
  switch (column.type) {
    case ColumnType::kF64:
      return IsStated(column.f64[row]) ? fmt::format("{}", column.f64[row])
                                       : "";
    case ColumnType::kI64:
      return IsStated(column.i64[row]) ? fmt::format("{}", column.i64[row])
                                       : "";
    case ColumnType::kString:
      return std::string(column.strings[row]);
  }
  return "";
}

}  // namespace

std::string ToCsv(const ProfileView& view) {
  std::string text;
  const auto end_cell = [&](size_t column) {
    text += column + 1 == view.columns().size() ? '\n' : ',';
  };
  for (size_t i = 0; i < view.columns().size(); ++i) {
    AppendCsvCell(view.columns()[i].name, text);
    end_cell(i);
  }
  for (size_t row = 0; row < view.rows(); ++row) {
    for (size_t i = 0; i < view.columns().size(); ++i) {
      AppendCsvCell(CellText(view.columns()[i], row), text);
      end_cell(i);
    }
  }
  return text;
}

absl::Status ExportBundle(const Bundle& bundle, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::FailedPreconditionError(
        fmt::format("{}: cannot make the folder: {}", folder, error.message()));
  }
  for (const ProfileView& view : bundle.views()) {
    const absl::Status status = WriteWholeFile(
        fmt::format("{}/{}.csv", folder, view.name()), ToCsv(view));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace lmsimbench
