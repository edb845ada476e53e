#include "lib/simulators/vtrain/kernel_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "lib/simulators/vtrain/measured_tables.h"
#include "lmsimbench/pipeline.h"

namespace lmsimbench::vtrain {
namespace {

constexpr double kNanoseconds = 1e9;

std::array<double, kEvidences>& EvidenceOf(LayerPass pass,
                                           SourcedKernels& kernels) {
  return kernels.evidence_ns[static_cast<size_t>(pass)];
}

void Clear(SourcedKernels& kernels) {
  for (auto& pass : kernels.table.passes) pass.clear();
  kernels.evidence_ns = {};
}

// Appends operators to the kernels of their layer.
class Composer {
 public:
  Composer(const Program& program, const std::vector<Cost>& costs,
           double dispatch_ns, SourcedKernels& kernels)
      : program_(program),
        costs_(costs),
        dispatch_ns_(dispatch_ns),
        kernels_(kernels) {}

  void AddBlock(const Block& block, LayerPass forward, LayerPass backward) {
    for (const Step& step : ForwardSteps(program_, block)) {
      AddStep(step, forward);
    }
    for (const Step& step : BackwardSteps(program_, block)) {
      AddStep(step, backward);
    }
  }

  void AddHead(const Block& block) {
    for (int32_t i = block.begin_step; i < block.end_step; ++i) {
      const Step& step = program_.steps[i];
      if (step.is_collective) continue;
      const Operator& op = program_.operators[step.id];
      const bool forward = op.pass == OperatorPass::kForward;
      if (op.kind == OperatorKind::kOutputLayer) {
        AddStep(step, forward ? LayerPass::kFwdLogit : LayerPass::kBwdLogit);
      } else if (op.kind == OperatorKind::kCrossEntropy && forward) {
        AddStep(step, LayerPass::kFwdLoss);
      }
    }
  }

  void Add(const Cost& cost, LayerPass pass) {
    const double duration = cost.seconds * kNanoseconds;
    const double gap = std::max(0.0, dispatch_ns_ - duration);
    auto& kernels = kernels_.table[pass];
    auto& evidence = EvidenceOf(pass, kernels_);
    // The gap behind the last kernel is not simulated.
    if (!kernels.empty()) {
      evidence[static_cast<size_t>(Evidence::kAnalytic)] +=
          kernels.back().gap_ns;
    }
    evidence[static_cast<size_t>(cost.evidence)] += duration;
    kernels.push_back({duration, gap});
  }

 private:
  void AddStep(const Step& step, LayerPass pass) {
    if (!step.is_collective) Add(costs_[step.id], pass);
  }

