#include "lib/calibrate/usable_memory.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace lmsimbench::calibrate {
namespace {

std::vector<double> Times(size_t count, double value) {
  return std::vector<double>(count, value);
}

TEST_CASE("The share lies between what ran and what did not") {
  const double share = UsableMemory(Times(30, 0.8), Times(30, 0.9));
  CHECK(share >= 0.8);
  CHECK(share < 0.9);
}

TEST_CASE("All of the memory is usable where nothing says otherwise") {
  CHECK(UsableMemory(Times(30, 0.5), Times(30, 0.6)) == 1);
}

TEST_CASE("Few of what ran are refused, whatever that would buy") {
  std::vector<double> ran = Times(95, 0.5);
  for (const double value : Times(5, 0.95)) ran.push_back(value);
  // 0.9 would refuse five in a hundred.
  CHECK(UsableMemory(ran, Times(100, 0.93)) >= 0.95);
  ran = Times(98, 0.5);
  for (const double value : Times(2, 0.95)) ran.push_back(value);
  CHECK(UsableMemory(ran, Times(100, 0.93)) < 0.93);
}

TEST_CASE("Few runs say nothing") {
  CHECK(std::isnan(UsableMemory(Times(19, 0.5), Times(30, 0.9))));
  CHECK(std::isnan(UsableMemory(Times(30, 0.5), Times(19, 0.9))));
}

}  // namespace
}  // namespace lmsimbench::calibrate
