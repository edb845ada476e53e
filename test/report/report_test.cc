#include "lmsimbench/report.h"

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "catch2/catch.hpp"
#include "lib/report/text_table.h"
#include "lmsimbench/score.h"
#include "nlohmann/json.hpp"
#include "test/score/cases.h"
#include "test/test_support.h"

namespace lmsimbench {
namespace {

using Catch::Contains;

/// Three configurations answered, one refused with a reason that needs quotes,
/// a flagged row, and a failed run.
Case Mixed() {
  Case c;
  c.measurements.fingerprint = "0123456789abcdef";
  Answer answer = Answered(1.5);
  answer.peak_memory_bytes = 2.5 * 1024 * 1024 * 1024;
  MeasuredRun run = Run("a", 1);
  run.peak_memory_bytes = 2.0 * 1024 * 1024 * 1024;
  run.memory_scope = MemoryScope::kAllocated;
  c.Add(run, answer);
  c.Add(Run("b", 2), Answered(2.5));
  c.Add(Run("c", 4), Answered(2));
  Answer refused = Declined(AnswerStatus::kRefused);
  refused.notes = "no \"peak\", no time";
  c.Add(Run("d", 3), refused);
  MeasuredRun flagged = Run("e", 9);
  flagged.flag = "SUSPECT: slow";
  c.Add(flagged, Answered(3));
  c.Add(FailedRun("f"), Answered(5, Verdict::kDoesNotFit));
  return c;
}

Scorecard CardOf(const Case& c, std::vector<AnswerSheet> more = {}) {
  more.insert(more.begin(), c.sheet);
  const absl::StatusOr<Scorecard> card = Score(c.measurements, more, {});
  REQUIRE(card.status() == absl::OkStatus());
  return *card;
}

std::vector<std::string> LinesOf(const std::string& text) {
  return absl::StrSplit(text, '\n');
}

/// The first line that begins with `name`, from the line that contains `title`
/// on, with runs of spaces made one.
std::string LineUnder(const std::string& text, const std::string& title,
                      const std::string& name) {
  bool found = false;
  for (const std::string& line : LinesOf(text)) {
    found = found || line.find(title) != std::string::npos;
    if (!found || line.rfind(name, 0) != 0) continue;
    std::string compact;
    for (const char c : line) {
      if (c != ' ' || compact.back() != ' ') compact += c;
    }
    return compact;
  }
  return "";
}

TEST_CASE("the table says which runs and which data it rests on") {
  Case c = Mixed();
  CHECK_THAT(ScorecardTable(CardOf(c)),
             Contains("split test, data 0123456789abcdef"));
}

TEST_CASE("the first table has the choice, the accuracy and the coverage") {
  const std::string text = ScorecardTable(CardOf(Mixed()));
  // a, b, c answered of four. Order a, c, b, then d: regret@1 0; drawn at
  // random (1 + 2 + 4 + 3) / 4 - 1. GMAE: cube root of 1.5 * 1.25 * 2, less 1.
  // tau-b over a, b, c: (2 - 1) / 3. MAPE (50 + 25 + 50) / 3. Memory 25 %.
  CHECK(LineUnder(text, "Choice and accuracy", "sim ") ==
        "sim 3 of 4 1 0.0 0.0 150.0 - 100.0 0.33 55.4 - 41.7 25.0 25.0");
}

TEST_CASE("what is undefined is a dash, never a zero") {
  Case c;
  c.Add(Run("a", 1), Declined(AnswerStatus::kRefused));
  const std::string text = ScorecardTable(CardOf(c));
  CHECK(LineUnder(text, "Choice and accuracy", "sim ") ==
        "sim 0 of 1 - - - - - - - - - - - -");
  CHECK_THAT(text, !Contains("nan"));
  CHECK(report::Percent(kNoNumber) == "-");
  CHECK(report::Fixed(-0.00001, 2) == "0.00");
}

TEST_CASE("flagged rows stand in a table of their own") {
  const std::string text = ScorecardTable(CardOf(Mixed()));
  CHECK(LineUnder(text, "Flagged rows", "SUSPECT")
            .rfind("SUSPECT sim 1 of 1", 0) == 0);
  TableOptions options;
  options.flagged = false;
  CHECK_THAT(ScorecardTable(CardOf(Mixed()), options), !Contains("SUSPECT"));
}

TEST_CASE("several simulators are set side by side on the shared set") {
  const Case c = Mixed();
  AnswerSheet other = c.sheet;
  other.simulator = "another";
  other.runs[1] = Declined(AnswerStatus::kFailed);
  const std::string text = ScorecardTable(CardOf(c, {other}));
  CHECK_THAT(text, Contains("the 2 of 4 headline rows"));
  CHECK(LineUnder(text, "Shared set", "another").rfind("another 2 of 2", 0) ==
        0);
  CHECK_THAT(ScorecardTable(CardOf(c)), !Contains("Shared set"));
}

TEST_CASE("settings are listed on request") {
  TableOptions options;
  options.by_setting = true;
  // Pairs: ln 2 and ln 4 in order, ln 2 (b before c) not: 3 of 4.
  CHECK(LineUnder(ScorecardTable(CardOf(Mixed()), options), "By setting",
                  "w ") == "w p 8 4 3 55.4 0.333 75.0 0.0 150.0 -");
  CHECK_THAT(ScorecardTable(CardOf(Mixed())), !Contains("By setting"));
}

TEST_CASE("sources without an answer share one line") {
  Case c = Mixed();
  MeasuredRun silent = Run("z", 1);
  silent.source = "silent";
  c.Add(silent, Answer());
  const std::string text = ScorecardTable(CardOf(c));
  CHECK_THAT(text, Contains("no answer to the 1 rows of:\n  silent\n"));
}

TEST_CASE("no line is wider than 120 columns or ends in a space") {
  Case c = Mixed();
  c.sheet.simulator = "calculon-described";
  for (MeasuredRun& run : c.measurements.runs) {
    run.source = "megatron-readme-2024";
    run.workload_id = "megatron-readme-2024/8c783038";
    run.platform = "intel-max1550-tile";
  }
  AnswerSheet other = c.sheet;
  other.simulator = "naive-utilisation";
  TableOptions options;
  options.by_setting = true;
  for (const std::string& line :
       LinesOf(ScorecardTable(CardOf(c, {other}), options))) {
    INFO(line);
    CHECK(line.size() <= 120);
    CHECK((line.empty() || line.back() != ' '));
  }
}

TEST_CASE("the JSON holds every figure, null where it is undefined") {
  const Case c = Mixed();
  AnswerSheet other = c.sheet;
  other.simulator = "other";
  const Scorecard card = CardOf(c, {other});
  const auto json = nlohmann::json::parse(ScorecardJson(card), nullptr, false);
  REQUIRE(!json.is_discarded());
  CHECK(json["split"] == "test");
  CHECK(json["data"] == "0123456789abcdef");
  CHECK(json["shared_rows"] == 3);
  REQUIRE(json["simulators"].size() == 2);
  for (size_t i = 0; i < 2; ++i) {
    const SimulatorScore& score = card.simulators[i];
    const auto& object = json["simulators"][i];
    CHECK(object["simulator"] == score.simulator);
    REQUIRE(object["figures"].size() == score.figures.size());
    CHECK(object["shared_figures"].size() == score.shared_figures.size());
    for (size_t k = 0; k < score.figures.size(); ++k) {
      const auto& figure = object["figures"][k];
      CHECK(figure["metric"] == score.figures[k].metric);
      if (std::isnan(score.figures[k].value)) {
        CHECK(figure["value"].is_null());
      } else {
        CHECK(figure["value"] == score.figures[k].value);
      }
    }
    CHECK(object["settings"][0]["regret@3"].is_null());
    CHECK(object["settings"][0]["regret@1"] == 0);
  }
}

TEST_CASE("the CSV has a line for each run and simulator, quoted as needed") {
  const Case c = Mixed();
  const auto lines = LinesOf(AnswersCsv(c.measurements, {c.sheet}));
  REQUIRE(lines.size() == 8);
  CHECK(lines[0] ==
        "record_id,simulator,status,measured_ms,predicted_ms,measured_mem_gib,"
        "predicted_mem_gib,verdict,notes");
  CHECK(lines[1] == "a,sim,answered,1000,1500,2,2.5,fits,");
  CHECK(lines[4] == "d,sim,refused,3000,,,,,\"no \"\"peak\"\", no time\"");
  CHECK(lines[6] == "failed-f,sim,answered,,5000,,,does not fit,");
  CHECK(lines[7].empty());
}

TEST_CASE("the CSV holds the selected runs only") {
  Case c = Mixed();
  c.measurements.runs[0].split = "fit";
  CHECK(LinesOf(AnswersCsv(c.measurements, {c.sheet})).size() == 7);
  CHECK(
      LinesOf(AnswersCsv(c.measurements, {c.sheet}, {"fit", "", ""})).size() ==
      3);
}

TEST_CASE("the CSV is read back as the answers that it was written from") {
  const Case c = Mixed();
  AnswerSheet other = c.sheet;
  other.simulator = "other";
  other.runs[0] = Answer();
  other.runs[1] = Declined(AnswerStatus::kTimedOut);
  const std::string path = "report_test_answers.csv";
  REQUIRE(WriteReport(path, AnswersCsv(c.measurements, {c.sheet, other})) ==
          absl::OkStatus());
  for (const AnswerSheet& sheet : {c.sheet, other}) {
    const auto read = ReadAnswerSheet(path, sheet.simulator, c.measurements);
    REQUIRE(read.status() == absl::OkStatus());
    for (size_t i = 0; i < sheet.runs.size(); ++i) {
      const Answer& written = sheet.runs[i];
      CHECK(read->runs[i].status == written.status);
      CHECK(
          SameField(read->runs[i].iteration_time_s, written.iteration_time_s));
      CHECK(SameField(read->runs[i].peak_memory_bytes,
                      written.peak_memory_bytes));
      CHECK(read->runs[i].verdict == written.verdict);
      CHECK(read->runs[i].notes == written.notes);
    }
    CHECK(read->failed_runs[0].verdict == sheet.failed_runs[0].verdict);
  }
  std::remove(path.c_str());
}

TEST_CASE("a report replaces its file whole") {
  const std::string path = "report_test_file.txt";
  REQUIRE(WriteReport(path, "a longer first text\n").ok());
  REQUIRE(WriteReport(path, "second\n").ok());
  CHECK(ReadFile(path) == "second\n");
  std::remove(path.c_str());
  CHECK_THAT(
      std::string(WriteReport("no-such-folder/report.txt", "x").message()),
      Contains("no-such-folder/report.txt"));
}

TEST_CASE("words are wrapped at the width, indented") {
  CHECK(report::WrapList({"one", "two", "three"}, 11, "  ") ==
        "  one, two,\n  three\n");
  CHECK(report::WrapList({}, 10, "  ").empty());
}

TEST_CASE("How constants carry over is a table with a line for all") {
  CarriedOver first;
  first.framework = "nemo";
  first.source = "guide";
  first.time = {3, 100, 50, 20};
  CarriedOver second = first;
  second.source = "other";
  second.time = {1, 0, 0, 0};
  second.memory = {2, 30, 20, 10};
  const std::string table = CarryOverTable({first, second});
  // (3 ln 2 + ln 1) / 4 = ln 1.68; so with 1.5 and 1.2.
  CHECK_THAT(table, Contains("all"));
  CHECK_THAT(table, Contains("68.2") && Contains("35.5") && Contains("14.7"));
  const nlohmann::json json =
      nlohmann::json::parse(CarryOverJson({first, second}));
  CHECK(json.size() == 2);
  CHECK(json[0]["class"] == "nemo");
  CHECK(json[0]["time"]["error_percent_without"] == 50);
  CHECK(json[0]["memory"]["error_percent_with"].is_null());
  CHECK(json[1]["memory"]["runs"] == 2);
}

}  // namespace
}  // namespace lmsimbench
