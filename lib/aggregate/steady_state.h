#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "lmsimbench/costed_graph.h"

/// \file
/// With many micro-batches an iteration comes to a steady state: all rank
/// classes do the same again and again, a period later. Once that is proven,
/// most periods are left out of the simulation, and counted as often as they
/// would have run.
///
/// All that passes and transfers will ever do follows from the passes still to
/// run and from a few times: when each compute stream is free, when the last
/// transfer of each link ends, and when those arrive that no pass has taken
/// yet. Seconds are multiples of 2^-40 s, so sums of them are exact and a shift
/// in time changes nothing. So if all these times are the same at two places of
/// the schedules, but for one shift, and the schedules go on behind both places
/// in the same way, then so does everything else.
///
/// What is simulated is an iteration without the periods left out, as if the
/// schedules did not have them. All that happens behind them is as many periods
/// too early there, and what is charged for one of them is missing as often.

namespace lmsimbench::aggregate {

struct Interval {
  double start = 0;
  double end = 0;
};

/// Sums of multiples of 2^-40 s are exact below so many seconds.
inline constexpr double kMostExactSeconds = 8192;

struct IterationTimes;

/// What is left out of an iteration.
struct SteadyState {
  /// How often a period is left out; 0: never, and nothing else counts.
  int64_t repeats = 0;
  /// Passes of every rank class in a period. The last one that is simulated
  /// ends in front of pass `end_pass` of each schedule, the next ones are left
  /// out.
  size_t passes = 0;
  size_t end_pass = 0;
  /// A period in simulated time in which everything is steady.
  Interval period = {std::numeric_limits<double>::infinity(),
                     std::numeric_limits<double>::infinity()};

  double seconds_left_out() const {
    return repeats == 0
               ? 0
               : static_cast<double>(repeats) * (period.end - period.start);
  }
  size_t end_left_out() const {
    return end_pass + static_cast<size_t>(repeats) * passes;
  }
};

/// Calls `visit(part, times)` with the parts of an interval of simulated time,
/// and how often each of them happens.
template <typename Visit>
void VisitRepeated(const SteadyState& steady, const Interval& interval,
                   Visit&& visit) {
  const Interval& period = steady.period;
  double from = interval.start;
  do {
    double until = interval.end;
    double times = 1;
    if (from < period.start) {
      until = std::min(until, period.start);
    } else if (from < period.end) {
      until = std::min(until, period.end);
      times += static_cast<double>(steady.repeats);
    }
    visit(Interval{from, until}, times);
    from = until;
  } while (from < interval.end);
}

/// When a pass of a rank class starts in the whole iteration, by its place in
/// the schedule.
double PassStart(const IterationTimes& times, size_t rank_class, size_t pass);

/// Passes of a pipeline rank that come again and again, each a unit of passes
/// later with micro-batches that are as many later.
struct RepeatedPasses {
  /// Places in the schedule.
  size_t begin = 0;
  size_t end = 0;
  /// In each direction, how many of a unit send and how many receive.
  std::array<size_t, 2> sent = {};
  std::array<size_t, 2> received = {};
};

/// Looks for the steady state while an iteration is simulated. Says how far all
/// classes have to run, looks at what they have done, and so on; once the
/// steady state is proven it leaves out what it can.
class SteadySearch {
 public:
  /// Leaves out nothing unless `wanted`.
  SteadySearch(const CostedGraph& costed, IterationTimes& times, bool wanted);

  /// Looks at what has run, and sets `ClassPlan::run_until` of all classes;
  /// false when nothing is left to look for, and all is to be run.
  bool Advance();
  /// Has everything run. For when classes wait for what others were not to run.
  void GiveUp();

 private:
  bool MayRepeat() const;
  bool FindRepeatedPasses();
  void RunUntil(size_t pass);
  double FreeBefore(size_t rank_class, size_t units) const;
  bool IsRepeated(size_t kind, size_t units) const;
  double Shift(size_t kind, size_t units) const;
  bool IsLinkRepeated(size_t receiver, size_t direction, size_t units,
                      double shift) const;
  void FindPeriod();
  bool IsPeriodOver() const;
  void LeaveOut();

  const CostedGraph& costed_;
  IterationTimes& times_;
  const size_t pp_;
  bool searching_ = false;
  // Passes after which schedules repeat themselves, and from where to where all
  // of them do.
  size_t unit_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;
  // All classes have run until here, and go on in such steps.
  size_t run_until_ = 0;
  size_t step_ = 0;
  // A period, once it is found.
  size_t units_ = 0;
  Interval period_;
};

}  // namespace lmsimbench::aggregate
