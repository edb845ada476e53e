#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/prediction.h"
#include "lmsimbench/system.h"
#include "lmsimbench/workload.h"
#include "lmsimbench/workspace.h"

namespace lmsimbench {

/// A simulator: maps (workload, system, configuration) to a `Prediction`. Meant
/// to be derived from.
///
/// Const methods may be called by several threads at once, each with its own
/// workspace.
///
/// Where a simulator gives no answer it says so with a status:
/// - it *refuses*, with a reason, what it cannot express (`kUnimplemented`),
/// what needs a figure that is missing
///   (`kFailedPrecondition`) and what no framework could run
///   (`kInvalidArgument`);
/// - every other code means that it *failed*.
class Simulator {
 public:
  virtual ~Simulator() = default;

  /// Name under which it is scored; unique among the simulators of a scorecard.
  const std::string& name() const { return name_; }

  /// Predicts one configuration. Checks the answer: a time or memory that is
  /// negative or infinite, an iteration time of 0, or an answer without any
  /// part, is `kInternal` naming the simulator and the number.
  absl::StatusOr<Prediction> Predict(const Workload& workload,
                                     const System& system,
                                     const ParallelConfig& config) const;

  /// As `Predict`, reusing what `workspace` and `prediction` have allocated.
  /// After an error `prediction` is cleared.
  absl::Status PredictInto(const Workload& workload, const System& system,
                           const ParallelConfig& config, Workspace& workspace,
                           Prediction& prediction) const;

 protected:
  explicit Simulator(std::string name) : name_(std::move(name)) {}
  Simulator(const Simulator&) = default;

 private:
  /// Fills `prediction`, which arrives cleared.
  virtual absl::Status DoPredict(const Workload& workload, const System& system,
                                 const ParallelConfig& config,
                                 Workspace& workspace,
                                 Prediction& prediction) const = 0;

  std::string name_;
};

/// True if the status of a simulator is a refusal with a reason rather than a
/// failure.
bool IsRefusal(const absl::Status& status);

}  // namespace lmsimbench
