#include "lib/score/choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "catch2/catch.hpp"

namespace lmsimbench::score {
namespace {

constexpr double kFails = std::numeric_limits<double>::infinity();
constexpr double kLast = std::numeric_limits<double>::infinity();

using Candidates = std::vector<Candidate>;

TEST_CASE("a tie for the first place costs the mean of its members") {
  // 10 and 20 tie for the first place: 15 / 10 - 1.
  const Choice choice = ChoiceOf({{10, 1}, {20, 1}, {40, 2}}, 0.01);
  CHECK(choice.regret_1.value == Approx(0.5));
  CHECK(choice.hit_1.value == Approx(0.5));
  // Picked at random: (70 / 3) / 10 - 1.
  CHECK(choice.random_regret_1.value == Approx(4.0 / 3));
  CHECK(choice.normalised_regret.value == Approx(0.375));
}

TEST_CASE("ties at the cut are resolved in expectation") {
  // First 5, then two of {2, 3, 4}, whose least is 2, 2 or 3: 7/3.
  const Candidates candidates = {{1, 5}, {2, 4}, {3, 4}, {4, 4}, {5, 1}};
  const Choice choice = ChoiceOf(candidates, 0.01);
  CHECK(choice.regret_3.value == Approx(7.0 / 3 - 1));
  CHECK(choice.recall_3.value == 0);
  // With a noise of 100 %, 2 counts as best: it is drawn in two of three cases.
  CHECK(ChoiceOf(candidates, 1).recall_3.value == Approx(2.0 / 3));
}

TEST_CASE("what is within the noise of the best is a hit, the limit included") {
  CHECK(ChoiceOf({{1, 3}, {1.25, 1}, {2, 2}}, 0.25).hit_1.value == 1);
  CHECK(ChoiceOf({{1, 3}, {1.26, 1}, {2, 2}}, 0.25).hit_1.value == 0);
}

TEST_CASE("a regret over k needs k + 2 configurations") {
  const Choice two = ChoiceOf({{1, 1}, {2, 2}}, 0.01);
  CHECK(two.regret_1.undefined == Undefined::kTooFew);
  CHECK(two.random_regret_1.undefined == Undefined::kTooFew);
  const Choice four = ChoiceOf({{1, 1}, {2, 2}, {3, 3}, {4, 4}}, 0.01);
  CHECK(four.regret_1.value == 0);
  CHECK(four.regret_3.undefined == Undefined::kTooFew);
  CHECK(four.recall_3.undefined == Undefined::kTooFew);
  CHECK(std::isnan(four.regret_5.value));
}

TEST_CASE("one configuration, or none, leaves no choice") {
  CHECK(ChoiceOf({{1, 1}}, 0.01).regret_1.undefined == Undefined::kTooFew);
  CHECK(ChoiceOf({}, 0.01).regret_1.undefined == Undefined::kNotAnswered);
}

TEST_CASE("an unanswered configuration ranks last and keeps its time") {
  // The best is not answered: it is the yardstick all the same.
  const Choice choice = ChoiceOf({{1, kLast}, {2, 5}, {4, 7}}, 0.01);
  CHECK(choice.regret_1.value == Approx(1));
  CHECK(choice.hit_1.value == 0);
}

TEST_CASE("a setting without an answer has no regret") {
  const Choice choice = ChoiceOf({{1, kLast}, {2, kLast}, {4, kLast}}, 0.01);
  CHECK(choice.regret_1.undefined == Undefined::kNotAnswered);
  CHECK(std::isnan(choice.random_regret_1.value));
}

TEST_CASE("where nothing can be lost the normalised regret is undefined") {
  const Choice choice = ChoiceOf({{2, 1}, {2, 2}, {2, 3}}, 0.01);
  CHECK(choice.regret_1.value == 0);
  CHECK(choice.random_regret_1.value == 0);
  CHECK(choice.normalised_regret.undefined == Undefined::kNoSpread);
}

TEST_CASE("a perfect simulator has no regret") {
  Candidates candidates;
  for (const double y : {5.0, 3.0, 9.0, 1.0, 2.0, 7.0, 4.0}) {
    candidates.push_back({y, y});
  }
  const Choice choice = ChoiceOf(candidates, 0.01);
  CHECK(choice.regret_1.value == 0);
  CHECK(choice.regret_3.value == 0);
  CHECK(choice.regret_5.value == 0);
  CHECK(choice.hit_1.value == 1);
  CHECK(choice.recall_3.value == 1);
  CHECK(choice.normalised_regret.value == 0);
}

TEST_CASE("all predicted alike is exactly a random pick") {
  const Choice choice = ChoiceOf({{5, 1}, {3, 1}, {9, 1}, {1, 1}}, 0.01);
  CHECK(choice.regret_1.value == Approx(4.5 / 1 - 1));
  CHECK(choice.normalised_regret.value == Approx(1));
  CHECK(choice.hit_1.value == Approx(0.25));
}

TEST_CASE("over all orders of prediction the normalised regret is 1") {
  const std::vector<double> y = {5, 3, 9, 1, 2};
  std::vector<double> p = {1, 2, 3, 4, 5};
  double sum = 0, orders = 0;
  do {
    Candidates candidates;
    for (size_t i = 0; i < y.size(); ++i) candidates.push_back({y[i], p[i]});
    sum += ChoiceOf(candidates, 0.01).normalised_regret.value;
    orders += 1;
  } while (std::next_permutation(p.begin(), p.end()));
  CHECK(sum / orders == Approx(1));
}

/// Means over every way to break ties, by trying every order of the rows.
struct BruteForce {
  double minimum = 0, recall = 0, trials = 0, first_fails = 0;
  bool may_hold_none = false;

