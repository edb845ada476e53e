#include "lib/aggregate/simulate.h"

#include <algorithm>
#include <limits>
#include <string>

#include "fmt/format.h"

namespace lmsimbench::aggregate {
namespace {

// Everything that one class needs to run its passes.
struct Runner {
  Runner(const CostedGraph& costed, const Folds& all_folds,
         IterationTimes& times, int64_t rank_class)
      : graph(costed.graph),
        folds(all_folds),
        mine(times.classes[rank_class]),
        previous(times.classes[PreviousClass(graph.placement, rank_class)]),
        next(times.classes[NextClass(graph.placement, rank_class)]),
        plans(times.plans.data() + rank_class * graph.chunks_per_rank * 2),
        rank(graph.placement.classes[rank_class].pipeline_rank),
        variant(VariantOf(costed, rank_class)),
        forward_s(CollectiveSeconds(costed, graph.transfer, rank_class)),
        backward_s(
            CollectiveSeconds(costed, graph.transfer,
                              PreviousClass(graph.placement, rank_class))) {}

  const ExecutionGraph& graph;
  const Folds& folds;
  ClassTimes& mine;
  const ClassTimes& previous;
  const ClassTimes& next;
  const PassPlan* const plans;
  const int64_t rank;
  const int32_t variant;
  const double forward_s;
  const double backward_s;

  const PlacedChunk& chunk(int32_t chunk_of_rank) const {
    return graph.chunks[rank * graph.chunks_per_rank + chunk_of_rank];
  }

  // Returns when the compute stream is free again.
  double Send(double ready, double seconds, std::vector<Interval>& sent,
              size_t& count) const {
    const double start =
        count == 0 ? ready : std::max(ready, sent[count - 1].end);
    sent[count++] = {start, start + seconds};
    return graph.overlaps.p2p ? ready : start + seconds;
  }

  // Runs passes as far as their inputs have arrived; true if any has run.
  bool Run() const {
    const auto passes = Passes(graph, rank);
    const auto last_micro_batch =
        static_cast<int32_t>(graph.program.micro_batches) - 1;
    const size_t begin = mine.passes_done;
    size_t at = begin;
    double free = mine.compute_free;
    for (; at < passes.size(); ++at) {
      const Pass pass = passes[at];
      const bool forward = pass.direction == Direction::kForward;
      const PassPlan& plan = plans[pass.chunk * 2 + (forward ? 0 : 1)];
      double start = free;
      if (plan.receives) {
        size_t& received = forward ? mine.received_forward_count
                                   : mine.received_backward_count;
        const size_t arrived =
            forward ? previous.sent_forward_count : next.sent_backward_count;
        if (received == arrived) break;
        const Interval& transfer = forward ? previous.sent_forward[received]
                                           : next.sent_backward[received];
        start = std::max(start, transfer.end);
        ++received;
      }
      mine.pass_start[at] = start;
      if (forward && pass.micro_batch == 0 && graph.overlaps.param_gather) {
        free = RunGathered(chunk(pass.chunk), pass.chunk, start);
      } else {
        free = start + plan.duration;
        mine.segments.push_back({start, free,
                                 forward ? Segment::What::kForwardPass
                                         : Segment::What::kBackwardPass,
                                 plan.kind});
      }
      if (!forward && (pass.micro_batch == last_micro_batch ||
                       graph.reduces_every_backward)) {
        mine.reduced_passes.push_back(static_cast<int32_t>(at));
      }
      if (plan.sends) {
        free = forward ? Send(free, forward_s, mine.sent_forward,
                              mine.sent_forward_count)
                       : Send(free, backward_s, mine.sent_backward,
                              mine.sent_backward_count);
      }
    }
    mine.compute_free = free;
    mine.passes_done = at;
    return at > begin;
  }

  // The first forward pass of a chunk, block by block as their parameters are
  // gathered. Buckets stand in the order of the backward pass, which goes
  // through the blocks from the last to the first; so a block waits for the
  // first bucket that holds a part of it, which is gathered last.
  double RunGathered(const PlacedChunk& placed, int32_t chunk_of_rank,
                     double start) const {
    const Program& program = graph.program;
    // The gathers of a rank stand in its data stream, first of all.
    size_t first_gather = 0;
    for (int32_t c = 0; c < chunk_of_rank; ++c) {
      first_gather += chunk(c).end_bucket - chunk(c).begin_bucket;
    }
    const Chunk& blocks = program.chunks[placed.kind];
    int32_t block_index = 0;
    for (int32_t r = blocks.begin_run; r < blocks.end_run; ++r) {
      block_index += program.runs[r].count;
    }
    int32_t bucket = placed.end_bucket;
    double free = start;
    for (int32_t r = blocks.begin_run; r < blocks.end_run; ++r) {
      const BlockRun& run = program.runs[r];
      const double duration =
          folds.block(run.block, Direction::kForward, variant).duration;
      const int32_t first_step = FirstGradientStep(program.blocks[run.block]);
      for (int32_t i = 0; i < run.count; ++i) {
        --block_index;
        if (first_step >= 0) {
          while (bucket > placed.begin_bucket &&
                 CompletesFrom(graph.buckets[bucket - 1], block_index,
                               first_step)) {
            --bucket;
          }
          if (bucket < placed.end_bucket) {
            free = std::max(
                free,
                mine.data[first_gather + (placed.end_bucket - 1 - bucket)].end);
          }
        }
        mine.segments.push_back(
            {free, free + duration, Segment::What::kForwardBlock, run.block});
        free += duration;
      }
    }
    return free;
  }

