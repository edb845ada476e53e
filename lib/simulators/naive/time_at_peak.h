#pragma once

#include "absl/status/statusor.h"
#include "lmsimbench/naive.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/system.h"
#include "lmsimbench/workload.h"

namespace lmsimbench::naive {

/// Share of time in which a pipeline is full: m v / (m v + p - 1) for p stages
/// of v virtual ones and m micro-batches; 1 without a pipeline. Virtual stages
/// that are not stated are one. INVALID_ARGUMENT if the batch leaves no
/// micro-batch, FAILED_PRECONDITION if it is not known how many there are.
absl::StatusOr<double> PipelineEfficiency(const Workload& workload,
                                          const ParallelConfig& config);

/// Seconds of one iteration if the devices ran at their peak all the time (but
/// for the bubble, for `kBubble`). The measured time is this over the
/// utilisation. Operations: `CountFlopsPerToken`, causal.
absl::StatusOr<double> TimeAtPeak(NaiveKind kind, const Workload& workload,
                                  const System& system,
                                  const ParallelConfig& config);

}  // namespace lmsimbench::naive
