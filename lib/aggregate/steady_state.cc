#include "lib/aggregate/steady_state.h"

#include <algorithm>
#include <cstring>

#include "absl/types/span.h"
#include "lib/aggregate/simulate.h"

namespace lmsimbench::aggregate {
namespace {

// Longer periods are not looked for. How many micro-batch groups one takes
// follows from how many are on their way at once.
constexpr size_t kMostUnits = 16;

uint64_t Bits(const Pass& pass) {
  static_assert(sizeof(Pass) == sizeof(uint64_t));
  uint64_t bits = 0;
  std::memcpy(&bits, &pass, sizeof(bits));
  return bits;
}

// Compares passes with those `unit` places behind them.
class Repetition {
 public:
  Repetition(absl::Span<const Pass> passes, size_t unit, int32_t micro_batches)
      : passes_(passes.data()),
        count_(passes.size() - unit),
        unit_(unit),
        later_(Bits({micro_batches, 0, Direction::kForward})) {}

  // The first place from `from` on whose pass does not come again.
  size_t End(size_t from) const {
    while (from + kMany <= count_ && AllCome(from)) from += kMany;
    while (from < count_ && Differs(from) == 0) ++from;
    return from;
  }
  // The first place up to which from `until` back all come again.
  size_t Begin(size_t until) const {
    while (until >= kMany && AllCome(until - kMany)) until -= kMany;
    while (until > 0 && Differs(until - 1) == 0) --until;
    return until;
  }

 private:
  static constexpr size_t kMany = 16;

  uint64_t Differs(size_t at) const {
    return Bits(passes_[at + unit_]) ^ (Bits(passes_[at]) + later_);
  }
  // Many at once, without a branch.
  bool AllCome(size_t from) const {
    uint64_t differs = 0;
    for (size_t i = 0; i < kMany; ++i) differs |= Differs(from + i);
    return differs == 0;
  }

