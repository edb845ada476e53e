#include "lib/aggregate/account.h"

#include <algorithm>
#include <array>
#include <limits>

#include "lib/aggregate/fold_units.h"

namespace lmsimbench::aggregate {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Lists of intervals, each in the order of time and behind its last interval
// one that never starts, read as one in the order of starts. Which list is next
// is not predictable, so nothing branches on it.
template <size_t kLists>
class Merged {
 public:
  explicit Merged(std::array<const Interval*, kLists> lists) : next_(lists) {}

  // The next interval; at the end one that never starts.
  Interval Take() {
    size_t first = 0;
    for (size_t i = 1; i < kLists; ++i) {
      first = next_[i]->start < next_[first]->start ? i : first;
    }
    const Interval taken = *next_[first];
    next_[first] += taken.start < kNever;
    return taken;
  }

 private:
  std::array<const Interval*, kLists> next_;
};

// Calls `visit` with the intervals of the union of what `take` gives.
template <typename Take, typename Visit>
void VisitUnion(Take&& take, Visit&& visit) {
  Interval united = take();
  while (united.start < kNever) {
    Interval next = take();
    for (; next.start <= united.end && next.start < kNever; next = take()) {
      united.end = std::max(united.end, next.end);
    }
    visit(united);
    united = next;
  }
}

// Charges communication, interval by interval in the order of time, to exposed
// or overlapped time. Transfers that the compute stream waits for are left out.
class Charger {
 public:
  Charger(const CostedGraph& costed, const Folds& folds,
          const IterationTimes& times, const ClassTimes& mine)
      : program_(costed.graph.program),
        folds_(folds),
        steady_(times.steady),
        next_(mine.computing().begin()),
        end_(mine.computing().end()),
        has_units_(!costed.graph.units.empty()) {}

  /// Of what was exposed: within passes that waited for the data stream.
  double within_waits() const { return within_waits_; }

  void Charge(const Interval& interval, double& exposed, double& overlapped) {
    const Interval& period = steady_.period;
    if (interval.end <= period.start || interval.start >= period.end) {
      ChargePart(interval, exposed, overlapped, within_waits_);
      return;
    }
    VisitRepeated(steady_, interval, [&](const Interval& part, double times) {
      double exposed_once = 0;
      double overlapped_once = 0;
      double waits_once = 0;
      ChargePart(part, exposed_once, overlapped_once, waits_once);
      exposed += times * exposed_once;
      overlapped += times * overlapped_once;
      within_waits_ += times * waits_once;
    });
  }

 private:
  void ChargePart(const Interval& interval, double& exposed, double& overlapped,
                  double& within_waits) {
    double from = interval.start;
    while (next_ != end_ && next_->busy_end <= from) ++next_;
    for (const Segment* at = next_; from < interval.end; ++at) {
      if (at == end_ || at->start >= interval.end) {
        exposed += interval.end - from;
        return;
      }
      if (at->start > from) {
        exposed += at->start - from;
        from = at->start;
      }
      const double until = std::min(at->end, interval.end);
      if (until > from) {
        overlapped += Lone(*at, until - at->start, known_until_) -
                      Lone(*at, from - at->start, known_from_);
        if (has_units_) {
          const double waits =
              Waits(*at, until - at->start) - Waits(*at, from - at->start);
          exposed += waits;
          within_waits += waits;
        }
      }
      from = std::max(from, at->busy_end);
    }
  }

  // What was found last, by direction. Transfers that start or end with a pass
  // elsewhere all reach as far into a pass here.
  struct Known {
    int32_t index = -1;
    double seconds = 0;
    double lone = 0;
  };
  using KnownByDirection = std::array<Known, kDirections>;

  // Computation beside which no tensor collective runs, in the first `seconds`
  // of a segment.
  double Lone(const Segment& segment, double seconds,
              KnownByDirection& known_by_direction) const {
    if (seconds <= 0) return 0;
    if (segment.what >= Segment::What::kDelay) return seconds;
    if (segment.what >= Segment::What::kForwardBlock) {
      return LoneWithin(folds_, folds_.blocks[segment.index], seconds);
    }
    const auto direction = static_cast<Direction>(segment.what);
    Known& known = known_by_direction[static_cast<size_t>(direction)];
    if (known.index != segment.index || known.seconds != seconds) {
      known = {segment.index, seconds,
               LoneWithin(program_, folds_, ChunkOf(segment), direction,
                          segment.index % folds_.variants, seconds)};
    }
    return known.lone;
  }

