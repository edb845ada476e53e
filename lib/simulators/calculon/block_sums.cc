#include "lib/simulators/calculon/block_sums.h"

#include <algorithm>

namespace lmsimbench::calculon {
namespace {

void Add(const std::array<double, kBlockKindCount>& values,
         std::array<double, kBlockKindCount>& sum) {
  sum[kBase] += values[kBase];
  sum[kEdge] += values[kEdge];
}

void AddCommunication(const Communication& comm, Stage stage,
                      CommunicationSums& sum) {
  Add(comm.size[stage], sum.size);
  Add(comm.time[stage], sum.time);
  Add(comm.exposed[stage], sum.exposed);
}

double LargestRequirement(const Communication& comm, Stage stage,
                          double so_far) {
  const auto& required = comm.required_bandwidth[static_cast<size_t>(stage)];
  return std::max(std::max(so_far, required[kBase]), required[kEdge]);
}

// Each of the following walks the layers for sums of its own, so that they stay
// in registers.

void SumForward(const Block& block, BlockSums& sums) {
  Cost forward;
  double working_space = 0;
  double stored_space = 0;
  for (const BlockLayer& entry : block.Layers()) {
    const Layer& layer = *entry.layer;
    forward += layer.forward;
    working_space += entry.Has(kReused) ? 0 : layer.activation;
    stored_space += layer.activation;
  }
  sums.forward = forward;
  sums.working_space = working_space;
  sums.stored_space = stored_space;
  sums.useful_flops = forward.flops;
}

void SumActivationGrad(const Block& block, BlockSums& sums) {
  Cost activation_grad;
  double space = 0;
  double stored_space = 0;
  double useful_flops = 0;
  for (const BlockLayer& entry : block.Layers()) {
    const Layer& layer = *entry.layer;
    activation_grad += layer.activation_grad;
    space += layer.activation_grad_space;
    stored_space += layer.activation;
    stored_space -= entry.Has(kOutputNotStored) ? layer.output : 0;
    stored_space -= entry.Has(kActivationNotStored) ? layer.activation : 0;
    useful_flops += layer.backward_flops;
  }
  sums.activation_grad = activation_grad;
  sums.activation_grad_space = space;
  sums.stored_space = stored_space;
  sums.useful_flops += useful_flops;
}

void SumRecompute(const Block& block, BlockSums& sums) {
  Cost forward;
  Cost recompute;
  double time = 0;
  for (const BlockLayer& entry : block.Layers()) {
    forward += entry.layer->forward;
    if (!entry.Has(kRecomputed)) continue;
    recompute += forward;
    time += entry.layer->forward.time;
  }
  sums.recompute = recompute;
  sums.recompute.time = time;
}

void SumWeights(const Block& block, BlockSums& sums) {
  Weights sum;
  for (const Weights* weights : block.LayerWeights()) {
    sum.gradient += weights->gradient;
    sum.optimizer += weights->optimizer;
    sum.weight += weights->weight;
    sum.grad += weights->grad;
    sum.grad_full += weights->grad_full;
    sum.state += weights->state;
  }
  sums.weight_space = sum.weight;
  sums.weight_grad = sum.gradient;
  sums.optimizer = sum.optimizer;
  sums.weight_grad_space = sum.grad;
  sums.weight_grad_space_full = sum.grad_full;
  sums.optimizer_space = sum.state;
}

void SumCommunication(const Block& block, bool training, BlockSums& sums) {
  CommunicationSums forward = {};
  CommunicationSums redone = {};
  CommunicationSums activation_grad = {};
  double required = 0;
  for (const BlockLayer* entry : block.Communicating()) {
    const Communication& comm = *entry->communication;
    AddCommunication(comm, kForward, forward);
    required = LargestRequirement(comm, kForward, required);
    if (!training) continue;
    if (entry->Has(kRedone)) {
      Add(comm.size[kWeightGrad], redone.size);
      Add(comm.time[kWeightGrad], redone.time);
      Add(comm.redone_exposed, redone.exposed);
    }
    AddCommunication(comm, kActivationGrad, activation_grad);
    required = LargestRequirement(comm, kActivationGrad, required);
  }
  sums.forward_comm = forward;
  sums.redone_comm = redone;
  sums.activation_grad_comm = activation_grad;
  sums.required_tensor_bandwidth = required;
}

void ClearBackward(BlockSums& sums) {
  sums.activation_grad = Cost();
  sums.weight_grad = Cost();
  sums.optimizer = Cost();
  sums.weight_grad_space = 0;
  sums.weight_grad_space_full = 0;
  sums.activation_grad_space = 0;
  sums.optimizer_space = 0;
}

}  // namespace

BlockSums SumBlock(const Block& block, const Execution& e,
                   const Geometry& geometry, double element_bytes) {
  BlockSums sums;
  SumForward(block, sums);
  SumWeights(block, sums);
  SumCommunication(block, e.training, sums);
  if (e.training) {
    SumActivationGrad(block, sums);
  } else {
    ClearBackward(sums);
  }
  const bool recomputes =
      e.activation_recompute != Recompute::kNone || e.seq_par_ag_redo;
  if (recomputes && e.training) {
    SumRecompute(block, sums);
  } else {
    sums.recompute = Cost();
  }

  const bool full = e.activation_recompute == Recompute::kFull;
  if (full) sums.stored_space = 0;
  sums.checkpoint_space = full ? geometry.activation * element_bytes : 0;
  const bool split = e.tensor_par_comm_type != TensorComm::kAllReduce;
  const double transfer =
      (split ? geometry.activation_shard : geometry.activation) * element_bytes;
  sums.forward_transfer = e.pipeline_par > 1 ? transfer : 0;
  sums.backward_transfer = e.training ? sums.forward_transfer : 0;
  return sums;
}

}  // namespace lmsimbench::calculon
