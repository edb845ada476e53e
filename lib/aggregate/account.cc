#include "lib/aggregate/account.h"

#include <algorithm>
#include <array>
#include <limits>

#include "absl/types/span.h"

namespace lmsimbench::aggregate {
namespace {

using Intervals = absl::Span<const Interval>;

// The union of up to four lists of intervals, each in the order of time.
void Merge(std::array<Intervals, 4> lists, std::vector<Interval>& merged) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  merged.clear();
  std::array<const Interval*, 4> at;
  std::array<double, 4> start;
  for (size_t i = 0; i < lists.size(); ++i) {
    at[i] = lists[i].data();
    start[i] = lists[i].empty() ? kNever : at[i]->start;
  }
  while (true) {
    size_t first = start[1] < start[0] ? 1 : 0;
    const size_t other = start[3] < start[2] ? 3 : 2;
    if (start[other] < start[first]) first = other;
    if (start[first] == kNever) return;
    const Interval interval = *at[first]++;
    start[first] = at[first] == lists[first].data() + lists[first].size()
                       ? kNever
                       : at[first]->start;
    if (!merged.empty() && interval.start <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, interval.end);
    } else {
      merged.push_back(interval);
    }
  }
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
  double Lone(const Segment& segment, double seconds) const {
    if (seconds <= 0) return 0;
    switch (segment.what) {
      case Segment::What::kOperator:
        return seconds;
      case Segment::What::kForwardBlock:
        return LoneWithin(
            folds_, folds_.block(segment.index, Direction::kForward, variant_),
            seconds);
      case Segment::What::kForwardPass:
        return LoneWithin(program_, folds_, segment.index, Direction::kForward,
                          variant_, seconds);
      case Segment::What::kBackwardPass:
        return LoneWithin(program_, folds_, segment.index, Direction::kBackward,
                          variant_, seconds);
    }
    return 0;
  }

  const Program& program_;
  const Folds& folds_;
  const std::vector<Segment>& segments_;
  const int32_t variant_;
  size_t at_ = 0;
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

// What computes, without what waits for anything but tensor collectives.
struct Computed {
  double compute = 0;
  double recomputed = 0;
  double beside_tensor = 0;
  double tensor_exposed = 0;
};

Computed Compute(const Folds& folds, const ClassTimes& times, int32_t variant) {
  Computed sum;
  for (const Segment& segment : times.segments) {
    const double duration = segment.end - segment.start;
    const auto add = [&](const auto& fold) {
      sum.compute += fold.compute;
      sum.recomputed += fold.recomputed;
      sum.beside_tensor += fold.overlapped;
      sum.tensor_exposed += duration - fold.compute;
    };
    switch (segment.what) {
      case Segment::What::kOperator:
        sum.compute += duration;
        break;
      case Segment::What::kForwardBlock:
        add(folds.block(segment.index, Direction::kForward, variant));
        break;
      case Segment::What::kForwardPass:
        add(folds.pass(segment.index, Direction::kForward, variant));
        break;
      case Segment::What::kBackwardPass:
        add(folds.pass(segment.index, Direction::kBackward, variant));
        break;
    }
  }
  return sum;
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

  const Computed computed = Compute(folds, mine, variant);
  ClassAccount account;
  account.compute = computed.compute;
  account.recomputed = computed.recomputed;
  account.exposed_tensor = computed.tensor_exposed;
  account.overlapped = computed.beside_tensor;

  Charger charger(costed, folds, mine, variant);
  const auto charge = [&](Interval interval, double& exposed) {
    charger.Charge(interval, exposed, account.overlapped);
  };
  for (const Interval& interval : mine.tensor) {
    charge(interval, account.exposed_tensor);
  }

  Merge({Intervals(mine.sent_forward.data(), mine.sent_forward_count),
         Intervals(mine.sent_backward.data(), mine.sent_backward_count),
         Intervals(previous.sent_forward.data(), previous.sent_forward_count),
         Intervals(next.sent_backward.data(), next.sent_backward_count)},
        scratch.merged);
  charger.Restart();
  VisitUncovered(scratch.merged, mine.tensor, [&](Interval interval) {
    charge(interval, account.exposed_pipeline);
  });

  if (!mine.data.empty()) {
    Merge({Intervals(scratch.merged), Intervals(mine.tensor)}, scratch.covered);
    Merge({Intervals(mine.data)}, scratch.covered_next);
    charger.Restart();
    VisitUncovered(
        scratch.covered_next, scratch.covered,
        [&](Interval interval) { charge(interval, account.exposed_data); });
  }

  account.bubble = mine.end - account.compute - account.exposed();
  account.idle = times.iteration_time - mine.end;
  return account;
}

}  // namespace lmsimbench::aggregate
