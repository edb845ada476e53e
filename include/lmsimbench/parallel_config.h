#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lmsimbench/values.h"

namespace lmsimbench {

/// What is sharded over the data-parallel group.
enum class ZeroStage : uint8_t {
  kNotStated,
  kNone,                  ///< everything replicated
  kOptimizerState,        ///< stage 1
  kGradients,             ///< stage 2: optimizer state and gradients
  kParameters,            ///< stage 3, or fully sharded data parallelism
  kDistributedOptimizer,  ///< Megatron's distributed optimizer: stage 1 with
                          ///< reduce-scatter and all-gather
};
template <>
struct EnumNames<ZeroStage> {
  static constexpr const char* kNames[] = {"not stated", "0", "1",
                                           "2",          "3", "distopt"};
};

/// True if the optimizer state is sharded over the data-parallel group.
inline bool ShardsOptimizer(ZeroStage stage) {
  return stage >= ZeroStage::kOptimizerState;
}

/// Which activations are recomputed in the backward pass.
enum class Recompute : uint8_t {
  kNotStated,
  kNone,
  kSelective,  ///< the attention core
  kFull,       ///< every layer, from its input
  kLayers,  ///< `recompute_layers` layers, chosen by `recompute_method`, from
            ///< their inputs
  kOperators,  ///< single operators, chosen by the framework
};
template <>
struct EnumNames<Recompute> {
  static constexpr const char* kNames[] = {"not stated", "none",   "selective",
                                           "full",       "layers", "operators"};
};

/// How the layers to recompute are chosen.
enum class RecomputeMethod : uint8_t {
  kNotStated,
  kUniform,  ///< all layers, in groups of `recompute_layers` that keep only the
             ///< group's input
  kBlock,    ///< the first `recompute_layers` layers of each stage
};
template <>
struct EnumNames<RecomputeMethod> {
  static constexpr const char* kNames[] = {"not stated", "uniform", "block"};
};

/// Order of forward and backward passes on a pipeline rank.
enum class Schedule : uint8_t {
  kNotStated,
  kGPipe,            ///< all forward passes, then all backward ones
  k1F1B,             ///< forward and backward in turn
  kInterleaved1F1B,  ///< the same over `vpp` chunks of a rank
  kZeroBubbleH1,     ///< weight gradients have own passes; memory of 1F1B
  kZeroBubbleH2,     ///< twice the memory, no bubble between equal passes
  kZeroBubbleV,      ///< two chunks, there and back: no bubble, memory of 1F1B
  kDualPipe,         ///< micro-batches from both ends, parameters held twice
  kDualPipeV,        ///< half of it: two chunks of a rank, there and back
};
template <>
struct EnumNames<Schedule> {
  static constexpr const char* kNames[] = {
      "not stated", "gpipe", "1f1b",     "interleaved", "zb-h1",
      "zb-h2",      "zb-v",  "dualpipe", "dualpipev"};
};

/// How a sequence divided over devices meets itself in attention.
enum class ContextAlgorithm : uint8_t {
  kNotStated,
  kRing,       ///< keys and values go round point to point
  kAllGather,  ///< keys and values are gathered
  kUlysses,    ///< all-to-all from tokens to heads and back
  kHybrid,     ///< all-to-all within, ring across
};
template <>
struct EnumNames<ContextAlgorithm> {
  static constexpr const char* kNames[] = {"not stated", "ring", "all-gather",
                                           "ulysses", "hybrid"};
};

/// How tokens reach their experts.
enum class ExpertDispatch : uint8_t {
  kNotStated,
  kAllToAll,
  kAllGather,
  kAllToAllSequence,  ///< all-to-all on activations sharded along the sequence
};
template <>
struct EnumNames<ExpertDispatch> {
  static constexpr const char* kNames[] = {"not stated", "alltoall",
                                           "allgather", "alltoall_seq"};
};

/// Which stages take more layers where they do not divide evenly.
enum class StagePlacement : uint8_t {
  kNotStated,
  kEven,            ///< the same number of layers everywhere, or illegal
  kRemainderFirst,  ///< the first stages take one more
  kRemainderLast,   ///< the last stages take one more
  kBalanced,        ///< embedding and output layer count as layers
};
template <>
struct EnumNames<StagePlacement> {
  static constexpr const char* kNames[] = {
      "not stated", "even", "remainder-first", "remainder-last", "balanced"};
};

/// One way to divide a workload over a system. A plain value; whether it is
/// legal for a workload is decided in `legality.h` alone.
struct ParallelConfig {
  /// Sizes of data, tensor, pipeline and context parallelism; their product is
  /// the number of devices.
  int64_t dp = 1;
  int64_t tp = 1;
  int64_t pp = 1;
  int64_t cp = 1;
  /// Model chunks (virtual stages) of a pipeline rank; -1: not stated.
  int64_t vpp = 1;
  /// Expert parallelism and the tensor parallelism of experts; -1: not stated.
  /// Their groups are carved from all ranks of a pipeline stage, so `etp * ep *
  /// pp` divides the number of devices.
  int64_t ep = 1;
  int64_t etp = kNoCount;
  /// Sequences of one micro-batch; -1: not stated.
  int64_t micro_batch = kNoCount;
  /// Micro-batches of one data-parallel replica in one iteration; -1: follows
  /// from the global batch.
  int64_t grad_accumulation = kNoCount;
  /// Activations between tensor-parallel regions are sharded along the
  /// sequence.
  YesNo sequence_parallel = YesNo::kNotStated;

