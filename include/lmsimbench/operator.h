#pragma once

#include <cstdint>

#include "lmsimbench/values.h"
#include "lmsimbench/workload.h"

namespace lmsimbench {

/// What an operator does in a transformer.
enum class OperatorKind : uint8_t {
  kNotStated,
  kEmbedding,
  kPositionEmbedding,
  kEmbeddingDropout,
  kNorm,
  kQkvProjection,  ///< queries, keys and values in one matrix multiplication
  kQkNorm,
  kRotary,
  kAttention,         ///< the fused core: scores, softmax and values at once
  kAttentionScores,   ///< unfused core: queries times keys
  kSoftmax,           ///< unfused core: scale, mask, softmax
  kAttentionDropout,  ///< unfused core: dropout of the probabilities
  kAttentionValues,   ///< unfused core: probabilities times values
  kOutputProjection,
  kResidual,  ///< bias, dropout and addition to the residual stream
  kMlpUp,     ///< for a gated MLP both inputs in one matrix multiplication
  kMlpActivation,
  kMlpDown,
  kOutputLayer,
  kCrossEntropy,
  kGradientNorm,
  kOptimizer,
  kLatentDown,  ///< latent attention: hidden channels to compressed ones
  kLatentNorm,  ///< of the compressed channels
  kLatentUp,    ///< compressed channels to heads
  kRingMerge,   ///< joins what attention gave for the keys of one ring step
  kRouter,      ///< hidden channels to a score for each expert
  kRouting,     ///< scores to the experts of each token
  kPermute,     ///< tokens in the order of their experts, and of devices
  kUnpermute,   ///< weighted sum of what a token's experts give
  kExpertUp,    ///< of all experts of the device, `batch` of them
  kExpertActivation,
  kExpertDown,
  kSharedExpertUp,
  kSharedExpertActivation,
  kSharedExpertDown,
  kMultiTokenProjection,  ///< two hidden widths to one
  kHostCopy,  ///< between the memories of the device and of its host
};
template <>
struct EnumNames<OperatorKind> {
  static constexpr const char* kNames[] = {"not stated",
                                           "embedding",
                                           "position embedding",
                                           "embedding dropout",
                                           "norm",
                                           "qkv projection",
                                           "qk norm",
                                           "rotary",
                                           "attention",
                                           "attention scores",
                                           "softmax",
                                           "attention dropout",
                                           "attention values",
                                           "output projection",
                                           "residual",
                                           "mlp up",
                                           "mlp activation",
                                           "mlp down",
                                           "output layer",
                                           "cross entropy",
                                           "gradient norm",
                                           "optimizer",
                                           "latent down",
                                           "latent norm",
                                           "latent up",
                                           "ring merge",
                                           "router",
                                           "routing",
                                           "permute",
                                           "unpermute",
                                           "expert up",
                                           "expert activation",
                                           "expert down",
                                           "shared expert up",
                                           "shared expert activation",
                                           "shared expert down",
                                           "multi-token projection",
                                           "host copy"};
};
inline constexpr int kOperatorKinds = 38;

/// The part of the iteration an operator belongs to.
enum class OperatorPass : uint8_t {
  kNotStated,
  kForward,
  kInputGradient,   ///< gradient of the activations; of an operator without
                    ///< weights the whole backward pass
  kWeightGradient,  ///< gradient of the weights of a linear layer
  kOptimizer,
};
template <>
struct EnumNames<OperatorPass> {
  static constexpr const char* kNames[] = {"not stated", "forward",
                                           "input gradient", "weight gradient",
                                           "optimizer"};
};
inline constexpr int kOperatorPasses = 5;

/// What bounds an operator and which of its figures describe its shape.
enum class Computation : uint8_t {
  kMatrixMultiplication,  ///< `batch`, `m`, `n`, `k`
  kAttention,    ///< `batch` sequences, `query_tokens`, `key_tokens`, `heads`,
                 ///< `kv_heads`, `head_dim`, `causal`, `window`
  kElementwise,  ///< `rows` of `width` elements, bounded by memory
  kHost,  ///< `rows` of `width` elements, bounded by the memory of the host
          ///< and, of a copy (`OperatorKind::kHostCopy`), by the link to it
};
template <>
struct EnumNames<Computation> {
  static constexpr const char* kNames[] = {"matrix multiplication", "attention",
                                           "elementwise", "host"};
};

/// One computation of one device. Operators of a program are distinct: equal
/// work has one operator, however often it runs.
struct Operator {
  OperatorKind kind = OperatorKind::kNotStated;
  OperatorPass pass = OperatorPass::kNotStated;
  Computation computation = Computation::kElementwise;
  /// Format of what is computed on.
  Precision precision = Precision::kNotStated;

