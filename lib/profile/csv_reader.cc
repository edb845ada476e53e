#include "lib/profile/csv_reader.h"

#include <csv.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "fmt/format.h"
#include "lib/profile/files.h"
#include "lib/profile/utf8.h"

namespace lmsimbench {
namespace {

// What libcsv's callbacks fill. Exceptions must not cross the C code, so
// nothing is thrown on purpose here, and running out of memory ends the
// program.
struct Collector {
  std::vector<CsvRow> rows;
  CsvRow row;
  size_t line = 1;        // of the bytes being parsed
  size_t cell_begin = 1;  // line on which the next cell begins
  bool in_row = false;    // the last line ended inside a quoted cell
};

void EndCell(void* text, size_t size, void* user) noexcept {
  auto& collector = *static_cast<Collector*>(user);
  collector.row.push_back({std::string(static_cast<const char*>(text), size),
                           collector.cell_begin});
  collector.cell_begin = collector.line;
}

void EndRow(int, void* user) noexcept {
  auto& collector = *static_cast<Collector*>(user);
  collector.rows.push_back(std::move(collector.row));
  collector.row.clear();
  collector.in_row = false;
}

// Blanks around a cell belong to it.
int IsBlank(unsigned char) { return 0; }

class Parser {
 public:
  Parser() {
    ok_ = csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI) == 0;
    csv_set_space_func(&parser_, IsBlank);
  }
  ~Parser() { csv_free(&parser_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  bool Feed(absl::string_view bytes, Collector& into) {
    return ok_ && csv_parse(&parser_, bytes.data(), bytes.size(), EndCell,
                            EndRow, &into) == bytes.size();
  }
  bool Finish(Collector& into) {
    return ok_ && csv_fini(&parser_, EndCell, EndRow, &into) == 0;
  }
  const char* error() { return csv_strerror(csv_error(&parser_)); }

 private:
  csv_parser parser_;
  bool ok_;
};

}  // namespace

absl::StatusOr<std::vector<CsvRow>> ReadCsv(const std::string& path) {
  absl::StatusOr<std::string> contents = ReadWholeFile(path);
  if (!contents.ok()) return contents.status();
  absl::string_view rest = *contents;
  constexpr absl::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (rest.substr(0, 3) == kByteOrderMark) rest.remove_prefix(3);

  Parser parser;
  Collector collector;
  const auto at_line = [&path](size_t line, const std::string& what) {
    return absl::InvalidArgumentError(
        fmt::format("{}:{}: {}", path, line, what));
  };
  // Fed line by line, so that the line of every cell is known.
  while (!rest.empty()) {
    const size_t size = std::min(rest.find('\n'), rest.size() - 1) + 1;
    const absl::string_view line = rest.substr(0, size);
    rest.remove_prefix(size);
    if (line.find('\0') != absl::string_view::npos) {
      return at_line(collector.line, "zero byte in the text");
    }
    if (!IsUtf8(line)) return at_line(collector.line, "text is not UTF-8");
    if (!collector.in_row) collector.cell_begin = collector.line;
    const bool empty = line == "\n" || line == "\r\n";
    collector.in_row = collector.in_row || !empty;
    if (!parser.Feed(line, collector)) {
      return at_line(collector.line,
                     fmt::format("not CSV: {}", parser.error()));
    }
    ++collector.line;
  }
  if (!parser.Finish(collector)) {
    return at_line(collector.cell_begin,
                   "not CSV: a quoted cell begins here and never ends");
  }
  if (collector.rows.empty()) return at_line(1, "no head of column names");

  const size_t columns = collector.rows.front().size();
  for (const CsvRow& row : collector.rows) {
    if (row.size() == columns) continue;
    return at_line(row.front().line,
                   fmt::format("row of {} cells, but the head has {} columns",
                               row.size(), columns));
  }
  return std::move(collector.rows);
}

void AppendCsvCell(const std::string& text, std::string& out) {
  const bool quoted =
      text.find_first_of(",\"\r\n") != std::string::npos ||
      (!text.empty() && (text.front() == ' ' || text.back() == ' '));
  if (!quoted) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace lmsimbench
