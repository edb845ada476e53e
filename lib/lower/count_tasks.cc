#include <array>

#include "lib/lower/transfer_way.h"
#include "lmsimbench/execution_graph.h"

namespace lmsimbench {
namespace {

int64_t StepsOf(const Program& program, const PlacedChunk& placed,
                Direction direction) {
  int64_t steps = 0;
  for (const BlockRun& run : Runs(program, program.chunks[placed.kind])) {
    const Block& block = program.blocks[run.block];
    const int32_t begin[] = {block.begin_step, block.backward_step,
                             block.weight_step, block.end_step};
    const auto d = static_cast<size_t>(direction);
    steps += int64_t{begin[d + 1] - begin[d]} * run.count;
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
    std::array<int64_t, kDirections> passes = {};
    int64_t reducing = 0;
    for (const Pass& pass : Passes(graph, rank)) {
      if (pass.chunk != c) continue;
      ++passes[static_cast<size_t>(pass.direction)];
      reducing += pass.direction == lower::LastDirection(graph.program) &&
                  (graph.reduces_every_backward ||
                   pass.micro_batch == EndMicroBatch(graph, c) - 1);
    }
    for (size_t d = 0; d < passes.size(); ++d) {
      const auto direction = static_cast<Direction>(d);
      tasks += passes[d] * StepsOf(graph.program, placed, direction);
      tasks += passes[d] * UnitTasks(graph, placed, direction);
      const lower::Way way = lower::OutputWay(graph, rank, c, direction);
      const bool sends =
          way == lower::Way::kToNext || way == lower::Way::kToPrevious;
      if (graph.transfer >= 0 && sends) tasks += 2 * passes[d];
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
         (graph.bidirectional && graph.copied_gradients[rank] >= 0) +
         (is_end && graph.embedding_gradients >= 0) +
         (stage.gradient_norm >= 0) + (graph.gradient_norm >= 0) +
         (stage.optimizer >= 0) + (stage.gradients_to_host >= 0) +
         (stage.weights_to_device >= 0);
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
