#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace lmsimbench {

/// One cell as the file has it, quotes resolved.
struct CsvCell {
  std::string text;
  /// Line of the file, from 1, on which the cell begins; quoted cells may hold
  /// line breaks.
  size_t line = 0;
};

using CsvRow = std::vector<CsvCell>;

/// Reads a CSV file as RFC 4180 describes it; the first row is the head, every
/// other has as many cells, empty lines are skipped. NOT_FOUND if there is no
/// such file; INVALID_ARGUMENT with file and line for quotes that do not match,
/// a row of another length, text that is not UTF-8, or a zero byte.
absl::StatusOr<std::vector<CsvRow>> ReadCsv(const std::string& path);

/// Appends a cell, quoted where it has to be.
void AppendCsvCell(const std::string& text, std::string& out);

}  // namespace lmsimbench
