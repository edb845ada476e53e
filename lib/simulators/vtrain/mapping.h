#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lib/simulators/vtrain/config.h"
#include "lib/simulators/vtrain/plan.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/system.h"
#include "lmsimbench/workload.h"

namespace lmsimbench::vtrain {

/// Maps a question to a configuration of vTrain, not resolved, and what it
/// states beyond one; the cost model of `options` is kept. Appends what was
/// changed in the question. UNIMPLEMENTED for what vTrain cannot express,
/// FAILED_PRECONDITION for what is missing, INVALID_ARGUMENT for what cannot
/// be.
absl::Status MapQuestion(const Workload& workload, const System& system,
                         const ParallelConfig& question,
                         const VtrainRepairs& repairs, Config& config,
                         PlanOptions& options,
                         std::vector<std::string>& adaptations);

}  // namespace lmsimbench::vtrain
