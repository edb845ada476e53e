#include "lib/lower/buckets.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "lib/core/arithmetic.h"

namespace lmsimbench::lower {
namespace {

// Gradients of one block that are complete at one step, counted from the first
// step of the pass that completes gradients.
struct GradientStep {
  int32_t step = 0;
  bool of_experts = false;
  int64_t parameters = 0;
};
using GradientSteps = absl::InlinedVector<GradientStep, 32>;

// Calls `add` with the steps of a block that complete gradients. Where weights
// have a pass of their own, what the backward pass has completed is there when
// that one comes to the block.
template <typename AddStep>
void VisitGradientSteps(const Program& program, const Block& block,
                        AddStep&& add) {
  if (program.splits_backward) {
    for (const Step& step : BackwardSteps(program, block)) add(-1, step);
  }
  const auto last = program.splits_backward ? WeightSteps(program, block)
                                            : BackwardSteps(program, block);
  for (size_t s = 0; s < last.size(); ++s) {
    add(static_cast<int32_t>(s), last[s]);
  }
}

// Gradients that are complete and not yet in a bucket.
struct Filling {
  int64_t parameters = 0;
  // Where the latest of them became complete.
  int32_t block = 0;
  int32_t step = 0;
};

// The collectives of a bucket.
void SetCollectives(const BucketPlan& plan, bool of_experts, Bucket& bucket,
                    ExecutionGraph& graph) {
  const Program& program = graph.program;
  const int64_t gradients = bucket.parameters * program.gradient_bytes;
  const Group all = of_experts ? Group::kExpertData : Group::kData;
  if (!plan.sharded) {
    bucket.reduce =
        AddCollective({CollectiveKind::kAllReduce, all, gradients}, graph);
    return;
  }
  const bool everywhere = of_experts || plan.shard_ranks == plan.ranks;
  const Group group = everywhere ? all : Group::kShard;
  bucket.reduce =
      AddCollective({CollectiveKind::kReduceScatter, group, gradients}, graph);
  bucket.gather = AddCollective({CollectiveKind::kAllGather, group,
                                 bucket.parameters * program.weight_bytes},
                                graph);
  if (!everywhere) {
    bucket.reduce_replicas =
        AddCollective({CollectiveKind::kAllReduce, Group::kReplica,
                       CeilDivide(gradients, plan.shard_ranks)},
                      graph);
  }
}

// Closes a bucket.
void AddBucket(const BucketPlan& plan, bool of_experts, Filling& filling,
               ExecutionGraph& graph) {
  Bucket bucket;
  bucket.parameters = filling.parameters;
  bucket.block = filling.block;
  bucket.step = filling.step;
  filling.parameters = 0;
  // Most buckets are as large as one of the last few, of the same group.
  const size_t recent = std::min<size_t>(graph.buckets.size(), 4);
  const auto same = std::find_if(
      graph.buckets.rbegin(), graph.buckets.rbegin() + recent,
      [&](const Bucket& b) {
        return b.parameters == bucket.parameters &&
               (graph.collectives[b.reduce].group == Group::kExpertData) ==
                   of_experts;
      });
  if (same != graph.buckets.rbegin() + recent) {
    bucket.reduce = same->reduce;
    bucket.reduce_replicas = same->reduce_replicas;
    bucket.gather = same->gather;
  } else {
    SetCollectives(plan, of_experts, bucket, graph);
  }
  graph.buckets.push_back(bucket);
}

}  // namespace

int32_t AddCollective(const Collective& collective, ExecutionGraph& graph) {
  if (collective.bytes == 0) return -1;
  auto& all = graph.collectives;
  const auto known = std::find(all.begin(), all.end(), collective);
  if (known != all.end()) return static_cast<int32_t>(known - all.begin());
  all.push_back(collective);
  return static_cast<int32_t>(all.size()) - 1;
}

void AppendBuckets(const BucketPlan& plan, const Chunk& chunk,
                   ExecutionGraph& graph) {
  const Program& program = graph.program;
  const auto runs = Runs(program, chunk);
  GradientSteps gradient_steps;
  const size_t begin = graph.buckets.size();
  bool has_expert_buckets = false;
  std::array<Filling, 2> fillings;
  const auto is_reduced = [&](bool of_experts) {
    return (of_experts ? plan.expert_ranks : plan.ranks) > 1;
  };
  int32_t block_index = 0;
  for (size_t r = runs.size(); r-- > 0;) {
    gradient_steps.clear();
    VisitGradientSteps(
        program, program.blocks[runs[r].block],
        [&](int32_t index, const Step& step) {
          if (step.gradient_parameters == 0 || !is_reduced(step.of_experts)) {
            return;
          }
          gradient_steps.push_back(
              {index, step.of_experts, step.gradient_parameters});
        });
    for (int32_t i = 0; i < runs[r].count; ++i, ++block_index) {
      for (const GradientStep& gradient : gradient_steps) {
        Filling& filling = fillings[gradient.of_experts ? 1 : 0];
        filling.parameters += gradient.parameters;
        filling.block = block_index;
        filling.step = gradient.step;
        has_expert_buckets |= gradient.of_experts;
        if (filling.parameters < plan.bucket_parameters) continue;
        AddBucket(plan, gradient.of_experts, filling, graph);
      }
    }
  }
  for (const bool of_experts : {false, true}) {
    Filling& filling = fillings[of_experts ? 1 : 0];
    if (filling.parameters > 0) AddBucket(plan, of_experts, filling, graph);
  }
  // What was left of the one may have been complete before a bucket of the
  // other.
  if (!has_expert_buckets) return;
  std::sort(graph.buckets.begin() + static_cast<ptrdiff_t>(begin),
            graph.buckets.end(), [](const Bucket& a, const Bucket& b) {
              return std::make_pair(a.block, a.step) <
                     std::make_pair(b.block, b.step);
            });
}

}  // namespace lmsimbench::lower
