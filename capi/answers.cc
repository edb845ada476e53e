#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "capi/make.h"
#include "capi/measurements.h"
#include "capi/simulator.h"
#include "capi/table.h"
#include "fmt/format.h"
#include "lmsimbench/answer_sheet.h"

namespace capi = lmsimbench::capi;
using lmsimbench::Answer;
using lmsimbench::AnswerSheet;
using lmsimbench::AnswerStatus;
using lmsimbench::AskOptions;
using lmsimbench::IsStated;
using lmsimbench::kNoNumber;
using lmsimbench::Verdict;

namespace {

absl::StatusOr<AskOptions> ReadOptions(const lmsb_ask_options* options,
                                       bool thread_safe) {
  AskOptions read;
  if (options == nullptr) return read;
  absl::Status status = capi::CheckSize(options->struct_size,
                                        sizeof(lmsb_ask_options), "options");
  if (!status.ok()) return status;
  auto selection = capi::ReadSelection(options->selection);
  if (!selection.ok()) return selection.status();
  read.selection = *std::move(selection);
  read.calibration_runs = options->calibration_runs != 0;
  constexpr int32_t kMostThreads = 4096;
  if (options->threads < 1 || options->threads > kMostThreads) {
    return absl::InvalidArgumentError(
        fmt::format("{} threads to ask with; 1 to {} are possible",
                    options->threads, kMostThreads));
  }
  read.threads = thread_safe ? options->threads : 1;
  if (options->progress != nullptr) {
    read.progress = [call = options->progress, user = options->progress_user](
                        size_t done, size_t total) {
      // An exception may not run through threads that other code started.
      try {
        return call(user, done, total) == 0;
      } catch (...) {
        return false;
      }
    };
  }
  return read;
}

// One row of a table of predictions.
absl::StatusOr<Answer> ReadAnswer(const lmsb_answer_columns& columns,
                                  size_t row) {
  Answer answer;
  if (columns.refusals != nullptr) {
    absl::string_view reason;
    absl::Status status =
        capi::ReadText(columns.refusals[row], "a refusal", reason);
    if (!status.ok()) return status;
    if (!reason.empty()) {
      answer.status = AnswerStatus::kRefused;
      answer.notes = std::string(reason);
      return answer;
    }
  }
  if (columns.iteration_time_s != nullptr) {
    answer.iteration_time_s = columns.iteration_time_s[row];
  }
  if (columns.peak_memory_bytes != nullptr) {
    answer.peak_memory_bytes = columns.peak_memory_bytes[row];
  }
  if (columns.verdicts != nullptr) {
    auto verdict = capi::ReadVerdict(columns.verdicts[row]);
    if (!verdict.ok()) return verdict.status();
    answer.verdict = *verdict;
  }
  const double time = answer.iteration_time_s;
  if (IsStated(time) && !(time > 0 && std::isfinite(time))) {
    return absl::InvalidArgumentError(fmt::format(
        "a time of {} s; it is positive, or NaN where not answered", time));
  }
  const double memory = answer.peak_memory_bytes;
  if (IsStated(memory) && !(memory >= 0 && std::isfinite(memory))) {
    return absl::InvalidArgumentError(fmt::format(
        "a memory of {} bytes; it is not negative, or NaN where not answered",
        memory));
  }
  const bool answered = IsStated(time) || IsStated(memory) ||
                        answer.verdict != Verdict::kNotAnswered;
  if (answered) answer.status = AnswerStatus::kAnswered;
  return answer;
}

Answer& AnswerOf(AnswerSheet& sheet, size_t run) {
  return run < sheet.runs.size() ? sheet.runs[run]
                                 : sheet.failed_runs[run - sheet.runs.size()];
}
const Answer& AnswerOf(const AnswerSheet& sheet, size_t run) {
  return AnswerOf(const_cast<AnswerSheet&>(sheet), run);
}

absl::Status Put(const lmsb_answer_columns& columns, lmsb_answers& answers) {
  absl::Status status = capi::CheckSize(columns.struct_size,
                                        sizeof(lmsb_answer_columns), "columns");
  if (status.ok()) status = capi::CheckCount(columns.count, "columns");
  if (!status.ok() || columns.count == 0) return status;
  status = capi::CheckPointer(columns.records, "records");
  if (!status.ok()) return status;
  // Read whole before anything is put in.
  std::vector<std::pair<size_t, Answer>> read;
  std::set<size_t> seen;
  for (size_t row = 0; row < columns.count; ++row) {
    absl::string_view record;
    status = capi::ReadText(columns.records[row], "a record", record);
    if (!status.ok()) return status;
    const auto& by_record = answers.runs->by_record;
    const auto run = by_record.find(std::string(record));
    if (run == by_record.end()) {
      std::vector<std::string> known;
      for (const auto& [name, place] : by_record) known.push_back(name);
      return absl::NotFoundError(fmt::format("row {}: no record '{}'{}", row,
                                             std::string(record),
                                             capi::DidYouMean(record, known)));
    }
    auto answer = ReadAnswer(columns, row);
    if (!answer.ok()) {
      return absl::InvalidArgumentError(
          fmt::format("row {}, record '{}': {}", row, std::string(record),
                      std::string(answer.status().message())));
    }
    const bool again =
        !seen.insert(run->second).second ||
        AnswerOf(answers.sheet, run->second).status != AnswerStatus::kMissing;
    if (again) {
      return absl::InvalidArgumentError(fmt::format(
          "row {}: record '{}' is answered twice", row, std::string(record)));
    }
    read.emplace_back(run->second, *std::move(answer));
  }
  for (auto& [run, answer] : read) {
    AnswerOf(answers.sheet, run) = std::move(answer);
  }
  return absl::OkStatus();
}

}  // namespace

