#include "lib/aggregate/execute_intervals.h"

#include <algorithm>

namespace lmsimbench {

void Unite(const Intervals& a, const Intervals& b, Intervals& out) {
  out.clear();
  auto next_a = a.begin();
  auto next_b = b.begin();
  while (next_a != a.end() || next_b != b.end()) {
    const bool from_a =
        next_b == b.end() ||
        (next_a != a.end() && next_a->start_s <= next_b->start_s);
    const Interval next = from_a ? *next_a++ : *next_b++;
    if (!out.empty() && next.start_s <= out.back().end_s) {
      out.back().end_s = std::max(out.back().end_s, next.end_s);
    } else {
      out.push_back(next);
    }
  }
}

double Length(const Intervals& intervals) {
  double length = 0;
  for (const Interval& interval : intervals)
    length += interval.end_s - interval.start_s;
  return length;
}

}  // namespace lmsimbench
