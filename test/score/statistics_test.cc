#include "lib/score/statistics.h"

#include <cmath>

#include "catch2/catch.hpp"
#include "lib/score/accuracy.h"

namespace lmsimbench::score {
namespace {

TEST_CASE("a quantile lies at (n - 1) q between its neighbours") {
  // (5 - 1) 0.9 = 3.6: six tenths of the way from 4 to 10.
  CHECK(Quantile({10, 1, 3, 4, 2}, 0.9) == Approx(4 + 0.6 * 6));
  CHECK(Quantile({10, 1, 3, 4, 2}, 0) == 1);
  CHECK(Quantile({10, 1, 3, 4, 2}, 1) == 10);
  CHECK(Quantile({7}, 0.9) == 7);
}

TEST_CASE("the median of an even number is the mean of the middle two") {
  CHECK(Median({4, 1, 3, 2}) == 2.5);
  CHECK(Median({5, 1, 3}) == 3);
}

TEST_CASE("mean and quantile of nothing are undefined") {
  CHECK(std::isnan(Mean({})));
  CHECK(std::isnan(Median({})));
}

TEST_CASE("equal values share the mean of their ranks") {
  CHECK(AverageRanks({30, 10, 20, 20}) == std::vector<double>{4, 1, 2.5, 2.5});
}

TEST_CASE("the correlation with what does not vary is undefined") {
  CHECK(std::isnan(Correlation({1, 2, 3}, {5, 5, 5})));
  CHECK(Correlation({1, 2, 3}, {6, 4, 2}) == Approx(-1));
}

TEST_CASE("point errors follow their definitions") {
  Pairs pairs;
  pairs.Add(10, 11);   // e = 0.1
  pairs.Add(10, 8);    // e = -0.2
  pairs.Add(100, 50);  // e = -0.5
  const Errors errors = ErrorsOf(pairs);
  CHECK(errors.bias == Approx(-0.2));
  CHECK(errors.mape == Approx(0.8 / 3));
  CHECK(errors.mdape == Approx(0.2));
  CHECK(errors.p90 == Approx(0.2 + 0.8 * 0.3));
  CHECK(errors.max == Approx(0.5));
  // exp of the mean of ln 1.1, ln 1.25, ln 2, less one.
  CHECK(errors.gmae == Approx(std::cbrt(1.1 * 1.25 * 2) - 1));
}

TEST_CASE("the same factor over and under weighs the same in GMAE") {
  Pairs over, under;
  over.Add(10, 20);
  under.Add(10, 5);
  CHECK(ErrorsOf(over).gmae == Approx(1));
  CHECK(ErrorsOf(under).gmae == Approx(1));
}

TEST_CASE("errors of no pairs are undefined, not zero") {
  CHECK(std::isnan(ErrorsOf(Pairs()).mape));
  CHECK(std::isnan(ErrorsOf(Pairs()).gmae));
}

TEST_CASE("the calibration factor takes out a common factor") {
  Pairs pairs;
  for (const double y : {3.0, 5.0, 8.0}) pairs.Add(y, y / 2);
  const double factor = CalibrationFactor(pairs);
  CHECK(factor == Approx(2));
  CHECK(ErrorsOf(pairs, factor).max == Approx(0).margin(1e-12));
}

}  // namespace
}  // namespace lmsimbench::score
