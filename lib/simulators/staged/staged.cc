#include "lmsimbench/staged.h"

#include <string>
#include <utility>

#include "lib/simulators/staged/choices.h"
#include "lmsimbench/cost_models.h"
#include "lmsimbench/framework.h"
#include "lmsimbench/pipeline.h"

namespace lmsimbench {
namespace {

// What a prediction reuses of the one before it.
struct State {
  System system;
  ParallelConfig config;
  Workload workload;
  Program program;
  Placement placement;
  ExecutionGraph graph;
  CostedGraph costed;
};

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
    const staged::Choices choices = staged::ChoicesOf(system, workload, config);
    if (choices.any()) {
      state.config = config;
      state.workload = workload;
      staged::Apply(choices, system, state.workload, state.config);
      asked = &state.config;
      work = &state.workload;
    }
    absl::Status status = CompileInto(*work, *asked, state.program);
    if (!status.ok()) return status;
    const FrameworkParameters* framework =
        FindFramework(options_.fitted_frameworks, system);
    if (framework == nullptr) framework = &options_.framework;
    KeepInside(*framework, state.program);
    status = PlaceInto(*asked, system, state.placement);
    if (!status.ok()) return status;
    status = LowerInto(state.program, state.placement, *asked, state.graph);
    if (!status.ok()) return status;
    status = CostGraphInto(state.graph, *model_, state.costed);
    if (!status.ok()) return status;
    const System* judged = &system;
    if (framework->usable_memory < 1) {
      state.system = system;
      state.system.accelerator.memory_bytes *= framework->usable_memory;
      judged = &state.system;
    }
    status = AggregateInto(state.costed, *judged, workspace, prediction);
    if (!status.ok()) return status;

    staged::AddWords(choices, prediction.adaptations);
    if (options_.names_unstated_bandwidth) {
      staged::AddBandwidths(system, prediction.adaptations);
      staged::AddHost(system, *asked, prediction.adaptations);
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

CollectiveParameters Collectives() {
  CollectiveParameters collectives;
  collectives.unstated_bandwidth = staged::kUnstatedBandwidth;
  collectives.unstated_node_share = staged::kUnstatedNodeShare;
  return collectives;
}

RooflineParameters Kernels() {
  RooflineParameters kernels;
  kernels.assumes_host = true;
  return kernels;
}

}  // namespace

std::unique_ptr<Simulator> MakeStaged(std::string name,
                                      std::shared_ptr<const CostModel> model,
                                      const StagedOptions& options) {
  return std::make_unique<Staged>(std::move(name), std::move(model), options);
}

absl::StatusOr<std::unique_ptr<CostModel>> MakeStagedKernelModel(
    const Bundle& bundle) {
  return MakeDefaultCostModel(bundle, Kernels(), Collectives());
}

std::unique_ptr<CostModel> MakeDatasheetModel() {
  std::vector<std::unique_ptr<CostModel>> parts;
  parts.push_back(MakeRooflineModel(Kernels()));
  parts.push_back(MakeCollectiveModel(Collectives()));
  return MakeCompositeModel("datasheet", std::move(parts));
}

absl::StatusOr<std::unique_ptr<CostModel>> MakeStagedCostModel(
    const Bundle& bundle) {
  absl::StatusOr<std::unique_ptr<CostModel>> model =
      MakeStagedKernelModel(bundle);
  if (!model.ok()) return model.status();
  return MakeFrameworkModel(std::move(*model), FrameworkParameters(),
                            FittedFrameworks());
}

std::vector<std::string> ChooseWhatIsOpen(const System& system,
                                          Workload& workload,
                                          ParallelConfig& config) {
  const staged::Choices choices = staged::ChoicesOf(system, workload, config);
  staged::Apply(choices, system, workload, config);
  std::vector<std::string> words;
  staged::AddWords(choices, words);
  staged::AddBandwidths(system, words);
  staged::AddHost(system, config, words);
  return words;
}

absl::StatusOr<std::unique_ptr<Simulator>> MakeStaged(const Bundle& bundle,
                                                      StagedLevel level) {
  StagedOptions options;
  options.names_unstated_bandwidth = true;
  if (level == StagedLevel::kDatasheet) {
    return MakeStaged("staged-datasheet",
                      MakeFrameworkModel(MakeDatasheetModel()), options);
  }
  absl::StatusOr<std::unique_ptr<CostModel>> model =
      level == StagedLevel::kKernels ? MakeStagedKernelModel(bundle)
                                     : MakeStagedCostModel(bundle);
  if (!model.ok()) return model.status();
  if (level == StagedLevel::kKernels) {
    return MakeStaged("staged-kernels", MakeFrameworkModel(std::move(*model)),
                      options);
  }
  options.fitted_frameworks = FittedFrameworks();
  return MakeStaged("staged", std::move(*model), options);
}

FrameworkParameters StagedFramework(const System& system) {
  const std::vector<FittedFramework> fitted = FittedFrameworks();
  const FrameworkParameters* found = FindFramework(fitted, system);
  return found == nullptr ? FrameworkParameters() : *found;
}

}  // namespace lmsimbench