  BruteForce(const Candidates& candidates, size_t k, double limit) {
    std::vector<size_t> order(candidates.size());
    std::iota(order.begin(), order.end(), size_t{0});
    double orders = 0;
    do {
      Candidates sorted;
      for (const size_t i : order) sorted.push_back(candidates[i]);
      std::stable_sort(sorted.begin(), sorted.end(),
                       [](const Candidate& a, const Candidate& b) {
                         return a.predicted < b.predicted;
                       });
      double least = kFails;
      for (size_t i = 0; i < std::min(k, sorted.size()); ++i) {
        least = std::min(least, sorted[i].measured);
      }
      may_hold_none = may_hold_none || !std::isfinite(least);
      minimum += least;
      recall += least <= limit;
      first_fails += !std::isfinite(sorted.front().measured);
      for (const Candidate& candidate : sorted) {
        trials += 1;
        if (std::isfinite(candidate.measured)) break;
      }
      orders += 1;
    } while (std::next_permutation(order.begin(), order.end()));
    minimum /= orders;
    recall /= orders;
    trials /= orders;
    first_fails /= orders;
  }
};

TEST_CASE("the closed forms for ties are means over all ways to break them") {
  std::mt19937 random(3);
  for (int round = 0; round < 150; ++round) {
    Candidates candidates;
    const size_t n = 2 + random() % 5;
    for (size_t i = 0; i < n; ++i) {
      candidates.push_back({static_cast<double>(1 + random() % 9),
                            static_cast<double>(random() % 3)});
    }
    SortByPrediction(candidates);
    for (size_t k = 1; k <= n; ++k) {
      const BruteForce expected(candidates, k, 3);
      const FirstK first(candidates, k);
      CHECK(first.ExpectedMinimum() == Approx(expected.minimum));
      CHECK(first.ProbabilityAtMost(3) ==
            Approx(expected.recall).margin(1e-12));
    }
  }
}

TEST_CASE("the closed forms of trials are means over all ways to break ties") {
  std::mt19937 random(5);
  for (int round = 0; round < 150; ++round) {
    Candidates candidates;
    const size_t n = 1 + random() % 6;
    bool any_runs = false;
    double best = kFails;
    for (size_t i = 0; i < n; ++i) {
      const bool fails = random() % 2 == 0;
      candidates.push_back(
          {fails ? kFails : static_cast<double>(1 + random() % 9),
           static_cast<double>(random() % 3)});
      any_runs = any_runs || !fails;
      best = std::min(best, candidates.back().measured);
    }
    const BruteForce expected(candidates, 3, 0);
    const Trials trials = TrialsOf(candidates, any_runs ? best : 1, 5);
    CHECK(trials.first_pick_fails ==
          Approx(expected.first_fails).margin(1e-12));
    CHECK(trials.nothing_after_3 == (expected.may_hold_none ? 1 : 0));
    if (any_runs) {
      CHECK(trials.to_first_runnable.value == Approx(expected.trials));
    } else {
      CHECK(trials.to_first_runnable.undefined == Undefined::kNoRunnable);
    }
    if (!expected.may_hold_none) {
      CHECK(trials.regret_after_3.value ==
            Approx(expected.minimum / best - 1).margin(1e-12));
    } else {
      CHECK(trials.regret_after_3.undefined == Undefined::kNoRunnable);
    }
  }
}

TEST_CASE("failed configurations cost a trial each") {
  // A failure first, then a tie of one that runs with one that fails: one trial
  // and (2 + 1) / (1 + 1) more.
  const Candidates candidates = {{2, 3}, {1, 5}, {kFails, 1}, {kFails, 3}};
  const Trials trials = TrialsOf(candidates, 1, 5);
  CHECK(trials.candidates == 4);
  CHECK(trials.to_first_runnable.value == Approx(2.5));
  CHECK(trials.first_pick_fails == 1);
  CHECK(trials.nothing_after_3 == 0);
  CHECK(trials.regret_after_3.value == Approx(1));
  CHECK(trials.everything_refused == 0);
}

TEST_CASE("regret after trials needs five measured configurations") {
  CHECK(TrialsOf({{1, 1}, {2, 2}}, 1, 4).regret_after_3.undefined ==
        Undefined::kTooFew);
}

TEST_CASE("a simulator that refuses everything has failed the setting") {
  const Trials trials = TrialsOf({}, 1, 6);
  CHECK(trials.everything_refused == 1);
  CHECK(trials.first_pick_fails == 1);
  CHECK(trials.nothing_after_3 == 1);
  CHECK(trials.to_first_runnable.undefined == Undefined::kNoRunnable);
  CHECK(trials.regret_after_3.undefined == Undefined::kNoRunnable);
}

TEST_CASE("only the order of the predictions matters to the choice") {
  std::mt19937 random(13);
  for (int round = 0; round < 50; ++round) {
    Candidates candidates, transformed;
    for (int i = 0; i < 9; ++i) {
      const double y = static_cast<double>(1 + random() % 50);
      const double p = static_cast<double>(random() % 5);
      candidates.push_back({y, p});
      transformed.push_back({y, std::exp(p) + 3});
    }
    std::shuffle(transformed.begin(), transformed.end(), random);
    const Choice a = ChoiceOf(candidates, 0.02);
    const Choice b = ChoiceOf(transformed, 0.02);
    CHECK(a.regret_1.value == Approx(b.regret_1.value));
    CHECK(a.regret_3.value == Approx(b.regret_3.value));
    CHECK(a.regret_5.value == Approx(b.regret_5.value));
    CHECK(a.hit_1.value == Approx(b.hit_1.value));
    CHECK(a.recall_3.value == Approx(b.recall_3.value));
    CHECK(a.random_regret_1.value == Approx(b.random_regret_1.value));
  }
}

}  // namespace
}  // namespace lmsimbench::score