lmsb_code lmsb_answers_ask(lmsb_answers** out, const lmsb_simulator* simulator,
                           const lmsb_measurements* measurements,
                           const lmsb_ask_options* options) {
  return capi::Make(out, [&]() -> absl::StatusOr<lmsb_answers*> {
    absl::Status status = capi::CheckHandle(simulator, "simulator");
    if (status.ok()) status = capi::CheckHandle(measurements, "measurements");
    if (!status.ok()) return status;
    auto read = ReadOptions(options, simulator->thread_safe);
    if (!read.ok()) return read.status();
    const capi::Runs& runs = *measurements->runs;
    auto sheet = lmsimbench::Ask(*simulator->simulator, runs.measurements,
                                 runs.bundle, *read);
    if (!sheet.ok()) return sheet.status();
    return new lmsb_answers(measurements->runs, *std::move(sheet));
  });
}

lmsb_code lmsb_answers_new(lmsb_answers** out, const char* name,
                           size_t name_length,
                           const lmsb_measurements* measurements) {
  return capi::MakeFrom(
      measurements, "measurements", out,
      [&]() -> absl::StatusOr<lmsb_answers*> {
        absl::string_view text;
        absl::Status status = capi::ReadText(name, name_length, "name", text);
        if (!status.ok()) return status;
        if (text.empty()) return absl::InvalidArgumentError("name is empty");
        AnswerSheet sheet;
        sheet.simulator = std::string(text);
        const auto& of = measurements->runs->measurements;
        sheet.runs.resize(of.runs.size());
        sheet.failed_runs.resize(of.failed_runs.size());
        return new lmsb_answers(measurements->runs, std::move(sheet));
      });
}

lmsb_code lmsb_answers_put(lmsb_answers* answers,
                           const lmsb_answer_columns* columns) {
  return capi::Guarded([&]() -> absl::Status {
    absl::Status status = capi::CheckHandle(answers, "answers");
    if (status.ok()) status = capi::CheckPointer(columns, "columns");
    if (!status.ok()) return status;
    return Put(*columns, *answers);
  });
}

lmsb_code lmsb_answers_read_csv(lmsb_answers** out, const char* path,
                                size_t path_length, const char* name,
                                size_t name_length,
                                const lmsb_measurements* measurements) {
  return capi::MakeFrom(
      measurements, "measurements", out,
      [&]() -> absl::StatusOr<lmsb_answers*> {
        absl::string_view file;
        absl::string_view simulator;
        absl::Status status = capi::ReadText(path, path_length, "path", file);
        if (status.ok()) {
          status = capi::ReadText(name, name_length, "name", simulator);
        }
        if (!status.ok()) return status;
        auto sheet = lmsimbench::ReadAnswerSheet(
            std::string(file), std::string(simulator),
            measurements->runs->measurements);
        if (!sheet.ok()) return sheet.status();
        return new lmsb_answers(measurements->runs, *std::move(sheet));
      });
}

void lmsb_answers_free(lmsb_answers* answers) {
  capi::Free(answers, "lmsb_answers_free");
}

lmsb_code lmsb_answers_table(const lmsb_answers* answers, lmsb_table** out) {
  return capi::MakeFrom(
      answers, "answers", out, [&]() -> absl::StatusOr<lmsb_table*> {
        const auto& runs = answers->runs->all;
        const auto answer = [&](size_t i) -> const Answer& {
          return AnswerOf(answers->sheet, i);
        };
        capi::TableBuilder table("answers", runs.size());
        table.Strings("record", [&](size_t i) -> const std::string& {
          return runs[i]->record_id;
        });
        table.Strings("status",
                      [&](size_t i) { return Name(answer(i).status); });
        table.F64("iteration_time_s",
                  [&](size_t i) { return answer(i).iteration_time_s; });
        table.F64("peak_memory_bytes",
                  [&](size_t i) { return answer(i).peak_memory_bytes; });
        table.Strings("verdict",
                      [&](size_t i) { return Name(answer(i).verdict); });
        table.Strings("notes", [&](size_t i) -> const std::string& {
          return answer(i).notes;
        });
        return std::move(table).Finish();
      });
}
