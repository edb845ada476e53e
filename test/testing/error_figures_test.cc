#include <cmath>
#include <map>
#include <utility>

#include "catch2/catch.hpp"
#include "lmsimbench/testing.h"
#include "test/cost/fixed_model.h"
#include "test/testing/hand_built.h"

namespace lmsimbench {
namespace {

using Us = std::map<int64_t, double>;

// Answers a matrix multiplication of m rows with as many microseconds as the
// table says, and leaves open what is not in it.
class ByRows : public CostModel {
 public:
  explicit ByRows(Us us) : CostModel("by rows"), us_(std::move(us)) {}

 private:
  absl::Status DoOperatorCosts(const System&,
                               absl::Span<const Operator> operators,
                               absl::Span<Cost> costs) const override {
    for (size_t i = 0; i < operators.size(); ++i) {
      const auto found = us_.find(operators[i].m);
      if (found == us_.end()) continue;
      costs[i] = {found->second * 1e-6, Evidence::kAnalytic};
    }
    return absl::OkStatus();
  }

  Us us_;
};

CostErrors Errors(const HandBuilt& view, const CostModel& model) {
  auto errors = ForEachMeasured(view.View(), Here(), MeasuredFilter(), model);
  INFO(errors.status().ToString());
  REQUIRE(errors.ok());
  return *std::move(errors);
}

TEST_CASE("Figures of four rows are those computed by hand") {
  // Errors +0.1, -0.5, 0 and +1; without sign, in order, 0, 0.1, 0.5, 1.
  const HandBuilt view = Gemms({1, 2, 3, 4}, {100, 200, 400, 100});
  const CostErrors errors =
      Errors(view, ByRows(Us{{1, 110}, {2, 100}, {3, 400}, {4, 200}}));
  const ErrorFigures& all = errors.all;
  CHECK(all.rows == 4);
  CHECK(all.answered == 4);
  // (0 + 0.1 + 0.5 + 1) / 4
  CHECK(all.mape == Approx(0.4));
  // (0.1 + 0.5) / 2
  CHECK(all.median == Approx(0.3));
  // At (4 - 1) * 0.9 = 2.7: 0.5 + 0.7 * (1 - 0.5).
  CHECK(all.p90 == Approx(0.85));
  CHECK(all.worst == Approx(1.0));
  // Of -0.5, 0, 0.1, 1: (0 + 0.1) / 2.
  CHECK(all.bias == Approx(0.05));
  // Ratios 1.1, 0.5, 1, 2: exp((ln 1.1 + ln 2 + 0 + ln 2) / 4) - 1
  // = (1.1 * 4)^(1/4) - 1.
  CHECK(all.gmae == Approx(0.448315).epsilon(1e-5));
  // (1.1 * 0.5 * 1 * 2)^(1/4) = 1.1^(1/4)
  CHECK(all.geometric_mean_ratio == Approx(1.024114).epsilon(1e-6));
  // Half and twice are equally far.
  CHECK(all.worst_factor == Approx(2.0));
  CHECK(errors.rows[1].Error() == Approx(-0.5));
  CHECK(errors.rows[1].Factor() == Approx(2.0));
}

TEST_CASE("Figures rest on answered rows alone") {
  const HandBuilt view = Gemms({1, 2}, {100, 100});
  const CostErrors errors = Errors(view, ByRows(Us{{2, 150}}));
  CHECK(errors.all.rows == 2);
  CHECK(errors.all.answered == 1);
  CHECK(errors.all.mape == Approx(0.5));
  CHECK_FALSE(errors.rows[0].answered());
  CHECK(std::isnan(errors.rows[0].predicted_s));
  CHECK(std::isnan(errors.rows[0].Error()));
  CHECK(std::isnan(errors.rows[0].Factor()));
}

TEST_CASE("Figures of errors are undefined where nothing is answered") {
  const HandBuilt view = Gemms({1}, {100});
  const CostErrors errors = Errors(view, ByRows(Us{}));
  CHECK(errors.all.rows == 1);
  CHECK(errors.all.answered == 0);
  for (double figure :
       {errors.all.gmae, errors.all.geometric_mean_ratio, errors.all.mape,
        errors.all.bias, errors.all.median, errors.all.p90, errors.all.worst,
        errors.all.worst_factor}) {
    CHECK(std::isnan(figure));
  }
}

TEST_CASE("A predicted time of nothing is infinitely far off") {
  const HandBuilt view = Gemms({1}, {100});
  const CostErrors errors = Errors(view, ByRows(Us{{1, 0}}));
  CHECK(errors.rows[0].Error() == -1);
  CHECK(std::isinf(errors.all.worst_factor));
  CHECK(std::isinf(errors.all.gmae));
  CHECK(errors.all.worst == 1);
}

TEST_CASE("Rows that measure the same thing say how noisy it is") {
  // Three times the same: the median is 200, from which the others are a factor
  // of 2 and of 4 away: exp((ln 2 + 0 + ln 4) / 3) - 1 = 8^(1/3) - 1.
  const HandBuilt view = Gemms({1, 2, 1, 1}, {100, 70, 200, 800});
  const CostErrors errors = Errors(view, ByRows(Us{}));
  CHECK(errors.all.repeated == 3);
  CHECK(errors.all.noise_gmae == Approx(1.0));
  CHECK(errors.rows[0].repeats == errors.rows[2].repeats);
  CHECK(errors.rows[0].repeats == errors.rows[3].repeats);
  CHECK(errors.rows[0].repeats != errors.rows[1].repeats);
  // No model does better: the best there is errs by just that.
  CHECK(Errors(view, ByRows(Us{{1, 200}, {2, 70}})).all.gmae ==
        Approx(std::pow(8.0, 0.25) - 1));
}

TEST_CASE("Nothing that is measured once is noisy") {
  const HandBuilt view = Gemms({1, 2}, {100, 70});
  const CostErrors errors = Errors(view, ByRows(Us{}));
  CHECK(errors.all.repeated == 0);
  CHECK(std::isnan(errors.all.noise_gmae));
}

TEST_CASE("Categories and splits have figures of their own") {
  HandBuilt view("gemms");
  view.Texts("platform", 3, "here")
      .Texts("source_id", 3, "bench")
      .Texts("dtype", {"bf16", "fp16", "bf16"})
      .Texts("split", {"test", "test", "fit"})
      .Counts("m", {1, 2, 3})
      .Counts("n", {8, 8, 8})
      .Counts("k", {8, 8, 8})
      .Numbers("latency_us", {100, 100, 100});
  const CostErrors errors =
      Errors(view, ByRows(Us{{1, 110}, {2, 120}, {3, 130}}));
  REQUIRE(errors.categories.size() == 2);
  REQUIRE(errors.Find("matmul bf16") != nullptr);
  REQUIRE(errors.Find("matmul fp16") != nullptr);
  CHECK(errors.Find("matmul fp32") == nullptr);
  CHECK(errors.Find("matmul bf16")->mape == Approx(0.2));
  CHECK(errors.Find("matmul fp16")->mape == Approx(0.2));
  REQUIRE(errors.splits.size() == 2);
  CHECK(errors.splits[0].name == "fit");
  CHECK(errors.splits[0].mape == Approx(0.3));
  CHECK(errors.splits[1].name == "test");
  CHECK(errors.splits[1].mape == Approx(0.15));
}

}  // namespace
}  // namespace lmsimbench
