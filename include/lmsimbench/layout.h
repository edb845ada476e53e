#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/workload.h"

/// \file
/// Where the pieces of a model come to lie: layers on stages, vocabulary on
/// tensor ranks, experts on devices.

namespace lmsimbench {

/// Vocabulary padded so that every tensor rank holds a multiple of `divisor`
/// rows: ceil(vocab / (divisor * tp)) * divisor * tp. Megatron-LM's rule; its
/// default divisor is 128. For `vocab >= 0`, `divisor >= 1`, `tp >= 1`.
int64_t PaddedVocab(int64_t vocab, int64_t divisor, int64_t tp);

/// Model chunks of a pipeline rank: 2 under a V-shaped schedule, else `vpp`
/// (not stated: 1). The second stage that a DualPipe rank holds is a copy for
/// the other direction, not a chunk of its own.
int64_t ChunksPerRank(const ParallelConfig& config);

/// Whether a schedule computes the gradients of weights in passes of their own,
/// as the zero-bubble schedules and those of DualPipe do.
bool SplitsBackward(Schedule schedule);

/// Whether chunk 0 of a rank is a stage on the way from the first rank to the
/// last and chunk 1 one on the way back, as in ZB-V and DualPipeV.
bool IsVShaped(Schedule schedule);

/// Pipeline rank that holds a second copy of the stage of this one, for
/// micro-batches from the other end, as under DualPipe; -1 where there is none.
int64_t RankOfCopy(const ParallelConfig& config, int64_t rank);

/// Pipeline rank of a model chunk, counted along the network from 0: round and
/// round, or there and back under a V-shaped schedule.
int64_t RankOfChunk(const ParallelConfig& config, int64_t chunk);

/// Layers of every model chunk along the network (`pp * ChunksPerRank` entries
/// that sum to `model.layers`): the explicit list, or what `placement` gives
/// over the chunks. An explicit list of `pp` entries divides evenly within each
/// rank. Errors as `StageLayers`.
absl::StatusOr<std::vector<int64_t>> ChunkLayers(const ModelSpec& model,
                                                 const ParallelConfig& config);

/// The same, reusing what `layers` has allocated.
absl::Status ChunkLayersInto(const ModelSpec& model,
                             const ParallelConfig& config,
                             std::vector<int64_t>& layers);

/// Layers of every pipeline rank, first to last (`pp` entries that sum to
/// `model.layers`): the explicit list, or what `placement` gives. A placement
/// that is not stated is even where the layers divide, and else
/// FAILED_PRECONDITION: which stage takes more is not known. INVALID_ARGUMENT,
/// with a nearest legal list, if the layers cannot be placed as stated.
absl::StatusOr<std::vector<int64_t>> StageLayers(const ModelSpec& model,
                                                 const ParallelConfig& config);

/// Layers of each of `parts` stages or chunks under a placement policy, for
/// `layers >= 1` and `parts >= 1`; empty for `kEven` and `kNotStated` where
/// they do not divide. With `kBalanced` the embedding counts as a layer of the
/// first part and the output layer as one of the last; what does not divide
/// goes to the earlier parts.
std::vector<int64_t> PlaceLayers(int64_t layers, int64_t parts,
                                 StagePlacement placement);

/// Tensor-parallel ranks that hold a copy of the same key and value head:
/// max(1, tp / kv_heads). Weights, activations and traffic of keys and values
/// grow by it.
int64_t KvReplication(int64_t kv_heads, int64_t tp);

/// Tensor parallelism of the experts: as stated, else that of the other layers
/// (Megatron-LM's default) where `tp * ep * pp` divides the devices, else 1.
int64_t ExpertTensorParallel(const ParallelConfig& config);

/// Ranks that hold the same experts of a stage: devices / (etp * ep * pp).
int64_t ExpertDataParallel(const ParallelConfig& config);

/// Ranks of a context-parallel group that exchange heads: all under Ulysses, a
/// part of them under the hybrid algorithm, else 1.
int64_t ContextInner(const ParallelConfig& config);

/// Micro-batches that one data-parallel replica runs in an iteration: what the
/// batch gives, else `grad_accumulation` as stated. -1 where neither is stated
/// or the batch does not divide.
int64_t MicroBatches(const Workload& workload, const ParallelConfig& config);

}  // namespace lmsimbench
