#pragma once

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lib/calibrate/framework_constants.h"
#include "lib/calibrate/framework_rows.h"
#include "lmsimbench/framework.h"
#include "lmsimbench/prediction.h"
#include "lmsimbench/workspace.h"

/// \file
/// What the staged simulator says of the same runs again and again, with other
/// constants each time.

namespace lmsimbench::calibrate {

/// Measured iteration time or peak memory of a run.
double MeasuredOf(Target target, const MeasuredRun& run);

/// exp(mean |residual|) - 1 in percent; missing for none.
double ErrorPercent(absl::Span<const double> residuals);

/// Iteration times, or peaks of memory, of runs. A run whose costs are those of
/// its last anchor is not simulated again.
class RunPredictions {
 public:
  /// Those of `runs` that state the target. `threads` is at least 1, and
  /// decides nothing but how long it takes.
  RunPredictions(Target target, absl::Span<const CostedRun* const> runs,
                 int threads);

  size_t size() const { return slots_.size(); }
  const MeasuredRun& run(size_t i) const { return *slots_[i].run->run; }
  /// Devices of the runs, in the order of their names.
  const std::vector<std::string>& accelerators() const { return accelerators_; }

  /// Writes ln(predicted / measured) of every run. `parameters_on` gives the
  /// parameters on a device. With `is_anchor` what is predicted stays, for
  /// calls with parameters that change the costs of few runs.
  absl::Status Residuals(
      absl::FunctionRef<FrameworkParameters(const std::string&)> parameters_on,
      bool is_anchor, absl::Span<double> residuals);

 private:
  // A run with the costs of its anchor.
  struct Slot {
    const CostedRun* run = nullptr;
    size_t accelerator = 0;
    CostedGraph costed;
    bool has_anchor = false;
    FrameworkParameters parameters;
    double predicted = 0;
  };
  // What a thread needs.
  struct Scratch {
    std::vector<Cost> operators;
    std::vector<Cost> collectives;
    Program program;
    Workspace workspace;
    Prediction prediction;
  };

  absl::Status Predict(const FrameworkParameters& parameters, bool is_anchor,
                       Slot& slot, Scratch& scratch, double& predicted) const;
  absl::Status PredictTime(const FrameworkParameters& parameters,
                           bool is_anchor, Slot& slot, Scratch& scratch,
                           double& predicted) const;
  absl::Status PredictPeak(const FrameworkParameters& parameters, Slot& slot,
                           Scratch& scratch, double& predicted) const;

  const Target target_;
  std::vector<std::string> accelerators_;
  std::vector<Slot> slots_;
  std::vector<Scratch> scratch_;
};

}  // namespace lmsimbench::calibrate
