#include "lmsimbench/cost_model.h"

#include <limits>
#include <string>

#include "catch2/catch.hpp"
#include "test/cost/fixed_model.h"

namespace lmsimbench {
namespace {

using Catch::Matchers::Contains;

class SilentModel : public CostModel {
 public:
  SilentModel() : CostModel("silent") {}
};

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

TEST_CASE("A cost model that overrides nothing answers nothing") {
  const SilentModel model;
  const Operator ops[] = {Matmul(64, 64, 64), Matmul(128, 64, 64)};
  Cost costs[] = {{1, Evidence::kMeasured}, {2, Evidence::kMeasured}};
  REQUIRE(model.Costs(TestSystem(), ops, absl::MakeSpan(costs)).ok());
  for (const Cost& cost : costs) {
    CHECK(cost.evidence == Evidence::kNotAnswered);
    CHECK(cost.seconds == 0);
  }
}

TEST_CASE(
    "Seconds that are not finite or are negative stop with operator and "
    "number") {
  for (double seconds : {kNoNumber, -1e-6, 1 / 0.0}) {
    const FixedModel model({seconds, Evidence::kAnalytic}, "broken");
    const absl::Status status =
        StatusOf(model, TestSystem(), Matmul(4096, 12288, 1024));
    CHECK(status.code() == absl::StatusCode::kInternal);
    CHECK_THAT(Message(status), Contains("'broken'"));
    CHECK_THAT(Message(status),
               Contains("mlp up, forward, bf16, 4096 x 12288 x 1024"));
  }
  const FixedModel model({-0.25, Evidence::kAnalytic}, "broken");
  const absl::Status status = StatusOf(
      model, TestSystem(), Spanned(CollectiveKind::kAllReduce, 4096, 8));
  CHECK(status.code() == absl::StatusCode::kInternal);
  CHECK_THAT(Message(status), Contains("-0.25"));
  CHECK_THAT(Message(status),
             Contains("all_reduce of 4096 bytes over 8 data ranks in 1 node"));
}

TEST_CASE("Seconds of what is not answered do not matter") {
  const FixedModel model({kNoNumber, Evidence::kNotAnswered});
  CHECK(StatusOf(model, TestSystem(), Matmul(64, 64, 64)).ok());
  CHECK(CostOf(model, TestSystem(), Matmul(64, 64, 64)).seconds == 0);
}

TEST_CASE("Evidence outside the enumeration is no answer") {
  const FixedModel model({1e-6, static_cast<Evidence>(77)});
  CHECK(StatusOf(model, TestSystem(), Matmul(64, 64, 64)).code() ==
        absl::StatusCode::kInternal);
}

TEST_CASE("A failure of the model keeps its code and gets the model's name") {
  FixedModel model({1e-6, Evidence::kAnalytic}, "fragile");
  model.status = absl::FailedPreconditionError("no peak");
  const absl::Status status = StatusOf(model, TestSystem(), Matmul(64, 64, 64));
  CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(Message(status), Contains("'fragile'") && Contains("no peak"));
}

TEST_CASE("Room for another number of answers is refused") {
  const FixedModel model({1e-6, Evidence::kAnalytic});
  const Operator ops[] = {Matmul(64, 64, 64), Matmul(64, 64, 64)};
  Cost cost;
  CHECK(model.Costs(TestSystem(), ops, absl::MakeSpan(&cost, 1)).code() ==
        absl::StatusCode::kInvalidArgument);
  CHECK(model.asked == 0);
}

TEST_CASE("A zero cost is an answer") {
  const FixedModel model({0, Evidence::kMeasured});
  CHECK(CostOf(model, TestSystem(), Matmul(64, 64, 64)).evidence ==
        Evidence::kMeasured);
}

TEST_CASE("Descriptions name the shape") {
  Operator attention = Attention(2, 4096, 32, 128);
  attention.kv_heads = 8;
  attention.window = 1024;
  CHECK(Describe(attention) ==
        "attention, forward, bf16, 2 x 4096 queries, 4096 keys, 32 heads (8 "
        "of keys and values) of 128, causal, window 1024");
  CHECK(Describe(Elementwise(OperatorKind::kNorm, 4096, 8192)) ==
        "norm, forward, bf16, 4096 x 8192");
  Operator scores = Matmul(2048, 2048, 128);
  scores.kind = OperatorKind::kAttentionScores;
  scores.batch = 40;
  CHECK(Describe(scores) ==
        "attention scores, forward, bf16, 40 times 2048 x 2048 x 128");
  CHECK(Describe(Spanned(CollectiveKind::kAllGather, 1 << 20, 8, 2)) ==
        "all_gather of 1048576 bytes over 16 data ranks in 2 nodes");
}

}  // namespace
}  // namespace lmsimbench
