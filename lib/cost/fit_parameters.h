#pragma once

#include <vector>

#include "lib/cost/measured_kernels.h"
#include "lmsimbench/cost_models.h"

/// \file
/// Parameters of the formulas from the `fit` kernels of each platform.
///
/// Each share is the median over kernels that are bound by nothing else: what
/// the kernel reached of the published figure, after the launch and what the
/// formula already says about its size. What a platform has too few kernels for
/// keeps its default. No iteration is looked at. The share of the memory
/// bandwidth is not fitted: measured elementwise kernels reach from a third of
/// it to all, by kind, so those of one kind say nothing of another.

namespace lmsimbench {

std::vector<FittedOn<RooflineParameters>> FitRoofline(
    const MeasuredKernels& kernels, const RooflineParameters& defaults);

std::vector<FittedOn<CollectiveParameters>> FitCollectives(
    const MeasuredKernels& kernels, const CollectiveParameters& defaults);

}  // namespace lmsimbench
