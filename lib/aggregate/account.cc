#include "lib/aggregate/account.h"

#include <algorithm>
#include <array>
#include <limits>

#include "absl/types/span.h"

namespace lmsimbench::aggregate {
namespace {

using Intervals = absl::Span<const Interval>;

constexpr double kNever = std::numeric_limits<double>::infinity();

// Two lists, each in the order of its starts and behind its last interval one
// that never starts, as one such list. Which list is next is not predictable,
// so nothing branches on it.
void Merge(const Interval* a, const Interval* b, size_t count,
           std::vector<Interval>& merged) {
  merged.resize(count + 1);
  Interval* out = merged.data();
  for (size_t i = 0; i < count; ++i) {
    const bool from_b = b->start < a->start;
    *out++ = from_b ? *b : *a;
    b += from_b;
    a += !from_b;
  }
  *out = {kNever, kNever};
}

// Calls `visit` with the intervals of the union of intervals that stand in the
// order of their starts.
template <typename Visit>
void VisitUnion(Intervals intervals, Visit&& visit) {
  if (intervals.empty()) return;
  Interval united = intervals.front();
  for (const Interval& interval : intervals.subspan(1)) {
    if (interval.start <= united.end) {
      united.end = std::max(united.end, interval.end);
    } else {
      visit(united);
      united = interval;
    }
  }
  visit(united);
}

void Unite(Intervals intervals, std::vector<Interval>& united) {
  united.clear();
  VisitUnion(intervals,
             [&](const Interval& interval) { united.push_back(interval); });
}

// Charges communication, interval by interval in the order of time, to exposed
// or overlapped time.
class Charger {
 public:
  Charger(const CostedGraph& costed, const Folds& folds,
          const ClassTimes& times, int32_t variant)
      : program_(costed.graph.program),
        folds_(folds),
        segments_(times.segments),
        variant_(variant) {}

  void Restart() { at_ = 0; }

  void Charge(Interval interval, double& exposed, double& overlapped) {
    double from = interval.start;
    while (at_ < segments_.size() && segments_[at_].end <= from) ++at_;
    for (size_t i = at_; from < interval.end; ++i) {
      if (i == segments_.size() || segments_[i].start >= interval.end) {
        exposed += interval.end - from;
        return;
      }
      const Segment& segment = segments_[i];
      if (segment.start > from) {
        exposed += segment.start - from;
        from = segment.start;
      }
      const double until = std::min(segment.end, interval.end);
      if (until <= from) continue;
      overlapped += Lone(segment, until - segment.start) -
                    Lone(segment, from - segment.start);
      from = until;
    }
  }

 private:
  // Computation beside which no tensor collective runs, in the first `seconds`
  // of a segment.
  double Lone(const Segment& segment, double seconds) {
    if (seconds <= 0) return 0;
    if (segment.what == Segment::What::kOperator) return seconds;
    if (segment.what == Segment::What::kForwardBlock) {
      return LoneWithin(
          folds_, folds_.block(segment.index, Direction::kForward, variant_),
          seconds);
    }
    const auto direction = segment.what == Segment::What::kForwardPass
                               ? Direction::kForward
                               : Direction::kBackward;
    // Transfers that start with a pass all reach as far into it.
    Known& known = known_[static_cast<size_t>(direction)];
    if (known.index != segment.index || known.seconds != seconds) {
      known = {segment.index, seconds,
               LoneWithin(program_, folds_, segment.index, direction, variant_,
                          seconds)};
    }
    return known.lone;
  }

  struct Known {
    int32_t index = -1;
    double seconds = 0;
    double lone = 0;
  };

