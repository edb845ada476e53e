#include "lib/lower/buckets.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "lib/core/arithmetic.h"

namespace lmsimbench::lower {
namespace {

void AddBucket(const BucketPlan& plan, int64_t parameters, int32_t block,
               int32_t step, ExecutionGraph& graph) {
  const Program& program = graph.program;
  const int64_t gradients = parameters * program.gradient_bytes;
  Bucket bucket;
  bucket.parameters = parameters;
  bucket.block = block;
  bucket.step = step;
  // Most buckets are as large as one of the last few.
  const size_t recent = std::min<size_t>(graph.buckets.size(), 4);
  const auto same =
      std::find_if(graph.buckets.rbegin(), graph.buckets.rbegin() + recent,
                   [&](const Bucket& b) { return b.parameters == parameters; });
  if (same != graph.buckets.rbegin() + recent) {
    bucket.reduce = same->reduce;
    bucket.reduce_replicas = same->reduce_replicas;
    bucket.gather = same->gather;
  } else if (!plan.sharded) {
    bucket.reduce = AddCollective(
        {CollectiveKind::kAllReduce, Group::kData, gradients}, graph);
  } else {
    const bool everywhere = plan.shard_ranks == plan.ranks;
    const Group group = everywhere ? Group::kData : Group::kShard;
    bucket.reduce = AddCollective(
        {CollectiveKind::kReduceScatter, group, gradients}, graph);
    bucket.gather = AddCollective(
        {CollectiveKind::kAllGather, group, parameters * program.weight_bytes},
        graph);
    if (!everywhere) {
      bucket.reduce_replicas =
          AddCollective({CollectiveKind::kAllReduce, Group::kReplica,
                         CeilDivide(gradients, plan.shard_ranks)},
                        graph);
    }
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
  // Of one block, counted from its first backward step.
  struct GradientStep {
    int32_t step = 0;
    int64_t parameters = 0;
  };
  absl::InlinedVector<GradientStep, 32> gradient_steps;
  int64_t parameters = 0;
  // Where the latest gradient became complete.
  int32_t last_block = 0;
  int32_t last_step = 0;
  int32_t block_index = 0;
  for (size_t r = runs.size(); r-- > 0;) {
    const auto steps = BackwardSteps(program, program.blocks[runs[r].block]);
    gradient_steps.clear();
    for (size_t s = 0; s < steps.size(); ++s) {
      if (steps[s].gradient_parameters == 0) continue;
      gradient_steps.push_back(
          {static_cast<int32_t>(s), steps[s].gradient_parameters});
    }
    for (int32_t i = 0; i < runs[r].count; ++i, ++block_index) {
      for (const GradientStep& gradient : gradient_steps) {
        parameters += gradient.parameters;
        last_block = block_index;
        last_step = gradient.step;
        if (parameters < plan.bucket_parameters) continue;
        AddBucket(plan, parameters, last_block, last_step, graph);
        parameters = 0;
      }
    }
  }
  if (parameters > 0) {
    AddBucket(plan, parameters, last_block, last_step, graph);
  }
}

}  // namespace lmsimbench::lower
