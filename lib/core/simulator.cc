#include "lmsimbench/simulator.h"

#include <cmath>
#include <type_traits>

#include "fmt/format.h"

namespace lmsimbench {
namespace {

// What an answer holds, found by walking every field.
struct AnswerCheck {
  /// The one number that may be negative: what does not fit has a margin below
  /// 0.
  const double* margin = nullptr;
  bool answered = false;
  const char* bad_field = nullptr;
  double bad_number = 0;

  template <typename Field>
  void operator()(const char* name, const Field& field) {
    if constexpr (std::is_same_v<Field, double>) {
      if (!IsStated(field)) return;
      answered = true;
      if (((field < 0 && &field != margin) || std::isinf(field)) &&
          bad_field == nullptr) {
        bad_field = name;
        bad_number = field;
      }
    } else if constexpr (std::is_same_v<Field, TimeParts> ||
                         std::is_same_v<Field, MemoryParts>) {
      Field::VisitFields(*this, field);
    } else if constexpr (std::is_same_v<Field, Verdict>) {
      answered = answered || field != Verdict::kNotAnswered;
    }
  }
};

absl::Status CheckAnswer(const std::string& simulator,
                         const Prediction& prediction) {
  AnswerCheck check;
  check.margin = &prediction.memory_margin_bytes;
  Prediction::VisitFields(check, prediction);
  if (check.bad_field != nullptr) {
    return absl::InternalError(
        fmt::format("simulator '{}' answered {} = {}; a time or memory is "
                    "neither negative nor infinite",
                    simulator, check.bad_field, check.bad_number));
  }
  if (prediction.iteration_time_s == 0) {
    return absl::InternalError(fmt::format(
        "simulator '{}' answered an iteration time of 0", simulator));
  }
  if (!check.answered) {
    return absl::InternalError(fmt::format(
        "simulator '{}' answered without time, memory or verdict", simulator));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Prediction> Simulator::Predict(
    const Workload& workload, const System& system,
    const ParallelConfig& config) const {
  Workspace workspace;
  Prediction prediction;
  absl::Status status =
      PredictInto(workload, system, config, workspace, prediction);
  if (!status.ok()) return status;
  return prediction;
}

absl::Status Simulator::PredictInto(const Workload& workload,
                                    const System& system,
                                    const ParallelConfig& config,
                                    Workspace& workspace,
                                    Prediction& prediction) const {
  prediction.Clear();
  absl::Status status =
      DoPredict(workload, system, config, workspace, prediction);
  if (status.ok()) status = CheckAnswer(name_, prediction);
  if (!status.ok()) prediction.Clear();
  return status;
}

bool IsRefusal(const absl::Status& status) {
  return absl::IsUnimplemented(status) || absl::IsFailedPrecondition(status) ||
         absl::IsInvalidArgument(status);
}

}  // namespace lmsimbench
