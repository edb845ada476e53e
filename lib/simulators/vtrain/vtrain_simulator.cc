#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/numbers.h"
#include "lib/simulators/vtrain/folded_simulation.h"
#include "lib/simulators/vtrain/kernel_simulation.h"
#include "lib/simulators/vtrain/kernel_source.h"
#include "lib/simulators/vtrain/mapping.h"
#include "lib/simulators/vtrain/prediction.h"
#include "lib/simulators/vtrain/trace.h"
#include "lmsimbench/cost_models.h"
#include "lmsimbench/vtrain.h"

namespace lmsimbench {
namespace vtrain {
namespace {

// What takes longer than seconds to simulate.
constexpr int64_t kMostPasses = int64_t{1} << 28;

struct State {
  Config config;
  PlanOptions options;
  Plan plan;
  ComposeWorkspace compose;
  SourcedKernels kernels;
  FoldedTable folded;
  FoldedRanks ranks;
  FoldedWorkspace folded_workspace;
  KernelWorkspace kernel_workspace;
  Outputs outputs;
};

class VtrainSimulator final : public Simulator {
 public:
  VtrainSimulator(std::string name, std::shared_ptr<const CostModel> model,
                  VtrainOptions options, SourcedKernels traced)
      : Simulator(std::move(name)),
        model_(std::move(model)),
        options_(std::move(options)),
        traced_(std::move(traced)) {}

 private:
  absl::Status DoPredict(const Workload& workload, const System& system,
                         const ParallelConfig& question, Workspace& workspace,
                         Prediction& prediction) const override {
    State& s = workspace.Get<State>();
    s.options.model = model_.get();
    s.options.system = &system;
    absl::Status status =
        MapQuestion(workload, system, question, options_.repairs, s.config,
                    s.options, prediction.adaptations);
    if (!status.ok()) return status;
    Error error = Resolve(s.options.repairs, s.config);
    if (!error.ok()) return ToStatus(error);
    error = MakePlan(s.config, s.options, s.plan);
    if (!error.ok()) return ToStatus(error);
    if (s.plan.pipeline * s.plan.micro_batches > kMostPasses) {
      return absl::OutOfRangeError(
          fmt::format("{} stages with {} micro-batches: more than {} passes",
                      s.plan.pipeline, s.plan.micro_batches, kMostPasses));
    }
    status = FindKernels(workload, system, s, prediction.adaptations);
    if (!status.ok()) return status;
    const SourcedKernels& kernels =
        options_.kernels == VtrainKernels::kTrace ? traced_ : s.kernels;
    Fold(kernels.table, s.folded);
    if (s.folded.foldable) {
      FoldRanks(s.plan, s.folded, s.ranks);
      Simulate(s.plan, s.folded, s.ranks, s.folded_workspace, s.outputs);
    } else {
      SimulateKernels(s.plan, kernels.table, s.kernel_workspace, s.outputs);
    }
    FillPrediction(s.plan, kernels, s.folded, s.outputs, prediction);
    return absl::OkStatus();
  }

  absl::Status FindKernels(const Workload& workload, const System& system,
                           State& s,
                           std::vector<std::string>& adaptations) const {
    switch (options_.kernels) {
      case VtrainKernels::kCostModel:
        adaptations.push_back(fmt::format(
            "kernels composed per layer of cost model '{}', not profiled",
            model_->name()));
        return ComposeKernels(workload, system, s.config, *model_,
                              options_.dispatch_s, s.compose,
                              s.kernels);
      case VtrainKernels::kPublishedLatencies:
        adaptations.emplace_back(
            "kernels derived: layer latencies solved from published runs, "
            "without gaps");
        return PublishedKernels(s.config, s.kernels);
      case VtrainKernels::kTrace:
        adaptations.push_back(
            fmt::format("kernels profiled: {}", options_.trace.file));
        return CheckTraced(s.config);
    }
    return absl::InternalError("unknown source of kernels");
  }

  // A trace does not say how long its sequences are.
  absl::Status CheckTraced(const Config& config) const {
    const VtrainTrace& trace = options_.trace;
    if (config.hidden == trace.hidden && *config.tensor_parallel == trace.tp &&
        *config.micro_batch == trace.micro_batch) {
      return absl::OkStatus();
    }
    return absl::FailedPreconditionError(fmt::format(
        "trace {} is of hidden size {}, tensor parallelism {} and micro-batch "
        "{}; asked are {}, {} and {}",
        trace.file, trace.hidden, trace.tp, trace.micro_batch, config.hidden,
        *config.tensor_parallel, *config.micro_batch));
  }

  std::shared_ptr<const CostModel> model_;
  VtrainOptions options_;
  SourcedKernels traced_;
};

// The three numbers at the end of "trace_1024_2_4"; false if there are not.
bool ReadShape(absl::string_view name, VtrainTrace& trace) {
  int64_t* const numbers[] = {&trace.micro_batch, &trace.tp, &trace.hidden};
  for (int64_t* number : numbers) {
    const size_t line = name.find_last_of('_');
    if (line == absl::string_view::npos ||
        !absl::SimpleAtoi(name.substr(line + 1), number) || *number < 1) {
      return false;
    }
    name = name.substr(0, line);
  }
  return true;
}

// vTrain's 800 Gbit/s a node of 8, for levels that state none.
constexpr double kUnstatedBandwidth = 800.0 / 64 * 1073741824;

}  // namespace
}  // namespace vtrain

absl::StatusOr<VtrainTrace> ReadVtrainTrace(const std::string& file) {
  VtrainTrace trace;
  trace.file = file;
  if (!vtrain::ReadShape(file, trace)) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: the name of a vTrain trace ends in _hidden_tensor_microbatch, as "
        "trace_1024_2_4 does",
        file));
  }
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (!stream || !(text << stream.rdbuf())) {
    return absl::NotFoundError(fmt::format("{}: cannot be read", file));
  }
  trace.text = text.str();
  return trace;
}

absl::StatusOr<std::unique_ptr<Simulator>> MakeVtrain(
    std::string name, std::shared_ptr<const CostModel> model,
    const VtrainOptions& options) {
  vtrain::SourcedKernels traced;
  if (options.kernels == VtrainKernels::kCostModel && model == nullptr) {
    return absl::InvalidArgumentError(
        "vTrain's kernels are to be composed, but there is no cost model");
  }
  if (options.kernels == VtrainKernels::kTrace) {
    std::vector<vtrain::NamedKernels> profile;
    const vtrain::Error error =
        vtrain::ReadTrace(options.trace.file, options.trace.text, profile);
    if (!error.ok()) return vtrain::ToStatus(error);
    traced.table = vtrain::MakeKernelTable(profile);
    vtrain::MarkMeasured(traced);
  }
  VtrainOptions kept = options;
  kept.trace.text.clear();
  return std::make_unique<vtrain::VtrainSimulator>(
      std::move(name), std::move(model), std::move(kept), std::move(traced));
}

absl::StatusOr<std::unique_ptr<Simulator>> MakeVtrain(
    std::string name, const Bundle& bundle, const VtrainRepairs& repairs) {
  CollectiveParameters collectives;
  collectives.unstated_bandwidth = vtrain::kUnstatedBandwidth;
  absl::StatusOr<std::unique_ptr<CostModel>> model =
      MakeDefaultCostModel(bundle, RooflineParameters(), collectives);
  if (!model.ok()) return model.status();
  VtrainOptions options;
  options.repairs = repairs;
  return MakeVtrain(std::move(name), *std::move(model), options);
}

}  // namespace lmsimbench
