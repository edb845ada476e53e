#include "lib/place/group_shape.h"

#include "catch2/catch.hpp"

namespace lmsimbench::place {
namespace {

System NodesOf(int64_t size) {
  System system;
  system.network.resize(2);
  system.network[0].size = size;
  return system;
}

GroupShape Rows(int64_t count, int64_t stride, int64_t rows,
                int64_t row_stride) {
  GroupShape shape;
  shape.count = count;
  shape.stride = stride;
  shape.rows = rows;
  shape.row_stride = row_stride;
  return shape;
}

}  // namespace

TEST_CASE("rows that share a node are counted in it together") {
  // 4 to 9 and 12 to 17, nodes at 0, 8 and 16: 4, 2 + 4 and 2 members.
  CHECK(SpanAt(NodesOf(8), Rows(6, 1, 2, 8), 4) == Span{12, 3, 6, 1});
}

TEST_CASE("the fullest node may lie in the middle of a row") {
  // 2, 5, 8, 11, 14, nodes at 0, 4, 8, 12: 1, 1, 2 and 1 members.
  CHECK(SpanAt(NodesOf(4), Rows(5, 3, 1, 1), 2) == Span{5, 4, 2, 1});
}

TEST_CASE("members farther apart than a node is long have one each") {
  CHECK(SpanAt(NodesOf(4), Rows(3, 6, 1, 1), 1) == Span{3, 3, 1, 1});
}

TEST_CASE("an outer level, then more nodes, then fewer members are slower") {
  CHECK(IsSlower({4, 2, 2, 2}, {4, 4, 1, 1}));
  CHECK(IsSlower({4, 3, 2, 1}, {4, 2, 2, 1}));
  CHECK(IsSlower({4, 2, 2, 1}, {4, 2, 3, 1}));
  CHECK_FALSE(IsSlower({4, 2, 3, 1}, {4, 2, 2, 1}));
  CHECK_FALSE(IsSlower({4, 2, 2, 1}, {4, 2, 2, 1}));
}

}  // namespace lmsimbench::place
