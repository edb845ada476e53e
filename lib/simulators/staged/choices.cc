#include "lib/simulators/staged/choices.h"

#include <utility>

#include "lmsimbench/cost_models.h"
#include "lmsimbench/layout.h"

namespace lmsimbench::staged {
namespace {

constexpr char kBalancedStages[] =
    "layers do not divide by the stages: embedding and output layer are taken "
    "for layers, and the earlier stages take more";
constexpr char kBandwidth[] =
    "a level of the network whose bandwidth is not stated has 25 GB/s a device";
constexpr char kNodeBandwidth[] =
    "the links inside a node, whose bandwidth is not stated, have an eighth of "
    "the memory's";
constexpr char kFp16[] =
    "the precision is fp16: the device has no matrix engine for bf16";
constexpr char kFlash[] =
    "attention is fused (flash), as on every device with eight-bit formats";
constexpr char kFourBits[] =
    "4-bit matrix multiplications have the peak of 8-bit ones, as no system "
    "states its own";

bool NeedsPlacement(const ModelSpec& model, const ParallelConfig& config) {
  return config.stage_layers.empty() &&
         config.placement == StagePlacement::kNotStated &&
         IsStated(model.layers) &&
         model.layers % (config.pp * ChunksPerRank(config)) != 0;
}

bool NeedsFp16(const Workload& workload, const System& system) {
  return workload.precision == Precision::kNotStated &&
         !IsStated(system.accelerator.bf16_flops) &&
         IsStated(system.accelerator.fp16_flops);
}

// Devices with eight-bit formats came after fused attention; nobody trains on
// them without it, whatever the model, unless the framework is known to.
bool NeedsFlash(const Workload& workload, const System& system,
                const FrameworkDefaults* defaults) {
  return workload.attention_impl == AttentionImpl::kNotStated &&
         workload.flash_attention == YesNo::kNotStated &&
         (defaults == nullptr ||
          defaults->attention == AttentionImpl::kNotStated) &&
         !IsYes(workload.model.gated_mlp) &&
         IsStated(system.accelerator.fp8_flops);
}

}  // namespace

Choices ChoicesOf(const System& system, const Workload& workload,
                  const ParallelConfig& config) {
  Choices choices;
  const FrameworkDefaults* defaults = DefaultsOf(system);
  if (defaults != nullptr && LeavesOpen(*defaults, system, workload, config)) {
    choices.defaults = defaults;
  }
  choices.balanced = NeedsPlacement(workload.model, config);
  choices.fp16 = NeedsFp16(workload, system);
  choices.flash = NeedsFlash(workload, system, defaults);
  choices.four_bits = workload.precision == Precision::kNvFp4;
  return choices;
}

void Apply(const Choices& choices, const System& system, Workload& workload,
           ParallelConfig& config) {
  if (choices.defaults != nullptr) {
    Apply(*choices.defaults, system, workload, config);
  }
  if (choices.balanced) config.placement = StagePlacement::kBalanced;
  if (choices.fp16) workload.precision = Precision::kFp16;
  if (choices.flash) workload.attention_impl = AttentionImpl::kFlash;
}

void AddWords(const Choices& choices, std::vector<std::string>& words) {
  if (choices.defaults != nullptr) words.emplace_back(choices.defaults->words);
  if (choices.balanced) words.emplace_back(kBalancedStages);
  if (choices.fp16) words.emplace_back(kFp16);
  if (choices.flash) words.emplace_back(kFlash);
  if (choices.four_bits) words.emplace_back(kFourBits);
}

void AddBandwidths(const System& system, std::vector<std::string>& words) {
  bool others = false;
  for (const NetworkLevel& level : system.network) {
    if (IsStated(level.bandwidth)) continue;
    const bool inside = &level == &system.network.front() &&
                        IsStated(system.accelerator.memory_bandwidth);
    if (inside) words.emplace_back(kNodeBandwidth);
    others = others || !inside;
  }
  if (others) words.emplace_back(kBandwidth);
}

void AddHost(const System& system, const ParallelConfig& config,
             std::vector<std::string>& words) {
  if (!IsYes(config.offload_optimizer)) return;
  std::string host = UnstatedHost(system);
  if (!host.empty()) words.push_back(std::move(host));
}

}  // namespace lmsimbench::staged