  const Program& program_;
  const std::vector<Cost>& costs_;
  const double dispatch_ns_;
  SourcedKernels& kernels_;
};

absl::Status CheckAnswered(const CostModel& model,
                           const std::vector<Operator>& operators,
                           const std::vector<Cost>& costs) {
  for (size_t i = 0; i < operators.size(); ++i) {
    if (costs[i].evidence != Evidence::kNotAnswered) continue;
    // Norms of all gradients are no part of vTrain's profile.
    if (operators[i].kind == OperatorKind::kGradientNorm) continue;
    return absl::UnimplementedError(
        fmt::format("cost model '{}' does not answer {}", model.name(),
                    Describe(operators[i])));
  }
  return absl::OkStatus();
}

// The update of so many parameters, of the operator that updates a stage.
Operator UpdateOf(const Operator& stage_update, int64_t parameters) {
  Operator update = stage_update;
  const double share =
      static_cast<double>(parameters) / static_cast<double>(stage_update.rows);
  update.rows = parameters;
  update.flops *= share;
  update.bytes *= share;
  return update;
}

}  // namespace

absl::Status ComposeKernels(const Workload& workload, const System& system,
                            const Config& config, const CostModel& model,
                            double dispatch_s, ComposeWorkspace& workspace,
                            SourcedKernels& kernels) {
  Clear(kernels);
  // One replica of one stage with one micro-batch has every block once.
  workspace.workload = workload;
  workspace.workload.global_batch = *config.micro_batch;
  ParallelConfig one;
  one.tp = *config.tensor_parallel;
  one.micro_batch = *config.micro_batch;
  one.recompute = Recompute::kNone;
  one.sequence_parallel = YesNo::kNo;
  one.zero = ZeroStage::kNone;
  Program& program = workspace.program;
  absl::Status status = CompileInto(workspace.workload, one, program);
  if (!status.ok()) return status;

  const Block* blocks[3] = {};
  for (const Block& block : program.blocks) {
    const auto kind = static_cast<size_t>(block.kind);
    if (kind < std::size(blocks) && blocks[kind] == nullptr) {
      blocks[kind] = &block;
    }
  }
  auto& operators = program.operators;
  const Operator stage_update = operators[program.stages[0].optimizer];
  const BlockKind updated[] = {BlockKind::kEmbedding, BlockKind::kLayers};
  const size_t first_update = operators.size();
  for (const BlockKind kind : updated) {
    operators.push_back(
        UpdateOf(stage_update, blocks[static_cast<size_t>(kind)]->parameters));
  }
  workspace.costs.resize(operators.size());
  status = model.Costs(system, operators, absl::MakeSpan(workspace.costs));
  if (status.ok()) status = CheckAnswered(model, operators, workspace.costs);
  if (!status.ok()) return status;

  Composer composer(program, workspace.costs, dispatch_s * kNanoseconds,
                    kernels);
  composer.AddBlock(*blocks[static_cast<size_t>(BlockKind::kEmbedding)],
                    LayerPass::kFwdEmbeddings, LayerPass::kBwdEmbeddings);
  composer.AddBlock(*blocks[static_cast<size_t>(BlockKind::kLayers)],
                    LayerPass::kFwdTransformer, LayerPass::kBwdTransformer);
  composer.AddHead(*blocks[static_cast<size_t>(BlockKind::kHead)]);
  composer.Add(workspace.costs[first_update], LayerPass::kWuEmbeddings);
  composer.Add(workspace.costs[first_update + 1], LayerPass::kWuTransformer);
  return absl::OkStatus();
}

absl::Status PublishedKernels(const Config& config, SourcedKernels& kernels) {
  Clear(kernels);
  // Those with four ranks were profiled once and used for both lengths.
  const int64_t length = *config.tensor_parallel == 4 ? 1024 : 2048;
  for (const PublishedLatency& published : PublishedLatencies()) {
    if (published.hidden != config.hidden ||
        published.tp != *config.tensor_parallel || *config.micro_batch != 1 ||
        config.max_length != length || config.gpu_name != "A100") {
      continue;
    }
    const struct {
      LayerPass pass;
      double microseconds;
    } latencies[] = {
        {LayerPass::kFwdTransformer, published.layer_forward},
        {LayerPass::kBwdTransformer, published.layer_backward},
        {LayerPass::kWuTransformer, published.layer_update},
        {LayerPass::kFwdEmbeddings, published.embeddings / 4},
        {LayerPass::kBwdEmbeddings, published.embeddings / 2},
        {LayerPass::kWuEmbeddings, published.embeddings_update},
        {LayerPass::kFwdLogit, published.output / 3},
        {LayerPass::kBwdLogit, published.output * 2 / 3},
    };
    for (const auto& latency : latencies) {
      kernels.table[latency.pass].push_back({latency.microseconds * 1e3, 0});
    }
    MarkMeasured(kernels);
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(fmt::format(
      "no layer latencies were published of {} with hidden size {}, tensor "
      "parallelism {}, micro-batch {} and sequences of {}",
      config.gpu_name, config.hidden, *config.tensor_parallel,
      *config.micro_batch, config.max_length));
}

void MarkMeasured(SourcedKernels& kernels) {
  kernels.evidence_ns = {};
  FoldedTable folded;
  Fold(kernels.table, folded);
  for (size_t i = 0; i < kLayerPasses; ++i) {
    kernels.evidence_ns[i][static_cast<size_t>(Evidence::kMeasured)] =
        folded.passes[i].length_ns;
  }
}

}  // namespace lmsimbench::vtrain
