#include "lib/aggregate/execute_intervals.h"

namespace lmsimbench {
namespace {

// Calls `visit` for each interval of the union, in the order of time.
template <typename Visit>
void VisitUnion(const Intervals& a, const Intervals& b, Visit&& visit) {
  auto next_a = a.begin();
  auto next_b = b.begin();
  if (next_a == a.end() && next_b == b.end()) return;
  const auto next = [&] {
    const bool from_a =
        next_b == b.end() ||
        (next_a != a.end() && next_a->start_s <= next_b->start_s);
    return from_a ? *next_a++ : *next_b++;
  };
  Interval united = next();
  while (next_a != a.end() || next_b != b.end()) {
    const Interval interval = next();
    if (interval.start_s > united.end_s) {
      visit(united);
      united = interval;
    } else {
      united.end_s = std::max(united.end_s, interval.end_s);
    }
  }
  visit(united);
}

}  // namespace

void Unite(const Intervals& a, const Intervals& b, Intervals& out) {
  out.clear();
  VisitUnion(a, b, [&out](const Interval& united) { out.push_back(united); });
}

double Length(const Intervals& intervals) {
  double length = 0;
  for (const Interval& interval : intervals)
    length += interval.end_s - interval.start_s;
  return length;
}

double UnionLength(const Intervals& a, const Intervals& b) {
  double length = 0;
  VisitUnion(a, b, [&length](const Interval& united) {
    length += united.end_s - united.start_s;
  });
  return length;
}

}  // namespace lmsimbench