  // True if a bucket completes at this step of this block or later.
  static bool CompletesFrom(const Bucket& bucket, int32_t block, int32_t step) {
    return bucket.block > block ||
           (bucket.block == block && bucket.step >= step);
  }
  int32_t FirstGradientStep(const Block& block) const {
    const auto steps = BackwardSteps(graph.program, block);
    for (size_t s = 0; s < steps.size(); ++s) {
      if (steps[s].gradient_parameters > 0) return static_cast<int32_t>(s);
    }
    return -1;
  }
};

void Reset(size_t passes, ClassTimes& times) {
  times.pass_start.resize(passes);
  times.sent_forward.resize(passes / 2 + 1);
  times.sent_backward.resize(passes / 2 + 1);
  times.segments.clear();
  times.data.clear();
  times.tensor.clear();
  times.reduced_passes.clear();
  times.segments.reserve(passes + kFinishOperators);
  times.end = times.compute_free = times.data_free = 0;
  times.passes_done = 0;
  times.sent_forward_count = times.sent_backward_count = 0;
  times.received_forward_count = times.received_backward_count = 0;
}

// Parameters are gathered from the begin of the iteration, in the order in
// which the forward passes need them.
void StartGathers(const CostedGraph& costed, int64_t rank_class,
                  ClassTimes& times) {
  const ExecutionGraph& graph = costed.graph;
  const int64_t rank = graph.placement.classes[rank_class].pipeline_rank;
  for (int32_t c = 0; c < graph.chunks_per_rank; ++c) {
    const PlacedChunk& chunk = graph.chunks[rank * graph.chunks_per_rank + c];
    for (int32_t b = chunk.end_bucket - 1; b >= chunk.begin_bucket; --b) {
      const double start = times.data_free;
      times.data_free +=
          CollectiveSeconds(costed, graph.buckets[b].gather, rank_class);
      times.data.push_back({start, times.data_free});
    }
  }
}

void PlanPasses(const CostedGraph& costed, const Folds& folds,
                IterationTimes& times) {
  const ExecutionGraph& graph = costed.graph;
  times.plans.clear();
  for (size_t c = 0; c < graph.placement.classes.size(); ++c) {
    const auto rank_class = static_cast<int64_t>(c);
    const int32_t variant = VariantOf(costed, rank_class);
    const int64_t rank = graph.placement.classes[c].pipeline_rank;
    for (int32_t i = 0; i < graph.chunks_per_rank; ++i) {
      const PlacedChunk& chunk = graph.chunks[rank * graph.chunks_per_rank + i];
      const auto duration = [&](Direction direction) {
        return folds.pass(chunk.kind, direction, variant).duration;
      };
      times.plans.push_back({duration(Direction::kForward), chunk.kind,
                             !chunk.is_first, !chunk.is_last});
      times.plans.push_back({duration(Direction::kBackward), chunk.kind,
                             !chunk.is_last, !chunk.is_first});
    }
  }
}

// Ends the lists of transfers.
void EndTransfers(IterationTimes& times) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  for (ClassTimes& mine : times.classes) {
    mine.sent_forward[mine.sent_forward_count] = {kNever, kNever};
    mine.sent_backward[mine.sent_backward_count] = {kNever, kNever};
  }
}

absl::Status Deadlock(const ExecutionGraph& graph,
                      const IterationTimes& times) {
  std::string waiting;
  for (size_t c = 0; c < times.classes.size(); ++c) {
    const int64_t rank = graph.placement.classes[c].pipeline_rank;
    const auto passes = Passes(graph, rank);
    const size_t at = times.classes[c].passes_done;
    if (at == passes.size()) continue;
    waiting += fmt::format(
        "{}rank {} for the input of its {} pass of "
        "micro-batch {}, chunk {}",
        waiting.empty() ? "" : ", ", rank,
        std::string(Name(passes[at].direction)), passes[at].micro_batch,
        passes[at].chunk);
  }
  return absl::InvalidArgumentError(
      "the schedules wait for each other for ever: " + waiting);
}

absl::Status RunPasses(const CostedGraph& costed, const Folds& folds,
                       IterationTimes& times) {
  const auto classes = static_cast<int64_t>(times.classes.size());
  bool waiting = true;
  while (waiting) {
    waiting = false;
    bool progress = false;
    for (int64_t c = 0; c < classes; ++c) {
      const Runner runner(costed, folds, times, c);
      progress = runner.Run() || progress;
      waiting = waiting || runner.mine.passes_done <
                               Passes(costed.graph, runner.rank).size();
    }
    if (waiting && !progress) return Deadlock(costed.graph, times);
  }
  return absl::OkStatus();
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

absl::Status Simulate(const CostedGraph& costed, const Folds& folds,
                      IterationTimes& times) {
  const ExecutionGraph& graph = costed.graph;
  const auto& classes = graph.placement.classes;
  times.classes.resize(classes.size());
  for (size_t c = 0; c < classes.size(); ++c) {
    Reset(Passes(graph, classes[c].pipeline_rank).size(), times.classes[c]);
    if (graph.overlaps.param_gather) {
      StartGathers(costed, static_cast<int64_t>(c), times.classes[c]);
    }
  }
  PlanPasses(costed, folds, times);
  absl::Status status = RunPasses(costed, folds, times);
  if (!status.ok()) return status;
  EndTransfers(times);
  SimulateFinish(costed, folds, times);
  return absl::OkStatus();
}

}  // namespace lmsimbench::aggregate
