#include "lib/simulators/calculon/sanity.h"

#include <algorithm>

namespace lmsimbench::calculon {
namespace {

constexpr double kMostFlops = 1e21;
constexpr double kMostBytes = 1180591620717411303424.0;  // 2^70

bool CanBePrinted(const Layer& layer) {
  double flops = std::max(layer.forward.flops, layer.activation_grad.flops);
  double bytes = std::max(layer.forward.bytes, layer.activation_grad.bytes);
  if (layer.has_weights) {
    const Weights& weights = layer.weights;
    flops =
        std::max({flops, layer.activation_grad.flops + weights.gradient.flops,
                  weights.optimizer.flops});
    bytes =
        std::max({bytes, layer.activation_grad.bytes + weights.gradient.bytes,
                  weights.state});
  }
  return flops < kMostFlops && bytes < kMostBytes;
}

// A sum over a batch of `times` blocks or passes is not below that of one.
bool Grows(const Cost& cost, double times) {
  const bool flops = times * cost.flops >= cost.flops;
  const bool flops_time = times * cost.flops_time >= cost.flops_time;
  const bool bytes = times * cost.bytes >= cost.bytes;
  const bool memory_time = times * cost.memory_time >= cost.memory_time;
  const bool time = times * cost.time >= cost.time;
  return flops && flops_time && bytes && memory_time && time;
}

bool UnusedTakesNoTime(const Execution& e, const Statistics& s) {
  if (e.tensor_par == 1 &&
      (s.tp_comm_exposed_time != 0 || s.tp_comm_link_time != 0))
    return false;
  if (e.pipeline_par == 1 && s.pp_comm_link_time != 0) return false;
  return e.data_par != 1 ||
         (s.dp_comm_exposed_time == 0 && s.dp_comm_link_time == 0);
}

bool TrainingIsSane(const Execution& e, const Statistics& s) {
  if (!(s.bw_time > 0 && s.optim_step_time > 0)) return false;
  switch (e.activation_recompute) {
    case Recompute::kFull:
      return s.recompute_time > 0 && s.act_checkpoint_size > 0;
    case Recompute::kAttentionOnly:
      return s.recompute_time > 0;
    default:
      return e.seq_par_ag_redo || s.recompute_time == 0;
  }
}

}  // namespace

bool CanBePrinted(const Block& block, const BlockSums& sums) {
  const double flops =
      sums.forward.flops + sums.activation_grad.flops + sums.weight_grad.flops;
  const double bytes =
      sums.forward.bytes + sums.activation_grad.bytes + sums.weight_grad.bytes;
  // Inference sums up no backward pass; twice the forward pass and more is its
  // measure.
  constexpr double kMargin = 16;
  if (flops * kMargin < kMostFlops &&
      (bytes + sums.weight_space) * kMargin < kMostBytes) {
    return true;
  }
  const auto layers = block.Layers();
  return std::all_of(layers.begin(), layers.end(), [](const BlockLayer& entry) {
    return CanBePrinted(*entry.layer);
  });
}

bool IsSane(const Execution& e, const Geometry& geometry, const BlockSums& sums,
            const Statistics& s) {
  const auto passes =
      static_cast<double>(geometry.blocks * geometry.microbatches);
  const auto blocks = static_cast<double>(geometry.blocks);
  const bool grows =
      Grows(sums.forward, passes) && Grows(sums.recompute, passes) &&
      Grows(sums.activation_grad, passes) && Grows(sums.weight_grad, passes) &&
      Grows(sums.optimizer, blocks);
  const bool fits = s.weight_space >= sums.weight_space &&
                    s.act_space >= sums.working_space &&
                    s.act_checkpoint_size >= sums.checkpoint_space &&
                    s.weight_grad_space >= sums.weight_grad_space_full &&
                    s.optimizer_space >= sums.optimizer_space;
  return grows && fits && UnusedTakesNoTime(e, s) &&
         (!e.training || TrainingIsSane(e, s));
}

}  // namespace lmsimbench::calculon
