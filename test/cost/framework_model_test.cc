#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catch2/catch.hpp"
#include "lmsimbench/cost_models.h"
#include "lmsimbench/framework.h"
#include "test/cost/fixed_model.h"

namespace lmsimbench {
namespace {

std::unique_ptr<CostModel> Inside(const FrameworkParameters& parameters) {
  return MakeFrameworkModel(
      std::make_shared<FixedModel>(Cost{1e-3, Evidence::kMeasured}),
      parameters);
}

SpannedCollective Among(Group group, int64_t members, int64_t pipeline = 1) {
  SpannedCollective spanned =
      Spanned(CollectiveKind::kAllReduce, 1 << 20, members);
  spanned.collective.group = group;
  spanned.pipeline_ranks = pipeline;
  return spanned;
}

TEST_CASE("Each factor is of its kind of operator") {
  FrameworkParameters parameters;
  parameters.matrix_factor = 2;
  parameters.attention_factor = 3;
  parameters.elementwise_factor = 5;
  parameters.loss_factor = 7;
  const auto model = Inside(parameters);
  const auto seconds = [&](const Operator& op) {
    return CostOf(*model, TestSystem(), op).seconds;
  };
  CHECK(seconds(Matmul(64, 64, 64)) == 2e-3);
  CHECK(seconds(Attention(1, 64, 8, 64)) == 3e-3);
  CHECK(seconds(Elementwise(OperatorKind::kSoftmax, 64, 64)) == 3e-3);
  CHECK(seconds(Elementwise(OperatorKind::kNorm, 64, 64)) == 5e-3);
  CHECK(seconds(Elementwise(OperatorKind::kCrossEntropy, 64, 64)) == 7e-3);
  Operator scores = Matmul(64, 64, 64);
  scores.kind = OperatorKind::kAttentionScores;
  CHECK(seconds(scores) == 3e-3);
  Operator optimizer = Elementwise(OperatorKind::kOptimizer, 64, 1);
  optimizer.pass = OperatorPass::kOptimizer;
  CHECK(seconds(optimizer) == 1e-3);
}

TEST_CASE("What a factor changes is no longer measured") {
  FrameworkParameters parameters;
  parameters.matrix_factor = 1.1;
  const auto model = Inside(parameters);
  CHECK(CostOf(*model, TestSystem(), Matmul(64, 64, 64)).evidence ==
        Evidence::kAnalytic);
  CHECK(CostOf(*model, TestSystem(), Attention(1, 64, 8, 64)).evidence ==
        Evidence::kMeasured);
}

TEST_CASE("The host starts operators, and the iteration once") {
  FrameworkParameters parameters;
  parameters.operator_host_s = 1e-4;
  parameters.iteration_s = 1;
  const auto model = Inside(parameters);
  CHECK(CostOf(*model, TestSystem(), Matmul(64, 64, 64)).host_s == 1e-4);
  CHECK(CostOf(*model, TestSystem(), Matmul(64, 64, 64)).seconds == 1e-3);
  Operator optimizer = Elementwise(OperatorKind::kOptimizer, 64, 1);
  optimizer.pass = OperatorPass::kOptimizer;
  CHECK(CostOf(*model, TestSystem(), optimizer).seconds == 1 + 1e-3);
}

TEST_CASE("Collectives have the factor of their group") {
  FrameworkParameters parameters;
  parameters.tensor_factor = 2;
  parameters.expert_factor = 3;
  parameters.data_factor = 5;
  parameters.transfer_s = 1;
  const auto model = Inside(parameters);
  const auto seconds = [&](Group group) {
    return CostOf(*model, TestSystem(), Among(group, 4)).seconds;
  };
  CHECK(seconds(Group::kTensor) == 2e-3);
  CHECK(seconds(Group::kContextOuter) == 2e-3);
  CHECK(seconds(Group::kExpertRegion) == 3e-3);
  CHECK(seconds(Group::kShard) == 5e-3);
  CHECK(seconds(Group::kPipeline) == 1 + 1e-3);
  CHECK(seconds(Group::kEmbedding) == 1e-3);
}

TEST_CASE("The host's time for a collective grows with its group") {
  FrameworkParameters parameters;
  parameters.collective_host_s = 1e-4;
  parameters.collective_growth = 1;
  parameters.collective_node_growth = 2;
  parameters.pipelined_host_s = 1e-3;
  parameters.pipelined_growth = 0.5;
  const auto model = Inside(parameters);
  const auto host = [&](const SpannedCollective& spanned) {
    return CostOf(*model, TestSystem(), spanned).host_s;
  };
  CHECK(host(Among(Group::kTensor, 2)) == 1e-4);
  CHECK(host(Among(Group::kTensor, 8)) == Approx(4e-4));
  CHECK(host(Among(Group::kTensor, 8, 2)) == Approx(4e-4 + 2e-3));
  SpannedCollective across = Among(Group::kTensor, 8);
  across.span.nodes = 3;
  CHECK(host(across) == Approx(9 * 4e-4));
  // What runs beside the passes holds up none of them.
  CHECK(host(Among(Group::kData, 8)) == 0);
  CHECK(host(Among(Group::kTensor, 1)) == 0);
}

FittedFramework Named(const std::string& name, const std::string& accelerator,
                      double factor) {
  FittedFramework fitted;
  fitted.name = name;
  fitted.accelerator = accelerator;
  fitted.parameters.matrix_factor = factor;
  return fitted;
}

TEST_CASE("A system finds its framework by the longest name, then its device") {
  const std::vector<FittedFramework> fitted = {
      Named("nemo", "", 2), Named("nemo", "test device", 3),
      Named("nemo mlperf", "", 5), Named("other", "other device", 7)};
  System system = TestSystem();
  const auto factor = [&](const std::string& framework) {
    system.framework = framework;
    const FrameworkParameters* found = FindFramework(fitted, system);
    return found == nullptr ? 0 : found->matrix_factor;
  };
  CHECK(factor("NeMo 24.07") == 3);
  CHECK(factor("NeMo MLPerf v5.0") == 5);
  CHECK(factor("other") == 0);
  CHECK(factor("") == 0);
  system.accelerator.name = "another";
  CHECK(factor("NeMo 24.07") == 2);
}

TEST_CASE("What is fitted has its place in its range") {
  for (const FittedFramework& fitted : FittedFrameworks()) {
    INFO(fitted.name);
    CHECK_FALSE(fitted.name.empty());
    CHECK(fitted.parameters.matrix_factor > 0);
    CHECK(fitted.parameters.operator_s > 0);
  }
}

TEST_CASE("a framework says how much communication is in the way") {
  FrameworkParameters parameters;
  parameters.contention = 0.25;
  const auto contention = Inside(parameters)->ContentionOn({});
  REQUIRE(contention.ok());
  CHECK(contention->compute == 0.25);
  CHECK(contention->links);
  std::vector<std::unique_ptr<CostModel>> parts;
  parts.push_back(
      std::make_unique<FixedModel>(Cost{1e-3, Evidence::kMeasured}));
  CHECK_FALSE(parts[0]->ContentionOn({})->any());
  parts.push_back(Inside(parameters));
  CHECK(
      MakeCompositeModel("both", std::move(parts))->ContentionOn({})->compute ==
      0.25);
  parameters.contention = -1;
  CHECK(Inside(parameters)->ContentionOn({}).status().code() ==
        absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace lmsimbench
