#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "lmsimbench/operator.h"
#include "lmsimbench/values.h"

/// \file
/// What `Compile` makes: the sharded work of one micro-batch.
///
/// A program is flat: every list stands in one vector of `Program`, and what
/// holds a part of it names a range. Copying one is copying a few arrays.

namespace lmsimbench {

/// What a tensor is, for the account of memory.
enum class TensorKind : uint8_t {
  kActivation,  ///< kept from one pass to a later one
  kTemporary,   ///< lives within one pass
  kBuffer,      ///< gathered or received: holds what communication brings
  kLogits,      ///< output of the output layer, and its gradient
};
template <>
struct EnumNames<TensorKind> {
  static constexpr const char* kNames[] = {"activation", "temporary", "buffer",
                                           "logits"};
};
inline constexpr int kTensorKinds = 4;

/// A tensor with its lifetime. Steps are those of its block: `first_step`
/// makes it, `last_step` is the last to read it. It lies in memory from the
/// start of the one to the end of the other.
struct Tensor {
  /// "query", "mlp input"…: a literal.
  const char* name = "";
  TensorKind kind = TensorKind::kTemporary;
  int64_t bytes = 0;
  int32_t first_step = 0;
  int32_t last_step = 0;
};

/// One operator or collective at its place in a block.
///
/// A computation runs on the compute stream, a collective (of tensor, context
/// or expert parallelism) on the tensor stream; each stream runs its steps in
/// order. A collective starts when the computations before it have ended, a
/// computation that `joins` when the collectives before it have ended too. What
/// a block has issued is joined when it ends.
struct Step {
  /// Index into `Program::operators` or `Program::collectives`.
  int32_t id = 0;
  bool is_collective = false;
  /// Of a computation: waits for every collective issued before it.
  bool joins = false;
  /// Runs a second time, in the backward pass, to have its outputs again.
  bool recomputed = false;
  /// Those below are of routed experts.
  bool of_experts = false;
  /// Parameters whose gradients are complete when this step ends.
  int64_t gradient_parameters = 0;
  /// Memory taken when the step starts and given back when it ends.
  int64_t allocated_bytes = 0;
  int64_t freed_bytes = 0;
};

/// What a block is.
enum class BlockKind : uint8_t {
  kEmbedding,
  kLayers,      ///< one layer, or several that are recomputed from one input
  kHead,        ///< final norm, output layer and loss
  kMultiToken,  ///< a multi-token prediction layer with its own head
};
template <>
struct EnumNames<BlockKind> {
  static constexpr const char* kNames[] = {"embedding", "layers", "head",
                                           "multi-token"};
};

/// A piece of the network that repeats: its forward steps, its backward steps
/// and, where the program splits its backward passes, its weight steps, which
/// compute the gradients of the weights of its linear layers. Steps are
/// numbered through all of them, so a lifetime may reach from one to the other.
struct Block {
  BlockKind kind = BlockKind::kLayers;
  /// Transformer layers in it.
  int32_t layers = 0;
  /// Ranges of `Program::steps`: forward [begin, backward), backward
  /// [backward, weight), weight gradients [weight, end).
  int32_t begin_step = 0;
  int32_t backward_step = 0;
  int32_t weight_step = 0;
  int32_t end_step = 0;
  /// Range of `Program::tensors`.
  int32_t begin_tensor = 0;
  int32_t end_tensor = 0;
  /// Parameters that one tensor-parallel rank holds.
  int64_t parameters = 0;
  /// Of those, the ones that every tensor-parallel rank holds whole (norms,
  /// biases behind a reduction).
  int64_t replicated_parameters = 0;
  /// Of those, the ones of routed experts, which are divided as experts are.
  int64_t expert_parameters = 0;
  /// Kept between the passes for one micro-batch.
  int64_t stored_bytes = 0;
};

/// The same block several times in a row.
struct BlockRun {
  int32_t block = 0;
  int32_t count = 0;
};

/// A model chunk: its blocks in forward order. Chunks of a program are
/// distinct: `Program::chunk_kind` says which one stands where.
struct Chunk {
  /// Range of `Program::runs`.
  int32_t begin_run = 0;
  int32_t end_run = 0;
  int64_t layers = 0;
  int64_t parameters = 0;
  int64_t replicated_parameters = 0;
  int64_t expert_parameters = 0;
  /// Of one micro-batch, kept between the passes.
  int64_t stored_bytes = 0;
};

/// Bytes that one parameter needs, by what it needs them for, before sharding.
enum class StateTable : uint8_t {
  kMegatronBf16,  ///< 18: weights 2, gradients 4, optimizer 12
  kMegatronFp16,  ///< 20: weights 2, gradients 2, optimizer 16
  kMegatronFp32,  ///< 16: weights 4, gradients 4, optimizer 8
  kZero,          ///< 16: weights 2, gradients 2, optimizer 12
  kStated,        ///< the gradient precision was stated
  kFullySharded,  ///< 16: weights 4, gradients 4, optimizer 8; sharded, and
                  ///< weights are gathered in the format in which they are used
};
template <>
struct EnumNames<StateTable> {
  static constexpr const char* kNames[] = {
      "Megatron bf16: 2 + 4 + 12 bytes a parameter",
      "Megatron fp16: 2 + 2 + 16 bytes a parameter",
      "Megatron fp32: 4 + 4 + 8 bytes a parameter",
      "ZeRO: 2 + 2 + 12 bytes a parameter",
      "as the gradient precision is stated",
      "FSDP: 4 + 4 + 8 bytes a parameter"};
};

/// What a pipeline rank holds and does once an iteration.
struct Stage {
  int64_t layers = 0;
  /// Parameters of one tensor-parallel rank.
  int64_t parameters = 0;
  int64_t replicated_parameters = 0;
  int64_t expert_parameters = 0;
  /// Of one device, sharded as the configuration says.
  int64_t weights_bytes = 0;
  int64_t gradients_bytes = 0;
  int64_t optimizer_bytes = 0;
  /// Indices into `Program::operators`. The optimizer runs on the host where
  /// its state lies there: `Computation::kHost`.
  int32_t gradient_norm = 0;
  int32_t optimizer = 0;
  /// Where it does, copies of the gradients to the host, in front of the
  /// optimizer, and of the updated weights to the device, behind it; else -1.
  int32_t gradients_to_host = -1;
  int32_t weights_to_device = -1;
  /// State of the optimizer that lies in the memory of the host for this
  /// device: a 32-bit copy of the weights, and moments.
  int64_t host_bytes = 0;
};

/// A choice that the workload or the configuration leaves open, and that
/// `Compile` made.
enum class Assumption : uint8_t {
  kFlashAttention,
  kUnfusedAttention,
  kNoDropout,
  kDropout,
  kNoSequenceParallel,
  kNoRecompute,
  kPrecisionBf16,
  kPlainLoss,
  kPaddedVocab,
  kUntiedEmbeddings,
  kLayerNorm,
  kNoPositionTable,
  kMegatronStates,
  kAdam,
  kRmsNorm,
  kRotary,
  kNoBias,
  kWholeSequence,
  kSequenceParallelExperts,
  kGroupedExperts,
  kAllToAllDispatch,
  kBalancedExperts,
  kRingContext,
  kLatentWidths,
  kDenseWidth,
  kUnitsAhead,
};
template <>
struct EnumNames<Assumption> {
  static constexpr const char* kNames[] = {
      "attention is fused (flash), as models with a gated MLP are trained",
      "attention is not fused, as models without a gated MLP were trained",
      "there is no dropout, as with fused attention",
      "there is dropout, as with attention that is not fused",
      "there is no sequence parallelism",
      "nothing is recomputed",
      "the precision is bf16",
      "logits are stored in 32 bits",
      "the vocabulary is padded to a multiple of 128 a tensor-parallel rank",
      "embedding and output layer are two matrices",
      "norms have weight and bias, as in models without a gated MLP",
      "positions have no table",
      "nothing is sharded over data parallelism",
      "the optimizer is Adam",
      "norms have a weight alone, as in models with a gated MLP",
      "queries and keys are rotated, as in models with a gated MLP",
      "linear layers have no bias",
      "attention reaches over the documents of a packed sequence",
      "there is sequence parallelism, which experts beside tensor parallelism "
      "need",
      "experts of a device are one grouped matrix multiplication",
      "tokens reach their experts by all-to-all",
      "experts have equally many tokens, and none is dropped",
      "keys and values go round a ring of the context-parallel ranks",
      "latent attention has the widths of DeepSeek-V3 where they are not "
      "stated (ranks 1536 and 512, heads of 128 + 64 and 128)",
      "layers without experts are as wide as the experts of a token together",
      "parameters are gathered one unit ahead, and gradients are reduced "
      "beside "
      "the backward pass, as FSDP does"};
};
inline constexpr int kAssumptions = 26;

/// The work of one micro-batch in every model chunk, sharded, with what a
/// pipeline rank does once an iteration. A plain value.
struct Program {
  std::vector<Operator> operators;
  std::vector<Collective> collectives;
  std::vector<Step> steps;
  std::vector<Tensor> tensors;
  std::vector<Block> blocks;
  std::vector<BlockRun> runs;
  std::vector<Chunk> chunks;
  /// Index into `chunks` for each of the `pp * vpp` chunks along the network.
  std::vector<int32_t> chunk_kind;
  /// Layers of each of them.
  std::vector<int64_t> chunk_layers;
  /// One for each pipeline rank.
  std::vector<Stage> stages;

