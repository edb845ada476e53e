#include "lmsimbench/staged.h"

#include <string>
#include <utility>

#include "lmsimbench/cost_models.h"
#include "lmsimbench/layout.h"
#include "lmsimbench/pipeline.h"

namespace lmsimbench {
namespace {

// What a prediction reuses of the one before it.
struct State {
  ParallelConfig config;
  Workload workload;
  Program program;
  Placement placement;
  ExecutionGraph graph;
  CostedGraph costed;
};

constexpr char kBalancedStages[] =
    "layers do not divide by the stages: embedding and output layer are taken "
    "for layers, and the earlier stages take more";
// One 200 Gb/s port a device: what most platforms that state theirs have.
constexpr double kUnstatedBandwidth = 25e9;
constexpr char kBandwidth[] =
    "a level of the network whose bandwidth is not stated has 25 GB/s a device";
// The median of the 30 platforms of the bundle that state both, PCIe apart, is
// 0.12.
constexpr double kUnstatedNodeShare = 1.0 / 8;
constexpr char kNodeBandwidth[] =
    "the links inside a node, whose bandwidth is not stated, have an eighth of "
    "the memory's";
constexpr char kFp16[] =
    "the precision is fp16: the device has no matrix engine for bf16";
constexpr char kFlash[] =
    "attention is fused (flash), as on every device with eight-bit formats";

// Layers that do not divide, where nothing says which stage takes more.
bool NeedsPlacement(const ModelSpec& model, const ParallelConfig& config) {
  return config.stage_layers.empty() &&
         config.placement == StagePlacement::kNotStated &&
         IsStated(model.layers) &&
         model.layers % (config.pp * ChunksPerRank(config)) != 0;
}

// 16 bits, of which the device has one format only.
bool NeedsFp16(const Workload& workload, const System& system) {
  return workload.precision == Precision::kNotStated &&
         !IsStated(system.accelerator.bf16_flops) &&
         IsStated(system.accelerator.fp16_flops);
}

// Devices with eight-bit formats came after fused attention; nobody trains on
// them without it, whatever the model.
bool NeedsFlash(const Workload& workload, const System& system) {
  return workload.attention_impl == AttentionImpl::kNotStated &&
         workload.flash_attention == YesNo::kNotStated &&
         !IsYes(workload.model.gated_mlp) &&
         IsStated(system.accelerator.fp8_flops);
}

// What is taken for bandwidths that are not stated, in words.
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

class Staged final : public Simulator {
 public:
  Staged(std::string name, std::shared_ptr<const CostModel> model,
         const StagedOptions& options)
      : Simulator(std::move(name)),
        model_(std::move(model)),
        options_(options) {}

 private:
  absl::Status DoPredict(const Workload& workload, const System& system,
                         const ParallelConfig& config, Workspace& workspace,
                         Prediction& prediction) const override {
    State& state = workspace.Get<State>();
    const ParallelConfig* asked = &config;
    const Workload* work = &workload;
    const bool balanced = NeedsPlacement(workload.model, config);
    if (balanced) {
      state.config = config;
      state.config.placement = StagePlacement::kBalanced;
      asked = &state.config;
    }
    const bool fp16 = NeedsFp16(workload, system);
    const bool flash = NeedsFlash(workload, system);
    if (fp16 || flash) {
      state.workload = workload;
      if (fp16) state.workload.precision = Precision::kFp16;
      if (flash) state.workload.attention_impl = AttentionImpl::kFlash;
      work = &state.workload;
    }
    absl::Status status = CompileInto(*work, *asked, state.program);
    if (!status.ok()) return status;
    state.program.framework_bytes = options_.framework_bytes;
    status = PlaceInto(*asked, system, state.placement);
    if (!status.ok()) return status;
    status = LowerInto(state.program, state.placement, *asked, state.graph);
    if (!status.ok()) return status;
    status = CostGraphInto(state.graph, *model_, state.costed);
    if (!status.ok()) return status;
    status = AggregateInto(state.costed, system, workspace, prediction);
    if (!status.ok()) return status;

    if (balanced) prediction.adaptations.emplace_back(kBalancedStages);
    if (fp16) prediction.adaptations.emplace_back(kFp16);
    if (flash) prediction.adaptations.emplace_back(kFlash);
    if (options_.names_unstated_bandwidth) {
      AddBandwidths(system, prediction.adaptations);
    }
    for (int a = 0; a < kAssumptions; ++a) {
      const auto assumption = static_cast<Assumption>(a);
      if (!state.program.Assumes(assumption)) continue;
      prediction.adaptations.emplace_back(std::string(Name(assumption)));
    }
    return absl::OkStatus();
  }

  std::shared_ptr<const CostModel> model_;
  StagedOptions options_;
};

}  // namespace

std::unique_ptr<Simulator> MakeStaged(std::string name,
                                      std::shared_ptr<const CostModel> model,
                                      const StagedOptions& options) {
  return std::make_unique<Staged>(std::move(name), std::move(model), options);
}

absl::StatusOr<std::unique_ptr<CostModel>> MakeStagedCostModel(
    const Bundle& bundle) {
  CollectiveParameters collectives;
  collectives.unstated_bandwidth = kUnstatedBandwidth;
  collectives.unstated_node_share = kUnstatedNodeShare;
  absl::StatusOr<std::unique_ptr<CostModel>> model =
      MakeDefaultCostModel(bundle, RooflineParameters(), collectives);
  if (!model.ok()) return model.status();
  return MakeDispatchModel(std::move(*model));
}

std::vector<std::string> ChooseWhatIsOpen(const System& system,
                                          Workload& workload,
                                          ParallelConfig& config) {
  std::vector<std::string> choices;
  if (NeedsPlacement(workload.model, config)) {
    config.placement = StagePlacement::kBalanced;
    choices.emplace_back(kBalancedStages);
  }
  if (NeedsFp16(workload, system)) {
    workload.precision = Precision::kFp16;
    choices.emplace_back(kFp16);
  }
  if (NeedsFlash(workload, system)) {
    workload.attention_impl = AttentionImpl::kFlash;
    choices.emplace_back(kFlash);
  }
  AddBandwidths(system, choices);
  return choices;
}

absl::StatusOr<std::unique_ptr<Simulator>> MakeStaged(const Bundle& bundle) {
  absl::StatusOr<std::unique_ptr<CostModel>> model =
      MakeStagedCostModel(bundle);
  if (!model.ok()) return model.status();
  StagedOptions options;
  options.names_unstated_bandwidth = true;
  return MakeStaged("staged", std::move(*model), options);
}

}  // namespace lmsimbench
