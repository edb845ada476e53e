#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/workload.h"

namespace lmsimbench::compile {

/// UNIMPLEMENTED names what `Compile` does not model.
absl::Status CheckModelled(const Workload& workload,
                           const ParallelConfig& config);

/// True if the model has layers with a dense MLP.
bool NeedsDenseMlp(const ModelSpec& model);

/// FAILED_PRECONDITION names a figure that `Compile` needs and that is not
/// stated, or one that is stated without what it belongs to.
absl::Status CheckStated(const Workload& workload,
                         const ParallelConfig& config);

/// OUT_OF_RANGE unless parameters and bytes are whole numbers whose sums are
/// exact: no tensor of a layer, nor the weights of all layers, may come near
/// 2^53. `flash`: scores are not stored.
absl::Status CheckRange(const Workload& workload, const ParallelConfig& config,
                        bool flash);

/// Bytes of a number in which gradients are kept; 0 if the format is not
/// stated, `kNotModelled` if nobody accumulates in it.
inline constexpr int64_t kNotModelled = -1;
int64_t GradientBytes(Precision precision);

}  // namespace lmsimbench::compile
