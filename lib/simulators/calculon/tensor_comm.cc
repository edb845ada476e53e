#include "lib/simulators/calculon/tensor_comm.h"

#include "lib/simulators/calculon/network.h"

namespace lmsimbench::calculon {
namespace {

constexpr std::array<BlockKind, kBlockKindCount> kBothKinds = {kBase, kEdge};

// A product cut into tiles that are computed while others are communicated.
struct Tiling {
  double tiles = 1;
  double usage = 0;  // share of the processor that communication takes
  bool exposes_first = false;  // a pipe's first tile has nothing to hide behind
  double slowed_flops_time = 0;  // computing beside communication
  double slowed_flops_per_tile = 0;
};

// Overlaps a product with its communication: sets the time of both and returns
// the part of the communication that is not hidden. Edge blocks are treated
// like base blocks.
std::array<double, kBlockKindCount> Overlap(const Pricing& pricing,
                                            const Tiling& tiling,
                                            double network_time, Cost& cost) {
  if (network_time == 0) return {0, 0};
  const double tiles = tiling.tiles;
  const double network_tile = network_time / tiles;
  const double compute_tile = cost.time / tiles;
  const double excess = network_tile - tiling.slowed_flops_per_tile;
  double exposed = 0;
  if (excess > 0) {
    const double slowed_compute =
        Combine(pricing, tiling.slowed_flops_time, cost.memory_time);
    cost.time = compute_tile + (tiles - 1) * (slowed_compute / tiles);
    exposed = (tiles - 1) * excess;
  } else {
    cost.time = compute_tile + (tiles - 1) * compute_tile +
                (tiles - 1) * network_tile * tiling.usage;
  }
  if (tiling.exposes_first) {
    exposed += network_tile;
    cost.time += network_tile;
  }
  return {exposed, exposed};
}

// Bandwidths with which a pass would just hide its communication.
std::array<double, kBlockKindCount> RequiredBandwidth(
    const std::array<double, kBlockKindCount>& size, const Tiling& tiling) {
  const double edge = size[kEdge] / tiling.tiles / tiling.slowed_flops_per_tile;
  const bool same = size[kBase] == size[kEdge];
  return {
      same ? edge : size[kBase] / tiling.tiles / tiling.slowed_flops_per_tile,
      edge};
}

// Sizes and times of a layer's communication: one of the passes reduces, which
// also computes, the other gathers where reductions are split.
void SetLinks(const TensorGroup& group, bool conjugate, double bytes,
              const CollectiveTimes& times, double reducing_time,
              double gathering_time, Communication& communication) {
  const size_t reducing = conjugate ? kForward : kActivationGrad;
  const size_t gathering = conjugate ? kActivationGrad : kForward;
  for (const BlockKind kind : kBothKinds) {
    const bool split = group.Split(kind);
    const double reduce_link = split ? times.reduce_scatter : times.all_reduce;
    const double gather_link = split ? times.all_gather : 0;
    communication.size[reducing][kind] = bytes;
    communication.time[reducing][kind] = reduce_link + reducing_time;
    communication.size[gathering][kind] = split ? bytes : 0;
    communication.time[gathering][kind] = gather_link + gathering_time;
    // Redone without what is computed on the way.
    communication.size[kWeightGrad][kind] = communication.size[kForward][kind];
    communication.time[kWeightGrad][kind] =
        conjugate ? reduce_link : gather_link;
  }
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
    layer.activation_grad_space = layer.activation;
  } else if (conjugate) {
    layer.activation_grad_space = 0;
  } else {
    layer.activation = 0;
  }
  (conjugate ? layer.forward : layer.activation_grad) = reducing;
  (conjugate ? layer.activation_grad : layer.forward) = gathering;
  SetNoWeights(layer);

  SetLinks(group, conjugate, bytes, times, reducing_time, gathering_time,
           communication);
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

  const double bytes = (conjugate ? outputs : inputs) * pricing.element_bytes;
  const double reduction =
      (bytes / pricing.element_bytes) * (peers - 1) / peers;
  const double reduction_time = TimeOf(*pricing.vector, reduction);
  SetLinks(group, conjugate, bytes, TimeCollectives(group, bytes),
           reduction_time, 0, communication);

  const double flops = 2 * m * n * k;
  const double forward_bytes =
      (inputs + outputs + n * k) * pricing.element_bytes;
  const double backward_bytes =
      (n * k + activation + activation_grad) * pricing.element_bytes;
  layer.forward = Price(pricing, *pricing.matrix, flops, forward_bytes);
  const double flops_time = layer.forward.flops_time;
  layer.activation_grad = CostOf(pricing, flops, flops_time, backward_bytes,
                                 TimeOf(*pricing.memory, backward_bytes));
  layer.weights.gradient = layer.activation_grad;
  SetWeights(pricing, n * k, layer);
  Tiling tiling;
  tiling.tiles = peers;
  tiling.usage = group.network->processor_usage;
  tiling.exposes_first = group.overlap == TensorOverlap::kPipe;
  tiling.slowed_flops_time = flops_time / (1 - tiling.usage);
  tiling.slowed_flops_per_tile = tiling.slowed_flops_time / peers;
  communication.tiles = peers;
  communication.exposed[kForward] = Overlap(
      pricing, tiling, communication.time[kForward][kBase], layer.forward);
  communication.exposed[kActivationGrad] =
      Overlap(pricing, tiling, communication.time[kActivationGrad][kBase],
              layer.activation_grad);
  communication.exposed[kWeightGrad] = Overlap(
      pricing, tiling, redone ? communication.time[kWeightGrad][kBase] : 0,
      layer.weights.gradient);
  // In a block's sums, what redoing exposes is read before the weight gradients
  // are looked at.
  communication.redone_exposed = communication.exposed[kForward];
  communication.required_bandwidth = {
      RequiredBandwidth(communication.size[kForward], tiling),
      RequiredBandwidth(communication.size[kActivationGrad], tiling)};
}

}  // namespace lmsimbench::calculon
