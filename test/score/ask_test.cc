#include <atomic>
#include <cmath>
#include <string>

#include "catch2/catch.hpp"
#include "lmsimbench/answer_sheet.h"
#include "lmsimbench/bundle.h"
#include "test/score/cases.h"

namespace lmsimbench {
namespace {

/// Answers by the micro-batch of the question; remembers the node size.
class Scripted final : public Simulator {
 public:
  Scripted() : Simulator("scripted") {}
  mutable std::atomic<int> questions{0};
  mutable int64_t devices = 0, node = 0;

 private:
  absl::Status DoPredict(const Workload&, const System& system,
                         const ParallelConfig& config, Workspace&,
                         Prediction& prediction) const override {
    ++questions;
    switch (config.micro_batch) {
      case 1:
        devices = system.devices;
        node = DevicesPerNode(system);
        prediction.iteration_time_s = 2;
        prediction.adaptations = {"one", "two"};
        return absl::OkStatus();
      case 2:
        return absl::UnimplementedError("no such thing");
      case 3:
        return absl::InternalError("broken");
      case 4:
        return absl::DeadlineExceededError("slow");
      default:
        prediction.iteration_time_s = 0;
        return absl::OkStatus();
    }
  }
};

Bundle Embedded() {
  auto bundle = Bundle::Embedded();
  REQUIRE(bundle.status() == absl::OkStatus());
  return *bundle;
}

MeasuredRun Question(int64_t micro_batch) {
  MeasuredRun run = Run(std::to_string(micro_batch), 1);
  run.platform = "a100-sxm4-80g";
  run.config.micro_batch = micro_batch;
  return run;
}

TEST_CASE("what becomes of a question depends on the simulator's status") {
  Measurements measurements;
  for (int64_t i = 1; i <= 5; ++i) measurements.runs.push_back(Question(i));
  MeasuredRun elsewhere = Question(1);
  elsewhere.platform = "no-such-platform";
  measurements.runs.push_back(elsewhere);
  const Scripted simulator;
  const auto sheet = Ask(simulator, measurements, Embedded());
  REQUIRE(sheet.status() == absl::OkStatus());
  CHECK(sheet->simulator == "scripted");
  const auto& answers = sheet->runs;
  CHECK(answers[0].status == AnswerStatus::kAnswered);
  CHECK(answers[0].iteration_time_s == 2);
  CHECK(answers[0].notes == "one; two");
  CHECK(answers[1].status == AnswerStatus::kRefused);
  CHECK(answers[1].notes == "no such thing");
  CHECK(answers[2].status == AnswerStatus::kFailed);
  CHECK(answers[3].status == AnswerStatus::kTimedOut);
  CHECK(answers[4].status == AnswerStatus::kFailed);
  CHECK(std::isnan(answers[4].iteration_time_s));
  CHECK(answers[5].status == AnswerStatus::kRefused);
  CHECK_THAT(answers[5].notes, Catch::Contains("no-such-platform"));
}

TEST_CASE("the system asked about has the devices and nodes of the run") {
  Measurements measurements;
  measurements.runs = {Question(1)};
  measurements.runs[0].devices = 12;
  measurements.runs[0].devices_per_node = 4;
  const Scripted simulator;
  REQUIRE(Ask(simulator, measurements, Embedded()).ok());
  CHECK(simulator.devices == 12);
  CHECK(simulator.node == 4);
}

TEST_CASE("only selected runs are asked about, and those that calibrate") {
  Measurements measurements;
  measurements.runs = {Question(1), Question(1), Question(1), Question(1)};
  measurements.runs[1].split = "fit";
  measurements.runs[2].split = "fit";
  measurements.runs[2].platform = "h100-sxm5-80g";
  measurements.runs[3].split = "mine";
  AskOptions options;
  const Scripted simulator;
  const auto sheet = Ask(simulator, measurements, Embedded(), options);
  REQUIRE(sheet.status() == absl::OkStatus());
  CHECK(sheet->runs[0].status == AnswerStatus::kAnswered);
  CHECK(sheet->runs[1].status == AnswerStatus::kAnswered);
  CHECK(sheet->runs[2].status == AnswerStatus::kMissing);
  CHECK(sheet->runs[3].status == AnswerStatus::kMissing);
  options.calibration_runs = false;
  CHECK(Ask(simulator, measurements, Embedded(), options)->runs[1].status ==
        AnswerStatus::kMissing);
}

TEST_CASE("progress counts every answer and can stop the asking") {
  Measurements measurements;
  for (int i = 0; i < 10; ++i) measurements.runs.push_back(Question(1));
  AskOptions options;
  size_t calls = 0;
  options.progress = [&](size_t asked, size_t total) {
    ++calls;
    CHECK(asked == calls);
    CHECK(total == 10);
    return calls < 4;
  };
  const Scripted simulator;
  const auto sheet = Ask(simulator, measurements, Embedded(), options);
  CHECK(sheet.status().code() == absl::StatusCode::kCancelled);
  CHECK(simulator.questions == 4);
}

TEST_CASE("several threads give the same answers") {
  Measurements measurements;
  for (int i = 0; i < 200; ++i) {
    measurements.runs.push_back(Question(2 + i % 4));
  }
  const Scripted simulator;
  AskOptions options;
  const auto one = Ask(simulator, measurements, Embedded(), options);
  options.threads = 4;
  const auto four = Ask(simulator, measurements, Embedded(), options);
  REQUIRE(four.status() == absl::OkStatus());
  for (size_t i = 0; i < 200; ++i) {
    CHECK(four->runs[i].status == one->runs[i].status);
    CHECK(four->runs[i].notes == one->runs[i].notes);
  }
  options.threads = 0;
  CHECK(Ask(simulator, measurements, Embedded(), options).status().code() ==
        absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace lmsimbench