  ZeroStage zero = ZeroStage::kNotStated;
  /// Ranks over which `zero` shards; replicated across such groups. -1: the
  /// whole data-parallel group.
  int64_t zero_group = kNoCount;

  Recompute recompute = Recompute::kNotStated;
  /// Layers of `Recompute::kLayers`.
  int64_t recompute_layers = kNoCount;
  RecomputeMethod recompute_method = RecomputeMethod::kNotStated;

  /// What selective recomputation runs again, joined by '-': "attention" (the
  /// core), "norm", "activation" (of the MLP), "mlp" (all but its last matrix
  /// multiplication). Empty: the attention core.
  std::string recompute_modules;

  Schedule schedule = Schedule::kNotStated;
  /// Micro-batches that a rank runs through one chunk before it turns to the
  /// next, under the interleaved schedule; -1: `pp`, or the next larger number
  /// that leaves no last group smaller than `pp`.
  int64_t micro_batch_group = kNoCount;
  ContextAlgorithm context_algorithm = ContextAlgorithm::kNotStated;
  /// Of hybrid context parallelism the neighbours that exchange heads; the ring
  /// goes across them. -1: the largest divisor of `cp` whose square is no more
  /// than it.
  int64_t context_inner = kNoCount;
  ExpertDispatch expert_dispatch = ExpertDispatch::kNotStated;
  /// Parallelisms from the fastest to the slowest varying rank, joined by '-';
  /// each of tp, cp, ep, dp, pp once.
  std::string rank_order = "tp-cp-ep-dp-pp";

  /// Layers of every stage, first to last; with virtual stages one entry for
  /// each of the `pp * vpp` chunks or for each of the `pp` ranks. Empty:
  /// `placement` decides.
  std::vector<int64_t> stage_layers;
  StagePlacement placement = StagePlacement::kNotStated;

  /// State kept in the host's memory.
  YesNo offload_weights = YesNo::kNotStated;
  YesNo offload_activations = YesNo::kNotStated;
  /// All state of the optimizer, which the host then updates. Goes with every
  /// `zero`: a rank copies what it updates, its shard or all. Frameworks ask
  /// for a shard (DeepSpeed stages 1 to 3, Megatron-LM its distributed
  /// optimizer).
  YesNo offload_optimizer = YesNo::kNotStated;

  /// Communication that runs beside computation.
  YesNo overlap_grad_reduce = YesNo::kNotStated;
  YesNo overlap_param_gather = YesNo::kNotStated;
  YesNo overlap_p2p = YesNo::kNotStated;
  YesNo overlap_tensor = YesNo::kNotStated;
  YesNo overlap_expert = YesNo::kNotStated;

  template <typename Visit, typename... Self>
  static void VisitFields(Visit&& visit, Self&... self) {
    visit("dp", self.dp...);
    visit("tp", self.tp...);
    visit("pp", self.pp...);
    visit("cp", self.cp...);
    visit("vpp", self.vpp...);
    visit("ep", self.ep...);
    visit("etp", self.etp...);
    visit("micro_batch", self.micro_batch...);
    visit("grad_accumulation", self.grad_accumulation...);
    visit("sequence_parallel", self.sequence_parallel...);
    visit("zero", self.zero...);
    visit("zero_group", self.zero_group...);
    visit("recompute", self.recompute...);
    visit("recompute_layers", self.recompute_layers...);
    visit("recompute_method", self.recompute_method...);
    visit("recompute_modules", self.recompute_modules...);
    visit("schedule", self.schedule...);
    visit("micro_batch_group", self.micro_batch_group...);
    visit("context_algorithm", self.context_algorithm...);
    visit("context_inner", self.context_inner...);
    visit("expert_dispatch", self.expert_dispatch...);
    visit("rank_order", self.rank_order...);
    visit("stage_layers", self.stage_layers...);
    visit("placement", self.placement...);
    visit("offload_weights", self.offload_weights...);
    visit("offload_activations", self.offload_activations...);
    visit("offload_optimizer", self.offload_optimizer...);
    visit("overlap_grad_reduce", self.overlap_grad_reduce...);
    visit("overlap_param_gather", self.overlap_param_gather...);
    visit("overlap_p2p", self.overlap_p2p...);
    visit("overlap_tensor", self.overlap_tensor...);
    visit("overlap_expert", self.overlap_expert...);
  }

  friend bool operator==(const ParallelConfig& a, const ParallelConfig& b) {
    return SameFields(a, b);
  }
  friend bool operator!=(const ParallelConfig& a, const ParallelConfig& b) {
    return !SameFields(a, b);
  }
  template <typename H>
  friend H AbslHashValue(H state, const ParallelConfig& config) {
    return HashFields(std::move(state), config);
  }
};

/// Devices that the configuration occupies: `dp * tp * pp * cp`.
inline int64_t Devices(const ParallelConfig& config) {
  return config.dp * config.tp * config.pp * config.cp;
}

}  // namespace lmsimbench
