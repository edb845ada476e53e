#include "lmsimbench/execution_graph.h"

namespace lmsimbench {
namespace {

int64_t StepsOf(const Program& program, const PlacedChunk& placed,
                Direction direction) {
  int64_t steps = 0;
  for (const BlockRun& run : Runs(program, program.chunks[placed.kind])) {
    const Block& block = program.blocks[run.block];
    const auto once = direction == Direction::kForward
                          ? ForwardSteps(program, block).size()
                          : BackwardSteps(program, block).size();
    steps += static_cast<int64_t>(once) * run.count;
  }
  return steps;
}

// Gathers and reductions of the units of a chunk in one pass.
int64_t UnitTasks(const ExecutionGraph& graph, const PlacedChunk& placed,
                  Direction direction) {
  if (graph.units.empty()) return 0;
  const Program& program = graph.program;
  int64_t tasks = 0;
  for (const BlockRun& run : Runs(program, program.chunks[placed.kind])) {
    const Unit& unit = graph.units[run.block];
    int64_t once = 0;
    if (direction == Direction::kForward || unit.is_gathered_again) {
      once += (unit.gather >= 0) + (unit.gather_experts >= 0);
    }
    if (direction == Direction::kBackward) {
      once += (unit.reduce >= 0) + (unit.reduce_replicas >= 0) +
              (unit.reduce_experts >= 0);
    }
    tasks += once * run.count;
  }
  return tasks;
}

int64_t CountPasses(const ExecutionGraph& graph, int64_t rank) {
  int64_t tasks = 0;
  for (int32_t c = 0; c < graph.chunks_per_rank; ++c) {
    const PlacedChunk& placed = graph.chunks[rank * graph.chunks_per_rank + c];
    int64_t forward = 0;
    int64_t backward = 0;
    int64_t reducing = 0;
    for (const Pass& pass : Passes(graph, rank)) {
      if (pass.chunk != c) continue;
      if (pass.direction == Direction::kForward) {
        ++forward;
      } else {
        ++backward;
        reducing += graph.reduces_every_backward ||
                    pass.micro_batch == graph.program.micro_batches - 1;
      }
    }
    tasks += forward * StepsOf(graph.program, placed, Direction::kForward);
    tasks += backward * StepsOf(graph.program, placed, Direction::kBackward);
    tasks += forward * UnitTasks(graph, placed, Direction::kForward);
    tasks += backward * UnitTasks(graph, placed, Direction::kBackward);
    if (graph.transfer >= 0) {
      tasks += 2 * (placed.is_last ? 0 : forward);
      tasks += 2 * (placed.is_first ? 0 : backward);
    }
    for (int32_t b = placed.begin_bucket; b < placed.end_bucket; ++b) {
      const Bucket& bucket = graph.buckets[b];
      tasks += reducing * (bucket.reduce >= 0);
      tasks += reducing * (bucket.reduce_replicas >= 0);
      tasks += bucket.gather >= 0;
    }
  }
  return tasks;
}

// Tasks that follow the last pass, without the gathers.
int64_t CountTail(const ExecutionGraph& graph, int64_t rank) {
  const Stage& stage = graph.program.stages[rank];
  const bool is_end = rank == 0 || rank == graph.placement.pp - 1;
  return (graph.replicated_gradients[rank] >= 0) +
         (is_end && graph.embedding_gradients >= 0) +
         (stage.gradient_norm >= 0) + (graph.gradient_norm >= 0) +
         (stage.optimizer >= 0);
}

}  // namespace

int64_t CountTasks(const ExecutionGraph& graph) {
  int64_t tasks = 0;
  for (int64_t rank = 0; rank < graph.placement.pp; ++rank)
    tasks += CountPasses(graph, rank) + CountTail(graph, rank);
  const int64_t kinds =
      static_cast<int64_t>(graph.placement.classes.size()) / graph.placement.pp;
  return tasks * kinds;
}

}  // namespace lmsimbench
