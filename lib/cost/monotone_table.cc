#include "lib/cost/monotone_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lmsimbench {
namespace {

constexpr size_t kAxes = 3;
// Lengths are whole numbers: logarithms nearer than this are equal.
constexpr double kEqual = 1e-9;

Extent Log2(const Extent& at) {
  return {std::log2(at[0]), std::log2(at[1]), std::log2(at[2])};
}

// A time this far (in octaves) from what most points of the table are off the
// reference is no time of a kernel: profilers write such for a run that failed.
constexpr double kOutlier = 5;

double Log2Of(const MonotoneTable::Reference& reference, const Extent& at) {
  return std::log2(
      reference({std::exp2(at[0]), std::exp2(at[1]), std::exp2(at[2])}));
}

bool Dominates(const Extent& a, const Extent& b) {
  return a[0] >= b[0] - kEqual && a[1] >= b[1] - kEqual &&
         a[2] >= b[2] - kEqual;
}

double SquaredDistance(const Extent& a, const Extent& b) {
  double sum = 0;
  for (size_t axis = 0; axis < kAxes; ++axis) {
    sum += (a[axis] - b[axis]) * (a[axis] - b[axis]);
  }
  return sum;
}

}  // namespace

MonotoneTable::MonotoneTable(std::vector<TablePoint> points,
                             const Reference& reference, double reach) {
  points_.reserve(points.size());
  for (const TablePoint& point : points) {
    points_.push_back({Log2(point.at), std::log2(point.seconds)});
  }
  MergeEqual();
  std::vector<double> deviations = Deviations(reference);
  DropOutliers(deviations);
  LayGrid(std::log2(reach));
  FillGrid(reference, deviations);
  MakeGridMonotone();
  MakePointsMonotone();
}

void MonotoneTable::MergeEqual() {
  std::sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) {
    return a.at != b.at ? a.at < b.at : a.seconds < b.seconds;
  });
  std::vector<Point> merged;
  for (size_t begin = 0, end = 0; begin < points_.size(); begin = end) {
    while (end < points_.size() && points_[end].at == points_[begin].at) ++end;
    const double median = (points_[begin + (end - begin - 1) / 2].seconds +
                           points_[begin + (end - begin) / 2].seconds) /
                          2;
    merged.push_back({points_[begin].at, median});
  }
  points_ = std::move(merged);
}

std::vector<double> MonotoneTable::Deviations(
    const Reference& reference) const {
  std::vector<double> deviations;
  deviations.reserve(points_.size());
  for (const Point& point : points_) {
    deviations.push_back(point.seconds - Log2Of(reference, point.at));
  }
  return deviations;
}

void MonotoneTable::DropOutliers(std::vector<double>& deviations) {
  std::vector<double> sorted = deviations;
  std::sort(sorted.begin(), sorted.end());
  const double median = sorted[(sorted.size() - 1) / 2];
  size_t kept = 0;
  for (size_t i = 0; i < points_.size(); ++i) {
    if (std::abs(deviations[i] - median) > kOutlier) continue;
    points_[kept] = points_[i];
    deviations[kept++] = deviations[i];
  }
  points_.resize(kept);
  deviations.resize(kept);
}

void MonotoneTable::LayGrid(double reach) {
  size_t nodes = 1;
  for (size_t i = 0; i < kAxes; ++i) {
    Axis& axis = axes_[i];
    axis.low = axis.high = points_.front().at[i];
    for (const Point& point : points_) {
      axis.low = std::min(axis.low, point.at[i]);
      axis.high = std::max(axis.high, point.at[i]);
    }
    // A length that never varies is that of the table: nothing tells how time
    // depends on it.
    axis.reach = axis.high > axis.low ? reach : 0;
    axis.first =
        axis.low == axis.high ? axis.low : std::floor(axis.low - axis.reach);
    axis.nodes =
        static_cast<size_t>(std::ceil(axis.high + axis.reach - axis.first)) + 1;
    nodes *= axis.nodes;
  }
  grid_.resize(nodes);
}

Extent MonotoneTable::NodeAt(size_t node) const {
  Extent at;
  for (size_t i = kAxes; i-- > 0;) {
    at[i] = axes_[i].first + static_cast<double>(node % axes_[i].nodes);
    node /= axes_[i].nodes;
  }
  return at;
}

