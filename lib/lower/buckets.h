#pragma once

#include <cstdint>

#include "lmsimbench/execution_graph.h"

namespace lmsimbench::lower {

/// How gradients and parameters travel between data-parallel ranks.
struct BucketPlan {
  /// Parameters that close a bucket.
  int64_t bucket_parameters = 0;
  /// Ranks that hold the same parameters, and ranks that share one copy of the
  /// sharded state.
  int64_t ranks = 1;
  int64_t shard_ranks = 1;
  /// Ranks that hold the same part of the same experts; all of them share one
  /// copy of sharded state.
  int64_t expert_ranks = 1;
  /// The optimizer updates a shard, so gradients are scattered and parameters
  /// gathered; else gradients are reduced everywhere.
  bool sharded = false;
  /// Some rank shares something, and the parameters themselves are not sharded:
  /// those have units.
  bool has_buckets = false;
};

/// Appends the buckets of a chunk, in the order of its backward pass, and adds
/// the collectives that they need to the graph. Gradients of experts, which
/// other ranks hold too, have buckets of their own.
void AppendBuckets(const BucketPlan& plan, const Chunk& chunk,
                   ExecutionGraph& graph);

/// Index of a collective in the graph, which gets it if it is new; -1 for
/// nothing to communicate.
int32_t AddCollective(const Collective& collective, ExecutionGraph& graph);

}  // namespace lmsimbench::lower
