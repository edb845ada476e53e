#include "lib/aggregate/simulate.h"

#include <algorithm>
#include <limits>
#include <string>

#include "fmt/format.h"

namespace lmsimbench::aggregate {
namespace {

// Runs the passes of one rank class.
class Runner {
 public:
  Runner(const CostedGraph& costed, const Folds& folds, IterationTimes& times,
         size_t rank_class)
      : graph_(costed.graph),
        folds_(folds),
        times_(times),
        plan_(times.plans[rank_class]),
        mine_(times.classes[rank_class]),
        rank_(graph_.placement.classes[rank_class].pipeline_rank),
        variant_(VariantOf(folds, static_cast<int64_t>(rank_class))) {}

  // Runs passes as far as their inputs have arrived; true if any has run.
  bool Run() { return graph_.turns_back ? RunTurning() : RunRound(); }

 private:
  // Chunks go round the ring of ranks: what goes over a link is taken in the
  // order in which it is sent.
  bool RunRound() {
    const PassPlan* const plans = times_.pass_plans.data() + plan_.begin_plan;
    const Pass* const passes = plan_.passes.data();
    const size_t count = plan_.run_until;
    const bool blocking = !graph_.overlaps.p2p;
    // Transfers that have arrived and no pass has taken yet.
    std::array<const Interval*, 2> arrived;
    std::array<const Interval*, 2> end_arrived;
    std::array<Interval*, 2> sent;
    for (size_t d = 0; d < 2; ++d) {
      const ClassTimes& sender = times_.classes[plan_.sender[d]];
      arrived[d] = sender.sent[d].data() + mine_.received_count[d];
      end_arrived[d] = sender.sent[d].data() + sender.sent_count[d];
      sent[d] = mine_.sent[d].data() + mine_.sent_count[d];
    }
    const auto first_arrived = arrived;
    Segment* segment = mine_.segments.data() + mine_.segment_count;
    double free = mine_.compute_free;

    const size_t begin = mine_.passes_done;
    size_t at = begin;
    for (; at < count; ++at) {
      const Pass pass = passes[at];
      const auto d = static_cast<size_t>(pass.direction);
      const PassPlan& plan = plans[pass.chunk * kDirections + d];
      double start = free;
      if (plan.receives) {
        if (arrived[d] == end_arrived[d]) break;
        start = std::max(start, arrived[d]->end);
        ++arrived[d];
      }
      mine_.pass_start[at] = start;
      if (plan.gathers && pass.micro_batch == 0) {
        segment = RunGathered(pass.chunk, start, segment);
      } else {
        const double end = start + plan.duration;
        *segment++ = {start, end, end, static_cast<Segment::What>(d),
                      plan.kind};
      }
      free = segment[-1].end;
      if (plan.sends) {
        const double from = sent[d] == mine_.sent[d].data()
                                ? free
                                : std::max(free, sent[d][-1].end);
        const double until = from + plan_.send_seconds[d];
        *sent[d]++ = {from, until};
        if (blocking) segment[-1].busy_end = free = until;
      }
    }

    for (size_t d = 0; d < 2; ++d) {
      mine_.received_count[d] += arrived[d] - first_arrived[d];
      mine_.sent_count[d] = sent[d] - mine_.sent[d].data();
    }
    mine_.segment_count = segment - mine_.segments.data();
    mine_.compute_free = free;
    mine_.passes_done = at;
    return at > begin;
  }

  // The two chunks of a rank send over the same links, in either direction, and
  // take from them independently of each other.
  bool RunTurning() {
    const size_t begin = mine_.passes_done;
    const size_t count = plan_.passes.size();
    while (mine_.passes_done < count) {
      size_t end = mine_.passes_done + 1;
      while (end < count && plan_.passes[end - 1].with_next) ++end;
      if (!RunChain(mine_.passes_done, end)) break;
      mine_.passes_done = end;
    }
    return mine_.passes_done > begin;
  }

  size_t PlanIndex(const Pass& pass) const {
    return plan_.begin_plan + static_cast<size_t>(pass.chunk * kDirections) +
           static_cast<size_t>(pass.direction);
  }
  static size_t HandedIndexOf(const Pass& pass) {
    return HandedIndex(pass.chunk, static_cast<size_t>(pass.direction));
  }