  int64_t micro_batches = 0;
  /// Activation that one chunk hands to the next for one micro-batch, on one
  /// device; its gradient has the same size.
  int64_t transfer_bytes = 0;
  /// Bytes of one weight as it is used, and of one gradient as it is reduced.
  int64_t weight_bytes = 0;
  int64_t gradient_bytes = 0;
  /// Activations between tensor-parallel regions are sharded, so gradients of
  /// replicated parameters are partial sums.
  bool sequence_parallel = false;
  /// Gradients of the weights of linear layers are computed in a pass of their
  /// own, at some time behind the backward pass; else blocks have no weight
  /// steps, and backward passes compute all gradients.
  bool splits_backward = false;
  /// Parameters of the embedding that the first and the last stage both hold;
  /// 0 where they share none.
  int64_t shared_embedding_parameters = 0;
  /// Parameters of the embedding block that the head of the same stage uses,
  /// too; 0 where it uses none.
  int64_t tied_parameters = 0;
  /// What framework and driver keep on every device, whatever the model.
  /// `Compile` leaves it 0: it is known of a framework, not of a workload.
  int64_t framework_bytes = 0;
  StateTable state_table = StateTable::kMegatronBf16;
  /// Bit `1 << a` for every `Assumption` a that was made.
  uint32_t assumptions = 0;