  int32_t ChunkOf(const Segment& pass) const {
    return pass.index / folds_.variants / folds_.directions;
  }

  // Waiting for the data stream in the first `seconds` of a segment.
  double Waits(const Segment& segment, double seconds) const {
    if (segment.what != Segment::What::kForwardPass &&
        segment.what != Segment::What::kBackwardPass) {
      return 0;
    }
    const auto direction = segment.what == Segment::What::kForwardPass
                               ? Direction::kForward
                               : Direction::kBackward;
    return WaitsWithin(folds_, folds_.passes[segment.index], direction,
                       segment.index % folds_.variants, seconds);
  }

  const Program& program_;
  const Folds& folds_;
  const SteadyState& steady_;
  const Segment* next_;
  const Segment* const end_;
  const bool has_units_;
  double within_waits_ = 0;
  KnownByDirection known_from_;
  KnownByDirection known_until_;
};

// Calls `visit` with the parts of an interval that the union of what `take`
// gives does not cover.
template <typename Take, typename Visit>
void VisitUncovered(Interval interval, Take&& take, Visit&& visit) {
  double from = interval.start;
  for (Interval cover = take(); cover.start < interval.end; cover = take()) {
    if (cover.start > from) visit(Interval{from, cover.start});
    from = std::max(from, cover.end);
  }
  if (from < interval.end) visit(Interval{from, interval.end});
}

// Adds passes, with what is communicated within them.
void AddPasses(const FoldedPass& pass, double count, ClassAccount& account) {
  account.compute += count * pass.compute;
  account.recomputed += count * pass.recomputed;
  account.delay += count * pass.delay;
  account.overlapped += count * (pass.overlapped + pass.hidden);
  account.exposed_tensor += count * (pass.duration - pass.waits - pass.compute);
  account.exposed_data += count * pass.waits;
}

// The same of all passes of a class, where nothing is hidden and all passes of
// a chunk in one direction are alike.
void AddAllPasses(const ExecutionGraph& graph, const Folds& folds,
                  int64_t rank_class, int64_t rank, ClassAccount& account) {
  const int32_t variant = VariantOf(folds, rank_class);
  for (int32_t c = 0; c < graph.chunks_per_rank; ++c) {
    const auto micro_batches = static_cast<double>(EndMicroBatch(graph, c) -
                                                   FirstMicroBatch(graph, c));
    const int32_t kind = graph.chunks[rank * graph.chunks_per_rank + c].kind;
    for (int d = 0; d < folds.directions; ++d) {
      AddPasses(folds.pass(kind, static_cast<Direction>(d), variant),
                micro_batches, account);
    }
  }
}

// Adds all that a class computes, and what it communicates within passes.
void AddComputation(const ExecutionGraph& graph, const Folds& folds,
                    const ClassTimes& times, int64_t rank_class, int64_t rank,
                    ClassAccount& account) {
  if (folds.pass_variant.empty()) {
    AddAllPasses(graph, folds, rank_class, rank, account);
  } else {
    const auto passes = Passes(graph, rank);
    for (size_t i = 0; i < passes.size(); ++i) {
      AddPasses(
          folds.pass(ChunkOf(graph, rank, passes[i]).kind, passes[i].direction,
                     VariantOf(folds, rank_class, i)),
          1, account);
    }
  }
  account.compute += times.slowed;
  account.delay += times.slowed;
  for (const Segment& segment : times.computing().subspan(
           times.segment_count - FinishOperators(graph.program.stages[rank]))) {
    account.compute += segment.end - segment.start;
  }
}

// Moves a place in a list of intervals, which ends with one that never starts,
// to the first one that ends behind `time`. Strides grow while they fall short,
// because the next place is near or very far.
void MoveTo(double time, const Interval* end, const Interval*& place) {
  ptrdiff_t stride = 1;
  while (place != end && place->end <= time) {
    while (stride > end - place || place[stride - 1].end > time) stride /= 2;
    place += stride;
    stride *= 2;
  }
}

// One rank class, its streams and its neighbours.
class Account {
 public:
  Account(const CostedGraph& costed, const Folds& folds,
          const IterationTimes& times, int64_t rank_class)
      : costed_(costed),
        folds_(folds),
        times_(times),
        mine_(times.classes[rank_class]),
        previous_(
            times.classes[PreviousClass(costed.graph.placement, rank_class)]),
        next_(times.classes[NextClass(costed.graph.placement, rank_class)]),
        rank_class_(rank_class),
        tensor_{mine_.tensor, {kNever, kNever}} {}

