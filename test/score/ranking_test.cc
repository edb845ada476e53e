#include "lib/score/ranking.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "catch2/catch.hpp"

namespace lmsimbench::score {
namespace {

using Values = std::vector<double>;

/// tau-b as the correlation of signs: sum of a_ij b_ij over the root of the
/// sums of squares, a and b in {-1, 0, 1} for every ordered pair.
double SignCorrelation(const Values& y, const Values& p, double tie) {
  const auto sign = [](double x) { return (x > 0) - (x < 0); };
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    for (size_t j = 0; j < y.size(); ++j) {
      const double distance = std::log(y[i] / y[j]);
      const int a = std::abs(distance) < tie ? 0 : sign(distance);
      const int b = sign(p[i] - p[j]);
      ab += a * b;
      aa += a * a;
      bb += b * b;
    }
  }
  return ab / std::sqrt(aa * bb);
}

TEST_CASE("a predicted tie lowers tau-b as its definition says") {
  // C = 4, D = 1, one predicted tie of 6 pairs: 3 / sqrt(6 * 5).
  CHECK(RankingOf({1, 2, 3, 4}, {1, 3, 2, 3}, 0.01).tau_b ==
        Approx(3 / std::sqrt(30.0)));
}

TEST_CASE("measured times within the noise are a tie") {
  // The pair (1, 1.005) is one; the other two are concordant: 2 / sqrt(2 * 3).
  const Ranking ranking = RankingOf({1, 1.005, 2}, {2, 1, 3}, 0.01);
  CHECK(ranking.tau_b == Approx(2 / std::sqrt(6.0)));
  // Rho knows no noise: 1 - 6 (1 + 1) / (3 * 8).
  CHECK(ranking.spearman == Approx(0.5));
}

TEST_CASE("pair accuracy weighs a pair by the distance of its times") {
  // ln 2 tied (1/2), ln 4 and ln 2 wrong: 0.5 / 4.
  CHECK(RankingOf({1, 2, 4}, {1, 1, 0.5}, 0.01).weighted_pair_accuracy ==
        Approx(0.125));
}

TEST_CASE("two configurations are too few to rank") {
  const Ranking ranking = RankingOf({1, 2}, {1, 2}, 0.01);
  CHECK(ranking.pairs_undefined == Undefined::kTooFew);
  CHECK(std::isnan(ranking.tau_b));
  CHECK(std::isnan(ranking.spearman));
  CHECK(std::isnan(ranking.weighted_pair_accuracy));
}

TEST_CASE("a setting whose times are all tied has no order to find") {
  const Ranking ranking = RankingOf({1, 1.001, 1.002}, {1, 2, 3}, 0.01);
  CHECK(ranking.pairs_undefined == Undefined::kAllTied);
  CHECK(std::isnan(ranking.tau_b));
  CHECK(std::isnan(ranking.spearman));
  CHECK(std::isnan(ranking.weighted_pair_accuracy));
}

TEST_CASE("all predicted alike is right half of the time and not correlated") {
  const Ranking ranking = RankingOf({1, 2, 4}, {7, 7, 7}, 0.01);
  CHECK(ranking.weighted_pair_accuracy == Approx(0.5));
  CHECK(ranking.pairs_undefined == Undefined::kNo);
  CHECK(ranking.correlation_undefined == Undefined::kNoSpread);
  CHECK(std::isnan(ranking.tau_b));
  CHECK(std::isnan(ranking.spearman));
}

TEST_CASE("a perfect order is 1, the opposite -1") {
  const Values y = {5, 3, 9, 1};
  Values opposite;
  for (const double value : y) opposite.push_back(1 / value);
  const Ranking perfect = RankingOf(y, y, 0.01);
  CHECK(perfect.tau_b == Approx(1));
  CHECK(perfect.spearman == Approx(1));
  CHECK(perfect.weighted_pair_accuracy == Approx(1));
  const Ranking worst = RankingOf(y, opposite, 0.01);
  CHECK(worst.tau_b == Approx(-1));
  CHECK(worst.weighted_pair_accuracy == Approx(0));
}

TEST_CASE("over all orders of prediction the mean is that of a coin") {
  const Values y = {1, 1.5, 4, 9, 10};
  Values p = {1, 2, 3, 4, 5};
  double tau = 0, rho = 0, accuracy = 0, orders = 0;
  do {
    const Ranking ranking = RankingOf(y, p, 0.01);
    tau += ranking.tau_b;
    rho += ranking.spearman;
    accuracy += ranking.weighted_pair_accuracy;
    orders += 1;
  } while (std::next_permutation(p.begin(), p.end()));
  CHECK(orders == 120);
  CHECK(tau / orders == Approx(0).margin(1e-12));
  CHECK(rho / orders == Approx(0).margin(1e-12));
  CHECK(accuracy / orders == Approx(0.5));
}

TEST_CASE("tau-b is the correlation of signs, ties included") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Values y, p;
    const size_t n = 3 + random() % 12;
    for (size_t i = 0; i < n; ++i) {
      y.push_back(1 + 0.004 * static_cast<double>(random() % 40));
      p.push_back(static_cast<double>(1 + random() % 6));
    }
    const Ranking ranking = RankingOf(y, p, 0.02);
    if (ranking.correlation_undefined != Undefined::kNo) continue;
    CHECK(ranking.tau_b == Approx(SignCorrelation(y, p, 0.02)).margin(1e-12));
  }
}

TEST_CASE("only the order of the predictions matters, and not that of rows") {
  std::mt19937 random(11);
  for (int round = 0; round < 50; ++round) {
    Values y, p, transformed;
    for (int i = 0; i < 9; ++i) {
      y.push_back(1 + static_cast<double>(random() % 100));
      p.push_back(1 + static_cast<double>(random() % 7));
      transformed.push_back(std::exp(p.back()) + 100);
    }
    const Ranking ranking = RankingOf(y, p, 0.05);
    const Ranking same = RankingOf(y, transformed, 0.05);
    CHECK(same.tau_b == ranking.tau_b);
    CHECK(same.spearman == ranking.spearman);
    CHECK(same.weighted_pair_accuracy == ranking.weighted_pair_accuracy);

    std::vector<size_t> order(y.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    Values shuffled_y, shuffled_p;
    for (const size_t i : order) {
      shuffled_y.push_back(y[i]);
      shuffled_p.push_back(p[i]);
    }
    const Ranking shuffled = RankingOf(shuffled_y, shuffled_p, 0.05);
    CHECK(shuffled.tau_b == Approx(ranking.tau_b));
    CHECK(shuffled.spearman == Approx(ranking.spearman));
    CHECK(shuffled.weighted_pair_accuracy ==
          Approx(ranking.weighted_pair_accuracy));
  }
}

}  // namespace
}  // namespace lmsimbench::score