  bool Assumes(Assumption assumption) const {
    return (assumptions >> static_cast<int>(assumption)) & 1;
  }
};

/// \{ The steps of a block in one direction, in the order in which they run.
/// Those of the backward pass are the ones in front of the weight steps.
inline absl::Span<const Step> ForwardSteps(const Program& program,
                                           const Block& block) {
  return absl::MakeConstSpan(program.steps)
      .subspan(block.begin_step, block.backward_step - block.begin_step);
}
inline absl::Span<const Step> BackwardSteps(const Program& program,
                                            const Block& block) {
  return absl::MakeConstSpan(program.steps)
      .subspan(block.backward_step, block.weight_step - block.backward_step);
}
inline absl::Span<const Step> WeightSteps(const Program& program,
                                          const Block& block) {
  return absl::MakeConstSpan(program.steps)
      .subspan(block.weight_step, block.end_step - block.weight_step);
}
/// \}

/// The runs of a chunk in forward order. A backward or a weight pass goes
/// through them, and through the repetitions of each, from the last to the
/// first.
inline absl::Span<const BlockRun> Runs(const Program& program,
                                       const Chunk& chunk) {
  return absl::MakeConstSpan(program.runs)
      .subspan(chunk.begin_run, chunk.end_run - chunk.begin_run);
}

/// The program as text: operators with shapes, operations and bytes, blocks
/// with their steps and tensors, chunks and stages.
std::string ToText(const Program& program);
/// The same as JSON.
std::string ToJson(const Program& program);

}  // namespace lmsimbench