  // Runs passes [begin, end) as one; false if one of their inputs has not
  // arrived.
  bool RunChain(size_t begin, size_t end) {
    double start = mine_.compute_free;
    const auto taken_before = mine_.taken_count;
    for (size_t at = begin; at < end; ++at) {
      const Pass& pass = plan_.passes[at];
      const size_t index = PlanIndex(pass);
      if (!times_.pass_plans[index].receives) continue;
      const PassSource& source = times_.pass_sources[index];
      const ClassTimes& from = times_.classes[source.rank_class];
      size_t& taken = mine_.taken_count[HandedIndexOf(pass)];
      if (taken == from.handed_count[source.list]) {
        mine_.taken_count = taken_before;
        return false;
      }
      start = std::max(start, from.handed[source.list][taken++]);
    }
    Segment* segment = mine_.segments.data() + mine_.segment_count;
    for (size_t at = begin; at < end; ++at) {
      const Pass& pass = plan_.passes[at];
      const PassPlan& plan = times_.pass_plans[PlanIndex(pass)];
      mine_.pass_start[at] = start;
      if (plan.gathers &&
          pass.micro_batch == FirstMicroBatch(graph_, pass.chunk)) {
        segment = RunGathered(pass.chunk, start, segment);
      } else {
        const double until = start + plan.duration;
        *segment++ = {start, until, until,
                      static_cast<Segment::What>(pass.direction), plan.kind};
      }
      start = segment[-1].end;
    }
    mine_.segment_count = segment - mine_.segments.data();
    mine_.compute_free = HandOn(begin, end, segment[-1]);
    return true;
  }

  // Hands on what passes [begin, end), of which this is the last segment, have
  // computed; when the compute stream is free.
  double HandOn(size_t begin, size_t end, Segment& last) {
    double free = last.end;
    for (size_t at = begin; at < end; ++at) {
      const Pass& pass = plan_.passes[at];
      const PassPlan& plan = times_.pass_plans[PlanIndex(pass)];
      if (plan.output_way == lower::Way::kNone) continue;
      double arrival = last.end;
      if (plan.sends) {
        arrival = Send(static_cast<size_t>(plan.output_way), last.end);
        if (!graph_.overlaps.p2p) free = std::max(free, arrival);
      }
      const size_t list = HandedIndexOf(pass);
      mine_.handed[list][mine_.handed_count[list]++] = arrival;
    }
    last.busy_end = free;
    mine_.held += free - last.end;
    return free;
  }

  // A transfer behind what ended at `end`; when it arrives.
  double Send(size_t way, double end) {
    Interval* const sent = mine_.sent[way].data() + mine_.sent_count[way];
    const double from =
        mine_.sent_count[way] == 0 ? end : std::max(end, sent[-1].end);
    *sent = {from, from + plan_.send_seconds[way]};
    ++mine_.sent_count[way];
    return sent->end;
  }

  const PlacedChunk& chunk(int32_t chunk_of_rank) const {
    return graph_.chunks[rank_ * graph_.chunks_per_rank + chunk_of_rank];
  }

  // The first forward pass of a chunk, block by block as their parameters are
  // gathered. Buckets stand in the order of the backward pass, which goes
  // through the blocks from the last to the first; so a block waits for the
  // first bucket that holds a part of it, which is gathered last. Writes the
  // blocks to `segment` and returns what is behind them.
  Segment* RunGathered(int32_t chunk_of_rank, double start,
                       Segment* segment) const {
    const Program& program = graph_.program;
    const PlacedChunk& placed = chunk(chunk_of_rank);
    // The gathers of a rank stand in its data stream, first of all.
    size_t first_gather = 0;
    for (int32_t c = 0; c < chunk_of_rank; ++c) {
      first_gather += chunk(c).end_bucket - chunk(c).begin_bucket;
    }
    const Chunk& blocks = program.chunks[placed.kind];
    int32_t block_index = RepeatedBlocks(program, blocks);
    int32_t bucket = placed.end_bucket;
    double free = start;
    for (int32_t r = blocks.begin_run; r < blocks.end_run; ++r) {
      const BlockRun& run = program.runs[r];
      const double duration =
          folds_.block(run.block, Direction::kForward, variant_).duration;
      const bool has_parameters = program.blocks[run.block].parameters > 0;
      for (int32_t i = 0; i < run.count; ++i) {
        --block_index;
        if (has_parameters) {
          while (bucket > placed.begin_bucket &&
                 graph_.buckets[bucket - 1].block >= block_index) {
            --bucket;
          }
          if (bucket < placed.end_bucket) {
            free = std::max(
                free,
                mine_.data[first_gather + (placed.end_bucket - 1 - bucket)]
                    .end);
          }
        }
        const double end = free + duration;
        *segment++ = {free, end, end, Segment::What::kForwardBlock, run.block};
        free = end;
      }
    }
    return segment;
  }

