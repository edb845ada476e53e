#pragma once

#include <array>
#include <cstdint>

#include "lib/place/group_shape.h"
#include "lib/place/shard_rows.h"
#include "lmsimbench/placement.h"

namespace lmsimbench::place {

/// What a coordinate moves the first member of a group by:
/// `coordinate / within % steps * stride`.
struct Move {
  int64_t stride = 0;
  int64_t steps = 1;
  int64_t within = 1;
};

/// All groups of one kind: their shape, and where they begin.
struct PlacedGroup {
  Group group = Group::kNotStated;
  GroupShape shape;
  /// Tensor-parallel ranks that have a group each.
  int64_t tp = 1;
  Move cp, dp, pp;
  /// Of experts, whose groups are cut from the ranks of a stage as they stand:
  /// the first member is the rank without its parts in these rows.
  std::array<RankRow, 2> floors = {};
};

/// Group g stands at g - 1.
using PlacedGroups = std::array<PlacedGroup, kGroups - 1>;
PlacedGroups PlaceGroups(const Placement& placement);

/// True if the group is one of experts that has to find its first member by
/// what its floors cut off.
inline bool HasFloors(const PlacedGroup& group) {
  return group.floors[0].count * group.floors[1].count > 1;
}

/// The first member of the group of the rank with these coordinates.
inline int64_t Begin(const Placement& p, const PlacedGroup& group,
                     const Coordinates& c) {
  const auto moved = [](const Move& move, int64_t coordinate) {
    if (move.steps == 1) return int64_t{0};
    const int64_t at = move.within == 1 ? coordinate : coordinate / move.within;
    return (at < move.steps ? at : at % move.steps) * move.stride;
  };
  int64_t begin = moved(group.cp, c.cp) + moved(group.dp, c.dp) +
                  moved(group.pp, c.pp) + c.tp * p.tp_stride;
  if (!HasFloors(group)) return begin;
  for (const RankRow& row : group.floors) {
    begin -= begin / row.stride % row.count * row.stride;
  }
  return begin;
}

}  // namespace lmsimbench::place
