#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "lmsimbench/legality.h"
#include "lmsimbench/pipeline.h"
#include "test/compile/parts.h"
#include "test/pipelines.h"

namespace lmsimbench {
namespace {

TEST_CASE("Ulysses of 8 ranks with 2 key and value heads copies them 4 times") {
  Workload workload = SmallWorkload(2, 1);
  ModelSpec& model = workload.model;
  model.kv_heads = 2;
  workload.attention_impl = AttentionImpl::kFlash;
  ParallelConfig config = Pipeline(1);
  config.cp = 8;
  config.context_algorithm = ContextAlgorithm::kUlysses;
  CHECK(IsLegal(workload, config, kNoCount));
  const Program program = Compiled(workload, config);
  const Block& block = LastLayers(program);
  // 128 / 8 tokens; 8 query heads and 2 of keys and of values of 64 channels of
  // 2 bytes: queries as they are, keys and values 8 / 2 times.
  const int64_t query = 16 * 8 * 64 * 2;
  const int64_t copied = 4 * (16 * 2 * 64 * 2);
  CHECK(Sent(program, ForwardSteps(program, block), CollectiveKind::kAllToAll,
             Group::kContext) ==
        std::vector<int64_t>{query, copied, copied, query});
  // Backward the same: the gradient of the output, and of the three.
  CHECK(Sent(program, BackwardSteps(program, block), CollectiveKind::kAllToAll,
             Group::kContext) ==
        std::vector<int64_t>{query, query, copied, copied});
  const Operator& core = TheOperator(program, OperatorKind::kAttention);
  CHECK(core.heads == 1);
  CHECK(core.kv_heads == 1);
  CHECK(core.query_tokens == 128);
  CHECK(core.key_tokens == 128);
}

TEST_CASE("round a ring keys and values go once less than there are ranks") {
  Workload workload = SmallWorkload(2, 1);
  workload.attention_impl = AttentionImpl::kFlash;
  ParallelConfig config = Pipeline(1);
  config.cp = 4;
  config.context_algorithm = ContextAlgorithm::kRing;
  const Program program = Compiled(workload, config);
  const Block& block = LastLayers(program);
  // 32 tokens of 8 heads of keys and of values of 64 channels of 2 bytes.
  const int64_t kv = 2 * 32 * 8 * 64 * 2;
  CHECK(Sent(program, ForwardSteps(program, block),
             CollectiveKind::kSendReceive,
             Group::kContext) == std::vector<int64_t>(3, kv));
  // Backward their gradients follow a step behind.
  CHECK(Sent(program, BackwardSteps(program, block),
             CollectiveKind::kSendReceive,
             Group::kContext) == std::vector<int64_t>{kv, 2 * kv, 2 * kv, kv});
  // The rank's own keys are half masked; of those of others, which lie before
  // or behind, it meets half: 32 * 32 / 2 meetings either way.
  std::vector<double> flops;
  for (const Operator& op : program.operators) {
    if (op.kind == OperatorKind::kAttention &&
        op.pass == OperatorPass::kForward) {
      flops.push_back(op.flops);
    }
  }
  CHECK(flops == std::vector<double>(2, 4.0 * 512 * 32 * 32 / 2));
}

TEST_CASE("a step of the ring ends with the later of attention and transfer") {
  Workload workload = SmallWorkload(1, 1);
  workload.attention_impl = AttentionImpl::kFlash;
  ParallelConfig config = Pipeline(1);
  config.cp = 4;
  const ExecutionGraph graph = Lowered(workload, config);
  // Attention takes 1 second, a transfer 0 or 1.5, all else nothing.
  class Fixed final : public CostModel {
   public:
    explicit Fixed(double transfer_s)
        : CostModel("fixed"), transfer_s_(transfer_s) {}

   private:
    absl::Status DoOperatorCosts(const System&,
                                 absl::Span<const Operator> operators,
                                 absl::Span<Cost> costs) const override {
      for (size_t i = 0; i < costs.size(); ++i) {
        const bool attention = operators[i].kind == OperatorKind::kAttention;
        costs[i] = {attention ? 1.0 : 0.0, Evidence::kAnalytic};
      }
      return absl::OkStatus();
    }
    absl::Status DoCollectiveCosts(
        const System&, absl::Span<const SpannedCollective> collectives,
        absl::Span<Cost> costs) const override {
      for (size_t i = 0; i < costs.size(); ++i) {
        const bool ring =
            collectives[i].collective.kind == CollectiveKind::kSendReceive;
        costs[i] = {ring ? transfer_s_ : 0.0, Evidence::kAnalytic};
      }
      return absl::OkStatus();
    }
    double transfer_s_;
  };
  const auto seconds = [&](double transfer_s) {
    const auto prediction =
        Aggregate(Costed(graph, Fixed(transfer_s)), TestSystem());
    REQUIRE(prediction.ok());
    return prediction->iteration_time_s;
  };
  CHECK(seconds(0) == 4 + 4);
  CHECK(seconds(1) == 4 + 4);
  // Forward three steps wait for a transfer and one has none; backward all four
  // have one.
  CHECK(seconds(1.5) == 3 * 1.5 + 1 + 4 * 1.5);
}

TEST_CASE("gathered keys and values are those of the whole sequence") {
  Workload workload = SmallWorkload(2, 1);
  workload.attention_impl = AttentionImpl::kFlash;
  workload.model.kv_heads = 2;
  ParallelConfig config = Pipeline(1);
  config.cp = 4;
  config.context_algorithm = ContextAlgorithm::kAllGather;
  const Program program = Compiled(workload, config);
  const Block& block = LastLayers(program);
  const std::vector<int64_t> whole = {2 * 128 * 2 * 64 * 2};
  CHECK(Sent(program, ForwardSteps(program, block), CollectiveKind::kAllGather,
             Group::kContext) == whole);
  const auto backward = BackwardSteps(program, block);
  CHECK(Sent(program, backward, CollectiveKind::kAllGather, Group::kContext) ==
        whole);
  CHECK(Sent(program, backward, CollectiveKind::kReduceScatter,
             Group::kContext) == whole);
}

TEST_CASE("hybrid context parallelism exchanges heads within, a ring across") {
  Workload workload = SmallWorkload(2, 1);
  workload.attention_impl = AttentionImpl::kFlash;
  ParallelConfig config = Pipeline(1);
  config.cp = 8;
  config.context_algorithm = ContextAlgorithm::kHybrid;
  config.context_inner = 4;
  const Program program = Compiled(workload, config);
  const auto forward = ForwardSteps(program, LastLayers(program));
  CHECK(Sent(program, forward, CollectiveKind::kAllToAll, Group::kContextInner)
            .size() == 4);
  CHECK(
      Sent(program, forward, CollectiveKind::kSendReceive, Group::kContextOuter)
          .size() == 1);
  for (const Operator& op : program.operators) {
    if (op.kind != OperatorKind::kAttention) continue;
    CHECK(op.heads == 8 / 4);
    CHECK(op.query_tokens == 128 / 2);
  }
}

TEST_CASE("context ranks hold the same parameters and reduce them together") {
  Workload workload = SmallWorkload(2, 2);
  workload.attention_impl = AttentionImpl::kFlash;
  ParallelConfig config = Pipeline(1);
  config.cp = 4;
  config.dp = 2;
  config.zero = ZeroStage::kDistributedOptimizer;
  const ExecutionGraph graph = Lowered(workload, config);
  const Stage& stage = graph.program.stages[0];
  // State over DP 2 * CP 4.
  CHECK(stage.optimizer_bytes == 12 * stage.parameters / 8);
  const RankClass& ranks = graph.placement.classes[0];
  const auto data = static_cast<size_t>(Group::kData);
  CHECK(graph.placement.spans[ranks.span[data]].members == 8);
}

}  // namespace
}  // namespace lmsimbench
