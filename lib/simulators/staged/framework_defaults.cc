#include "lib/simulators/staged/framework_defaults.h"

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace lmsimbench::staged {
namespace {

constexpr YesNo kYes = YesNo::kYes;
constexpr YesNo kNo = YesNo::kNo;
constexpr YesNo kOpen = YesNo::kNotStated;

// Megatron-Bridge and NeMo: what their performance guides name as on by
// default. nanotron: reduce-scatter mode of tensor parallelism, no overlap.
// torchtitan: tensor parallelism is applied with sequence parallelism.
// Megatron-DeepSpeed came before fused attention, and its fork for Sailor keeps
// that. MindSpeed and MindFormers: fused attention on.
constexpr FrameworkDefaults kDefaults[] = {
    {"nemo", kYes, ZeroStage::kDistributedOptimizer, kYes, kYes, kYes,
     AttentionImpl::kFlash, false, false,
     "what is not stated is as NeMo has it by default: sequence parallelism "
     "beside tensor parallelism, the distributed optimizer, communication of "
     "gradients, parameters and stages beside computation, fused attention"},
    {"nemo mlperf", kYes, ZeroStage::kDistributedOptimizer, kYes, kYes, kYes,
     AttentionImpl::kFlash, true, true,
     "what is not stated is as submissions to MLPerf with NeMo have it: "
     "sequence parallelism beside tensor parallelism, the distributed "
     "optimizer, communication of gradients, parameters and stages beside "
     "computation, fused attention, fp8, chunks of one layer"},
    {"megatron-bridge", kYes, ZeroStage::kDistributedOptimizer, kYes, kYes,
     kYes, AttentionImpl::kFlash, false, false,
     "what is not stated is as Megatron-Bridge has it by default: sequence "
     "parallelism beside tensor parallelism, the distributed optimizer, "
     "communication of gradients, parameters and stages beside computation, "
     "fused attention"},
    {"megatron-core", kYes, ZeroStage::kNotStated, kOpen, kOpen, kOpen,
     AttentionImpl::kFlash, false, false,
     "what is not stated is as Megatron-Core is run: sequence parallelism "
     "beside tensor parallelism, fused attention"},
    {"nanotron", kYes, ZeroStage::kNotStated, kNo, kNo, kNo,
     AttentionImpl::kFlash, false, false,
     "what is not stated is as nanotron has it by default: sequence "
     "parallelism beside tensor parallelism, no communication beside "
     "computation, fused attention"},
    {"torchtitan", kYes, ZeroStage::kNotStated, kYes, kYes, kOpen,
     AttentionImpl::kFlash, false, false,
     "what is not stated is as torchtitan has it by default: sequence "
     "parallelism beside tensor parallelism, communication of gradients and "
     "parameters beside computation, fused attention"},
    {"megatron-deepspeed", kNo, ZeroStage::kNotStated, kNo, kNo, kOpen,
     AttentionImpl::kNotStated, false, false,
     "what is not stated is as Megatron-DeepSpeed has it by default: no "
     "sequence parallelism, no communication of gradients or parameters "
     "beside computation"},
    {"megatron-deepspeed (sailor", kNo, ZeroStage::kNotStated, kNo, kNo, kOpen,
     AttentionImpl::kUnfused, false, false,
     "what is not stated is as the fork of Megatron-DeepSpeed has it by "
     "default: no sequence parallelism, no communication of gradients or "
     "parameters beside computation, attention that is not fused"},
    {"mindspeed", kOpen, ZeroStage::kNotStated, kOpen, kOpen, kOpen,
     AttentionImpl::kFlash, false, false,
     "what is not stated is as MindSpeed is run: fused attention"},
    {"mindformers", kOpen, ZeroStage::kNotStated, kOpen, kOpen, kOpen,
     AttentionImpl::kFlash, false, false,
     "what is not stated is as MindFormers is run: fused attention"},
};

template <typename T>
bool IsOpen(T stated, T by_default) {
  return stated == T::kNotStated && by_default != T::kNotStated;
}

template <typename T>
void Fill(T by_default, T& value) {
  if (IsOpen(value, by_default)) value = by_default;
}

bool LeavesAttentionOpen(const Workload& workload) {
  return workload.attention_impl == AttentionImpl::kNotStated &&
         workload.flash_attention == YesNo::kNotStated;
}

bool LeavesPrecisionOpen(const FrameworkDefaults& defaults,
                         const System& system, const Workload& workload) {
  return defaults.fp8 && workload.precision == Precision::kNotStated &&
         IsStated(system.accelerator.fp8_flops);
}

bool LeavesChunksOpen(const FrameworkDefaults& defaults,
                      const Workload& workload, const ParallelConfig& config) {
  const int64_t layers = workload.model.layers;
  return defaults.chunks_of_one_layer && !IsStated(config.vpp) &&
         config.pp > 1 && IsStated(layers) && layers % config.pp == 0 &&
         config.schedule == Schedule::kNotStated;
}

}  // namespace

const FrameworkDefaults* DefaultsOf(const System& system) {
  const FrameworkDefaults* best = nullptr;
  size_t longest = 0;
  for (const FrameworkDefaults& defaults : kDefaults) {
    const absl::string_view begins = defaults.begins;
    if (begins.size() <= longest ||
        !absl::StartsWithIgnoreCase(system.framework, begins)) {
      continue;
    }
    best = &defaults;
    longest = begins.size();
  }
  return best;
}

bool LeavesOpen(const FrameworkDefaults& defaults, const System& system,
                const Workload& workload, const ParallelConfig& config) {
  return LeavesPrecisionOpen(defaults, system, workload) ||
         LeavesChunksOpen(defaults, workload, config) ||
         (config.tp > 1 &&
          IsOpen(config.sequence_parallel, defaults.sequence_parallel)) ||
         IsOpen(config.zero, defaults.zero) ||
         IsOpen(config.overlap_grad_reduce, defaults.overlap_grad_reduce) ||
         IsOpen(config.overlap_param_gather, defaults.overlap_param_gather) ||
         (config.pp > 1 && config.vpp > 1 &&
          IsOpen(config.overlap_p2p, defaults.overlap_p2p)) ||
         (LeavesAttentionOpen(workload) &&
          defaults.attention != AttentionImpl::kNotStated);
}

void Apply(const FrameworkDefaults& defaults, const System& system,
           Workload& workload, ParallelConfig& config) {
  if (LeavesPrecisionOpen(defaults, system, workload)) {
    workload.precision = Precision::kFp8;
  }
  if (LeavesChunksOpen(defaults, workload, config)) {
    config.vpp = workload.model.layers / config.pp;
  }
  if (config.tp > 1) Fill(defaults.sequence_parallel, config.sequence_parallel);
  Fill(defaults.zero, config.zero);
  Fill(defaults.overlap_grad_reduce, config.overlap_grad_reduce);
  Fill(defaults.overlap_param_gather, config.overlap_param_gather);
  if (config.pp > 1 && config.vpp > 1) {
    Fill(defaults.overlap_p2p, config.overlap_p2p);
  }
  if (LeavesAttentionOpen(workload)) {
    Fill(defaults.attention, workload.attention_impl);
  }
}

}  // namespace lmsimbench::staged
