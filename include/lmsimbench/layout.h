#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/workload.h"

/// \file
/// Where the pieces of a model come to lie: layers on stages, vocabulary on
/// tensor ranks, experts on devices.

namespace lmsimbench {

/// Vocabulary padded so that every tensor rank holds a multiple of `divisor`
/// rows: ceil(vocab / (divisor * tp)) * divisor * tp. Megatron-LM's rule; its
/// default divisor is 128.
int64_t PaddedVocab(int64_t vocab, int64_t divisor, int64_t tp);

/// Layers of every pipeline rank, first to last (`pp` entries that sum to
/// `model.layers`): the explicit list, or what `placement` gives (not stated:
/// even where it divides, else refused). INVALID_ARGUMENT, with a nearest legal
/// list, if the layers cannot be placed.
absl::StatusOr<std::vector<int64_t>> StageLayers(const ModelSpec& model,
                                                 const ParallelConfig& config);

/// Layers of each pipeline rank under a placement policy, for `layers >= 1` and
/// `pp >= 1`; empty for `kEven` where they do not divide. With `kBalanced` the
/// embedding and the output layer count as one layer each.
std::vector<int64_t> PlaceLayers(int64_t layers, int64_t pp,
                                 StagePlacement placement);

/// Tensor-parallel ranks that hold a copy of the same key and value head:
/// max(1, tp / kv_heads).
int64_t KvReplication(int64_t kv_heads, int64_t tp);

/// Tensor parallelism of the experts: as stated, else that of the other layers
/// where it fits (Megatron-LM's default).
int64_t ExpertTensorParallel(const ParallelConfig& config);

/// Ranks that hold the same experts of a stage: devices / (etp * ep * pp).
int64_t ExpertDataParallel(const ParallelConfig& config);

/// Micro-batches that one data-parallel replica runs in an iteration; -1 where
/// batch or micro-batch is not stated.
int64_t MicroBatches(const Workload& workload, const ParallelConfig& config);

}  // namespace lmsimbench