  const Program& program_;
  const Folds& folds_;
  const std::vector<Segment>& segments_;
  const int32_t variant_;
  size_t at_ = 0;
  std::array<Known, 2> known_;
};

// Calls `visit` with the parts of `intervals` that `covered` does not cover.
// Both in the order of time and without overlaps.
template <typename Visit>
void VisitUncovered(Intervals intervals, Intervals covered, Visit&& visit) {
  size_t c = 0;
  for (const Interval& interval : intervals) {
    double from = interval.start;
    while (c < covered.size() && covered[c].end <= from) ++c;
    for (size_t i = c; i < covered.size() && covered[i].start < interval.end;
         ++i) {
      if (covered[i].start > from) visit(Interval{from, covered[i].start});
      from = std::max(from, covered[i].end);
    }
    if (from < interval.end) visit(Interval{from, interval.end});
  }
}

// Adds all passes of a class and its two operators; nothing is communicated but
// within passes.
void AddComputation(const ExecutionGraph& graph, const Folds& folds,
                    const ClassTimes& times, int64_t rank, int32_t variant,
                    ClassAccount& account) {
  const auto micro_batches = static_cast<double>(graph.program.micro_batches);
  for (int32_t c = 0; c < graph.chunks_per_rank; ++c) {
    const int32_t kind = graph.chunks[rank * graph.chunks_per_rank + c].kind;
    for (const Direction direction :
         {Direction::kForward, Direction::kBackward}) {
      const FoldedPass& pass = folds.pass(kind, direction, variant);
      account.compute += micro_batches * pass.compute;
      account.recomputed += micro_batches * pass.recomputed;
      account.overlapped += micro_batches * pass.overlapped;
      account.exposed_tensor += micro_batches * (pass.duration - pass.compute);
    }
  }
  for (size_t i = times.segments.size() - kFinishOperators;
       i < times.segments.size(); ++i) {
    account.compute += times.segments[i].end - times.segments[i].start;
  }
}

// The transfers of a class at either end, in the order of their starts.
Intervals Transfers(const ClassTimes& mine, const ClassTimes& previous,
                    const ClassTimes& next, AccountScratch& scratch) {
  const size_t sent = mine.sent_forward_count + mine.sent_backward_count;
  const size_t received =
      previous.sent_forward_count + next.sent_backward_count;
  Merge(mine.sent_forward.data(), mine.sent_backward.data(), sent,
        scratch.sent);
  Merge(previous.sent_forward.data(), next.sent_backward.data(), received,
        scratch.received);
  Merge(scratch.sent.data(), scratch.received.data(), sent + received,
        scratch.transfers);
  return absl::MakeConstSpan(scratch.transfers.data(), sent + received);
}

}  // namespace

ClassAccount AccountClass(const CostedGraph& costed, const Folds& folds,
                          const IterationTimes& times, int64_t rank_class,
                          AccountScratch& scratch) {
  const Placement& placement = costed.graph.placement;
  const ClassTimes& mine = times.classes[rank_class];
  const ClassTimes& previous =
      times.classes[PreviousClass(placement, rank_class)];
  const ClassTimes& next = times.classes[NextClass(placement, rank_class)];
  const int32_t variant = VariantOf(costed, rank_class);

  ClassAccount account;
  AddComputation(costed.graph, folds, mine,
                 placement.classes[rank_class].pipeline_rank, variant, account);

  Charger charger(costed, folds, mine, variant);
  const auto charge = [&](Interval interval, double& exposed) {
    charger.Charge(interval, exposed, account.overlapped);
  };
  for (const Interval& interval : mine.tensor) {
    charge(interval, account.exposed_tensor);
  }

  scratch.covered.clear();
  charger.Restart();
  VisitUnion(Transfers(mine, previous, next, scratch),
             [&](const Interval& interval) {
               scratch.covered.push_back(interval);
               VisitUncovered(absl::MakeConstSpan(&interval, 1), mine.tensor,
                              [&](Interval uncovered) {
                                charge(uncovered, account.exposed_pipeline);
                              });
             });

  if (!mine.data.empty()) {
    for (const Interval& interval : mine.tensor) {
      const auto behind =
          std::upper_bound(scratch.covered.begin(), scratch.covered.end(),
                           interval, [](const Interval& a, const Interval& b) {
                             return a.start < b.start;
                           });
      scratch.covered.insert(behind, interval);
    }
    if (!mine.tensor.empty()) {
      Unite(scratch.covered, scratch.sent);
      scratch.covered.swap(scratch.sent);
    }
    Unite(mine.data, scratch.data);
    charger.Restart();
    VisitUncovered(scratch.data, scratch.covered, [&](Interval interval) {
      charge(interval, account.exposed_data);
    });
  }

  account.bubble = mine.end - account.compute - account.exposed();
  account.idle = times.iteration_time - mine.end;
  return account;
}

}  // namespace lmsimbench::aggregate
