#include "lmsimbench/score.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "catch2/catch.hpp"
#include "test/score/cases.h"

namespace lmsimbench {
namespace {

SimulatorScore ScoreOne(const Case& c, const ScoreOptions& options = {}) {
  const absl::StatusOr<Scorecard> card =
      Score(c.measurements, {&c.sheet, 1}, options);
  REQUIRE(card.status() == absl::OkStatus());
  return card->simulators.at(0);
}

double All(const SimulatorScore& score, const std::string& metric,
           const std::string& subset = "headline") {
  return score.Value("ALL", subset, metric);
}

/// Five configurations answered a factor of two too fast, in the right order.
Case Ordered() {
  Case c;
  for (const double y : {4.0, 1.0, 3.0, 2.0, 5.0}) {
    c.Add(Run(std::to_string(y), y), Answered(y / 2));
  }
  return c;
}

TEST_CASE("a perfect simulator has no error, order 1 and no regret") {
  Case c = Ordered();
  for (Answer& answer : c.sheet.runs) answer.iteration_time_s *= 2;
  const SimulatorScore score = ScoreOne(c);
  for (const char* metric :
       {"bias", "mape", "mdape", "p90", "max", "gmae", "gmae_macro", "regret@1",
        "regret@3", "normalised_regret"}) {
    INFO(metric);
    CHECK(All(score, metric) == 0);
  }
  for (const char* metric :
       {"tau_b", "spearman", "weighted_pair_accuracy", "hit@1", "recall@3"}) {
    INFO(metric);
    CHECK(All(score, metric) == Approx(1));
  }
}

TEST_CASE("a simulator without a clue is worth a random pick") {
  Case c = Ordered();
  for (Answer& answer : c.sheet.runs) answer.iteration_time_s = 1;
  const SimulatorScore score = ScoreOne(c);
  CHECK(All(score, "normalised_regret") == Approx(1));
  CHECK(All(score, "weighted_pair_accuracy") == Approx(0.5));
  CHECK(std::isnan(All(score, "tau_b")));
  CHECK(score.Find("ALL", "headline", "tau_b")->settings_excluded == 1);
}

TEST_CASE("rows without an answer are counted by kind, never dropped") {
  Case c = Ordered();
  c.Add(Run("r", 6), Declined(AnswerStatus::kRefused));
  c.Add(Run("f", 7), Declined(AnswerStatus::kFailed));
  c.Add(Run("t", 8), Declined(AnswerStatus::kTimedOut));
  c.Add(Run("m", 9), Answer());
  Answer memory_only = Answered(kNoNumber);
  c.Add(Run("n", 10), memory_only);
  // Without a measured time there is no question to count.
  c.Add(Run("untimed", kNoNumber), Answered(1));
  const SimulatorScore score = ScoreOne(c);
  CHECK(All(score, "n") == 10);
  CHECK(All(score, "answered") == 5);
  CHECK(All(score, "refused") == 1);
  CHECK(All(score, "failed") == 1);
  CHECK(All(score, "timed_out") == 1);
  CHECK(All(score, "missing") == 2);
  CHECK(All(score, "answered_share") == Approx(0.5));
  CHECK(score.Find("ALL", "headline", "mape")->rows == 5);
}

TEST_CASE("where nothing is answered errors are absent, not zero") {
  Case c;
  c.Add(Run("a", 1), Declined(AnswerStatus::kRefused));
  const SimulatorScore score = ScoreOne(c);
  CHECK(All(score, "refused_share") == 1);
  CHECK(score.Find("ALL", "headline", "mape") == nullptr);
  CHECK(std::isnan(All(score, "mape")));
  REQUIRE(score.settings.size() == 1);
  CHECK(score.settings[0].undefined_because == "not answered");
}

TEST_CASE("one row has an error and neither order nor choice") {
  Case c;
  c.Add(Run("a", 2), Answered(3));
  const SimulatorScore score = ScoreOne(c);
  CHECK(All(score, "bias") == Approx(0.5));
  CHECK(std::isnan(All(score, "tau_b")));
  CHECK(std::isnan(All(score, "regret@1")));
  CHECK(score.Find("ALL", "headline", "regret@1")->settings_excluded == 1);
}

TEST_CASE("rows that repeat a configuration count once in the choice") {
  Case c;
  // Three rows of "a" with median 2; each stands for itself in the errors.
  c.Add(Run("a", 2), Answered(2));
  c.Add(Run("a", 9), Answered(2));
  c.Add(Run("a", 1), Answered(2));
  c.Add(Run("b", 4), Answered(3));
  c.Add(Run("c", 6), Answered(4));
  const SimulatorScore score = ScoreOne(c);
  CHECK(All(score, "regret@1") == 0);
  CHECK(score.Find("ALL", "headline", "regret@1")->rows == 3);
  // (2 + 4 + 6) / 3 over 2.
  CHECK(All(score, "random_regret@1") == Approx(1));
  CHECK(score.Find("ALL", "headline", "mape")->rows == 5);
  CHECK(score.settings.at(0).configurations == 3);
}

TEST_CASE("macro figures weigh settings alike, plain ones rows") {
  Case c;
  c.Add(Run("a", 1), Answered(1.1));
  c.Add(Run("b", 1), Answered(1.1));
  c.Add(Run("c", 1), Answered(1.1));
  MeasuredRun other = Run("a", 1);
  other.workload_id = "v";
  c.Add(other, Answered(1.5));
  const SimulatorScore score = ScoreOne(c);
  CHECK(All(score, "mape") == Approx((3 * 0.1 + 0.5) / 4));
  CHECK(score.Value("MACRO", "headline", "mape") == Approx((0.1 + 0.5) / 2));
  // The macro GMAE is geometric: the root of 1.1 times 1.5.
  CHECK(All(score, "gmae_macro") == Approx(std::sqrt(1.1 * 1.5) - 1));
}

TEST_CASE("a common factor fitted on fit rows is taken out of the errors") {
  Case c = Ordered();
  for (const double y : {1.0, 2.0}) {
    MeasuredRun run = Run("fit", y);
    run.split = "fit";
    run.workload_id = "fitted";
    c.Add(run, Answered(y / 2));
  }
  MeasuredRun elsewhere = Run("e", 1);
  elsewhere.platform = "q";
  c.Add(elsewhere, Answered(1));
  const SimulatorScore score = ScoreOne(c);
  REQUIRE(score.calibration.size() == 1);
  CHECK(score.calibration[0].platform == "p");
  CHECK(score.calibration[0].factor == Approx(2));
  CHECK(score.calibration[0].rows == 2);
  CHECK(All(score, "max_calibrated") == Approx(0).margin(1e-12));
  // The row on the platform without fit rows is left out and counted.
  const Figure* figure = score.Find("ALL", "headline", "max_calibrated");
  CHECK(figure->rows == 5);
  CHECK(figure->settings_excluded == 1);
}

TEST_CASE("flagged rows stand on the line of each kind and nowhere else") {
  Case c = Ordered();
  MeasuredRun slow = Run("slow", 100);
  slow.flag = "INCONSISTENT;FLAG-LOWMFU: 2 % of peak";
  c.Add(slow, Answered(50));
  MeasuredRun ci = Run("ci", 0.1);
  ci.grade = "A-ci";
  c.Add(ci, Answered(0.2));
  MeasuredRun noted = Run("noted", 6);
  noted.flag = "REMARK";
  c.Add(noted, Answered(3));
  const SimulatorScore score = ScoreOne(c);
  CHECK(All(score, "n") == 6);
  CHECK(All(score, "n", "INCONSISTENT") == 1);
  CHECK(All(score, "n", "FLAG-LOWMFU") == 1);
  CHECK(All(score, "bias", "A-ci") == Approx(1));
  CHECK(score.Find("ALL", "FLAG", "n") == nullptr);
  // The flagged best is no yardstick of the headline.
  CHECK(All(score, "regret@1") == 0);
}

TEST_CASE("the noise of a source decides what is a tie") {
  Case c;
  c.Add(Run("a", 1), Answered(3));
  c.Add(Run("b", 1.05), Answered(1));
  c.Add(Run("c", 2), Answered(4));
  CHECK(All(ScoreOne(c), "hit@1") == 0);
  // Twice 3 percent: 1.05 is within the noise of 1.
  c.measurements.repeat_spread_percent["s"] = 3;
  CHECK(All(ScoreOne(c), "hit@1") == 1);
  CHECK(All(ScoreOne(c), "regret@1") == Approx(0.05));
  // Less than half a percent changes nothing.
  c.measurements.repeat_spread_percent["s"] = 0.1;
  CHECK(All(ScoreOne(c), "hit@1") == 0);
}

TEST_CASE("failed runs cost trials, those that ran elsewhere do not") {
  Case c = Ordered();
  // First in order, but this configuration was measured: it runs.
  c.Add(FailedRun(c.measurements.runs[0].configuration_key), Answered(0.1));
  c.Add(FailedRun("x"), Answered(0.2));
  c.Add(FailedRun("x"), Answered(0.2));
  c.Add(FailedRun("y"), Answered(0.3, Verdict::kDoesNotFit));
  const SimulatorScore score = ScoreOne(c);
  CHECK(All(score, "first_pick_fails") == 1);
  // "x" once, then the best.
  CHECK(All(score, "trials_to_first_runnable") == 2);
  CHECK(All(score, "regret_after_3_trials") == 0);
  CHECK(All(score, "everything_refused") == 0);
  CHECK(All(score, "n", "failed-runs") == 4);
}

TEST_CASE("a simulator that refuses all of a setting with failures fails it") {
  Case c = Ordered();
  for (Answer& answer : c.sheet.runs) answer.verdict = Verdict::kDoesNotFit;
  c.Add(FailedRun("x"), Answered(1, Verdict::kDoesNotFit));
  const SimulatorScore score = ScoreOne(c);
  CHECK(All(score, "everything_refused") == 1);
  CHECK(All(score, "first_pick_fails") == 1);
  CHECK(std::isnan(All(score, "trials_to_first_runnable")));
  CHECK(All(score, "false_refusal") == 1);
  CHECK(All(score, "lost_optimum") == 1);
  CHECK(All(score, "kept_of_feasible") == 0);
}

TEST_CASE("a simulator without verdicts is not judged by failed runs") {
  Case c = Ordered();
  for (Answer& answer : c.sheet.runs) answer.verdict = Verdict::kNotAnswered;
  c.Add(FailedRun("x"), Answered(0.2, Verdict::kNotAnswered));
  const SimulatorScore score = ScoreOne(c);
  CHECK(std::isnan(All(score, "first_pick_fails")));
  CHECK(score.Find("ALL", "headline", "first_pick_fails")->settings_excluded ==
        1);
  CHECK(score.Find("ALL", "headline", "false_refusal") == nullptr);
}

TEST_CASE("failures of unknown cause are scored apart") {
  Case c = Ordered();
  MeasuredRun unknown = FailedRun("x");
  unknown.failure_cause_unknown = true;
  c.Add(unknown, Answered(9));
  const SimulatorScore apart = ScoreOne(c);
  CHECK(std::isnan(All(apart, "false_fit")));
  CHECK(All(apart, "false_fit", "unseparated-failures") == 1);
  CHECK(apart.Find("ALL", "unseparated-failures", "cost_score")->rows == 6);

  c.measurements.failed_runs[0].failure_cause_unknown = false;
  const SimulatorScore known = ScoreOne(c);
  CHECK(All(known, "false_fit") == 1);
  CHECK(known.Find("ALL", "unseparated-failures", "false_fit") == nullptr);
}

TEST_CASE("a margin turns predicted peaks near the capacity into refusals") {
  Case c;
  c.measurements.memory_capacity_bytes["p"] = 100;
  Answer answer = Answered(1);
  answer.peak_memory_bytes = 95;
  c.Add(Run("a", 1), answer);
  ScoreOptions options;
  CHECK(All(ScoreOne(c, options), "false_refusal") == 0);
  options.memory_margin = 0.1;
  CHECK(All(ScoreOne(c, options), "false_refusal") == 1);
}

TEST_CASE("a margin is swept on the fit rows alone") {
  Case c;
  c.measurements.memory_capacity_bytes["p"] = 100;
  const auto peak = [](double bytes) {
    Answer answer = Answered(1);
    answer.peak_memory_bytes = bytes;
    return answer;
  };
  for (const char* split : {"fit", "test"}) {
    MeasuredRun ran = Run(std::string("a") + split, 1);
    MeasuredRun failed = FailedRun("b");
    ran.split = failed.split = split;
    failed.record_id += split;
    const bool fit = std::string(split) == "fit";
    c.Add(ran, peak(fit ? 60 : 99));
    c.Add(failed, peak(fit ? 80 : 99));
  }
  const auto points = SweepMargin(c.measurements, c.sheet, {0, 0.5, 1}, {});
  REQUIRE(points.status() == absl::OkStatus());
  // 60 and 80 against 100: nothing refused, the failure refused, both refused.
  CHECK((*points)[0].cost_score == Approx(5.0 / 2));
  CHECK((*points)[1].cost_score == 0);
  CHECK((*points)[2].cost_score == Approx(1.0 / 2));
}

TEST_CASE("simulators are compared on the rows that all answer") {
  Case c = Ordered();
  AnswerSheet other = c.sheet;
  other.simulator = "other";
  other.runs[1] = Declined(AnswerStatus::kRefused);
  c.sheet.runs[2] = Answer();
  const auto card = Score(c.measurements, {c.sheet, other}, {});
  REQUIRE(card.status() == absl::OkStatus());
  CHECK(card->headline_rows == 5);
  CHECK(card->shared_rows == 3);
  for (const SimulatorScore& score : card->simulators) {
    INFO(score.simulator);
    CHECK(score.Value("ALL", "headline", "answered") == 4);
    CHECK(score.Value("ALL", "headline", "n", true) == 3);
    CHECK(score.Value("ALL", "headline", "answered", true) == 3);
  }
}

TEST_CASE("a single simulator has no shared set") {
  CHECK(ScoreOne(Ordered()).shared_figures.empty());
}

TEST_CASE("a source or platform can be scored alone") {
  Case c = Ordered();
  MeasuredRun other = Run("o", 1);
  other.source = "z";
  c.Add(other, Answered(1));
  ScoreOptions options;
  options.selection.source = "z";
  const SimulatorScore score = ScoreOne(c, options);
  CHECK(All(score, "n") == 1);
  CHECK(score.Find("s", "headline", "n") == nullptr);
}

TEST_CASE("a split of the user's own is scored like any other") {
  Case c;
  MeasuredRun run = Run("a", 1);
  run.split = "cluster-7";
  c.Add(run, Answered(2));
  ScoreOptions options;
  options.selection.split = "cluster-7";
  CHECK(All(ScoreOne(c, options), "bias") == Approx(1));
}

TEST_CASE("the order of the rows changes nothing") {
  std::mt19937 random(17);
  Case c;
  for (int i = 0; i < 60; ++i) {
    MeasuredRun run = Run("c" + std::to_string(i % 25),
                          1 + static_cast<double>(random() % 30));
    run.workload_id = "w" + std::to_string(random() % 4);
    run.source = "s" + std::to_string(run.workload_id.back() % 2);
    if (random() % 5 == 0) run.flag = "SUSPECT";
    const bool answered = random() % 6 != 0;
    c.Add(run, answered ? Answered(1 + static_cast<double>(random() % 9))
                        : Declined(AnswerStatus::kRefused));
  }
  const SimulatorScore score = ScoreOne(c);
  std::vector<size_t> order(60);
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  Case shuffled;
  for (const size_t i : order) {
    shuffled.Add(c.measurements.runs[i], c.sheet.runs[i]);
  }
  const SimulatorScore same = ScoreOne(shuffled);
  REQUIRE(same.figures.size() == score.figures.size());
  for (size_t i = 0; i < score.figures.size(); ++i) {
    const Figure& a = score.figures[i];
    const Figure& b = same.figures[i];
    INFO(a.source << ' ' << a.subset << ' ' << a.metric);
    CHECK(b.metric == a.metric);
    CHECK(b.source == a.source);
    CHECK(b.rows == a.rows);
    CHECK(b.settings_defined == a.settings_defined);
    if (std::isnan(a.value)) {
      CHECK(std::isnan(b.value));
    } else {
      CHECK(b.value == Approx(a.value).margin(1e-12));
    }
  }
}

TEST_CASE("what cannot be scored is refused by name") {
  Case c = Ordered();
  const auto message = [](const absl::StatusOr<Scorecard>& card) {
    return std::string(card.status().message());
  };
  CHECK(message(Score(c.measurements, {}, {})) == "no simulator to score");
  CHECK(message(Score(c.measurements, {c.sheet, c.sheet}, {})) ==
        "two answer sheets are of the simulator 'sim'");
  AnswerSheet shorter = c.sheet;
  shorter.runs.pop_back();
  CHECK_THAT(message(Score(c.measurements, {shorter}, {})),
             Catch::Contains("has 4 runs and 0 failed runs, the measurements "
                             "have 5 and 0"));
  AnswerSheet timeless = c.sheet;
  timeless.runs[2].iteration_time_s = 0;
  CHECK_THAT(message(Score(c.measurements, {timeless}, {})),
             Catch::Contains("'sim' predicts 0 s for 3.000000"));
  ScoreOptions options;
  options.memory_margin = kNoNumber;
  CHECK_THAT(message(Score(c.measurements, {c.sheet}, options)),
             Catch::Contains("a memory margin of nan"));
  options = {};
  options.false_fit_cost = -1;
  CHECK_THAT(message(Score(c.measurements, {c.sheet}, options)),
             Catch::Contains("costs of -1"));
  options = {};
  options.selection.split = "tests";
  const auto unknown = Score(c.measurements, {c.sheet}, options);
  CHECK(unknown.status().code() == absl::StatusCode::kNotFound);
  CHECK_THAT(message(unknown), Catch::Contains("the split 'tests'") &&
                                   Catch::Contains("nearest: 'test'"));
  options = {};
  options.selection.source = "none";
  CHECK_THAT(message(Score(c.measurements, {c.sheet}, options)),
             Catch::Contains("the source 'none'"));
  CHECK_THAT(message(Score(Measurements(), {AnswerSheet()}, {})),
             Catch::Contains("hold no runs"));
}

}  // namespace
}  // namespace lmsimbench
