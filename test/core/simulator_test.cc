#include "lmsimbench/simulator.h"

#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <utility>

#include "absl/strings/match.h"

namespace lmsimbench {
namespace {

// Answers what the test puts in.
class Fixed : public Simulator {
 public:
  using Answer = std::function<absl::Status(Prediction&)>;
  explicit Fixed(Answer answer)
      : Simulator("fixed"), answer_(std::move(answer)) {}

 private:
  absl::Status DoPredict(const Workload&, const System&, const ParallelConfig&,
                         Workspace&, Prediction& prediction) const override {
    return answer_(prediction);
  }
  Answer answer_;
};

absl::StatusOr<Prediction> Ask(Fixed::Answer answer) {
  return Fixed(std::move(answer)).Predict({}, {}, {});
}

TEST_CASE("an answer comes through as it was given") {
  const auto prediction = Ask([](Prediction& p) {
    p.iteration_time_s = 2;
    p.time.forward_s = 0;
    return absl::OkStatus();
  });
  REQUIRE(prediction.ok());
  CHECK(prediction->iteration_time_s == 2);
  CHECK(prediction->time.forward_s == 0);
  CHECK_FALSE(IsStated(prediction->peak_memory_bytes));
}

TEST_CASE("one part is an answer, a verdict alone too") {
  CHECK(Ask([](Prediction& p) {
          p.verdict = Verdict::kDoesNotFit;
          return absl::OkStatus();
        }).ok());
  CHECK(Ask([](Prediction& p) {
          p.memory.weights_bytes = 1;
          return absl::OkStatus();
        }).ok());
}

TEST_CASE("an answer without any part is an error that names the simulator") {
  const auto prediction = Ask([](Prediction&) { return absl::OkStatus(); });
  CHECK(prediction.status().code() == absl::StatusCode::kInternal);
  CHECK(absl::StrContains(prediction.status().message(), "'fixed'"));
}

TEST_CASE("a negative or infinite number is an error that names the field") {
  for (double bad : {-1.0, std::numeric_limits<double>::infinity(),
                     -std::numeric_limits<double>::infinity()}) {
    const auto time = Ask([bad](Prediction& p) {
      p.iteration_time_s = bad;
      return absl::OkStatus();
    });
    CHECK(time.status().code() == absl::StatusCode::kInternal);
    CHECK(absl::StrContains(time.status().message(), "iteration_time_s"));

    const auto part = Ask([bad](Prediction& p) {
      p.iteration_time_s = 1;
      p.memory.buffers_bytes = bad;
      return absl::OkStatus();
    });
    CHECK(part.status().code() == absl::StatusCode::kInternal);
    CHECK(absl::StrContains(part.status().message(), "buffers_bytes"));
  }
}

TEST_CASE("an iteration that takes no time is an error, not a perfect one") {
  const auto prediction = Ask([](Prediction& p) {
    p.iteration_time_s = 0;
    return absl::OkStatus();
  });
  CHECK(prediction.status().code() == absl::StatusCode::kInternal);
  CHECK(absl::StrContains(prediction.status().message(), "time of 0"));
}

TEST_CASE("after an error the prediction is cleared") {
  const Fixed refuses([](Prediction& p) {
    p.iteration_time_s = 1;
    p.adaptations = {"half an answer"};
    return absl::UnimplementedError("no experts");
  });
  Workspace workspace;
  Prediction prediction;
  const absl::Status status =
      refuses.PredictInto({}, {}, {}, workspace, prediction);
  CHECK(absl::IsUnimplemented(status));
  CHECK(prediction == Prediction());
}

TEST_CASE("a simulator never sees what the last answer left") {
  const Fixed second([](Prediction& p) {
    const bool clean = p == Prediction();
    p.iteration_time_s = clean ? 1 : -1;
    return absl::OkStatus();
  });
  Workspace workspace;
  Prediction prediction;
  prediction.verdict_reason = "old";
  prediction.time.bubble_s = 3;
  CHECK(second.PredictInto({}, {}, {}, workspace, prediction).ok());
}

TEST_CASE("clearing keeps what is allocated") {
  Prediction prediction;
  prediction.verdict_reason.assign(1000, 'x');
  prediction.adaptations.resize(10);
  const size_t text = prediction.verdict_reason.capacity();
  const size_t list = prediction.adaptations.capacity();
  prediction.Clear();
  CHECK(prediction == Prediction());
  CHECK(prediction.verdict_reason.capacity() == text);
  CHECK(prediction.adaptations.capacity() == list);
}

TEST_CASE(
    "what a simulator cannot express, misses or finds illegal is refused;"
    " everything else has failed") {
  CHECK(IsRefusal(absl::UnimplementedError("")));
  CHECK(IsRefusal(absl::FailedPreconditionError("")));
  CHECK(IsRefusal(absl::InvalidArgumentError("")));
  CHECK_FALSE(IsRefusal(absl::OkStatus()));
  CHECK_FALSE(IsRefusal(absl::InternalError("")));
  CHECK_FALSE(IsRefusal(absl::ResourceExhaustedError("")));
  CHECK_FALSE(IsRefusal(absl::CancelledError("")));
}

TEST_CASE("a workspace keeps one state of each type") {
  Workspace workspace;
  workspace.Get<int>() = 7;
  workspace.Get<double>() = 1.5;
  CHECK(workspace.Get<int>() == 7);
  CHECK(workspace.Get<double>() == 1.5);
}

}  // namespace
}  // namespace lmsimbench
