#include "lib/simulators/calculon/layer_report.h"

#include <limits>

namespace lmsimbench::calculon {
namespace {

Cost CostOf(const Layer& layer, Stage stage) {
  switch (stage) {
    case kForward:
      return layer.forward;
    case kActivationGrad:
      return layer.activation_grad;
    case kWeightGrad:
      return layer.has_weights ? layer.weights.gradient : Cost();
    case kOptimizer:
      break;
  }
  return layer.has_weights ? layer.weights.optimizer : Cost();
}

StageReport ReportStage(const BlockLayer& entry, Stage stage) {
  const Cost cost = CostOf(*entry.layer, stage);
  StageReport report;
  report.flops = cost.flops;
  report.mem_accessed = cost.bytes;
  if (cost.flops != 0) {
    report.arithmetic_intensity = cost.bytes != 0
                                      ? cost.flops / cost.bytes
                                      : std::numeric_limits<double>::infinity();
  }
  report.processing_time = cost.time;
  const bool communicates = entry.communication != nullptr &&
                            stage != kOptimizer &&
                            (stage != kWeightGrad || entry.Has(kRedone));
  if (!communicates) return report;
  const Communication& comm = *entry.communication;
  report.comm_size = comm.size[stage];
  report.comm_time = comm.time[stage];
  report.comm_time_exposed = comm.exposed[stage];
  for (size_t kind = 0; kind < kBlockKindCount; ++kind) {
    report.comm_tile[kind] = comm.size[stage][kind] / comm.tiles;
  }
  return report;
}

}  // namespace

void ReportLayers(const Workspace& workspace,
                  std::vector<LayerReport>& layers) {
  layers.clear();
  for (const BlockLayer& entry : workspace.block.Layers()) {
    LayerReport& report = layers.emplace_back();
    report.name = entry.name;
    report.inputs_size = entry.layer->inputs;
    report.outputs_size = entry.layer->outputs;
    for (const Stage stage :
         {kForward, kActivationGrad, kWeightGrad, kOptimizer}) {
      report.stages[stage] = ReportStage(entry, stage);
    }
    report.activation = entry.layer->activation;
    report.activation_grad = entry.layer->activation_grad_space;
    if (entry.layer->has_weights) {
      const Weights& weights = entry.layer->weights;
      report.weight = weights.weight;
      report.weight_grad = weights.grad;
      report.optimizer = weights.state;
    }
  }
}

}  // namespace lmsimbench::calculon
