#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

#include "catch2/catch.hpp"
#include "lmsimbench/answer_sheet.h"
#include "test/score/cases.h"

namespace lmsimbench {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

/// Reads a table from a file of its own, about the runs "a", "b" and the failed
/// run "failed-c".
absl::StatusOr<AnswerSheet> Read(const std::string& text) {
  Measurements measurements;
  measurements.runs = {Run("a", 1), Run("b", 1)};
  measurements.failed_runs = {FailedRun("c")};
  const std::string path = "read_answer_sheet_test.csv";
  std::ofstream(path, std::ios::binary) << text;
  auto sheet = ReadAnswerSheet(path, "sim", measurements);
  std::remove(path.c_str());
  return sheet;
}

std::string ErrorOf(const std::string& text) {
  const auto sheet = Read(text);
  CHECK(sheet.status().code() == absl::StatusCode::kInvalidArgument);
  return std::string(sheet.status().message());
}

TEST_CASE("predictions are read by record id, in milliseconds and GiB") {
  const auto sheet = Read(
      "record_id,predicted_ms,predicted_mem_gib,verdict,adaptations\n"
      "failed-c,250,90,oom,\n"
      "a,1500,2.5,fits,\"rounded, up\"\n");
  REQUIRE(sheet.status() == absl::OkStatus());
  CHECK(sheet->simulator == "sim");
  CHECK(sheet->runs[0].status == AnswerStatus::kAnswered);
  CHECK(sheet->runs[0].iteration_time_s == 1.5);
  CHECK(sheet->runs[0].peak_memory_bytes == 2.5 * kGiB);
  CHECK(sheet->runs[0].verdict == Verdict::kFits);
  CHECK(sheet->runs[0].notes == "rounded, up");
  CHECK(sheet->runs[1].status == AnswerStatus::kMissing);
  CHECK(sheet->failed_runs[0].verdict == Verdict::kDoesNotFit);
}

TEST_CASE("a refusal stands in the place of the verdict, with its reason") {
  const auto sheet = Read(
      "record_id,predicted_ms,verdict\n"
      "a,,unsupported: mixture of experts\n"
      "b,,refused: no peak\n");
  REQUIRE(sheet.status() == absl::OkStatus());
  CHECK(sheet->runs[0].status == AnswerStatus::kRefused);
  CHECK(sheet->runs[0].notes == "mixture of experts");
  CHECK(sheet->runs[1].notes == "no peak");
}

TEST_CASE("a part that is empty is not answered") {
  const auto sheet = Read("record_id,predicted_ms,verdict\na,5,\nb,,fits\n");
  REQUIRE(sheet.status() == absl::OkStatus());
  CHECK(sheet->runs[0].verdict == Verdict::kNotAnswered);
  CHECK(std::isnan(sheet->runs[0].peak_memory_bytes));
  CHECK(std::isnan(sheet->runs[1].iteration_time_s));
  CHECK(sheet->runs[1].status == AnswerStatus::kAnswered);
}

TEST_CASE("lines of another simulator are passed over") {
  const auto sheet = Read(
      "record_id,simulator,status,predicted_ms\n"
      "a,other,answered,1\n"
      "a,sim,answered,2000\n"
      "b,sim,timed out,\n");
  REQUIRE(sheet.status() == absl::OkStatus());
  CHECK(sheet->runs[0].iteration_time_s == 2);
  CHECK(sheet->runs[1].status == AnswerStatus::kTimedOut);
}

TEST_CASE("a bad cell is named with line, column and rule") {
  CHECK_THAT(ErrorOf("record_id,predicted_ms\na,1\nb,-2\n"),
             Catch::Contains(".csv:3: predicted_ms '-2'") &&
                 Catch::Contains("not a positive number"));
  CHECK_THAT(ErrorOf("record_id,predicted_ms\na,nan\n"),
             Catch::Contains("not a positive number"));
  CHECK_THAT(ErrorOf("record_id,verdict\na,maybe\n"),
             Catch::Contains("verdict 'maybe'"));
  CHECK_THAT(ErrorOf("record_id,predicted_ms\nfailed-d,1\n"),
             Catch::Contains("no measured run has it") &&
                 Catch::Contains("nearest: 'failed-c'"));
  CHECK_THAT(ErrorOf("record_id,predicted_ms\na,1\na,2\n"),
             Catch::Contains("a second line"));
  CHECK_THAT(ErrorOf("record_id,predicted_ms,verdict\na,1,refused: no\n"),
             Catch::Contains("a refusal beside an answer"));
  CHECK_THAT(ErrorOf("record_id,status,predicted_ms\na,answered,\n"),
             Catch::Contains("no time, memory or verdict"));
}

TEST_CASE("a head that lacks a column or has an unknown one is refused") {
  CHECK_THAT(ErrorOf("predicted_ms\n1\n"),
             Catch::Contains("no column 'record_id'"));
  CHECK_THAT(ErrorOf("record_id,predictd_ms\na,1\n"),
             Catch::Contains("unknown column 'predictd_ms'") &&
                 Catch::Contains("nearest: 'predicted_ms'"));
  CHECK_THAT(ErrorOf("record_id,notes\na,1\n"),
             Catch::Contains("none of the columns"));
  CHECK_THAT(ErrorOf(""), Catch::Contains("no head"));
}

TEST_CASE("a table that is not there is not found") {
  CHECK(ReadAnswerSheet("no-such-file.csv", "sim", {}).status().code() ==
        absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace lmsimbench
