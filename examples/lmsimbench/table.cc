#include "table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "lmsimbench/values.h"

namespace {

bool IsNumber(const std::string& cell) {
  if (cell == "-") return true;
  return !cell.empty() &&
         std::all_of(cell.begin(), cell.end(), [](unsigned char c) {
           return std::isdigit(c) || c == '.' || c == '-' || c == '+' ||
                  c == 'e';
         });
}

// Characters, not bytes: continuation bytes of UTF-8 take no place.
size_t Width(const std::string& cell) {
  return static_cast<size_t>(std::count_if(
      cell.begin(), cell.end(),
      [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string FormatTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  std::vector<bool> numeric;
  for (size_t i = 0; i < rows.size(); ++i) {
    widths.resize(std::max(widths.size(), rows[i].size()), 0);
    numeric.resize(widths.size(), true);
    for (size_t column = 0; column < rows[i].size(); ++column) {
      widths[column] = std::max(widths[column], Width(rows[i][column]));
      if (i > 0 && !IsNumber(rows[i][column])) numeric[column] = false;
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t column = 0; column < row.size(); ++column) {
      const std::string padding(widths[column] - Width(row[column]), ' ');
      if (column > 0) line += "  ";
      line += numeric[column] ? padding + row[column] : row[column] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string Milliseconds(double seconds) {
  return lmsimbench::IsStated(seconds) ? fmt::format("{:.2f}", seconds * 1e3)
                                       : "-";
}

std::string Gibibytes(double bytes) {
  return lmsimbench::IsStated(bytes)
             ? fmt::format("{:.2f}", bytes / (1024.0 * 1024 * 1024))
             : "-";
}
