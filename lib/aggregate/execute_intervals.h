#pragma once

#include <algorithm>
#include <vector>

namespace lmsimbench {

/// Half-open interval of time.
struct Interval {
  double start_s = 0;
  double end_s = 0;
};

/// Intervals in the order of time that neither overlap nor touch.
using Intervals = std::vector<Interval>;

/// The union of two, into `out`, which is neither of them.
void Unite(const Intervals& a, const Intervals& b, Intervals& out);

/// Length of all together, and of the union of two.
double Length(const Intervals& intervals);
double UnionLength(const Intervals& a, const Intervals& b);

/// Collects tasks into the intervals in which one of them runs. A task starts
/// no earlier than the interval that is being collected, and in the order of
/// time if it starts behind its end.
class BusyTime {
 public:
  void Clear() {
    intervals_.clear();
    start_s_ = end_s_ = 0;
  }

  void Add(double start_s, double end_s) {
    if (start_s > end_s_) {
      Close();
      start_s_ = start_s;
    }
    end_s_ = std::max(end_s_, end_s);
  }

  /// All of them. Nothing may be added before the next `Clear`.
  const Intervals& Finish() {
    Close();
    start_s_ = end_s_;
    return intervals_;
  }

  /// When the last of them ended, also if it took no time.
  double end_s() const { return end_s_; }

 private:
  void Close() {
    if (end_s_ > start_s_) intervals_.push_back({start_s_, end_s_});
  }

  Intervals intervals_;
  double start_s_ = 0;
  double end_s_ = 0;
};

}  // namespace lmsimbench
