#include "lib/aggregate/totals.h"

#include "absl/types/span.h"
#include "lib/aggregate/simulate.h"

namespace lmsimbench::aggregate {
namespace {

void CountSteps(absl::Span<const Step> steps, int64_t times, RankRuns& runs) {
  for (const Step& step : steps) {
    if (step.is_collective) {
      runs.collectives[step.id] += times;
      continue;
    }
    runs.operators[step.id] += times;
    if (step.recomputed) runs.recomputed[step.id] += times;
  }
}

void Count(int32_t collective, int64_t times, RankRuns& runs) {
  if (collective >= 0) runs.collectives[collective] += times;
}

void CountUnits(const ExecutionGraph& graph, const PlacedChunk& placed,
                RankRuns& runs) {
  if (graph.units.empty()) return;
  const Program& program = graph.program;
  for (const BlockRun& run : Runs(program, program.chunks[placed.kind])) {
    const Unit& unit = graph.units[run.block];
    const int64_t times = program.micro_batches * run.count;
    const int64_t gathers = unit.is_gathered_again ? 2 * times : times;
    Count(unit.gather, gathers, runs);
    Count(unit.gather_experts, gathers, runs);
    Count(unit.reduce, times, runs);
    Count(unit.reduce_replicas, times, runs);
    Count(unit.reduce_experts, times, runs);
  }
}

void CountChunk(const ExecutionGraph& graph, int64_t rank, int32_t chunk,
                RankRuns& runs) {
  const Program& program = graph.program;
  const PlacedChunk& placed =
      graph.chunks[rank * graph.chunks_per_rank + chunk];
  const int64_t micro_batches =
      EndMicroBatch(graph, chunk) - FirstMicroBatch(graph, chunk);
  for (const BlockRun& run : Runs(program, program.chunks[placed.kind])) {
    const Block& block = program.blocks[run.block];
    const int64_t times = micro_batches * run.count;
    CountSteps(ForwardSteps(program, block), times, runs);
    CountSteps(BackwardSteps(program, block), times, runs);
    CountSteps(WeightSteps(program, block), times, runs);
  }
  const int64_t reductions = graph.reduces_every_backward ? micro_batches : 1;
  for (int32_t b = placed.begin_bucket; b < placed.end_bucket; ++b) {
    Count(graph.buckets[b].reduce, reductions, runs);
    Count(graph.buckets[b].reduce_replicas, reductions, runs);
    Count(graph.buckets[b].gather, 1, runs);
  }
  CountUnits(graph, placed, runs);
  for (const Direction direction :
       {Direction::kForward, Direction::kBackward}) {
    const lower::Way way = lower::OutputWay(graph, rank, chunk, direction);
    if (way == lower::Way::kToNext) runs.sent_to_next += micro_batches;
    if (way == lower::Way::kToPrevious) runs.sent_to_previous += micro_batches;
  }
}

// Calls `visit` with the number of each bit that is set, in ascending order.
template <typename Visit>
void VisitBits(uint64_t bits, Visit&& visit) {
  for (; bits != 0; bits &= bits - 1) visit(__builtin_ctzll(bits));
}

struct Sum {
  int64_t runs = 0;
  double seconds = 0;
};

void AddRuns(int64_t runs, const Cost& cost, Sum& sum, ClassSums& sums) {
  const double seconds = static_cast<double>(runs) * cost.seconds;
  sum.runs += runs;
  sum.seconds += seconds;
  sums.by_evidence[static_cast<size_t>(cost.evidence)] += seconds;
}

void AppendOperators(const CostedGraph& costed, int64_t rank_class,
                     const RankRuns& runs, Prediction& prediction,
                     ClassSums& sums) {
  static_assert(kOperatorKinds <= 64);
  Sum by_kind[kOperatorKinds][kOperatorPasses];
  uint64_t kinds = 0;
  const std::vector<Operator>& operators = costed.graph.program.operators;
  for (size_t i = 0; i < operators.size(); ++i) {
    if (runs.operators[i] == 0) continue;
    const Operator& op = operators[i];
    kinds |= uint64_t{1} << static_cast<int>(op.kind);
    AddRuns(runs.operators[i], costed.operators[i],
            by_kind[static_cast<int>(op.kind)][static_cast<int>(op.pass)],
            sums);
    const double seconds =
        static_cast<double>(runs.operators[i] - runs.recomputed[i]) *
        costed.operators[i].seconds;
    if (op.pass == OperatorPass::kForward) {
      sums.forward += seconds;
    } else if (op.kind == OperatorKind::kHostCopy) {
      sums.host_copies =
          (IsStated(sums.host_copies) ? sums.host_copies : 0) + seconds;
    } else if (op.pass == OperatorPass::kOptimizer) {
      sums.optimizer += seconds;
    } else {
      sums.backward += seconds;
    }
  }
  VisitBits(kinds, [&](int kind) {
    for (int pass = 0; pass < kOperatorPasses; ++pass) {
      const Sum& sum = by_kind[kind][pass];
      if (sum.runs == 0) continue;
      prediction.operators.push_back(
          {rank_class, static_cast<OperatorKind>(kind),
           static_cast<OperatorPass>(pass), sum.runs, sum.seconds});
    }
  });
}

void AppendCollectives(const CostedGraph& costed, int64_t rank_class,
                       const RankRuns& runs, Prediction& prediction,
                       ClassSums& sums) {
  static_assert(kGroups <= 64);
  Sum by_kind[kCollectiveKinds][kGroups];
  uint64_t groups[kCollectiveKinds] = {};
  const ExecutionGraph& graph = costed.graph;
  const auto add = [&](int32_t collective, int64_t of_class, int64_t count) {
    const Collective& c = graph.collectives[collective];
    groups[static_cast<int>(c.kind)] |= uint64_t{1}
                                        << static_cast<int>(c.group);
    AddRuns(count,
            costed.collectives[SpannedIndex(costed, collective, of_class)],
            by_kind[static_cast<int>(c.kind)][static_cast<int>(c.group)], sums);
  };
  for (size_t i = 0; i < graph.collectives.size(); ++i) {
    if (runs.collectives[i] == 0) continue;
    add(static_cast<int32_t>(i), rank_class, runs.collectives[i]);
  }
  if (runs.sent_to_next > 0) {
    add(graph.transfer, rank_class, runs.sent_to_next);
  }
  if (runs.sent_to_previous > 0) {
    add(graph.transfer, PreviousClass(graph.placement, rank_class),
        runs.sent_to_previous);
  }
  for (int kind = 0; kind < kCollectiveKinds; ++kind) {
    VisitBits(groups[kind], [&](int group) {
      const Sum& sum = by_kind[kind][group];
      if (sum.runs == 0) return;
      prediction.collectives.push_back(
          {rank_class, static_cast<CollectiveKind>(kind),
           static_cast<Group>(group), sum.runs, sum.seconds});
    });
  }
}

}  // namespace

void CountRuns(const ExecutionGraph& graph, int64_t pipeline_rank,
               RankRuns& runs) {
  runs.operators.assign(graph.program.operators.size(), 0);
  runs.recomputed.assign(graph.program.operators.size(), 0);
  runs.collectives.assign(graph.collectives.size(), 0);
  runs.sent_to_next = runs.sent_to_previous = 0;
  for (int32_t c = 0; c < graph.chunks_per_rank; ++c) {
    CountChunk(graph, pipeline_rank, c, runs);
  }
  const Stage& stage = graph.program.stages[pipeline_rank];
  ++runs.operators[stage.gradient_norm];
  ++runs.operators[stage.optimizer];
  for (const int32_t copy :
       {stage.gradients_to_host, stage.weights_to_device}) {
    if (copy >= 0) ++runs.operators[copy];
  }
  Count(graph.replicated_gradients[pipeline_rank], 1, runs);
  if (graph.bidirectional) {
    Count(graph.copied_gradients[pipeline_rank], 1, runs);
  }
  if (pipeline_rank == 0 || pipeline_rank == graph.placement.pp - 1) {
    Count(graph.embedding_gradients, 1, runs);
  }
  Count(graph.gradient_norm, 1, runs);
}

ClassSums AppendTotals(const CostedGraph& costed, int64_t rank_class,
                       const RankRuns& runs, Prediction& prediction) {
  ClassSums sums;
  AppendOperators(costed, rank_class, runs, prediction, sums);
  AppendCollectives(costed, rank_class, runs, prediction, sums);
  return sums;
}

}  // namespace lmsimbench::aggregate
