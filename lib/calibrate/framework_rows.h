#pragma once

#include "absl/status/statusor.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/cost_model.h"
#include "lmsimbench/costed_graph.h"
#include "lmsimbench/measured_run.h"
#include "lmsimbench/system.h"

namespace lmsimbench::calibrate {

/// A run with what its operators and collectives cost on the device alone.
struct CostedRun {
  const MeasuredRun* run = nullptr;
  System system;
  CostedGraph costed;
};

/// Runs the first four stages as `staged` runs them. Refusals as there.
absl::StatusOr<CostedRun> CostRun(const MeasuredRun& run, const Bundle& bundle,
                                  const CostModel& device);

}  // namespace lmsimbench::calibrate
