#include "lib/aggregate/simulate.h"

namespace lmsimbench::aggregate {
namespace {

// Where the input of a pass comes from where passes are taken chunk by chunk.
PassSource SourceOf(const ExecutionGraph& graph, int64_t rank_class,
                    int32_t chunk, Direction direction) {
  const int64_t rank = graph.placement.classes[rank_class].pipeline_rank;
  const lower::Way input = lower::InputWay(graph, rank, chunk, direction);
  int64_t from = rank_class;
  int32_t sender = chunk;
  if (input == lower::Way::kStays) {
    sender = 1 - chunk;
  } else if (input == lower::Way::kToNext) {
    from = PreviousClass(graph.placement, rank_class);
    // Round the ring it comes from the chunk before.
    if (!graph.turns_back && rank == 0) --sender;
  } else if (input == lower::Way::kToPrevious) {
    from = NextClass(graph.placement, rank_class);
    if (!graph.turns_back && rank == graph.placement.pp - 1) ++sender;
  } else {
    return {};
  }
  return {static_cast<size_t>(from),
          HandedIndex(sender, static_cast<size_t>(direction))};
}

// The plan of a chunk's passes in one direction.
PassPlan PlanOf(const ExecutionGraph& graph, const Folds& folds,
                int64_t rank_class, int32_t chunk, Direction direction) {
  const int64_t rank = graph.placement.classes[rank_class].pipeline_rank;
  const PlacedChunk& placed =
      graph.chunks[rank * graph.chunks_per_rank + chunk];
  const Chunk& blocks = graph.program.chunks[placed.kind];
  PassPlan plan;
  plan.first_variant = folds.Index(placed.kind, direction, 0);
  plan.folded = plan.first_variant + VariantOf(folds, rank_class);
  plan.duration = folds.passes[plan.folded].duration;
  plan.receives =
      lower::InputWay(graph, rank, chunk, direction) != lower::Way::kNone;
  plan.output_way = lower::OutputWay(graph, rank, chunk, direction);
  plan.sends = plan.output_way == lower::Way::kToNext ||
               plan.output_way == lower::Way::kToPrevious;
  plan.gathers = direction == Direction::kForward && GathersAtBegin(graph) &&
                 blocks.begin_run < blocks.end_run;
  plan.reduces = direction == lower::LastDirection(graph.program) &&
                 graph.overlaps.grad_reduce &&
                 placed.begin_bucket < placed.end_bucket;
  return plan;
}

}  // namespace

int64_t NextClass(const Placement& placement, int64_t rank_class) {
  return (rank_class + 1) % placement.pp == 0 ? rank_class + 1 - placement.pp
                                              : rank_class + 1;
}

int64_t PreviousClass(const Placement& placement, int64_t rank_class) {
  return rank_class % placement.pp == 0 ? rank_class + placement.pp - 1
                                        : rank_class - 1;
}

void MakePlans(const CostedGraph& costed, const Folds& folds,
               IterationTimes& times) {
  const ExecutionGraph& graph = costed.graph;
  times.plans.clear();
  times.pass_plans.clear();
  times.pass_sources.clear();
  for (size_t c = 0; c < graph.placement.classes.size(); ++c) {
    const auto rank_class = static_cast<int64_t>(c);
    const int64_t previous = PreviousClass(graph.placement, rank_class);
    const int64_t rank = graph.placement.classes[c].pipeline_rank;
    ClassPlan plan;
    plan.passes = Passes(graph, rank);
    plan.begin_plan = times.pass_plans.size();
    plan.sender = {static_cast<size_t>(previous),
                   static_cast<size_t>(NextClass(graph.placement, rank_class))};
    plan.send_seconds = {CollectiveSeconds(costed, graph.transfer, rank_class),
                         CollectiveSeconds(costed, graph.transfer, previous)};
    plan.send_leaves = {LeavesNode(costed, graph.transfer, rank_class),
                        LeavesNode(costed, graph.transfer, previous)};
    times.plans.push_back(plan);

    for (int32_t i = 0; i < graph.chunks_per_rank; ++i) {
      for (int d = 0; d < kDirections; ++d) {
        const auto direction = static_cast<Direction>(d);
        times.pass_plans.push_back(
            d < folds.directions
                ? PlanOf(graph, folds, rank_class, i, direction)
                : PassPlan());
        if (!TakesByChunk(graph)) continue;
        times.pass_sources.push_back(SourceOf(graph, rank_class, i, direction));
      }
    }
  }
}

}  // namespace lmsimbench::aggregate
