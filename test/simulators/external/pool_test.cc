#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "lmsimbench/answer_sheet.h"
#include "lmsimbench/score.h"
#include "test/simulators/external/programs.h"

namespace lmsimbench {
namespace {

using Catch::Contains;

struct Measured {
  Bundle bundle;
  Measurements measurements;

  static Measured Embedded() {
    auto bundle = Bundle::Embedded();
    REQUIRE(bundle.ok());
    auto measurements = ReadMeasurements(*bundle);
    REQUIRE(measurements.ok());
    return {*std::move(bundle), *std::move(measurements)};
  }

  /// What the simulator says of one source.
  AnswerSheet Ask(const Simulator& simulator, int threads) const {
    AskOptions options;
    options.selection.source = "vtrain";
    options.calibration_runs = false;
    options.threads = threads;
    auto sheet = lmsimbench::Ask(simulator, measurements, bundle, options);
    REQUIRE(sheet.status() == absl::OkStatus());
    return *std::move(sheet);
  }
};

int64_t Count(const AnswerSheet& sheet, AnswerStatus status) {
  const auto has = [status](const Answer& answer) {
    return answer.status == status;
  };
  return std::count_if(sheet.runs.begin(), sheet.runs.end(), has) +
         std::count_if(sheet.failed_runs.begin(), sheet.failed_runs.end(), has);
}

TEST_CASE(
    "a program that crashes on every tenth question is scored all the "
    "same") {
  const Measured measured = Measured::Embedded();
  for (const int processes : {1, 3}) {
    ExternalOptions options = Faulty("crash at every tenth");
    options.restarts = 1000;
    options.processes = processes;
    const auto simulator = Make(options);
    const AnswerSheet sheet = measured.Ask(*simulator, processes);
    const ExternalStatistics statistics = simulator->Statistics();
    const int64_t failed = Count(sheet, AnswerStatus::kFailed);
    const int64_t answered = Count(sheet, AnswerStatus::kAnswered);
    CHECK(statistics.questions == failed + answered);
    CHECK(failed == statistics.questions / 10);
    CHECK(failed > 0);
    CHECK(statistics.crashes == failed);
    CHECK(statistics.restarts <= failed);
    CHECK(statistics.starts <= failed + processes);

    ScoreOptions score;
    score.selection.source = "vtrain";
    CHECK(Score(measured.measurements, {sheet}, score).status() ==
          absl::OkStatus());
  }
}

TEST_CASE("questions that hang are timed out and the others answered") {
  const Measured measured = Measured::Embedded();
  ExternalOptions options = Faulty("hang at every tenth");
  options.timeout_s = 2;
  options.restarts = 1;
  const auto simulator = Make(options);
  const AnswerSheet sheet = measured.Ask(*simulator, 1);
  // The first ten and the next ten have a process each; then there is none.
  CHECK(Count(sheet, AnswerStatus::kAnswered) == 18);
  CHECK(Count(sheet, AnswerStatus::kTimedOut) == 2);
  CHECK(simulator->Statistics().timeouts == 2);
  CHECK(simulator->Statistics().not_asked ==
        Count(sheet, AnswerStatus::kFailed));
}

TEST_CASE("restarts are bounded, and the last loss is remembered") {
  ExternalOptions options = Faulty("exit");
  options.restarts = 2;
  const auto simulator = Make(options);
  for (int i = 0; i < 3; ++i) {
    CHECK_THAT(std::string(AskAnything(*simulator).status().message()),
               Catch::StartsWith("the process of 'mine' ended with exit code"));
  }
  for (int i = 0; i < 2; ++i) {
    const absl::Status status = AskAnything(*simulator).status();
    CHECK(absl::IsUnavailable(status));
    CHECK_THAT(std::string(status.message()),
               Contains("'mine' is asked no more: 2 restarts are used up; the "
                        "last time, the process of 'mine' ended with exit code "
                        "3"));
  }
  const ExternalStatistics statistics = simulator->Statistics();
  CHECK(statistics.starts == 3);
  CHECK(statistics.restarts == 2);
  CHECK(statistics.questions == 3);
  CHECK(statistics.crashes == 3);
  CHECK(statistics.not_asked == 2);
}

TEST_CASE("a process that was never started is no restart") {
  ExternalOptions options = Faulty("exit");
  options.restarts = 0;
  options.processes = 2;
  const auto simulator = Make(options);
  for (int i = 0; i < 3; ++i) CHECK_FALSE(AskAnything(*simulator).ok());
  CHECK(simulator->Statistics().starts == 2);
  CHECK(simulator->Statistics().restarts == 0);
  CHECK(simulator->Statistics().not_asked == 1);
}

TEST_CASE("several threads share the processes, and no two get one answer") {
  for (const int processes : {1, 3}) {
    ExternalOptions options = Faulty("right");
    options.processes = processes;
    const auto simulator = Make(options);
    constexpr int kThreads = 4;
    constexpr int kQuestions = 50;
    // Each question is answered with its number.
    std::vector<std::atomic<int>> answers(kThreads * kQuestions + 1);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kQuestions; ++i) {
          const auto prediction = AskAnything(*simulator);
          if (prediction.ok()) {
            ++answers.at(static_cast<size_t>(prediction->iteration_time_s));
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(std::all_of(answers.begin() + 1, answers.end(),
                      [](const auto& times) { return times == 1; }));
    CHECK(simulator->Statistics().starts <= processes);
    CHECK(simulator->Statistics().questions == kThreads * kQuestions);
  }
}

TEST_CASE("threads that wait for a process learn that there is none any more") {
  ExternalOptions options = Faulty("exit");
  options.restarts = 1;
  const auto simulator = Make(options);
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] { failed += !AskAnything(*simulator).ok(); });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 8);
  CHECK(simulator->Statistics().not_asked == 6);
}

}  // namespace
}  // namespace lmsimbench
