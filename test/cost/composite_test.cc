#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catch2/catch.hpp"
#include "lmsimbench/cost_models.h"
#include "test/cost/fixed_model.h"

namespace lmsimbench {
namespace {

using Catch::Matchers::Contains;

// Answers operators whose m is below a limit.
std::unique_ptr<FixedModel> Below(int64_t limit, double seconds,
                                  Evidence evidence) {
  auto model = std::make_unique<FixedModel>(Cost{seconds, evidence});
  model->of_operator = [=](const Operator& op) {
    return op.m < limit ? Cost{seconds, evidence} : Cost{};
  };
  return model;
}

TEST_CASE("Each part is asked what those before it left open") {
  auto first = Below(100, 1, Evidence::kMeasured);
  auto second = Below(1000, 2, Evidence::kAnalytic);
  const FixedModel* first_asked = first.get();
  const FixedModel* second_asked = second.get();
  std::vector<std::unique_ptr<CostModel>> parts;
  parts.push_back(std::move(first));
  parts.push_back(std::move(second));
  const auto model = MakeCompositeModel("both", std::move(parts));
  const Operator ops[] = {Matmul(500, 1, 1), Matmul(50, 1, 1),
                          Matmul(600, 1, 1), Matmul(700, 1, 1),
                          Matmul(5000, 1, 1)};
  Cost costs[5];
  REQUIRE(model->Costs(TestSystem(), ops, absl::MakeSpan(costs)).ok());
  CHECK(costs[0].seconds == 2);
  CHECK(costs[1].seconds == 1);
  CHECK(costs[1].evidence == Evidence::kMeasured);
  CHECK(costs[2].seconds == 2);
  CHECK(costs[3].evidence == Evidence::kAnalytic);
  CHECK(costs[4].evidence == Evidence::kNotAnswered);
  CHECK(first_asked->asked == 5);
  CHECK(second_asked->asked == 4);
}

TEST_CASE("A part that fails is named") {
  auto broken = std::make_unique<FixedModel>(
      Cost{kNoNumber, Evidence::kMeasured}, "broken part");
  std::vector<std::unique_ptr<CostModel>> parts;
  parts.push_back(std::move(broken));
  const auto model = MakeCompositeModel("whole", std::move(parts));
  const absl::Status status =
      StatusOf(*model, TestSystem(), Matmul(64, 64, 64));
  CHECK(status.code() == absl::StatusCode::kInternal);
  CHECK_THAT(std::string(status.message()),
             Contains("cost model 'whole/broken part' answers nan seconds"));
  // A composite within one of the same name is not named twice.
  std::vector<std::unique_ptr<CostModel>> inner;
  inner.push_back(std::make_unique<FixedModel>(
      Cost{kNoNumber, Evidence::kMeasured}, "broken part"));
  std::vector<std::unique_ptr<CostModel>> outer;
  outer.push_back(MakeCompositeModel("whole", std::move(inner)));
  const auto nested = MakeCompositeModel("whole", std::move(outer));
  CHECK(StatusOf(*nested, TestSystem(), Matmul(64, 64, 64)) == status);
}

TEST_CASE("A composite of nothing answers nothing") {
  const auto model = MakeCompositeModel("empty", {});
  CHECK(CostOf(*model, TestSystem(), Matmul(64, 64, 64)).evidence ==
        Evidence::kNotAnswered);
}

}  // namespace
}  // namespace lmsimbench
