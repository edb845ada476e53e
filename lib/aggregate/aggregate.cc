#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "lib/aggregate/account.h"
#include "lib/aggregate/fold.h"
#include "lib/aggregate/memory.h"
#include "lib/aggregate/simulate.h"
#include "lib/aggregate/totals.h"
#include "lmsimbench/pipeline.h"

namespace lmsimbench {
namespace {

// What an aggregation reuses of the one before it.
struct State {
  aggregate::Folds folds;
  aggregate::IterationTimes times;
  aggregate::RankRuns runs;
};

void FillRank(const aggregate::ClassAccount& account,
              const aggregate::ClassMemory& memory, const RankClass& rank_class,
              RankPrediction& rank) {
  rank.pipeline_rank = rank_class.pipeline_rank;
  rank.ranks = rank_class.ranks;
  rank.compute_s = account.compute;
  rank.exposed_communication_s = account.exposed();
  rank.overlapped_communication_s = account.overlapped;
  rank.bubble_s = account.bubble;
  rank.idle_s = account.idle;
  rank.peak_memory_bytes = static_cast<double>(memory.peak_bytes);
  rank.peak_time_s = memory.peak_time;
  rank.memory = memory.parts;
}

// The iteration as the rank that works longest sees it.
void FillTime(const aggregate::ClassAccount& account,
              const aggregate::ClassSums& sums, TimeParts& time) {
  time.forward_s = sums.forward;
  time.backward_s = sums.backward;
  time.recompute_s = account.recomputed;
  time.optimizer_s = sums.optimizer;
  time.offload_s = sums.host_copies;
  time.tensor_communication_s = account.exposed_tensor;
  time.pipeline_communication_s = account.exposed_pipeline;
  time.data_communication_s = account.exposed_data;
  time.bubble_s = account.bubble + account.idle;
  time.other_s = account.delay;
}

void FillEvidence(const aggregate::ClassSums& sums, EvidenceShares& shares) {
  double all = 0;
  for (const double seconds : sums.by_evidence) all += seconds;
  const auto share = [&](Evidence evidence) {
    const double seconds = sums.by_evidence[static_cast<size_t>(evidence)];
    return all > 0 ? seconds / all : kNoNumber;
  };
  shares.measured = share(Evidence::kMeasured);
  shares.interpolated = share(Evidence::kInterpolated);
  shares.extrapolated = share(Evidence::kExtrapolated);
  shares.analytic = share(Evidence::kAnalytic);
}

void Judge(const System& system, Prediction& prediction) {
  const double capacity = system.accelerator.memory_bytes;
  if (!IsStated(capacity)) return;
  prediction.memory_margin_bytes = capacity - prediction.peak_memory_bytes;
  prediction.verdict = prediction.memory_margin_bytes >= 0
                           ? Verdict::kFits
                           : Verdict::kDoesNotFit;
  if (prediction.verdict == Verdict::kFits) return;
  constexpr double kGiB = 1 << 30;
  const auto largest =
      std::max_element(prediction.ranks.begin(), prediction.ranks.end(),
                       [](const RankPrediction& a, const RankPrediction& b) {
                         return a.peak_memory_bytes < b.peak_memory_bytes;
                       });
  fmt::format_to(
      std::back_inserter(prediction.verdict_reason),
      "pipeline rank {} needs {:.2f} GiB, {:.2f} GiB more than the {:.2f} GiB "
      "of a device",
      largest->pipeline_rank, prediction.peak_memory_bytes / kGiB,
      -prediction.memory_margin_bytes / kGiB, capacity / kGiB);
}

}  // namespace

absl::Status AggregateInto(const CostedGraph& costed, const System& system,
                           Workspace& workspace, Prediction& prediction) {
  prediction.Clear();
  State& state = workspace.Get<State>();
  aggregate::Fold(costed, state.folds);
  absl::Status status = aggregate::Simulate(costed, state.folds, state.times);
  if (!status.ok()) return status;

  prediction.iteration_time_s = state.times.iteration_time;
  prediction.peak_memory_bytes = 0;
  const auto& classes = costed.graph.placement.classes;
  prediction.ranks.resize(classes.size());
  double longest_work = -1;
  for (size_t c = 0; c < classes.size(); ++c) {
    const auto rank_class = static_cast<int64_t>(c);
    const aggregate::ClassAccount account =
        aggregate::AccountClass(costed, state.folds, state.times, rank_class);
    const aggregate::ClassMemory memory =
        aggregate::MeasureMemory(costed, state.folds, state.times, rank_class);
    aggregate::CountRuns(costed.graph, classes[c].pipeline_rank, state.runs);
    const aggregate::ClassSums sums =
        aggregate::AppendTotals(costed, rank_class, state.runs, prediction);
    FillRank(account, memory, classes[c], prediction.ranks[c]);
    const auto peak = static_cast<double>(memory.peak_bytes);
    if (peak > prediction.peak_memory_bytes) {
      prediction.peak_memory_bytes = peak;
      prediction.memory = memory.parts;
    }
    const double work = account.compute + account.exposed();
    if (work > longest_work) {
      longest_work = work;
      FillTime(account, sums, prediction.time);
      FillEvidence(sums, prediction.evidence);
    }
  }
  Judge(system, prediction);
  return absl::OkStatus();
}

absl::StatusOr<Prediction> Aggregate(const CostedGraph& costed,
                                     const System& system) {
  Workspace workspace;
  Prediction prediction;
  absl::Status status = AggregateInto(costed, system, workspace, prediction);
  if (!status.ok()) return status;
  return prediction;
}

}  // namespace lmsimbench
