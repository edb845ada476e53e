#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "lmsimbench/testing.h"
#include "test/cost/fixed_model.h"
#include "test/testing/hand_built.h"

namespace lmsimbench {
namespace {

// Matrix multiplications of 1 to 4 rows that take 100, 200, 400 and 100 us;
// answered with 110, 100, 400 and 200 us. error_figures_test.cc has the figures
// by hand: GMAE 44.8 %, bias +5 %, 90th percentile 85 %, worst row a factor of
// 2.
CostErrors FourRows(bool answer_all = true) {
  const HandBuilt view = Gemms({1, 2, 3, 4}, {100, 200, 400, 100});
  FixedModel model({0, Evidence::kAnalytic}, "mine");
  model.of_operator = [answer_all](const Operator& op) {
    constexpr double kUs[] = {110, 100, 400, 200};
    if (op.m == 2 && !answer_all) return Cost{};
    return Cost{kUs[op.m - 1] * 1e-6, Evidence::kAnalytic};
  };
  auto errors = ForEachMeasured(view.View(), Here(), MeasuredFilter(), model);
  REQUIRE(errors.ok());
  return *std::move(errors);
}

// The one limit that is broken.
BrokenTolerance Broken(const CostErrors& errors, const Tolerances& tolerances) {
  const ToleranceCheck check = Check(errors, tolerances);
  INFO(check.message);
  REQUIRE(check.broken.size() == 1);
  CHECK_FALSE(check.ok());
  return check.broken[0];
}

TEST_CASE("What is within every limit passes") {
  const ToleranceCheck check = Check(
      FourRows(), Tolerance().Gmae(0.45).P90(0.851).Bias(0.051).Factor(2.01));
  CHECK(check.ok());
  CHECK(check.message.find("'mine' keeps all tolerances on 4 of the 4 rows of "
                           "gemms\n") == 0);
}

TEST_CASE("Each limit is broken by itself") {
  const CostErrors errors = FourRows();
  const BrokenTolerance gmae = Broken(errors, Tolerance().Gmae(0.44));
  CHECK(gmae.category == "matmul bf16");
  CHECK(gmae.limit == "GMAE");
  CHECK(gmae.allowed == 0.44);
  CHECK(gmae.found == Approx(0.448315).epsilon(1e-5));
  const BrokenTolerance p90 = Broken(errors, Tolerance().P90(0.84));
  CHECK(p90.limit == "90th percentile");
  CHECK(p90.found == Approx(0.85));
  const BrokenTolerance bias = Broken(errors, Tolerance().Bias(0.04));
  CHECK(bias.limit == "bias");
  CHECK(bias.found == Approx(0.05));
  const BrokenTolerance worst = Broken(errors, Tolerance().Factor(1.9));
  CHECK(worst.limit == "worst row");
  CHECK(worst.found == Approx(2.0));
}

TEST_CASE("A bias downwards is a bias") {
  const HandBuilt view = Gemms({1}, {100});
  const FixedModel model({50e-6, Evidence::kAnalytic});
  const auto errors =
      ForEachMeasured(view.View(), Here(), MeasuredFilter(), model);
  REQUIRE(errors.ok());
  CHECK(Broken(*errors, Tolerance().Bias(0.4)).found == Approx(0.5));
}

TEST_CASE("All rows have to be answered unless less is asked for") {
  const CostErrors errors = FourRows(false);
  const BrokenTolerance answered = Broken(errors, Tolerance());
  CHECK(answered.limit == "answered");
  CHECK(answered.allowed == 1);
  CHECK(answered.found == 0.75);
  CHECK(Check(errors, Tolerance().Answered(0.75)).ok());
}

TEST_CASE("Limits on errors are broken where nothing is answered") {
  const HandBuilt view = Gemms({1}, {100});
  const auto errors = ForEachMeasured(view.View(), Here(), MeasuredFilter(),
                                      FixedModel(Cost{}, "silent"));
  REQUIRE(errors.ok());
  const ToleranceCheck check =
      Check(*errors, Tolerance().Gmae(10).P90(10).Factor(10).Answered(0));
  CHECK(check.broken.size() == 3);
  CHECK(check.message.find("matmul bf16: GMAE is undefined: no row is answered"
                           "\n") != std::string::npos);
}

TEST_CASE("A limit below the noise of the measurements is said to be") {
  // The same twice, 100 and 400 us: the best answer is a factor of 2 from each.
  const HandBuilt view = Gemms({1, 1}, {100, 400});
  const auto errors = ForEachMeasured(view.View(), Here(), MeasuredFilter(),
                                      FixedModel({1e-3, Evidence::kAnalytic}));
  REQUIRE(errors.ok());
  // 1000 us are 10 and 2.5 times as long: 25^(1/2) - 1.
  CHECK(Check(*errors, Tolerance().Gmae(0.5))
            .message.find("matmul bf16: GMAE 400.0 %, limit 50.0 %, noise of "
                          "repeats 100.0 %\n") != std::string::npos);
  CHECK(Check(*errors, Tolerance().Gmae(2)).message.find("noise of") ==
        std::string::npos);
}

TEST_CASE("A category may have a tolerance of its own") {
  const CostErrors errors = FourRows();
  const Tolerances strict(Tolerance().Gmae(0.1));
  CHECK_FALSE(Check(errors, strict).ok());
  CHECK(Check(errors, strict.Category("matmul bf16", Tolerance().Gmae(0.5)))
            .ok());
}

TEST_CASE("A tolerance for a category without rows is broken") {
  const ToleranceCheck check =
      Check(FourRows(), Tolerances().Category("matmul bf61", Tolerance()));
  REQUIRE(check.broken.size() == 1);
  CHECK(check.broken[0].limit == "rows");
  CHECK(check.message.find("there is a tolerance for 'matmul bf61', but no row "
                           "of it; nearest: 'matmul bf16'") !=
        std::string::npos);
}

TEST_CASE("A failure is a text with limits, worst rows and figures") {
  const ToleranceCheck check =
      Check(FourRows(false), Tolerance().Gmae(0.2).Factor(1.5));
  CHECK(check.message ==
        "'mine' breaks 3 tolerances on 4 of the 4 rows of gemms:\n"
        "  matmul bf16: GMAE 30.1 %, limit 20.0 %\n"
        "  matmul bf16: worst row off by a factor of 2, limit 1.5\n"
        "  matmul bf16: answered 3 of 4 rows (75.0 %), limit 100.0 %\n"
        "worst 3 of 3 rows:\n"
        "   measured  predicted     error  off by  split  row  source\n"
        "1    100 us     200 us  +100.0 %   x 2.0  test     3  bench\n"
        "    matmul bf16, 4 x 64 x 64; here; analytic\n"
        "2    100 us     110 us   +10.0 %   x 1.1  test     0  bench\n"
        "    matmul bf16, 1 x 64 x 64; here; analytic\n"
        "3    400 us     400 us     0.0 %   x 1.0  test     2  bench\n"
        "    matmul bf16, 3 x 64 x 64; here; analytic\n"
        "errors, %    rows  answ.  GMAE   bias  median   p90  worst  noise\n"
        "matmul bf16     4      3  30.1  +10.0    10.0  82.0  100.0      -\n"
        "split test      4      3  30.1  +10.0    10.0  82.0  100.0      -\n"
        "not answered: 1 row\n"
        "      1  matmul bf16: left open (first: row 1)\n");
}

TEST_CASE("The same errors give the same text") {
  const Tolerance tolerance = Tolerance().Gmae(0.1);
  CHECK(Check(FourRows(), tolerance).message ==
        Check(FourRows(), tolerance).message);
}

TEST_CASE("The worst rows are those of the categories that broke a limit") {
  HandBuilt view("gemms");
  view.Texts("platform", 3, "here")
      .Texts("source_id", 3, "bench")
      .Texts("split", 3, "test")
      .Texts("dtype", {"bf16", "fp16", "fp16"})
      .Counts("m", {1, 2, 3})
      .Counts("n", {8, 8, 8})
      .Counts("k", {8, 8, 8})
      .Numbers("latency_us", {1, 2, 4});
  const auto errors = ForEachMeasured(view.View(), Here(), MeasuredFilter(),
                                      FixedModel({8e-6, Evidence::kMeasured}));
  REQUIRE(errors.ok());
  const std::string message =
      Check(*errors, Tolerances(Tolerance().Gmae(0.1))
                         .Category("matmul bf16", Tolerance()))
          .message;
  CHECK(message.find("worst 2 of 2 rows") != std::string::npos);
  CHECK(message.find("matmul bf16, 1 x 8 x 8") == std::string::npos);
  // Without a choice of categories all rows are ranked, the furthest first.
  const std::string worst = WorstRowsText(*errors, 1);
  CHECK(worst.find("worst 1 of 3 rows") == 0);
  CHECK(worst.find("matmul bf16, 1 x 8 x 8") != std::string::npos);
}

TEST_CASE("A mistake of 10^3 downwards is far off") {
  const HandBuilt view = Gemms({1}, {1000});
  const auto errors = ForEachMeasured(view.View(), Here(), MeasuredFilter(),
                                      FixedModel({1e-6, Evidence::kAnalytic}));
  REQUIRE(errors.ok());
  CHECK(Broken(*errors, Tolerance().Factor(100)).found == Approx(1000));
  CHECK(WorstRowsText(*errors).find("-99.9 %  / 1000") != std::string::npos);
}

TEST_CASE("Reasons beyond the first are summed up") {
  // Ten platforms that nobody knows, and one row that is asked.
  std::vector<std::string> platforms = {"here"};
  for (int i = 0; i < 10; ++i) platforms.push_back("p" + std::to_string(i));
  HandBuilt view("gemms");
  view.Texts("platform", platforms)
      .Texts("source_id", 11, "bench")
      .Texts("split", 11, "test")
      .Texts("dtype", 11, "bf16")
      .Counts("m", std::vector<int64_t>(11, 8))
      .Counts("n", std::vector<int64_t>(11, 8))
      .Counts("k", std::vector<int64_t>(11, 8))
      .Numbers("latency_us", std::vector<double>(11, 8));
  const auto errors = ForEachMeasured(view.View(), Here(), MeasuredFilter(),
                                      FixedModel({1e-6, Evidence::kAnalytic}));
  REQUIRE(errors.ok());
  CHECK(errors->unusable.size() == 10);
  const std::string text = FiguresText(*errors);
  CHECK(text.find("not asked, beside what the filter leaves out: 10 rows\n") !=
        std::string::npos);
  CHECK(text.find("      1  unknown platform 'p7' (first: row 8)\n"
                  "      2  for 2 other reasons\n") != std::string::npos);
}

}  // namespace
}  // namespace lmsimbench
