#pragma once

#include "absl/status/statusor.h"
#include "lmsimbench/costed_graph.h"
#include "lmsimbench/prediction.h"
#include "lmsimbench/workspace.h"

/// \file
/// Single answers of `Aggregate`, for who asks so often that the others would
/// take most of the time.

namespace lmsimbench::aggregate {

/// `Prediction::iteration_time_s`.
absl::StatusOr<double> IterationTime(const CostedGraph& costed,
                                     Workspace& workspace);

/// Of a prediction the peak, and for every rank class its peak and its place in
/// the pipeline.
void PredictPeaks(const CostedGraph& costed, Workspace& workspace,
                  Prediction& prediction);

}  // namespace lmsimbench::aggregate
