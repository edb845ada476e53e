#include "lib/lower/units.h"

#include "lib/core/arithmetic.h"

namespace lmsimbench::lower {
namespace {

// True if every backward pass of the last chunk follows the forward pass of its
// micro-batch at once, so that it finds there what that gathered last.
bool TurnsAtOnce(const ExecutionGraph& graph) {
  for (int64_t rank = 0; rank < graph.placement.pp; ++rank) {
    const auto passes = Passes(graph, rank);
    for (size_t i = 0; i < passes.size(); ++i) {
      const Pass& pass = passes[i];
      if (pass.direction == Direction::kForward ||
          !ChunkOf(graph, rank, pass).is_last) {
        continue;
      }
      const bool follows = i > 0 &&
                           passes[i - 1].direction == Direction::kForward &&
                           passes[i - 1].chunk == pass.chunk &&
                           passes[i - 1].micro_batch == pass.micro_batch;
      if (!follows) return false;
    }
  }
  return true;
}

// What gathers and reduces parameters that `ranks` ranks share.
struct Shared {
  int32_t gather = -1;
  int32_t reduce = -1;
  int64_t weights_bytes = 0;
  int64_t gradients_bytes = 0;
};
Shared Share(int64_t parameters, int64_t ranks, Group group,
             ExecutionGraph& graph) {
  Shared shared;
  if (ranks == 1) return shared;
  shared.weights_bytes = parameters * graph.program.weight_bytes;
  shared.gradients_bytes = parameters * graph.program.gradient_bytes;
  shared.gather = AddCollective(
      {CollectiveKind::kAllGather, group, shared.weights_bytes}, graph);
  shared.reduce = AddCollective(
      {CollectiveKind::kReduceScatter, group, shared.gradients_bytes}, graph);
  return shared;
}

Unit MakeUnit(const BucketPlan& plan, const Block& block,
              ExecutionGraph& graph) {
  const bool everywhere = plan.shard_ranks == plan.ranks;
  const Shared dense =
      Share(block.parameters - block.expert_parameters, plan.ranks,
            everywhere ? Group::kData : Group::kShard, graph);
  const Shared experts = Share(block.expert_parameters, plan.expert_ranks,
                               Group::kExpertData, graph);
  Unit unit;
  unit.gather = dense.gather;
  unit.reduce = dense.reduce;
  if (!everywhere) {
    unit.reduce_replicas =
        AddCollective({CollectiveKind::kAllReduce, Group::kReplica,
                       CeilDivide(dense.gradients_bytes, plan.shard_ranks)},
                      graph);
  }
  unit.gather_experts = experts.gather;
  unit.reduce_experts = experts.reduce;
  unit.weights_bytes = dense.weights_bytes + experts.weights_bytes;
  unit.gradients_bytes = dense.gradients_bytes + experts.gradients_bytes;
  return unit;
}

}  // namespace

void AddUnits(const BucketPlan& plan, ExecutionGraph& graph) {
  if (plan.ranks == 1 && plan.expert_ranks == 1) return;
  const Program& program = graph.program;
  const bool turns_at_once = TurnsAtOnce(graph);
  for (const Block& block : program.blocks) {
    Unit unit = MakeUnit(plan, block, graph);
    unit.stays =
        block.kind == BlockKind::kEmbedding && program.tied_parameters > 0;
    const bool is_last = block.kind == BlockKind::kHead || unit.stays;
    unit.is_gathered_again = !(is_last && turns_at_once);
    graph.units.push_back(unit);
  }
}

}  // namespace lmsimbench::lower
