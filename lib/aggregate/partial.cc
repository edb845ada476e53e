#include "lib/aggregate/partial.h"

#include <algorithm>

#include "lib/aggregate/fold.h"
#include "lib/aggregate/memory.h"
#include "lib/aggregate/simulate.h"

namespace lmsimbench::aggregate {
namespace {

// What an answer reuses of the one before it.
struct State {
  Folds folds;
  IterationTimes times;
};

}  // namespace

absl::StatusOr<double> IterationTime(const CostedGraph& costed,
                                     Workspace& workspace) {
  State& state = workspace.Get<State>();
  Fold(costed, state.folds);
  const absl::Status status = Simulate(costed, state.folds, state.times);
  if (!status.ok()) return status;
  return state.times.iteration_time;
}

void PredictPeaks(const CostedGraph& costed, Workspace& workspace,
                  Prediction& prediction) {
  State& state = workspace.Get<State>();
  Fold(costed, state.folds);
  const auto& classes = costed.graph.placement.classes;
  prediction.Clear();
  prediction.ranks.resize(classes.size());
  prediction.peak_memory_bytes = 0;
  for (size_t c = 0; c < classes.size(); ++c) {
    RankPrediction& rank = prediction.ranks[c];
    rank.pipeline_rank = classes[c].pipeline_rank;
    rank.peak_memory_bytes = static_cast<double>(
        PeakOfClass(costed, state.folds, SteadyState(), static_cast<int64_t>(c))
            .bytes);
    prediction.peak_memory_bytes =
        std::max(prediction.peak_memory_bytes, rank.peak_memory_bytes);
  }
}

}  // namespace lmsimbench::aggregate
