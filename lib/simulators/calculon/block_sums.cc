#include "lib/simulators/calculon/block_sums.h"

#include <algorithm>

namespace lmsimbench::calculon {
namespace {

void Add(const Cost& cost, Cost& sum) {
  sum.flops += cost.flops;
  sum.flops_time += cost.flops_time;
  sum.bytes += cost.bytes;
  sum.memory_time += cost.memory_time;
  sum.time += cost.time;
}

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

void AddBackward(const BlockLayer& entry, BlockSums& sums) {
  const Layer& layer = *entry.layer;
  if (entry.Has(kRecomputed)) {
    sums.recompute.flops += sums.forward.flops;
    sums.recompute.flops_time += sums.forward.flops_time;
    sums.recompute.bytes += sums.forward.bytes;
    sums.recompute.memory_time += sums.forward.memory_time;
    sums.recompute.time += layer.cost[kForward].time;
  }
  if (entry.communication != nullptr) {
    const Communication& comm = *entry.communication;
    if (entry.Has(kRedone)) {
      Add(comm.size[kWeightGrad], sums.redone_comm.size);
      Add(comm.time[kWeightGrad], sums.redone_comm.time);
      Add(comm.redone_exposed, sums.redone_comm.exposed);
    }
    AddCommunication(comm, kActivationGrad, sums.activation_grad_comm);
    sums.required_tensor_bandwidth = LargestRequirement(
        comm, kActivationGrad, sums.required_tensor_bandwidth);
  }
  Add(layer.cost[kActivationGrad], sums.activation_grad);
  Add(layer.cost[kWeightGrad], sums.weight_grad);
  Add(layer.cost[kOptimizer], sums.optimizer);

  if (entry.Has(kOutputNotStored)) sums.stored_space -= layer.output;
  if (entry.Has(kActivationNotStored)) sums.stored_space -= layer.activation;
  sums.weight_grad_space += layer.weight_grad;
  sums.weight_grad_space_full += layer.weight_grad_full;
  sums.activation_grad_space += layer.activation_grad;
  sums.optimizer_space += layer.optimizer;
}

}  // namespace

BlockSums SumBlock(const Block& block, const Execution& e,
                   const Geometry& geometry, double element_bytes) {
  BlockSums sums;
  double backward_useful = 0;
  for (const BlockLayer& entry : block.Layers()) {
    const Layer& layer = *entry.layer;
    Add(layer.cost[kForward], sums.forward);
    if (entry.communication != nullptr) {
      AddCommunication(*entry.communication, kForward, sums.forward_comm);
      sums.required_tensor_bandwidth = LargestRequirement(
          *entry.communication, kForward, sums.required_tensor_bandwidth);
    }
    sums.weight_space += layer.weight;
    if (!entry.Has(kReused)) sums.working_space += layer.activation;
    sums.stored_space += layer.activation;
    if (e.training) {
      AddBackward(entry, sums);
      backward_useful += layer.cost[kActivationGrad].flops +
                         layer.cost[kWeightGrad].flops +
                         layer.cost[kOptimizer].flops;
    }
  }
  sums.useful_flops = sums.forward.flops + backward_useful;

  if (e.activation_recompute == Recompute::kFull) {
    sums.stored_space = 0;
    sums.checkpoint_space = geometry.activation * element_bytes;
  }
  if (e.pipeline_par > 1) {
    const bool split = e.tensor_par_comm_type != TensorComm::kAllReduce;
    sums.forward_transfer =
        (split ? geometry.activation_shard : geometry.activation) *
        element_bytes;
    if (e.training) sums.backward_transfer = sums.forward_transfer;
  }
  return sums;
}

}  // namespace lmsimbench::calculon
