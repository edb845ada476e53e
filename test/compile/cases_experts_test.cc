#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "lmsimbench/counts.h"
#include "lmsimbench/legality.h"
#include "lmsimbench/pipeline.h"
#include "test/compile/parts.h"
#include "test/pipelines.h"

namespace lmsimbench {
namespace {

using Catch::Matchers::Contains;

// 16 experts of width 256 on 64 hidden channels, two a token, beside a shared
// one; the first of four layers is dense.
Workload Sparse() {
  Workload workload = SmallWorkload(4, 8);
  ModelSpec& model = workload.model;
  model.experts = 16;
  model.top_k = 2;
  model.expert_ffn = 256;
  model.shared_experts = 1;
  model.dense_first_layers = 1;
  model.linear_bias = YesNo::kNo;
  model.qkv_bias = YesNo::kNo;
  workload.attention_impl = AttentionImpl::kFlash;
  return workload;
}

TEST_CASE("ETP * EP != TP: experts, shards and copies are divided as each is") {
  Workload workload = Sparse();
  ModelSpec& model = workload.model;
  ParallelConfig config = Pipeline(1);
  config.tp = 2;
  config.dp = 8;
  config.ep = 8;
  config.etp = 1;
  config.zero = ZeroStage::kDistributedOptimizer;
  workload.precision = Precision::kBf16;
  const Program program = Compiled(workload, config);
  const Stage& stage = program.stages[0];
  const auto count = CountParameters(model);
  REQUIRE(count.ok());
  // 16 experts of 3 * 512 * 256 weights in 3 layers, over ETP 1 * EP 8.
  CHECK(count->routed_experts == 3 * 16 * 3 * 512 * 256);
  CHECK(stage.expert_parameters == count->routed_experts / 8);
  // Norms (9 of 512) and routers (3 of 512 * 16) are on every rank.
  CHECK(stage.replicated_parameters == 9 * 512 + 3 * 512 * 16);
  // Attention, dense MLP, shared experts, embedding and output over TP 2.
  const int64_t shared =
      stage.parameters - stage.expert_parameters - stage.replicated_parameters;
  CHECK(2 * shared ==
        count->total - count->routed_experts - stage.replicated_parameters);
  // State of 12 bytes a parameter: over DP 8, of experts over
  // 16 / (ETP 1 * EP 8) = 2.
  CHECK(stage.optimizer_bytes ==
        12 * (stage.parameters - stage.expert_parameters) / 8 +
            12 * stage.expert_parameters / 2);
  CHECK(stage.weights_bytes == 2 * stage.parameters);
  CHECK(stage.gradients_bytes == 4 * stage.parameters);
}

TEST_CASE("a device has top-k copies of its tokens, whatever EP is") {
  const Workload workload = Sparse();
  std::vector<int64_t> stored;
  for (const int64_t ep : {1, 2, 4, 8}) {
    CAPTURE(ep);
    ParallelConfig config = Pipeline(1);
    config.dp = 8;
    config.ep = ep;
    config.etp = 1;
    const Program program = Compiled(workload, config);
    const Block& block = LastLayers(program);
    // top-k 2 * 128 tokens * 512 channels * 2 bytes; two gated inputs of 256
    // and their product.
    const int64_t copies = 2 * 128;
    CHECK(BytesOf(program, block, "expert activation input") ==
          copies * 2 * 256 * 2);
    CHECK(BytesOf(program, block, "expert activation output") ==
          copies * 256 * 2);
    stored.push_back(block.stored_bytes);
    const auto sent = Sent(program, ForwardSteps(program, block),
                           CollectiveKind::kAllToAll, Group::kExpert);
    if (ep == 1) {
      CHECK(sent.empty());
    } else {
      CHECK(sent == std::vector<int64_t>{copies * 512 * 2, copies * 512 * 2});
    }
    const Operator& up = TheOperator(program, OperatorKind::kExpertUp);
    CHECK(up.batch == 16 / ep);
    CHECK(up.m == copies * ep / 16);
    CHECK(up.flops == 2.0 * copies * 512 * 512);
  }
  CHECK(stored == std::vector<int64_t>(4, stored[0]));
}

TEST_CASE("a capacity makes room for more copies, an imbalance for work") {
  Workload workload = Sparse();
  ParallelConfig config = Pipeline(1);
  config.dp = 4;
  config.ep = 4;
  const auto up = [&] {
    return TheOperator(Compiled(workload, config), OperatorKind::kExpertUp);
  };
  const double balanced = up().flops;
  CHECK(Compiled(workload, config).Assumes(Assumption::kBalancedExperts));
  workload.expert_capacity = 1.25;
  CHECK(up().flops == 1.25 * balanced);
  workload.expert_capacity = kNoNumber;
  workload.expert_imbalance = 1.5;
  CHECK(up().flops == 1.5 * balanced);
  CHECK(!Compiled(workload, config).Assumes(Assumption::kBalancedExperts));
  workload.expert_imbalance = 0.5;
  CHECK_THAT(std::string(Compile(workload, config).status().message()),
             Contains("expert_imbalance is 0.5; it is at least 1"));
}

TEST_CASE("expert tensor ranks gather what they got, and scatter the sum") {
  Workload workload = Sparse();
  ParallelConfig config = Pipeline(1);
  config.tp = 2;
  config.dp = 4;
  config.ep = 2;
  config.etp = 2;
  const Program program = Compiled(workload, config);
  const Block& block = LastLayers(program);
  const auto forward = ForwardSteps(program, block);
  // A rank sends the copies of its half of the 128 tokens; both tensor ranks
  // together get those of 128.
  CHECK(Sent(program, forward, CollectiveKind::kAllToAll, Group::kExpert) ==
        std::vector<int64_t>(2, 2 * 64 * 512 * 2));
  CHECK(Sent(program, forward, CollectiveKind::kAllGather,
             Group::kExpertTensor) == std::vector<int64_t>{2 * 128 * 512 * 2});
  CHECK(Sent(program, forward, CollectiveKind::kReduceScatter,
             Group::kExpertTensor) == std::vector<int64_t>{2 * 128 * 512 * 2});
  CHECK(TheOperator(program, OperatorKind::kExpertUp).n == 256);
  CHECK(program.Assumes(Assumption::kSequenceParallelExperts));
}

TEST_CASE("gathered tokens are those of all ranks, once") {
  Workload workload = Sparse();
  ParallelConfig config = Pipeline(1);
  config.dp = 4;
  config.ep = 4;
  config.expert_dispatch = ExpertDispatch::kAllGather;
  const Program program = Compiled(workload, config);
  const auto forward = ForwardSteps(program, LastLayers(program));
  const std::vector<int64_t> once = {4 * 128 * 512 * 2};
  CHECK(Sent(program, forward, CollectiveKind::kAllGather,
             Group::kExpertRegion) == once);
  CHECK(Sent(program, forward, CollectiveKind::kReduceScatter,
             Group::kExpertRegion) == once);
  CHECK(Sent(program, forward, CollectiveKind::kAllToAll, Group::kExpert)
            .empty());
}

TEST_CASE("experts that are not grouped run one after the other") {
  Workload workload = Sparse();
  workload.grouped_gemm = YesNo::kNo;
  const Program program = Compiled(workload, Pipeline(1));
  const Operator& up = TheOperator(program, OperatorKind::kExpertUp);
  CHECK(up.batch == 1);
  const Block& block = LastLayers(program);
  int runs = 0;
  for (const Step& step : ForwardSteps(program, block)) {
    if (step.is_collective) continue;
    runs += program.operators[step.id].kind == OperatorKind::kExpertUp;
  }
  CHECK(runs == 16);
  CHECK(block.expert_parameters == 16 * 3 * 512 * 256);
}

TEST_CASE("gradients of experts are reduced over the ranks that hold them") {
  Workload workload = Sparse();
  workload.global_batch = 8;
  ParallelConfig config = Pipeline(1);
  config.dp = 8;
  config.ep = 4;
  const ExecutionGraph graph = Lowered(workload, config);
  int64_t dense = 0;
  int64_t experts = 0;
  for (const Bucket& bucket : graph.buckets) {
    const Group group = graph.collectives[bucket.reduce].group;
    REQUIRE((group == Group::kData || group == Group::kExpertData));
    (group == Group::kData ? dense : experts) += bucket.parameters;
  }
  const Stage& stage = graph.program.stages[0];
  CHECK(experts == stage.expert_parameters);
  CHECK(dense == stage.parameters - stage.expert_parameters);
  // All ranks of a stage hold different experts: nothing to reduce.
  config.ep = 8;
  for (const Bucket& bucket : Lowered(workload, config).buckets) {
    CHECK(graph.collectives[bucket.reduce].group == Group::kData);
  }
}

TEST_CASE("the last stage embeds the tokens that further heads predict") {
  Workload workload = SmallWorkload(4, 4);
  workload.model.mtp_layers = 1;
  const Program one = Compiled(workload, Pipeline(1));
  const Program two = Compiled(workload, Pipeline(2));
  constexpr int64_t kMatrix = int64_t{1024} * 512;
  CHECK(one.shared_embedding_parameters == 0);
  CHECK(two.shared_embedding_parameters == kMatrix);
  CHECK(two.stages[0].parameters + two.stages[1].parameters ==
        one.stages[0].parameters + kMatrix);
  workload.model.mtp_layers = 0;
  // A layer, a projection of 1024 to 512 and three norms, all on the last.
  const Program none = Compiled(workload, Pipeline(2));
  CHECK(two.stages[1].parameters - none.stages[1].parameters ==
        kMatrix + LastLayers(none).parameters + 2 * 512 * 512 + 3 * 512);
  CHECK(two.stages[0].parameters == none.stages[0].parameters);
}

}  // namespace
}  // namespace lmsimbench
