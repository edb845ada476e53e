#pragma once

#include "absl/status/status.h"
#include "lib/compile/sizes.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/workload.h"

/// \file
/// Choices of the parts of a layer, for `MakeSizes`. Each sets its part of
/// `sizes`, from what stands there already.

namespace lmsimbench::compile {

inline void Assume(Sizes& sizes, Assumption assumption) {
  sizes.assumptions |= uint32_t{1} << static_cast<int>(assumption);
}

/// Heads and their widths on one of `tp` ranks, of which `sizes.heads` are
/// query heads.
void ChooseHeads(const ModelSpec& model, int64_t tp, Sizes& sizes);

/// Inner width of the MLP of layers without experts.
int64_t DenseWidth(const ModelSpec& model, Sizes& sizes);

/// How the parts of a sequence meet. UNIMPLEMENTED names what cannot be
/// divided so.
absl::Status ChooseContext(const ParallelConfig& config, Sizes& sizes);

/// Experts of a device, of a model that has some.
void ChooseExperts(const Workload& workload, const ParallelConfig& config,
                   Sizes& sizes);

}  // namespace lmsimbench::compile
