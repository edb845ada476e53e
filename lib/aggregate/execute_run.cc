#include "lib/aggregate/execute_run.h"

#include <string>

#include "fmt/format.h"
#include "lmsimbench/fmt.h"

namespace lmsimbench {
namespace {

absl::Status CheckPasses(const ExecutionGraph& graph) {
  if (graph.turns_back && graph.chunks_per_rank != 2) {
    return absl::InvalidArgumentError(
        fmt::format("the way along the ranks turns back; a pipeline rank has "
                    "{} chunks, not 2",
                    graph.chunks_per_rank));
  }
  if (graph.bidirectional &&
      (!graph.turns_back ||
       static_cast<int64_t>(graph.copied_gradients.size()) !=
           graph.placement.pp)) {
    return absl::InvalidArgumentError(fmt::format(
        "micro-batches come from both ends; gradients are copied between {} of "
        "{} pipeline ranks",
        graph.copied_gradients.size(), graph.placement.pp));
  }
  for (const Pass& pass : graph.passes) {
    if (pass.direction == Direction::kWeight &&
        !graph.program.splits_backward) {
      return absl::InvalidArgumentError(
          "a pass is a weight pass; the program does not split its backward "
          "passes");
    }
    if (pass.micro_batch < 0 ||
        pass.micro_batch >= graph.program.micro_batches) {
      return absl::InvalidArgumentError(fmt::format(
          "a pass has micro-batch {}; the program has {} micro-batches",
          pass.micro_batch, graph.program.micro_batches));
    }
    if (pass.chunk < 0 || pass.chunk >= graph.chunks_per_rank) {
      return absl::InvalidArgumentError(
          fmt::format("a pass runs chunk {}; a pipeline rank has {} chunks",
                      pass.chunk, graph.chunks_per_rank));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNeighbour(const ExecutionGraph& graph, ChunkPlace place,
                            ChunkPlace neighbour) {
  if (neighbour.chunk >= 0 && neighbour.chunk < graph.chunks_per_rank)
    return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "chunk {} of pipeline rank {} has a neighbour that is not there: chunk "
      "{} of rank {}, where a rank has {} chunks",
      place.chunk, place.rank, neighbour.chunk, neighbour.rank,
      graph.chunks_per_rank));
}

// Whether the pass that completes gradients has this step in a block, or comes
// to the block before all steps.
bool HasStep(const Program& program, const Block& block, int32_t step) {
  if (program.splits_backward) {
    return step >= -1 && step < block.end_step - block.weight_step;
  }
  return step >= 0 && step < block.weight_step - block.backward_step;
}

absl::Status CheckBuckets(const ExecutionGraph& graph,
                          const PlacedChunk& placed) {
  const auto runs = Runs(graph.program, graph.program.chunks[placed.kind]);
  auto run = runs.rbegin();
  int32_t run_begin = 0;
  int32_t last_block = 0;
  for (int32_t b = placed.begin_bucket; b < placed.end_bucket; ++b) {
    const Bucket& bucket = graph.buckets[b];
    while (run != runs.rend() && bucket.block >= run_begin + run->count) {
      run_begin += run->count;
      ++run;
    }
    if (run == runs.rend() || bucket.block < last_block ||
        !HasStep(graph.program, graph.program.blocks[run->block],
                 bucket.step)) {
      return absl::InvalidArgumentError(fmt::format(
          "bucket {} is complete at step {} of block {}, which its chunk does "
          "not reach in this order",
          b, bucket.step, bucket.block));
    }
    last_block = bucket.block;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSchedules(const ExecutionGraph& graph) {
  absl::Status status = CheckPasses(graph);
  for (int64_t rank = 0; status.ok() && rank < graph.placement.pp; ++rank) {
    for (int64_t c = 0; status.ok() && c < graph.chunks_per_rank; ++c) {
      const ChunkPlace place = {rank, c};
      const PlacedChunk& placed =
          graph.chunks[rank * graph.chunks_per_rank + c];
      if (!placed.is_first)
        status = CheckNeighbour(graph, place, Before(place, graph));
      if (status.ok() && !placed.is_last)
        status = CheckNeighbour(graph, place, Behind(place, graph));
      if (status.ok()) status = CheckBuckets(graph, placed);
    }
  }
  return status;
}

absl::Status WaitingForEver(const ExecutionGraph& graph,
                            absl::Span<const RunningClass> classes) {
  std::string waiting;
  // The other kinds of pipeline have the same schedules.
  for (const RunningClass& running : classes.subspan(0, graph.placement.pp)) {
    if (running.next_pass == graph.schedule_begin[running.rank + 1]) continue;
    const Pass& pass = graph.passes[running.next_pass];
    const ChunkPlace from =
        Sender({running.rank, pass.chunk}, pass.direction, graph);
    waiting += fmt::format(
        "{}rank {} before the {} pass of micro-batch {} through chunk {} for "
        "chunk {} of rank {}",
        waiting.empty() ? "" : ", ", running.rank, pass.direction,
        pass.micro_batch, pass.chunk, from.chunk, from.rank);
  }
  return absl::InvalidArgumentError(
      fmt::format("pipeline ranks wait for each other for ever: {}", waiting));
}

}  // namespace lmsimbench
