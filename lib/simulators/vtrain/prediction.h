#pragma once

#include "lib/simulators/vtrain/kernel_source.h"
#include "lib/simulators/vtrain/outputs.h"
#include "lib/simulators/vtrain/plan.h"
#include "lmsimbench/prediction.h"

namespace lmsimbench::vtrain {

/// Tells the outputs of vTrain in the library's words. The parts of the time
/// are those of the rank that ends last; gaps between kernels count as
/// computing, as a device that waits for its host does. Memory is not answered.
void FillPrediction(const Plan& plan, const SourcedKernels& kernels,
                    const FoldedTable& folded, const Outputs& outputs,
                    Prediction& prediction);

}  // namespace lmsimbench::vtrain
