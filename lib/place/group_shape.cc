#include "lib/place/group_shape.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "lib/core/arithmetic.h"

namespace lmsimbench::place {
namespace {

constexpr int64_t kEverything = std::numeric_limits<int64_t>::max();

// Devices that a group of the level joins, where one of the level within joins
// `inner`.
int64_t Joined(const NetworkLevel& level, int64_t inner) {
  return IsStated(level.size) ? SaturatingProduct(inner, level.size)
                              : kEverything;
}

int64_t NodeSize(const System& system) {
  return system.network.empty() ? kEverything
                                : Joined(system.network.front(), 1);
}

// Distance from the first member to the last.
int64_t Extent(const GroupShape& shape) {
  return (shape.count - 1) * shape.stride + (shape.rows - 1) * shape.row_stride;
}

// Nodes, and members in the fullest of them, as rows are walked through in the
// order of their ranks. Neighbouring rows may share a node.
class NodeCount {
 public:
  explicit NodeCount(int64_t node_size) : node_size_(node_size) {}

  // With strides of less than a node, every node between the first and the last
  // of a row holds a member.
  void AddRow(int64_t begin, int64_t count, int64_t stride) {
    const int64_t first = begin / node_size_;
    const int64_t last = (begin + (count - 1) * stride) / node_size_;
    const auto before_node = [&](int64_t node) {
      return CeilDivide(node * node_size_ - begin, stride);
    };
    if (first == last) return Add(first, count);
    Add(first, before_node(first + 1));
    const int64_t most = CeilDivide(node_size_, stride);
    for (int64_t node = first + 1; node < last && fullest_ < most; ++node) {
      fullest_ = std::max(fullest_, before_node(node + 1) - before_node(node));
    }
    nodes_ += last - first - 1;
    Add(last, count - before_node(last));
  }

  int64_t nodes() const { return nodes_; }
  int64_t fullest() const { return fullest_; }

 private:
  void Add(int64_t node, int64_t members) {
    if (node != last_node_) {
      ++nodes_;
      last_node_ = node;
      in_last_node_ = 0;
    }
    in_last_node_ += members;
    fullest_ = std::max(fullest_, in_last_node_);
  }

  int64_t node_size_;
  int64_t nodes_ = 0;
  int64_t fullest_ = 0;
  int64_t last_node_ = -1;
  int64_t in_last_node_ = 0;
};

}  // namespace

GroupShape MakeGroupShape(const Placement& placement, int64_t count,
                          int64_t stride, int64_t rows, int64_t row_stride,
                          int64_t block) {
  if (rows > 1 && (count == 1 || row_stride < stride)) {
    std::swap(count, rows);
    std::swap(stride, row_stride);
  }
  if (rows > 1 && row_stride == count * stride) {
    count *= rows;
    rows = 1;
  }
  GroupShape shape;
  shape.count = count;
  shape.stride = count > 1 ? stride : 1;
  shape.rows = rows;
  shape.row_stride = rows > 1 ? row_stride : 1;
  if (count == 1) return shape;

  // Boundaries that a group meets or not, depending on where it begins: not
  // those at multiples of the block, which no group meets; not those that lie
  // closer than the group is long, which every group meets. (Where members lie
  // closer than a node is long, its boundaries still decide how many share it.)
  int64_t innermost = 0;
  int64_t outermost = 0;
  int64_t joined = 1;
  const int64_t ranks = Ranks(placement);
  for (size_t i = 0; i < placement.system.network.size(); ++i) {
    joined = Joined(placement.system.network[i], joined);
    if (joined >= ranks) break;
    const bool always =
        i == 0 ? shape.stride >= joined : Extent(shape) >= joined;
    if (joined % block == 0 || always) continue;
    if (innermost == 0) innermost = joined;
    outermost = joined;
  }
  if (innermost == 0) return shape;
  // Members lie at multiples of the grain from the first, boundaries at
  // multiples of it.
  shape.grain = std::gcd(innermost, shape.stride);
  shape.cycle = outermost / shape.grain;
  return shape;
}

int64_t PositionPeriod(const GroupShape& shape, int64_t stride, int64_t size) {
  if (shape.cycle == 1 || size == 1) return 1;
  // The coordinate, and all that vary faster, move within a grain.
  if (shape.grain % (stride * size) == 0) return 1;
  const int64_t devices = shape.grain * shape.cycle;
  return std::min(size, devices / std::gcd(devices, stride));
}

Span SpanAt(const System& system, const GroupShape& shape, int64_t begin) {
  Span span;
  span.members = shape.count * shape.rows;
  if (span.members == 1) return span;

  const int64_t last = begin + Extent(shape);
  int64_t joined = 1;
  for (const NetworkLevel& level : system.network) {
    joined = Joined(level, joined);
    if (begin / joined == last / joined) break;
    ++span.level;
  }
  if (span.level == 0) {
    span.members_per_node = span.members;
    return span;
  }

  const int64_t node = NodeSize(system);
  if (shape.stride >= node) {
    span.nodes = span.members;
    return span;
  }
  // Rows that begin at the same place of a node and share none are alike.
  const int64_t row_end = begin + (shape.count - 1) * shape.stride;
  const bool alike = shape.row_stride % node == 0 &&
                     row_end / node < (begin + shape.row_stride) / node;
  NodeCount count(node);
  const int64_t walked = alike ? 1 : shape.rows;
  for (int64_t row = 0; row < walked; ++row) {
    count.AddRow(begin + row * shape.row_stride, shape.count, shape.stride);
  }
  span.nodes = count.nodes() * (shape.rows / walked);
  span.members_per_node = count.fullest();
  return span;
}

bool IsSlower(const Span& a, const Span& b) {
  if (a.level != b.level) return a.level > b.level;
  if (a.nodes != b.nodes) return a.nodes > b.nodes;
  return a.members_per_node < b.members_per_node;
}

}  // namespace lmsimbench::place