  const Pass* passes_;
  size_t count_;
  size_t unit_;
  uint64_t later_;
};

// Micro-batches in a row that a rank takes through a chunk, as its first passes
// show.
int32_t GroupSize(const ExecutionGraph& graph) {
  if (graph.chunks_per_rank == 1) return 1;
  const auto passes = Passes(graph, 0);
  size_t count = 0;
  while (count < passes.size() && passes[count].chunk == 0 &&
         passes[count].direction == Direction::kForward) {
    ++count;
  }
  return static_cast<int32_t>(count);
}

// Leaves out first forward passes, which may wait for gathers, and the last
// passes that complete gradients, beside and behind which these are reduced.
void LeaveOutEnds(const ExecutionGraph& graph, absl::Span<const Pass> passes,
                  size_t unit, RepeatedPasses& repeated) {
  for (size_t i = std::min(repeated.begin + unit, repeated.end);
       i > repeated.begin; --i) {
    if (passes[i - 1].direction != Direction::kForward ||
        passes[i - 1].micro_batch > 0) {
      continue;
    }
    repeated.begin = i;
    break;
  }
  const Direction last = lower::LastDirection(graph.program);
  for (size_t i = std::max(repeated.end - unit, repeated.begin);
       i < repeated.end; ++i) {
    if (passes[i].direction != last ||
        passes[i].micro_batch + 1 < graph.program.micro_batches) {
      continue;
    }
    repeated.end = i;
    break;
  }
}

bool IsExact(double seconds) {
  constexpr double kTicks = 1099511627776.0;  // 2^40
  return seconds < kMostExactSeconds &&
         seconds * kTicks ==
             static_cast<double>(static_cast<int64_t>(seconds * kTicks));
}

bool IsExact(const std::vector<Cost>& costs) {
  return std::all_of(costs.begin(), costs.end(), [](const Cost& cost) {
    return IsExact(cost.seconds) && IsExact(cost.host_s);
  });
}

}  // namespace

double PassStart(const IterationTimes& times, size_t rank_class, size_t pass) {
  const SteadyState& steady = times.steady;
  const std::vector<double>& starts = times.classes[rank_class].pass_start;
  if (steady.repeats == 0 || pass < steady.end_pass) return starts[pass];
  if (pass >= steady.end_left_out()) {
    return starts[pass] + steady.seconds_left_out();
  }
  const size_t periods = (pass - steady.end_pass) / steady.passes + 1;
  return starts[pass - periods * steady.passes] +
         static_cast<double>(periods) *
             (steady.period.end - steady.period.start);
}

SteadySearch::SteadySearch(const CostedGraph& costed, IterationTimes& times,
                           bool wanted)
    : costed_(costed),
      times_(times),
      pp_(static_cast<size_t>(costed.graph.placement.pp)) {
  times_.steady = SteadyState();
  searching_ = wanted && MayRepeat() && FindRepeatedPasses();
  if (!searching_) GiveUp();
}

bool SteadySearch::Advance() {
  if (!searching_) return false;
  if (run_until_ == 0) {
    RunUntil(begin_ + unit_);
    return true;
  }
  if (units_ == 0) {
    FindPeriod();
    // The longer it takes, the less there is to gain.
    if (units_ == 0) step_ += step_ / 4;
  }
  if (units_ > 0 && IsPeriodOver()) {
    LeaveOut();
    GiveUp();
  }
  if (run_until_ + step_ > end_) GiveUp();
  if (searching_) RunUntil(run_until_ + step_);
  return searching_;
}

void SteadySearch::GiveUp() {
  searching_ = false;
  for (ClassPlan& plan : times_.plans) plan.run_until = plan.passes.size();
}

void SteadySearch::RunUntil(size_t pass) {
  run_until_ = pass;
  for (ClassPlan& plan : times_.plans) plan.run_until = pass;
}

// Passes have to depend on nothing but on passes and transfers.
bool SteadySearch::MayRepeat() const {
  const ExecutionGraph& graph = costed_.graph;
  return !TakesByChunk(graph) &&
         (!graph.reduces_every_backward || !graph.units.empty());
}

// False if what repeats itself is too little.
bool SteadySearch::FindRepeatedPasses() {
  const ExecutionGraph& graph = costed_.graph;
  const int32_t group = GroupSize(graph);
  unit_ = static_cast<size_t>(group * graph.chunks_per_rank) *
          (static_cast<size_t>(lower::LastDirection(graph.program)) + 1);
  // What is left out has to outweigh the search.
  const size_t least = std::max<size_t>(5 * unit_, 40) + 4 * pp_;
  begin_ = 0;
  end_ = Passes(graph, 0).size();
  times_.repeated.clear();
  for (size_t rank = 0; rank < pp_; ++rank) {
    const auto passes = Passes(graph, static_cast<int64_t>(rank));
    if (unit_ == 0 || passes.size() < least) return false;
    const Repetition repetition(passes, unit_, group);
    const size_t middle = (passes.size() - unit_) / 2;
    RepeatedPasses repeated;
    repeated.begin = repetition.Begin(middle);
    repeated.end = repetition.End(middle) + unit_;
    LeaveOutEnds(graph, passes, unit_, repeated);
    begin_ = std::max(begin_, repeated.begin);
    end_ = std::min(end_, repeated.end);
    if (end_ < begin_ + least) return false;

    const PassPlan* const plans =
        times_.pass_plans.data() + times_.plans[rank].begin_plan;
    for (const Pass& pass : passes.subspan(repeated.begin, unit_)) {
      const auto d = static_cast<size_t>(pass.direction);
      const PassPlan& plan =
          plans[static_cast<size_t>(pass.chunk) * kDirections + d];
      if (plan.sends) ++repeated.sent[d];
      if (plan.receives) ++repeated.received[d];
    }
    times_.repeated.push_back(repeated);
  }
  // Each stop costs as much as a few passes.
  step_ = std::max({unit_ / 8, 2 * pp_, size_t{8}});
  return true;
}

// When the compute stream of a class was free, so many units before the place
// up to which all have run.
double SteadySearch::FreeBefore(size_t rank_class, size_t units) const {
  const ClassTimes& mine = times_.classes[rank_class];
  return mine.segments[mine.segment_count - 1 - units * unit_].busy_end;
}

// True if all that decides what a kind of pipeline does next is as it was so
// many units ago, but for one shift.
bool SteadySearch::IsRepeated(size_t kind, size_t units) const {
  const size_t first = kind * pp_;
  for (size_t c = first; c < first + pp_; ++c) {
    // Of the data stream nothing is compared, so it must have come to rest.
    // From then on each pass has a duration, and one segment.
    const ClassTimes& mine = times_.classes[c];
    if (mine.pass_start[run_until_ - units * unit_] < mine.traffic.until ||
        mine.data_free > FreeBefore(c, units)) {
      return false;
    }
  }
  const double shift = Shift(kind, units);
  for (size_t c = first + 1; c < first + pp_; ++c) {
    if (FreeBefore(c, 0) - FreeBefore(c, units) != shift) return false;
  }
  for (size_t c = first; c < first + pp_; ++c) {
    for (size_t d = 0; d < 2; ++d) {
      if (!IsLinkRepeated(c, d, units, shift)) return false;
    }
  }
  return true;
}

double SteadySearch::Shift(size_t kind, size_t units) const {
  return FreeBefore(kind * pp_, 0) - FreeBefore(kind * pp_, units);
}

// The same of the transfers that a class receives in one direction: of the last
// one, behind which the next one starts, and of those that no pass has taken.
bool SteadySearch::IsLinkRepeated(size_t receiver, size_t direction,
                                  size_t units, double shift) const {
  const size_t sender = times_.plans[receiver].sender[direction];
  const ClassTimes& from = times_.classes[sender];
  const size_t count = from.sent_count[direction];
  const size_t taken = times_.classes[receiver].received_count[direction];
  const size_t later = units * times_.repeated[sender % pp_].sent[direction];
  if (later != units * times_.repeated[receiver % pp_].received[direction]) {
    return false;
  }
  if (count == 0) return true;
  if (later == 0 || count <= later) return false;
  for (size_t i = std::min(taken, count - 1); i < count; ++i) {
    const Interval* const sent = from.sent[direction].data() + i;
    if (sent[0].end - (sent - later)->end != shift) return false;
  }
  return true;
}

// The period starts when every compute stream is free. A transfer that has not
// arrived by then has not been taken by a pass, and is one of those compared.
void SteadySearch::FindPeriod() {
  const size_t kinds = times_.classes.size() / pp_;
  for (size_t units = 1;
       units <= kMostUnits && begin_ + units * unit_ <= run_until_; ++units) {
    size_t kind = 0;
    while (kind < kinds && IsRepeated(kind, units)) ++kind;
    if (kind < kinds) continue;
    for (kind = 1; kind < kinds; ++kind) {
      // Either keeps its own time for ever.
      if (Shift(kind, units) != Shift(0, units)) return GiveUp();
    }
    units_ = units;
    for (size_t c = 0; c < times_.classes.size(); ++c) {
      period_.start = std::max(period_.start, FreeBefore(c, units));
    }
    period_.end = period_.start + Shift(0, units);
    return;
  }
}

// What comes next may be other passes, but none of them in the period.
bool SteadySearch::IsPeriodOver() const {
  for (size_t c = 0; c < times_.classes.size(); ++c) {
    if (FreeBefore(c, 0) < period_.end) return false;
  }
  return true;
}

void SteadySearch::LeaveOut() {
  SteadyState& steady = times_.steady;
  const size_t passes = units_ * unit_;
  const size_t repeats = (end_ - run_until_) / passes;
  if (repeats == 0 || !IsExact(costed_.operators) ||
      !IsExact(costed_.collectives)) {
    return;
  }
  steady.repeats = static_cast<int64_t>(repeats);
  steady.passes = passes;
  steady.end_pass = run_until_;
  steady.period = period_;
  for (size_t c = 0; c < times_.classes.size(); ++c) {
    ClassTimes& mine = times_.classes[c];
    mine.passes_done += repeats * passes;
    for (size_t d = 0; d < 2; ++d) {
      mine.sent_left_out[d] =
          repeats * units_ * times_.repeated[c % pp_].sent[d];
    }
  }
}

}  // namespace lmsimbench::aggregate
