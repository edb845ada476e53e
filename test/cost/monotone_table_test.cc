#include "lib/cost/monotone_table.h"

#include <cmath>
#include <random>
#include <vector>

#include "catch2/catch.hpp"

namespace lmsimbench {
namespace {

// A matrix multiplication of 100 TFLOP/s with a launch of 5 us.
double Reference(const Extent& at) {
  return 5e-6 + 2 * at[0] * at[1] * at[2] / 100e12;
}

// Measurements that are off the reference by a factor that depends on the
// shape, with noise: of 10 %, as between sources, unless asked for more.
std::vector<TablePoint> Noisy(int count, unsigned seed, double noise = 0.1) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> octave(6, 14);
  std::normal_distribution<double> normal(0, noise);
  std::vector<TablePoint> points;
  for (int i = 0; i < count; ++i) {
    TablePoint point;
    for (double& length : point.at) {
      length = std::exp2(octave(random)) * (1 + octave(random) % 3);
    }
    const double off = 1.5 + 0.5 * std::sin(std::log(point.at[0]));
    point.seconds = Reference(point.at) * off * std::exp(normal(random));
    points.push_back(point);
  }
  return points;
}

TEST_CASE("A measured shape gives its measured time") {
  // Points that contradict each other in nothing.
  const std::vector<TablePoint> points = {{{64, 64, 64}, 6e-6},
                                          {{128, 64, 64}, 7e-6},
                                          {{64, 4096, 4096}, 40e-6},
                                          {{4096, 4096, 4096}, 1.7e-3}};
  const MonotoneTable table(points, Reference, 1);
  for (const TablePoint& point : points) {
    const Cost cost = table.Find(point.at);
    CHECK(cost.evidence == Evidence::kMeasured);
    CHECK(cost.seconds == Approx(point.seconds));
  }
}

TEST_CASE("Of equal shapes the median counts") {
  const Extent at = {512, 512, 512};
  const MonotoneTable odd({{at, 3e-6}, {at, 10e-6}, {at, 4e-6}}, Reference, 1);
  CHECK(odd.Find(at).seconds == Approx(4e-6));
  // Of two the geometric mean.
  const MonotoneTable even({{at, 4e-6}, {at, 9e-6}}, Reference, 1);
  CHECK(even.Find(at).seconds == Approx(6e-6));
}

TEST_CASE("Times that contradict each other meet in the middle") {
  // The larger shape was measured faster.
  const MonotoneTable table({{{512, 512, 512}, 9e-6}, {{1024, 512, 512}, 4e-6}},
                            Reference, 1);
  CHECK(table.Find({512, 512, 512}).seconds == Approx(6e-6));
  CHECK(table.Find({1024, 512, 512}).seconds == Approx(6e-6));
  CHECK(table.Find({700, 512, 512}).seconds == Approx(6e-6));
}

TEST_CASE("A reference off by a constant factor is corrected everywhere") {
  std::vector<TablePoint> points;
  for (double m : {64, 512, 4096}) {
    for (double n : {64, 512, 4096}) {
      for (double k : {64, 512, 4096}) {
        points.push_back({{m, n, k}, 1.7 * Reference({m, n, k})});
      }
    }
  }
  const MonotoneTable table(points, Reference, 1);
  // Between the nodes of the grid the reference bends; the power law between
  // two nodes an octave apart is off by up to 3 % for each length.
  for (const Extent& at : {Extent{300, 300, 300}, Extent{3000, 100, 1000},
                           Extent{1500, 2900, 181}}) {
    const Cost cost = table.Find(at);
    CHECK(cost.evidence == Evidence::kInterpolated);
    CHECK(cost.seconds == Approx(1.7 * Reference(at)).epsilon(0.1));
  }
}

TEST_CASE("Outside the measured range a table extrapolates up to its reach") {
  const MonotoneTable table(
      {{{512, 512, 512}, 10e-6}, {{4096, 2048, 1024}, 400e-6}}, Reference, 4);
  CHECK(table.Find({512, 600, 1024}).evidence == Evidence::kInterpolated);
  CHECK(table.Find({4097, 2048, 1024}).evidence == Evidence::kExtrapolated);
  CHECK(table.Find({16384, 2048, 1024}).evidence == Evidence::kExtrapolated);
  CHECK(table.Find({16400, 2048, 1024}).evidence == Evidence::kNotAnswered);
  CHECK(table.Find({128, 512, 512}).evidence == Evidence::kExtrapolated);
  CHECK(table.Find({127, 512, 512}).evidence == Evidence::kNotAnswered);
  CHECK(table.Find({-1, 512, 512}).evidence == Evidence::kNotAnswered);
}

TEST_CASE("A length that was never varied is not extrapolated") {
  const MonotoneTable table(
      {{{512, 512, 128}, 10e-6}, {{1024, 1024, 128}, 30e-6}}, Reference, 4);
  CHECK(table.Find({600, 600, 128}).evidence == Evidence::kInterpolated);
  CHECK(table.Find({600, 600, 64}).evidence == Evidence::kNotAnswered);
}

TEST_CASE("What a profiler writes for a run that failed does not count") {
  std::vector<TablePoint> points = Noisy(50, 7);
  points.push_back({{8192, 8192, 8192}, 10});
  const MonotoneTable table(points, Reference, 4);
  CHECK(table.Find({8192, 8192, 8192}).seconds < 0.1);
}

// From random shapes one length grows by a random factor at a time.
void CheckMonotone(const MonotoneTable& table, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> octave(4, 18);
  std::uniform_real_distribution<double> growth(0, 1.5);
  int compared = 0;
  for (int i = 0; i < 20000; ++i) {
    Extent at;
    for (double& length : at) length = std::round(std::exp2(octave(random)));
    Cost last = table.Find(at);
    for (int step = 0; step < 6; ++step) {
      double& length = at[static_cast<size_t>(i) % 3];
      length = std::ceil(length * std::exp2(growth(random)));
      const Cost cost = table.Find(at);
      if (cost.evidence == Evidence::kNotAnswered) break;
      if (last.evidence != Evidence::kNotAnswered) {
        ++compared;
        // Rounding in the last digits only.
        REQUIRE(cost.seconds >= last.seconds * (1 - 1e-12));
      }
      last = cost;
    }
  }
  CHECK(compared > 1000);
}

TEST_CASE("More of any length is never faster, whatever was measured") {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    // Noise up to a factor of e.
    const double noise = 0.2 * static_cast<double>(seed);
    CheckMonotone(MonotoneTable(Noisy(40 * static_cast<int>(seed), seed, noise),
                                Reference, 4),
                  seed);
  }
}

TEST_CASE("From measured shapes, more of any length is never faster") {
  const std::vector<TablePoint> points = Noisy(120, 11, 0.5);
  const MonotoneTable table(points, Reference, 4);
  for (const TablePoint& a : points) {
    for (const TablePoint& b : points) {
      const Extent most = {std::max(a.at[0], b.at[0]),
                           std::max(a.at[1], b.at[1]),
                           std::max(a.at[2], b.at[2])};
      const Cost at_most = table.Find(most);
      if (at_most.evidence == Evidence::kNotAnswered) continue;
      REQUIRE(at_most.seconds >= table.Find(a.at).seconds * (1 - 1e-12));
    }
  }
}

}  // namespace
}  // namespace lmsimbench