  /// Matrix multiplication C[m, n] = A[m, k] B[k, n], `batch` of them, of
  /// experts with as many tokens as an average one has, rounded up; for
  /// attention `batch` is the number of sequences. -1 where it does not apply.
  int64_t batch = kNoCount;
  int64_t m = kNoCount;
  int64_t n = kNoCount;
  int64_t k = kNoCount;
  /// Shape of a fused attention core on this device.
  int64_t query_tokens = kNoCount;
  int64_t key_tokens = kNoCount;
  int64_t heads = kNoCount;
  int64_t kv_heads = kNoCount;
  int64_t head_dim = kNoCount;
  bool causal = false;
  /// Tokens that a query attends to at most; 0: all.
  int64_t window = 0;
  /// Elementwise work: `rows` (tokens, or parameters) of `width` elements.
  int64_t rows = kNoCount;
  int64_t width = kNoCount;

  /// Floating-point operations; multiply and add count as two. A causal mask
  /// or a window counts what lies inside only.
  double flops = 0;
  /// Bytes that device memory has to move at least: inputs and outputs, once;
  /// of work of the host those that its memory has to move.
  double bytes = 0;

  /// Width of a value head of a fused attention core, where it is not
  /// `head_dim`; else -1.
  int64_t value_head_dim = kNoCount;
};

/// Kinds of collective communication.
enum class CollectiveKind : uint8_t {
  kNotStated,
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kSendReceive,
};
template <>
struct EnumNames<CollectiveKind> {
  static constexpr const char* kNames[] = {
      "not stated", "all_reduce", "all_gather", "reduce_scatter",
      "all_to_all", "broadcast",  "send_recv"};
};
inline constexpr int kCollectiveKinds = 7;

/// The ranks that communicate.
enum class Group : uint8_t {
  kNotStated,
  kTensor,
  kData,       ///< the ranks that hold the same parameters (but for experts):
               ///< data times context parallelism
  kShard,      ///< the part of the data group that `zero` shards over
  kReplica,    ///< the ranks that hold the same shard
  kPipeline,   ///< this rank and its neighbour in the pipeline
  kEmbedding,  ///< first and last stage, where they share the embedding
  kModel,      ///< all ranks of one model replica: tensor times pipeline
  kWorld,      ///< all ranks
  kContext,    ///< the ranks that hold a part of the same sequences
  kContextInner,  ///< those of them that exchange heads
  kContextOuter,  ///< those of them that pass keys and values on
  kExpert,        ///< the ranks that hold the experts of a layer
  kExpertTensor,  ///< the ranks that share the same experts
  kExpertRegion,  ///< both: expert times expert tensor parallelism
  kExpertData,    ///< the ranks that hold the same part of the same experts
};
template <>
struct EnumNames<Group> {
  static constexpr const char* kNames[] = {
      "not stated", "tensor",        "data",          "shard",
      "replica",    "pipeline",      "embedding",     "model",
      "world",      "context",       "context inner", "context outer",
      "expert",     "expert tensor", "expert region", "expert data"};
};
inline constexpr int kGroups = 16;

/// One communication, by logical group: which devices those are is a matter of
/// the placement.
struct Collective {
  CollectiveKind kind = CollectiveKind::kNotStated;
  Group group = Group::kNotStated;
  /// Size of the whole tensor: what every rank holds before an all-reduce or a
  /// reduce-scatter and after an all-gather; what one rank sends in an
  /// all-to-all, a broadcast or a send.
  int64_t bytes = 0;

  friend bool operator==(const Collective& a, const Collective& b) {
    return a.kind == b.kind && a.group == b.group && a.bytes == b.bytes;
  }
};

}  // namespace lmsimbench
