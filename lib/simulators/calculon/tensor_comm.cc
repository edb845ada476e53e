#include "lib/simulators/calculon/tensor_comm.h"

#include "lib/simulators/calculon/network.h"

namespace lmsimbench::calculon {
namespace {

constexpr std::array<BlockKind, kBlockKindCount> kBothKinds = {kBase, kEdge};

// Time of a tiled product and of the part of its communication that is not
// hidden.
struct Overlapped {
  double time;
  double exposed;
};

Overlapped Overlap(const Pricing& pricing, const TensorGroup& group,
                   const Cost& cost, double network_time) {
  const double compute = cost.time;
  if (network_time == 0) return {compute, 0};
  // While it communicates, the processor computes more slowly.
  const double usage = group.network->processor_usage;
  const double slowed_flops = cost.flops_time / (1 - usage);
  const double slowed_compute =
      Combine(pricing, slowed_flops, cost.memory_time);
  const double tiles = group.peers;
  const double network_tile = network_time / tiles;
  const double compute_tile = compute / tiles;
  const double slowed_compute_tile = slowed_compute / tiles;
  const double excess = network_tile - slowed_flops / tiles;
  Overlapped result;
  if (excess > 0) {
    result.time = compute_tile + (tiles - 1) * slowed_compute_tile;
    result.exposed = (tiles - 1) * excess;
  } else {
    result.time = compute_tile + (tiles - 1) * compute_tile +
                  (tiles - 1) * network_tile * usage;
    result.exposed = 0;
  }
  // The first tile of a pipe has nothing to hide behind; a ring starts with a
  // local one.
  if (group.overlap == TensorOverlap::kPipe) {
    result.exposed += network_tile;
    result.time += network_tile;
  }
  return result;
}

}  // namespace

CollectiveTimes TimeCollectives(const TensorGroup& group, double bytes) {
  CollectiveTimes times;
  if (group.Split(kEdge)) {
    times.reduce_scatter = NetworkTime(
        *group.network, NetworkOp::kReduceScatter, bytes, group.peers);
    times.all_gather =
        NetworkTime(*group.network, NetworkOp::kAllGather, bytes, group.peers);
  }
  if (!group.Split(kBase)) {
    times.all_reduce =
        NetworkTime(*group.network, NetworkOp::kAllReduce, bytes, group.peers);
  }
  return times;
}

void TensorCommLayer(const Pricing& pricing, const TensorGroup& group, double x,
                     bool conjugate, const CollectiveTimes& times, Layer& layer,
                     Communication& communication) {
  const bool split_always = group.comm == TensorComm::kRsAg;
  const double bytes = x * pricing.element_bytes;
  // The pass that reduces computes and touches memory; the other one does where
  // it gathers.
  const double reduction = x * (group.peers - 1) / group.peers;
  const double moved = (x + x) * pricing.element_bytes;
  Cost reducing = Price(pricing, *pricing.vector, reduction, moved);
  Cost gathering;
  if (split_always) {
    gathering = CostOf(pricing, 0, 0, moved, reducing.memory_time);
  }
  // Processing is part of the communication's time, so that it counts as none
  // of its own.
  const double reducing_time = reducing.time;
  const double gathering_time = gathering.time;
  reducing.time = 0;
  gathering.time = 0;

  SetSpaces(pricing, x, x, x, x, layer);
  if (split_always) {
    layer.activation = bytes / group.peers;
    layer.activation_grad = layer.activation;
  } else if (conjugate) {
    layer.activation_grad = 0;
  } else {
    layer.activation = 0;
  }
  const int reducing_stage = conjugate ? kForward : kActivationGrad;
  const int gathering_stage = conjugate ? kActivationGrad : kForward;
  layer.cost[reducing_stage] = reducing;
  layer.cost[gathering_stage] = gathering;
  SetNoWeights(layer);

  for (const BlockKind kind : kBothKinds) {
    const bool split = group.Split(kind);
    const double reduce_link = split ? times.reduce_scatter : times.all_reduce;
    const double gather_link = split ? times.all_gather : 0;
    communication.size[reducing_stage][kind] = bytes;
    communication.time[reducing_stage][kind] = reduce_link + reducing_time;
    communication.size[gathering_stage][kind] = split ? bytes : 0;
    communication.time[gathering_stage][kind] = gather_link + gathering_time;
    communication.size[kWeightGrad][kind] = communication.size[kForward][kind];
    communication.time[kWeightGrad][kind] =
        conjugate ? reduce_link : gather_link;
  }
  communication.exposed = communication.time;
  communication.redone_exposed = communication.time[kWeightGrad];
  communication.required_bandwidth = {};
  communication.tiles = 1;
}

void OverlappedLinear(const Pricing& pricing, const TensorGroup& group,
                      double m, double n, double k, bool conjugate, bool redone,
                      Layer& layer, Communication& communication) {
  const double peers = group.peers;
  (conjugate ? n : k) /= peers;
  const double inputs = m * n;
  const double outputs = m * k;
  double activation = inputs;
  double activation_grad = outputs;
  if (conjugate) {
    // A second buffer of gradients belongs to the communication.
    if (group.comm == TensorComm::kRsAg) {
      activation_grad = 2 * (outputs / peers);
    } else {
      activation = 0;
      activation_grad = 2 * outputs;
    }
  } else if (group.comm == TensorComm::kRsAg) {
    activation = inputs / peers;
  } else {
    activation_grad = 0;
  }
  SetSpaces(pricing, inputs, outputs, activation, activation_grad, layer);
  SetWeights(pricing, n * k, layer);

  const double bytes = (conjugate ? outputs : inputs) * pricing.element_bytes;
  const double reduction =
      (bytes / pricing.element_bytes) * (peers - 1) / peers;
  const double reduction_time = TimeOf(*pricing.vector, reduction);
  const CollectiveTimes times = TimeCollectives(group, bytes);
  const int reducing_stage = conjugate ? kForward : kActivationGrad;
  const int gathering_stage = conjugate ? kActivationGrad : kForward;
  for (const BlockKind kind : kBothKinds) {
    const bool split = group.Split(kind);
    const double reduce_link = split ? times.reduce_scatter : times.all_reduce;
    const double gather_link = split ? times.all_gather : 0;
    communication.size[reducing_stage][kind] = bytes;
    communication.time[reducing_stage][kind] = reduce_link + reduction_time;
    communication.size[gathering_stage][kind] = split ? bytes : 0;
    communication.time[gathering_stage][kind] = gather_link;
    communication.size[kWeightGrad][kind] = communication.size[kForward][kind];
    communication.time[kWeightGrad][kind] =
        conjugate ? reduce_link : gather_link;
  }

  const double flops = 2 * m * n * k;
  const double forward_bytes =
      (inputs + outputs + n * k) * pricing.element_bytes;
  const double backward_bytes =
      (n * k + activation + activation_grad) * pricing.element_bytes;
  layer.cost[kForward] = Price(pricing, *pricing.matrix, flops, forward_bytes);
  const double flops_time = layer.cost[kForward].flops_time;
  layer.cost[kActivationGrad] =
      CostOf(pricing, flops, flops_time, backward_bytes,
             TimeOf(*pricing.memory, backward_bytes));
  layer.cost[kWeightGrad] = layer.cost[kActivationGrad];
  for (const Stage stage : {kForward, kActivationGrad, kWeightGrad}) {
    // An edge block is overlapped like a base block.
    const double network_time =
        stage != kWeightGrad || redone ? communication.time[stage][kBase] : 0;
    const Overlapped overlapped =
        Overlap(pricing, group, layer.cost[stage], network_time);
    layer.cost[stage].time = overlapped.time;
    communication.exposed[stage] = {overlapped.exposed, overlapped.exposed};
  }
  // In a block's sums, what redoing exposes is read before the weight gradients
  // are looked at.
  communication.redone_exposed = communication.exposed[kForward];

  communication.tiles = peers;
  const double slowed_tile =
      flops_time / (1 - group.network->processor_usage) / peers;
  for (const Stage stage : {kForward, kActivationGrad}) {
    for (const BlockKind kind : kBothKinds) {
      communication.required_bandwidth[static_cast<size_t>(stage)][kind] =
          communication.size[stage][kind] / peers / slowed_tile;
    }
  }
}

}  // namespace lmsimbench::calculon
