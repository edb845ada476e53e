#include "lib/place/rank_classes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include "lib/place/group_shape.h"
#include "lib/place/placed_groups.h"

namespace lmsimbench::place {
namespace {

// The slowest span among the groups of the tensor-parallel ranks, which go in
// lockstep.
Span SlowestSpan(const Placement& p, const PlacedGroup& group, Coordinates c) {
  int64_t begin = Begin(p, group, c);
  Span slowest = SpanAt(p.system, group.shape, begin);
  int64_t position = Position(group.shape, begin);
  for (c.tp = 1; c.tp < group.tp && group.shape.cycle > 1; ++c.tp) {
    begin = Begin(p, group, c);
    if (Position(group.shape, begin) == position) continue;
    position = Position(group.shape, begin);
    const Span span = SpanAt(p.system, group.shape, begin);
    if (IsSlower(span, slowest)) slowest = span;
  }
  return slowest;
}

int32_t SpanIndex(const Span& span, Placement& p) {
  const auto found = std::find(p.spans.begin(), p.spans.end(), span);
  const auto index = static_cast<int32_t>(found - p.spans.begin());
  if (found == p.spans.end()) p.spans.push_back(span);
  return index;
}

// Ranks after which the spans of a group of experts repeat: its place in the
// rows that are cut off, and that of its first member among the boundaries.
// Where it begins at multiples of a block that boundaries fit into, only the
// ranks in between count.
int64_t FloorPeriod(const PlacedGroup& group) {
  const int64_t cycle = group.shape.grain * group.shape.cycle;
  int64_t block = 1;
  int64_t members = 1;
  int64_t stride = INT64_MAX;
  int64_t period = cycle;
  for (const RankRow& row : group.floors) {
    if (row.count == 1) continue;
    block = std::max(block, row.count * row.stride);
    members *= row.count;
    stride = std::min(stride, row.stride);
    period = std::lcm(period, row.count * row.stride);
  }
  return members * stride == block && block % cycle == 0 ? stride : period;
}

// Steps of a coordinate after which the spans of a group repeat.
// (Replica groups begin anew with every sharding group: their period is 1 or
// all of its ranks, since boundaries that their members do not always meet lie
// farther apart than a sharding group is long.)
int64_t Period(const PlacedGroup& group, const Move& move, int64_t size) {
  if (HasFloors(group)) {
    if (group.shape.cycle == 1 || size == 1) return 1;
    const int64_t devices = FloorPeriod(group);
    return std::min(size, devices / std::gcd(devices, move.stride));
  }
  const int64_t steps = PositionPeriod(group.shape, move.stride, move.steps);
  return steps == 1 ? 1 : steps * move.within;
}

// Tensor-parallel groups, numbered by `dp * cp_size + cp`, after which the
// spans of all groups repeat.
int64_t Period(const Placement& p, const PlacedGroups& groups) {
  int64_t dp = 1;
  int64_t cp = 1;
  for (const PlacedGroup& group : groups) {
    dp = std::min(p.dp, std::lcm(dp, Period(group, group.dp, p.dp)));
    cp = std::min(p.cp, std::lcm(cp, Period(group, group.cp, p.cp)));
  }
  return dp == 1 && p.cp % cp == 0 ? cp : dp * p.cp;
}

// Appends the classes of one pipeline, whose coordinates are given for its
// first stage. `constant` holds the spans that are the same in all of them.
void AppendPipeline(const PlacedGroups& groups, const RankClass& constant,
                    Coordinates c, Placement& p) {
  for (c.pp = 0; c.pp < p.pp; ++c.pp) {
    const bool is_last = c.pp == p.pp - 1;
    RankClass rank_class = constant;
    rank_class.pipeline_rank = c.pp;
    for (const PlacedGroup& group : groups) {
      if (group.shape.cycle == 1) continue;
      if (is_last && group.group == Group::kPipeline) continue;
      rank_class.span[static_cast<size_t>(group.group)] =
          SpanIndex(SlowestSpan(p, group, c), p);
    }
    // The last stage's next is the first.
    if (is_last) {
      rank_class.span[static_cast<size_t>(Group::kPipeline)] =
          rank_class.span[static_cast<size_t>(Group::kEmbedding)];
    }
    p.classes.push_back(rank_class);
  }
}

// The kind of the pipeline whose classes stand last: the first kind with the
// same spans, which may be its own.
int64_t KindOfLast(const Placement& p) {
  const int64_t last = static_cast<int64_t>(p.classes.size()) / p.pp - 1;
  const auto of_last = p.classes.begin() + last * p.pp;
  int64_t kind = 0;
  while (!std::equal(of_last, p.classes.end(), p.classes.begin() + kind * p.pp,
                     [](const RankClass& a, const RankClass& b) {
                       return a.span == b.span;
                     })) {
    ++kind;
  }
  return kind;
}

}  // namespace

void SetRankClasses(Placement& p) {
  p.spans.clear();
  p.classes.clear();
  p.pipeline_kinds.clear();

  const PlacedGroups groups = PlaceGroups(p);
  RankClass constant;
  constant.span[static_cast<size_t>(Group::kNotStated)] = SpanIndex(Span(), p);
  for (const PlacedGroup& group : groups) {
    if (group.shape.cycle > 1) continue;
    constant.span[static_cast<size_t>(group.group)] =
        SpanIndex(SpanAt(p.system, group.shape, 0), p);
  }

  const int64_t pipelines = p.dp * p.cp;
  const int64_t period = Period(p, groups);
  int64_t kinds = 0;
  for (int64_t i = 0; i < period; ++i) {
    Coordinates c;
    c.dp = i / p.cp;
    c.cp = i % p.cp;
    AppendPipeline(groups, constant, c, p);
    const int64_t kind = KindOfLast(p);
    kinds = std::max(kinds, kind + 1);
    p.classes.resize(kinds * p.pp);
    p.pipeline_kinds.push_back(static_cast<int32_t>(kind));
    const int64_t alike = (pipelines - i + period - 1) / period;
    for (int64_t stage = kind * p.pp; stage < (kind + 1) * p.pp; ++stage) {
      p.classes[stage].pipeline_kind = kind;
      p.classes[stage].ranks += alike * p.tp;
    }
  }
  if (kinds == 1) p.pipeline_kinds.resize(1);
}

}  // namespace lmsimbench::place
