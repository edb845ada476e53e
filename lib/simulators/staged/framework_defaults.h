#pragma once

#include "lmsimbench/parallel_config.h"
#include "lmsimbench/system.h"
#include "lmsimbench/workload.h"

/// \file
/// What a framework does where nobody says otherwise.

namespace lmsimbench::staged {

/// Defaults of a framework, by its documentation; what is not stated here it
/// leaves to its user.
struct FrameworkDefaults {
  /// How its name begins, in lower case.
  const char* begins;
  /// Activations are sharded along the sequence where there is tensor
  /// parallelism.
  YesNo sequence_parallel = YesNo::kNotStated;
  ZeroStage zero = ZeroStage::kNotStated;
  YesNo overlap_grad_reduce = YesNo::kNotStated;
  YesNo overlap_param_gather = YesNo::kNotStated;
  /// Of the interleaved schedule.
  YesNo overlap_p2p = YesNo::kNotStated;
  AttentionImpl attention = AttentionImpl::kNotStated;
  /// Matrix multiplications in fp8 where the device has them.
  bool fp8 = false;
  /// Pipelines are interleaved with one layer a chunk.
  bool chunks_of_one_layer = false;
  /// The same in words, for the answer.
  const char* words;
};

/// The defaults of the system's framework; null where none are known.
const FrameworkDefaults* DefaultsOf(const System& system);

/// True if a question leaves open what the defaults say.
bool LeavesOpen(const FrameworkDefaults& defaults, const System& system,
                const Workload& workload, const ParallelConfig& config);

/// Fills in what the question leaves open.
void Apply(const FrameworkDefaults& defaults, const System& system,
           Workload& workload, ParallelConfig& config);

}  // namespace lmsimbench::staged
