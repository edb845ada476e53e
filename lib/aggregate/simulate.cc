#include "lib/aggregate/simulate.h"

#include <algorithm>
#include <limits>
#include <string>

#include "fmt/format.h"
#include "lib/aggregate/run_blocks.h"

namespace lmsimbench::aggregate {
namespace {

// Runs the passes of one rank class.
class Runner {
 public:
  Runner(const CostedGraph& costed, const Folds& folds, IterationTimes& times,
         size_t rank_class)
      : costed_(costed),
        graph_(costed.graph),
        folds_(folds),
        times_(times),
        rank_class_(rank_class),
        plan_(times.plans[rank_class]),
        mine_(times.classes[rank_class]) {}

  // Runs passes as far as their inputs have arrived; true if any has run.
  bool Run() { return TakesByChunk(graph_) ? RunChains() : RunRound(); }

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
      if (IsBlockwise(pass, plan, start)) {
        segment = RunBlockwise(at, start, segment);
      } else {
        const double end = start + plan.duration;
        *segment++ = {start, end, end, static_cast<Segment::What>(d),
                      plan.folded};
      }
      free = segment[-1].end;
      if (plan.sends) {
        const double ready = plan_.send_leaves[d]
                                 ? Behind(free, plan_.send_seconds[d])
                                 : free;
        const double from = sent[d] == mine_.sent[d].data()
                                ? ready
                                : std::max(ready, sent[d][-1].end);
        const double until = from + plan_.send_seconds[d];
        *sent[d]++ = {from, until};
        if (blocking) {
          if (from > free) *segment++ = PlaceAt(from);
          segment[-1].busy_end = free = until;
        }
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

  // True if a pass that starts then goes block by block.
  bool IsBlockwise(const Pass& pass, const PassPlan& plan, double start) const {
    if (plan.gathers &&
        pass.micro_batch == FirstMicroBatch(graph_, pass.chunk)) {
      return true;
    }
    if (!costed_.contention.any()) return false;
    return start < mine_.traffic.until ||
           (plan.reduces &&
            (graph_.reduces_every_backward ||
             pass.micro_batch + 1 == EndMicroBatch(graph_, pass.chunk)));
  }

  // Returns what is behind the segments of the pass.
  Segment* RunBlockwise(size_t at, double start, Segment* segment) {
    const size_t count =
        RunBlocks(costed_, folds_, static_cast<int64_t>(rank_class_), at, start,
                  static_cast<size_t>(segment - mine_.segments.data()), mine_);
    return mine_.segments.data() + count;
  }

  // When a transfer of so many seconds that leaves the node has made up for what
  // else is on its links.
  double Behind(double time, double seconds) {
    return costed_.contention.links
               ? std::min(mine_.traffic.Behind(time), time + seconds)
               : time;
  }

  // Where the compute stream goes on to be held by a transfer.
  static Segment PlaceAt(double time) {
    return {time, time, time, Segment::What::kDelay, 0};
  }

  // The chunks of a rank send over the same links, in either direction, and
  // take from them independently of each other.
  bool RunChains() {
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
    for (size_t at = begin; at < end; ++at) {
      const Pass& pass = plan_.passes[at];
      const size_t index = PlanIndex(pass);
      if (!times_.pass_plans[index].receives) continue;
      const PassSource& source = times_.pass_sources[index];
      const ClassTimes& from = times_.classes[source.rank_class];
      size_t& taken = mine_.taken_count[HandedIndexOf(pass)];
      if (taken == from.handed_count[source.list]) {
        GiveBack(begin, at);
        return false;
      }
      start = std::max(start, from.handed[source.list][taken++]);
    }
    Segment* segment = mine_.segments.data() + mine_.segment_count;
    for (size_t at = begin; at < end; ++at) {
      const Pass& pass = plan_.passes[at];
      const PassPlan& plan = times_.pass_plans[PlanIndex(pass)];
      mine_.pass_start[at] = start;
      if (IsBlockwise(pass, plan, start)) {
        segment = RunBlockwise(at, start, segment);
      } else {
        const int32_t folded =
            plan.first_variant +
            VariantOf(folds_, static_cast<int64_t>(rank_class_), at);
        const double until = start + folds_.passes[folded].duration;
        *segment++ = {start, until, until,
                      static_cast<Segment::What>(pass.direction), folded};
      }
      start = segment[-1].end;
    }
    mine_.segment_count = segment - mine_.segments.data();
    mine_.compute_free = HandOn(begin, end);
    return true;
  }

  // Undoes the taking of the inputs of passes [begin, end).
  void GiveBack(size_t begin, size_t end) {
    for (size_t at = begin; at < end; ++at) {
      const Pass& pass = plan_.passes[at];
      if (times_.pass_plans[PlanIndex(pass)].receives) {
        --mine_.taken_count[HandedIndexOf(pass)];
      }
    }
  }

  // Seconds of the slowest transfer of passes [begin, end) that leaves the node;
  // 0 where none does.
  double SecondsOnLinks(size_t begin, size_t end) const {
    double slowest = 0;
    for (size_t at = begin; at < end; ++at) {
      const PassPlan& plan = times_.pass_plans[PlanIndex(plan_.passes[at])];
      const auto way = static_cast<size_t>(plan.output_way);
      if (plan.sends && plan_.send_leaves[way]) {
        slowest = std::max(slowest, plan_.send_seconds[way]);
      }
    }
    return slowest;
  }

  // Hands on what passes [begin, end), which end with the last segment, have
  // computed; when the compute stream is free.
  double HandOn(size_t begin, size_t end) {
    const double done = mine_.segments[mine_.segment_count - 1].end;
    const double on_links = SecondsOnLinks(begin, end);
    const double ready = on_links > 0 ? Behind(done, on_links) : done;
    double arrived = done;
    for (size_t at = begin; at < end; ++at) {
      const Pass& pass = plan_.passes[at];
      const PassPlan& plan = times_.pass_plans[PlanIndex(pass)];
      if (plan.output_way == lower::Way::kNone) continue;
      double arrival = done;
      if (plan.sends) {
        arrival = Send(static_cast<size_t>(plan.output_way), ready);
        arrived = std::max(arrived, arrival);
      }
      const size_t list = HandedIndexOf(pass);
      mine_.handed[list][mine_.handed_count[list]++] = arrival;
    }
    if (graph_.overlaps.p2p || arrived == done) return done;
    if (ready > done) mine_.segments[mine_.segment_count++] = PlaceAt(ready);
    mine_.segments[mine_.segment_count - 1].busy_end = arrived;
    mine_.held += arrived - ready;
    return arrived;
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

  const CostedGraph& costed_;
  const ExecutionGraph& graph_;
  const Folds& folds_;
  const IterationTimes& times_;
  const size_t rank_class_;
  const ClassPlan& plan_;
  ClassTimes& mine_;
};

// What follows is written before it is read, so nothing is cleared.
template <typename T>
void GrowTo(size_t count, std::vector<T>& values) {
  if (values.size() < count) values.resize(count);
}

void Reset(const ExecutionGraph& graph, int64_t rank, ClassTimes& times) {
  const size_t passes = Passes(graph, rank).size();
  GrowTo(passes, times.pass_start);
  // Behind each pass there may be a place for its transfer; passes that run
  // block by block make room for themselves.
  GrowTo(2 * passes + kMostFinishOperators, times.segments);
  times.blockwise.clear();
  times.slowed = 0;
  times.traffic.Clear();
  for (auto& sent : times.sent) GrowTo(passes + 1, sent);
  times.segment_count = 0;
  times.sent_count = {};
  times.sent_left_out = {};
  if (TakesByChunk(graph)) {
    const size_t lists = 2 * static_cast<size_t>(graph.chunks_per_rank);
    GrowTo(lists, times.handed);
    for (size_t i = 0; i < lists; ++i) {
      GrowTo(static_cast<size_t>(graph.program.micro_batches), times.handed[i]);
    }
    times.handed_count.assign(lists, 0);
    times.taken_count.assign(lists, 0);
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
      times.traffic.Issue(
          start, times.data_free - start,
          LeavesNode(costed, graph.buckets[b].gather, rank_class));
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