void MonotoneTable::FillGrid(const Reference& reference,
                             const std::vector<double>& deviations) {
  for (size_t node = 0; node < grid_.size(); ++node) {
    const Extent at = NodeAt(node);
    double weights = 0;
    double sum = 0;
    for (size_t i = 0; i < points_.size(); ++i) {
      // A tenth of an octave counts as no distance.
      const double squared = SquaredDistance(at, points_[i].at) + 0.01;
      const double weight = 1 / (squared * squared);
      weights += weight;
      sum += weight * deviations[i];
    }
    grid_[node] = static_cast<float>(Log2Of(reference, at) + sum / weights);
  }
}

void MonotoneTable::MakeGridMonotone() {
  std::vector<float> below = grid_;
  std::vector<float> above = grid_;
  size_t stride = 1;
  for (size_t axis = kAxes; axis-- > 0;) {
    const size_t nodes = axes_[axis].nodes;
    for (size_t i = 0; i < grid_.size(); ++i) {
      if (i / stride % nodes == 0) continue;
      below[i] = std::max(below[i], below[i - stride]);
    }
    for (size_t i = grid_.size(); i-- > 0;) {
      if (i / stride % nodes == nodes - 1) continue;
      above[i] = std::min(above[i], above[i + stride]);
    }
    stride *= nodes;
  }
  for (size_t i = 0; i < grid_.size(); ++i) {
    grid_[i] = (below[i] + above[i]) / 2;
  }
}

void MonotoneTable::MakePointsMonotone() {
  const std::vector<Point> measured = points_;
  for (Point& point : points_) {
    double below = point.seconds;
    double above = point.seconds;
    for (const Point& other : measured) {
      if (Dominates(point.at, other.at)) below = std::max(below, other.seconds);
      if (Dominates(other.at, point.at)) above = std::min(above, other.seconds);
    }
    point.seconds = (below + above) / 2;
    spread_ = std::max(spread_, std::abs(point.seconds - OnGrid(point.at)));
  }
  std::sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) {
    return a.seconds < b.seconds;
  });
}

double MonotoneTable::OnGrid(const Extent& at) const {
  std::array<double, kAxes> fraction;
  std::array<size_t, kAxes> step = {0, 0, 0};
  size_t corner = 0;
  size_t stride = 1;
  for (size_t i = kAxes; i-- > 0;) {
    const Axis& axis = axes_[i];
    const double position = std::clamp(at[i] - axis.first, 0.0,
                                       static_cast<double>(axis.nodes - 1));
    const auto cell = static_cast<size_t>(position);
    fraction[i] = position - static_cast<double>(cell);
    corner += cell * stride;
    if (cell + 1 < axis.nodes) step[i] = stride;
    stride *= axis.nodes;
  }
  const auto between = [](double a, double b, double share) {
    return a + (b - a) * share;
  };
  const auto last = [&](size_t node) {
    return between(grid_[node], grid_[node + step[2]], fraction[2]);
  };
  const auto last_two = [&](size_t node) {
    return between(last(node), last(node + step[1]), fraction[1]);
  };
  return between(last_two(corner), last_two(corner + step[0]), fraction[0]);
}

Cost MonotoneTable::Find(const Extent& extent) const {
  const Extent at = Log2(extent);
  Cost cost;
  cost.evidence = Evidence::kInterpolated;
  for (size_t i = 0; i < kAxes; ++i) {
    const Axis& axis = axes_[i];
    if (at[i] >= axis.low - kEqual && at[i] <= axis.high + kEqual) continue;
    if (!(at[i] >= axis.low - axis.reach - kEqual &&
          at[i] <= axis.high + axis.reach + kEqual)) {
      return {};
    }
    cost.evidence = Evidence::kExtrapolated;
  }
  const double on_grid = OnGrid(at);
  double seconds = on_grid;
  // No point further than the spread from its own place on the grid can hold
  // the value back: the grid is monotone.
  const double reach = spread_ + kEqual;
  auto point = std::lower_bound(
      points_.begin(), points_.end(), on_grid - reach,
      [](const Point& p, double value) { return p.seconds < value; });
  for (; point != points_.end() && point->seconds <= on_grid + reach; ++point) {
    const bool is_below = Dominates(at, point->at);
    const bool is_above = Dominates(point->at, at);
    if (is_below) seconds = std::max(seconds, point->seconds);
    if (is_above) seconds = std::min(seconds, point->seconds);
    if (is_below && is_above) {
      seconds = point->seconds;
      cost.evidence = Evidence::kMeasured;
      break;
    }
  }
  cost.seconds = std::exp2(seconds);
  return cost;
}

}  // namespace lmsimbench
