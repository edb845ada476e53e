#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "lmsimbench/cost_model.h"

namespace lmsimbench {

/// Lengths that describe a shape: one to three, the others 1.
using Extent = std::array<double, 3>;

/// A measured time at a shape.
struct TablePoint {
  Extent at = {1, 1, 1};
  double seconds = 0;
};

/// Measured times over shapes, interpolated so that no length can grow and the
/// time fall.
///
/// How: a reference formula says what a shape takes; what the measurements
/// deviate from it (the logarithm of the ratio) is averaged over all points,
/// weighted by the inverse fourth power of the distance of the logarithms of
/// the lengths. That gives a time at every node of a grid with a node each
/// octave. The grid is made monotone: each node takes the mean of the largest
/// value at nodes that it dominates and the smallest at nodes that dominate it,
/// both of which are monotone. Between nodes the logarithm of the time is
/// interpolated linearly in each logarithm of a length, which stays monotone.
/// The points are made monotone in the same way, and the interpolated time is
/// held between the largest point that the shape dominates and the smallest
/// that dominates it: so a measured shape gives its measured time, unless
/// measurements contradict each other.
class MonotoneTable {
 public:
  /// Seconds of a shape by a formula that follows the shape; its level does not
  /// matter. Called while the table is built only.
  using Reference = std::function<double(const Extent&)>;

  /// `points` is not empty; of equal shapes the median counts, and a time that
  /// is 32 times off what the others say is left out. The table answers up to
  /// `reach` times beyond the measured range of each length.
  MonotoneTable(std::vector<TablePoint> points, const Reference& reference,
                double reach);

  /// The time at a shape: measured, interpolated within the measured range of
  /// every length, extrapolated up to the reach, or not answered.
  Cost Find(const Extent& at) const;

 private:
  // A point, in logarithms to base 2 of lengths and of seconds.
  struct Point {
    Extent at;
    double seconds;
  };
  // A grid's axis: `nodes` nodes, `first`, `first` + 1…; the measured range.
  struct Axis {
    double first = 0;
    size_t nodes = 1;
    double low = 0;
    double high = 0;
    double reach = 0;
  };

  void MergeEqual();
  void LayGrid(double reach);
  // Of each point from the reference.
  std::vector<double> Deviations(const Reference& reference) const;
  void DropOutliers(std::vector<double>& deviations);
  void FillGrid(const Reference& reference,
                const std::vector<double>& deviations);
  void MakeGridMonotone();
  void MakePointsMonotone();
  Extent NodeAt(size_t node) const;
  double OnGrid(const Extent& at) const;

  std::array<Axis, 3> axes_;
  // Logarithms of seconds; the last axis runs fastest.
  std::vector<float> grid_;
  // Sorted by seconds.
  std::vector<Point> points_;
  // Largest distance of a point from the grid.
  double spread_ = 0;
};

}  // namespace lmsimbench
