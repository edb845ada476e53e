#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "fmt/format.h"
#include "lib/profile/csv_reader.h"
#include "lmsimbench/answer_sheet.h"
#include "lmsimbench/lookup.h"

namespace lmsimbench {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

const std::vector<std::string>& KnownColumns() {
  static const auto& columns =
      *new std::vector<std::string>{"record_id",
                                    "simulator",
                                    "status",
                                    "measured_ms",
                                    "predicted_ms",
                                    "measured_mem_gib",
                                    "predicted_mem_gib",
                                    "verdict",
                                    "adaptations",
                                    "notes"};
  return columns;
}

std::string Nearest(const std::string& name,
                    const std::vector<std::string>& known) {
  const std::string nearest = NearestName(name, known);
  return nearest.empty() ? "" : fmt::format("; nearest: '{}'", nearest);
}

/// A line of the table with its cells by column.
class Line {
 public:
  Line(const std::string& path, const std::map<std::string, size_t>& columns,
       const CsvRow& row)
      : path_(path), columns_(columns), row_(row) {}

  /// The cell's text; empty if there is no such column.
  const std::string& Text(const std::string& column) const {
    static const auto& empty = *new std::string;
    const auto found = columns_.find(column);
    return found == columns_.end() ? empty : row_[found->second].text;
  }

  absl::Status Error(const std::string& column,
                     const std::string& reason) const {
    return absl::InvalidArgumentError(fmt::format("{}:{}: {} '{}': {}", path_,
                                                  row_.front().line, column,
                                                  Text(column), reason));
  }

  /// A positive number, or NaN for an empty cell.
  absl::Status Number(const std::string& column, double unit,
                      double& number) const {
    const std::string& text = Text(column);
    if (text.empty()) return absl::OkStatus();
    double value = 0;
    if (!absl::SimpleAtod(text, &value) || !std::isfinite(value) ||
        value <= 0) {
      return Error(column, "not a positive number");
    }
    number = value * unit;
    return absl::OkStatus();
  }

 private:
  const std::string& path_;
  const std::map<std::string, size_t>& columns_;
  const CsvRow& row_;
};

/// Reads the verdict, or the refusal that stands in its place.
absl::Status ReadVerdict(const Line& line, Answer& answer) {
  const std::string& text = line.Text("verdict");
  if (text.empty()) return absl::OkStatus();
  for (const char* prefix : {"unsupported: ", "refused: "}) {
    if (absl::StartsWith(text, prefix)) {
      answer.status = AnswerStatus::kRefused;
      answer.notes = text.substr(std::string(prefix).size());
      return absl::OkStatus();
    }
  }
  if (text == "oom") {
    answer.verdict = Verdict::kDoesNotFit;
  } else if (!ParseName(text, answer.verdict)) {
    return line.Error("verdict",
                      "expected fits, oom, does not fit, illegal, or "
                      "'refused: ' with a reason");
  }
  return absl::OkStatus();
}

absl::Status ReadAnswer(const Line& line, Answer& answer) {
  absl::Status status =
      line.Number("predicted_ms", 1e-3, answer.iteration_time_s);
  if (status.ok()) {
    status = line.Number("predicted_mem_gib", kGiB, answer.peak_memory_bytes);
  }
  if (status.ok()) {
    // What is not said to be refused is answered if anything is.
    answer.notes = line.Text("adaptations").empty() ? line.Text("notes")
                                                    : line.Text("adaptations");
    status = ReadVerdict(line, answer);
  }
  if (!status.ok()) return status;

  const bool has_part = IsStated(answer.iteration_time_s) ||
                        IsStated(answer.peak_memory_bytes) ||
                        answer.verdict != Verdict::kNotAnswered;
  if (!line.Text("status").empty()) {
    if (!ParseName(line.Text("status"), answer.status)) {
      return line.Error("status",
                        "expected answered, refused, failed, timed out or "
                        "missing");
    }
    if (has_part != (answer.status == AnswerStatus::kAnswered)) {
      return line.Error("status", has_part ? "the line has an answer"
                                           : "the line has no time, memory or "
                                             "verdict");
    }
  } else if (answer.status == AnswerStatus::kRefused) {
    if (has_part) {
      return line.Error("verdict", "a refusal beside an answer");
    }
  } else if (has_part) {
    answer.status = AnswerStatus::kAnswered;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::map<std::string, size_t>> ReadHead(const std::string& path,
                                                       const CsvRow& head) {
  std::map<std::string, size_t> columns;
  const std::set<std::string> known(KnownColumns().begin(),
                                    KnownColumns().end());
  for (size_t i = 0; i < head.size(); ++i) {
    const std::string& name = head[i].text;
    if (known.count(name) == 0) {
      return absl::InvalidArgumentError(
          fmt::format("{}:{}: unknown column '{}'{}", path, head[i].line, name,
                      Nearest(name, KnownColumns())));
    }
    if (!columns.emplace(name, i).second) {
      return absl::InvalidArgumentError(
          fmt::format("{}:{}: two columns '{}'", path, head[i].line, name));
    }
  }
  const auto has = [&](const char* name) { return columns.count(name) > 0; };
  if (!has("record_id")) {
    return absl::InvalidArgumentError(
        fmt::format("{}: no column 'record_id'", path));
  }
  if (!has("predicted_ms") && !has("predicted_mem_gib") && !has("verdict")) {
    return absl::InvalidArgumentError(
        fmt::format("{}: none of the columns 'predicted_ms', "
                    "'predicted_mem_gib', 'verdict'",
                    path));
  }
  return columns;
}

}  // namespace

absl::StatusOr<AnswerSheet> ReadAnswerSheet(const std::string& path,
                                            const std::string& simulator,
                                            const Measurements& measurements) {
  absl::StatusOr<std::vector<CsvRow>> rows = ReadCsv(path);
  if (!rows.ok()) return rows.status();
  if (rows->empty()) {
    return absl::InvalidArgumentError(fmt::format("{}: no head line", path));
  }
  absl::StatusOr<std::map<std::string, size_t>> columns =
      ReadHead(path, rows->front());
  if (!columns.ok()) return columns.status();

  AnswerSheet sheet;
  sheet.simulator = simulator;
  sheet.runs.resize(measurements.runs.size());
  sheet.failed_runs.resize(measurements.failed_runs.size());
  std::map<std::string, Answer*> answers;
  for (size_t i = 0; i < measurements.runs.size(); ++i) {
    answers[measurements.runs[i].record_id] = &sheet.runs[i];
  }
  for (size_t i = 0; i < measurements.failed_runs.size(); ++i) {
    answers[measurements.failed_runs[i].record_id] = &sheet.failed_runs[i];
  }

  std::set<std::string> seen;
  const bool by_simulator = columns->count("simulator") > 0;
  for (size_t i = 1; i < rows->size(); ++i) {
    const Line line(path, *columns, (*rows)[i]);
    if (by_simulator && line.Text("simulator") != simulator) continue;
    const std::string& record = line.Text("record_id");
    const auto found = answers.find(record);
    if (found == answers.end()) {
      std::vector<std::string> known;
      for (const auto& entry : answers) known.push_back(entry.first);
      return line.Error("record_id",
                        "no measured run has it" + Nearest(record, known));
    }
    if (!seen.insert(record).second) {
      return line.Error("record_id", "a second line for this run");
    }
    if (absl::Status status = ReadAnswer(line, *found->second); !status.ok()) {
      return status;
    }
  }
  return sheet;
}

}  // namespace lmsimbench
