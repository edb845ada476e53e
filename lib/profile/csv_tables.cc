#include "lib/profile/csv_tables.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "fmt/format.h"
#include "lib/profile/csv_reader.h"
#include "lib/profile/run_cells.h"
#include "lmsimbench/nearest_name.h"
#include "lmsimbench/values.h"

namespace lmsimbench {
namespace {

std::string DidYouMean(const std::string& name,
                       const std::vector<std::string>& known) {
  const std::string nearest = NearestName(name, known);
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

// Each of these appends a filled cell to its column, or says why it cannot
// stand there.

absl::Status AppendNumber(const std::string& text, CellRule rule,
                          ColumnData& column) {
  double value = kNoNumber;
  const char* wrong = nullptr;
  if (!absl::SimpleAtod(text, &value)) {
    wrong = "is not a number";
  } else if (!std::isfinite(value)) {
    wrong = "is not a finite number";
  } else if (value < 0) {
    wrong = "is negative";
  } else if (rule == CellRule::kPositive && value == 0) {
    wrong = "is not above 0";
  }
  if (wrong != nullptr) {
    return absl::InvalidArgumentError(fmt::format("\"{}\" {}", text, wrong));
  }
  column.f64.push_back(value + 0.0);  // no negative zero
  return absl::OkStatus();
}

absl::Status AppendCount(const std::string& text, CellRule rule,
                         ColumnData& column) {
  int64_t value = kNoCount;
  const char* wrong = nullptr;
  if (!absl::SimpleAtoi(text, &value)) {
    wrong = "is not a whole number of 64 bits";
  } else if (value < 0) {
    wrong = "is negative";
  } else if (rule == CellRule::kPositiveCount && value == 0) {
    wrong = "is not above 0";
  } else if (rule == CellRule::kFlag && value > 1) {
    wrong = "is neither 0 nor 1";
  }
  if (wrong != nullptr) {
    return absl::InvalidArgumentError(fmt::format("\"{}\" {}", text, wrong));
  }
  column.i64.push_back(value);
  return absl::OkStatus();
}

absl::Status CheckMeaning(const std::string& text, CellRule rule) {
  Workload workload;
  ParallelConfig config;
  switch (rule) {
    case CellRule::kPrecision:
      return ReadPrecision(text, workload.precision);
    case CellRule::kAttention:
      return ReadAttention(text, workload.model.attention);
    case CellRule::kNorm:
      return ReadNorm(text, workload.model.norm);
    case CellRule::kPositions:
      return ReadPositions(text, workload.model.positions);
    case CellRule::kZeroStage:
      return ReadZeroStage(text, config.zero);
    case CellRule::kRecompute:
      return ReadRecompute(text, config);
    case CellRule::kOptions:
      return ReadOptions(text, workload, config);
    default:
      return absl::OkStatus();
  }
}

absl::Status AppendCell(const std::string& text, const ColumnSpec& spec,
                        TextPool& pool, ColumnData& column) {
  const std::string trimmed(absl::StripAsciiWhitespace(text));
  if (trimmed.empty() && spec.presence == Presence::kRequired) {
    return absl::InvalidArgumentError("the cell is empty, but required");
  }
  switch (TypeOf(spec.rule)) {
    case ColumnType::kString:
      column.ids.push_back(pool.Add(text));
      return CheckMeaning(text, spec.rule);
    case ColumnType::kF64:
      if (!trimmed.empty()) return AppendNumber(trimmed, spec.rule, column);
      column.f64.push_back(kNoNumber);
      return absl::OkStatus();
    case ColumnType::kI64:
      if (!trimmed.empty()) return AppendCount(trimmed, spec.rule, column);
      column.i64.push_back(kNoCount);
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

// Where each column of the table stands in the file; -1 if absent.
absl::StatusOr<std::vector<int>> ReadHead(const TableSpec& spec,
                                          const std::string& file,
                                          const CsvRow& head) {
  std::vector<int> places(spec.columns.size(), -1);
  for (size_t i = 0; i < head.size(); ++i) {
    const auto refuse = [&](const std::string& why) {
      return absl::InvalidArgumentError(fmt::format(
          "{}:{}: column '{}' {}", file, head[i].line, head[i].text, why));
    };
    const int column = FindColumnSpec(spec, head[i].text);
    if (column < 0) {
      return refuse(fmt::format("is not one of the table{}",
                                DidYouMean(head[i].text, ColumnNames(spec))));
    }
    if (places[column] >= 0) return refuse("is there twice");
    places[column] = static_cast<int>(i);
  }
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0 && spec.columns[i].presence == Presence::kRequired) {
      return absl::InvalidArgumentError(
          fmt::format("{}:{}: required column '{}' is missing", file,
                      head.front().line, spec.columns[i].name));
    }
  }
  return places;
}

absl::StatusOr<TableData> ReadTable(const TableSpec& spec,
                                    const std::string& file, TextPool& pool) {
  absl::StatusOr<std::vector<CsvRow>> rows = ReadCsv(file);
  if (!rows.ok()) return rows.status();
  absl::StatusOr<std::vector<int>> places = ReadHead(spec, file, rows->front());
  if (!places.ok()) return places.status();

  TableData table;
  table.spec = &spec;
  table.file = file;
  table.rows = rows->size() - 1;
  table.columns.resize(spec.columns.size());
  for (size_t r = 1; r < rows->size(); ++r) {
    const CsvRow& row = (*rows)[r];
    table.lines.push_back(row.front().line);
    for (size_t c = 0; c < spec.columns.size(); ++c) {
      const int place = (*places)[c];
      const std::string& text = place < 0 ? std::string() : row[place].text;
      const absl::Status status =
          AppendCell(text, spec.columns[c], pool, table.columns[c]);
      if (status.ok()) continue;
      return absl::InvalidArgumentError(
          fmt::format("{}:{}: column '{}': {}", file, row[place].line,
                      spec.columns[c].name, std::string(status.message())));
    }
  }
  return table;
}

// A misspelt file would otherwise be left out without a word.
absl::Status CheckFileNames(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (auto entry = std::filesystem::directory_iterator(folder, error);
       !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error) {
    return absl::NotFoundError(
        fmt::format("{}: cannot read the folder: {}", folder, error.message()));
  }
  std::sort(names.begin(), names.end());
  for (absl::string_view name : names) {
    if (!absl::ConsumeSuffix(&name, ".csv")) continue;
    const std::string table(name);
    if (FindTableSpec(table) != nullptr) continue;
    return absl::InvalidArgumentError(
        fmt::format("{}/{}.csv: there is no table '{}'{}", folder, table, table,
                    DidYouMean(table, TableNames())));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<BundleData> ReadCsvTables(const std::string& folder) {
  absl::Status names = CheckFileNames(folder);
  if (!names.ok()) return names;
  BundleData data;
  for (const TableSpec& spec : BundleTables()) {
    const std::string file = fmt::format("{}/{}.csv", folder, spec.name);
    absl::StatusOr<TableData> table = ReadTable(spec, file, data.pool);
    if (absl::IsNotFound(table.status())) continue;
    if (!table.ok()) return table.status();
    data.tables.push_back(*std::move(table));
  }
  if (data.tables.empty()) {
    return absl::NotFoundError(fmt::format("{}: holds none of the tables {}",
                                           folder,
                                           fmt::join(TableNames(), ", ")));
  }
  return data;
}

}  // namespace lmsimbench