  ClassAccount Run(int64_t rank) {
    AddComputation(costed_.graph, folds_, mine_, rank_class_, rank, account_);
    ChargeTensor();
    if (costed_.graph.overlaps.p2p) {
      ChargeTransfers();
    } else {
      ChargeBlockingTransfers();
    }
    ChargeData();
    account_.bubble = mine_.end - account_.compute - account_.exposed();
    account_.idle = times_.iteration_time - mine_.end;
    return account_;
  }

 private:
  Charger NewCharger() const { return {costed_, folds_, times_, mine_}; }

  void ChargeTensor() {
    Charger charger = NewCharger();
    charger.Charge(mine_.tensor, account_.exposed_tensor, account_.overlapped);
  }

  // Nothing computes beside what the rank sends, so that is exposed; what it
  // receives meanwhile adds nothing. All that is received has arrived before
  // the last pass, and thus before the tensor collective behind the passes.
  void ChargeBlockingTransfers() {
    if (TakesByChunk(costed_.graph)) {
      // Behind a chain several transfers may go at once.
      account_.exposed_pipeline += mine_.held;
    } else {
      ChargeSent();
    }
    Merged<2> received({previous_.sent[0].data(), next_.sent[1].data()});
    Charger charger = NewCharger();
    VisitUnion([&] { return received.Take(); },
               [&](const Interval& interval) {
                 charger.Charge(interval, account_.exposed_pipeline,
                                account_.overlapped);
               });
    account_.exposed_data -= charger.within_waits();
  }

  void ChargeSent() {
    for (size_t d = 0; d < 2; ++d) {
      const size_t count = mine_.sent_count[d] + mine_.sent_left_out[d];
      if (count == 0) continue;
      const Interval& first = mine_.sent[d].front();
      account_.exposed_pipeline +=
          static_cast<double>(count) * (first.end - first.start);
    }
  }

  void ChargeTransfers() {
    Merged<4> transfers({mine_.sent[0].data(), mine_.sent[1].data(),
                         previous_.sent[0].data(), next_.sent[1].data()});
    Charger charger = NewCharger();
    VisitUnion([&] { return transfers.Take(); },
               [&](const Interval& interval) {
                 Merged<1> tensor({tensor_.data()});
                 VisitUncovered(
                     interval, [&] { return tensor.Take(); },
                     [&](Interval uncovered) {
                       charger.Charge(uncovered, account_.exposed_pipeline,
                                      account_.overlapped);
                     });
               });
    account_.exposed_data -= charger.within_waits();
  }

  void ChargeData() {
    Charger charger = NewCharger();
    size_t at = 0;
    const auto take_data = [&] {
      return at < mine_.data.size() ? mine_.data[at++]
                                    : Interval{kNever, kNever};
    };
    // What comes before data, from where it ends behind the data's start.
    std::array<const Interval*, 5> covers = {
        mine_.sent[0].data(), mine_.sent[1].data(), previous_.sent[0].data(),
        next_.sent[1].data(), tensor_.data()};
    const std::array<const Interval*, 5> ends = {
        covers[0] + mine_.sent_count[0], covers[1] + mine_.sent_count[1],
        covers[2] + previous_.sent_count[0], covers[3] + next_.sent_count[1],
        covers[4] + 1};
    VisitUnion(take_data, [&](const Interval& interval) {
      for (size_t i = 0; i < covers.size(); ++i) {
        MoveTo(interval.start, ends[i], covers[i]);
      }
      Merged<5> merged(covers);
      VisitUncovered(
          interval, [&] { return merged.Take(); },
          [&](Interval uncovered) {
            charger.Charge(uncovered, account_.exposed_data,
                           account_.overlapped);
          });
    });
  }

  const CostedGraph& costed_;
  const Folds& folds_;
  const IterationTimes& times_;
  const ClassTimes& mine_;
  const ClassTimes& previous_;
  const ClassTimes& next_;
  const int64_t rank_class_;
  const std::array<Interval, 2> tensor_;
  ClassAccount account_;
};

}  // namespace

ClassAccount AccountClass(const CostedGraph& costed, const Folds& folds,
                          const IterationTimes& times, int64_t rank_class) {
  const int64_t rank = costed.graph.placement.classes[rank_class].pipeline_rank;
  return Account(costed, folds, times, rank_class).Run(rank);
}

}  // namespace lmsimbench::aggregate
