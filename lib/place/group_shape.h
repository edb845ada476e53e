#pragma once

#include <cstdint>

#include "lmsimbench/placement.h"

namespace lmsimbench::place {

/// How the members of a group lie relative to the first of them: `rows` rows of
/// `count` ranks, each at equal distances. A group in one dimension has one
/// row; a row holds the smaller distances and does not reach the next row.
struct GroupShape {
  int64_t count = 1;
  int64_t stride = 1;
  int64_t rows = 1;
  int64_t row_stride = 1;

  /// Groups of this shape have the same span if they begin at ranks with the
  /// same `Position`: moving a group within a grain of devices moves no member
  /// to another node, and moving it by a cycle of grains meets the same
  /// boundaries of nodes, pods and so on.
  int64_t grain = 1;
  int64_t cycle = 1;
};

/// The shape of groups with `count` ranks at distance `stride`, repeated `rows`
/// times at distance `row_stride`. Either distance may be the larger one; it is
/// a multiple of the other's row. `block`: the members of any such group lie
/// between two neighbouring multiples of it.
GroupShape MakeGroupShape(const Placement& placement, int64_t count,
                          int64_t stride, int64_t rows, int64_t row_stride,
                          int64_t block);

/// What the span depends on of where a group begins; from 0 to `cycle` - 1.
inline int64_t Position(const GroupShape& shape, int64_t begin) {
  return begin / shape.grain % shape.cycle;
}

/// Steps of a coordinate after which positions repeat, where one step moves the
/// group by `stride` ranks and the coordinate has `size` values.
int64_t PositionPeriod(const GroupShape& shape, int64_t stride, int64_t size);

/// Span of the group of this shape that begins at rank `begin`. The network has
/// to join all ranks.
Span SpanAt(const System& system, const GroupShape& shape, int64_t begin);

/// True if communication in a group of span `a` is slower than in one of span
/// `b` with as many members: it goes through an outer level, else over more
/// nodes, else with fewer members in a node.
bool IsSlower(const Span& a, const Span& b);

}  // namespace lmsimbench::place