  const ExecutionGraph& graph_;
  const Folds& folds_;
  const IterationTimes& times_;
  const ClassPlan& plan_;
  ClassTimes& mine_;
  const int64_t rank_;
  const int32_t variant_;
};

// Segments of a class: its passes, those of micro-batch 0 block by block where
// these wait for parameters, and what follows the last one.
size_t CountSegments(const ExecutionGraph& graph, int64_t rank, size_t passes) {
  size_t count = passes + kFinishOperators;
  if (!GathersAtBegin(graph)) return count;
  for (int32_t c = 0; c < graph.chunks_per_rank; ++c) {
    const PlacedChunk& placed = graph.chunks[rank * graph.chunks_per_rank + c];
    count += RepeatedBlocks(graph.program, graph.program.chunks[placed.kind]);
  }
  return count;
}

// What follows is written before it is read, so nothing is cleared.
template <typename T>
void GrowTo(size_t count, std::vector<T>& values) {
  if (values.size() < count) values.resize(count);
}

void Reset(const ExecutionGraph& graph, int64_t rank, ClassTimes& times) {
  const size_t passes = Passes(graph, rank).size();
  GrowTo(passes, times.pass_start);
  GrowTo(CountSegments(graph, rank, passes), times.segments);
  for (auto& sent : times.sent) GrowTo(passes + 1, sent);
  times.segment_count = 0;
  times.sent_count = {};
  times.sent_left_out = {};
  if (graph.turns_back) {
    for (auto& handed : times.handed) {
      handed.resize(static_cast<size_t>(graph.program.micro_batches));
    }
    times.handed_count = {};
    times.taken_count = {};
    times.held = 0;
  }
  times.received_count = {};
  times.passes_done = 0;
  times.data.clear();
  times.tensor = Interval();
  times.end = times.compute_free = times.data_free = 0;
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

// Ends the lists of transfers.
void EndTransfers(IterationTimes& times) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  for (ClassTimes& mine : times.classes) {
    for (size_t d = 0; d < 2; ++d) {
      mine.sent[d][mine.sent_count[d]] = {kNever, kNever};
    }
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

// Runs the passes of all classes as far as their plans say; false if they wait
// for each other for ever.
bool RunPlans(const CostedGraph& costed, const Folds& folds,
              IterationTimes& times) {
  bool waiting = true;
  while (waiting) {
    waiting = false;
    bool progress = false;
    for (size_t c = 0; c < times.classes.size(); ++c) {
      progress = Runner(costed, folds, times, c).Run() || progress;
      waiting =
          waiting || times.classes[c].passes_done < times.plans[c].run_until;
    }
    if (waiting && !progress) return false;
  }
  return true;
}

absl::Status RunPasses(const CostedGraph& costed, const Folds& folds,
                       IterationTimes& times, bool may_leave_out) {
  SteadySearch search(costed, times, may_leave_out);
  while (search.Advance()) {
    if (!RunPlans(costed, folds, times)) search.GiveUp();
  }
  return RunPlans(costed, folds, times) ? absl::OkStatus()
                                        : Deadlock(costed.graph, times);
}

// What happens behind the periods left out happens so much later.
void AddTimeLeftOut(IterationTimes& times) {
  const double seconds = times.steady.seconds_left_out();
  times.iteration_time += seconds;
  for (ClassTimes& mine : times.classes) mine.end += seconds;
}

}  // namespace

absl::Status Simulate(const CostedGraph& costed, const Folds& folds,
                      IterationTimes& times, bool may_leave_out) {
  const ExecutionGraph& graph = costed.graph;
  const auto& classes = graph.placement.classes;
  times.classes.resize(classes.size());
  for (size_t c = 0; c < classes.size(); ++c) {
    Reset(graph, classes[c].pipeline_rank, times.classes[c]);
    if (GathersAtBegin(graph)) {
      StartGathers(costed, static_cast<int64_t>(c), times.classes[c]);
    }
  }
  MakePlans(costed, folds, times);
  absl::Status status = RunPasses(costed, folds, times, may_leave_out);
  if (!status.ok()) return status;
  EndTransfers(times);
  SimulateFinish(costed, folds, times);
  AddTimeLeftOut(times);
  // Rounding depends on when things happen.
  if (times.steady.repeats > 0 && times.iteration_time >= kMostExactSeconds) {
    return Simulate(costed, folds, times, false);
  }
  return absl::OkStatus();
}

}  // namespace lmsimbench::aggregate
