#include "lib/simulators/calculon/batch.h"

#include <algorithm>
#include <cmath>

#include "lib/simulators/calculon/network.h"

namespace lmsimbench::calculon {
namespace {

// Seconds to move `bytes` between the memory tiers; asked for 0 bytes too.
ErrorCode TimeOffload(const Memory& memory, double bytes, double& seconds) {
  const double rate = memory.rate.Rate(bytes);
  if (std::isnan(rate)) return ErrorCode::kMemUncovered;
  if (rate == 0) return ErrorCode::kDiv0Mem2Bw;
  seconds = bytes / rate;
  return ErrorCode::kNone;
}

// The base blocks of a chunk and its edge block.
double OverChunk(const Geometry& geometry, double base, double edge) {
  return static_cast<double>(geometry.base_blocks) * base + edge;
}

// Bubbles of an interleaved pipeline whose last round of micro-batches is not
// full.
int64_t ExtraBubbles(const Execution& e, const Geometry& geometry) {
  const int64_t rest = geometry.microbatches % e.pipeline_par;
  return rest != 0 ? (e.pipeline_interleaving - 1) * (e.pipeline_par - rest)
                   : 0;
}

double Bubble(const Execution& e, const Geometry& geometry,
              const BatchTimes& times, const ByKind& forward,
              double chunk_forward) {
  const ByKind& backward = times.block_backward;
  const auto missing = static_cast<double>(geometry.missing_blocks);
  const double reduction =
      geometry.base_blocks > 0
          ? missing *
                (forward.base + forward.edge + backward.base + backward.edge) /
                2
          : missing * (forward.edge + backward.edge);
  const double chunk = chunk_forward + times.chunk_backward;
  return static_cast<double>(e.pipeline_par - 1) * chunk +
         (static_cast<double>(ExtraBubbles(e, geometry)) * chunk - reduction);
}

}  // namespace

double OffloadedActivations(const Execution& e, const BlockSums& sums) {
  return e.activation_recompute == Recompute::kFull ? sums.checkpoint_space
                                                    : sums.stored_space;
}

ErrorCode TimeBatch(const Execution& e, const Geometry& geometry,
                    const System& system, const Placement& placement,
                    const BlockSums& sums, BatchTimes& times) {
  const auto block_passes =
      static_cast<double>(geometry.blocks * geometry.microbatches);
  const auto chunk_passes =
      static_cast<double>(geometry.microbatches * e.pipeline_interleaving);
  const auto over_batch = [&](double base, double edge) {
    return chunk_passes * OverChunk(geometry, base, edge);
  };
  const auto over_batch_kinds =
      [&](const std::array<double, kBlockKindCount>& values) {
        return over_batch(values[kBase], values[kEdge]);
      };

  times.forward = block_passes * sums.forward.time;
  times.recompute = block_passes * sums.recompute.time;
  times.backward = block_passes * sums.activation_grad.time +
                   block_passes * sums.weight_grad.time;
  times.optimizer = static_cast<double>(geometry.blocks) * sums.optimizer.time;
  times.tensor_link = over_batch_kinds(sums.forward_comm.time) +
                      over_batch_kinds(sums.activation_grad_comm.time);
  times.tensor_exposed = over_batch_kinds(sums.forward_comm.exposed) +
                         over_batch_kinds(sums.activation_grad_comm.exposed);
  times.redone_link = over_batch_kinds(sums.redone_comm.time);
  times.redone_exposed = over_batch_kinds(sums.redone_comm.exposed);

  // A latency is charged to edge blocks even without a pipeline and, backward,
  // in inference.
  const double forward_transfer = NetworkTime(
      *placement.pipeline, NetworkOp::kP2p, sums.forward_transfer, 2);
  times.backward_transfer = NetworkTime(*placement.pipeline, NetworkOp::kP2p,
                                        sums.backward_transfer, 2);
  const double forward_transfers = e.pipeline_par > 1 ? chunk_passes : 0;
  const double backward_transfers =
      e.pipeline_par > 1 && e.training ? chunk_passes : 0;
  times.pipeline_link = forward_transfers * forward_transfer +
                        backward_transfers * times.backward_transfer;

  const double activations = OffloadedActivations(e, sums);
  times.forward_offload_bytes =
      std::max(e.weight_offload ? sums.weight_space : 0,
               e.activations_offload ? activations : 0);
  double forward_offload = 0;
  ErrorCode code =
      TimeOffload(system.mem2, times.forward_offload_bytes, forward_offload);
  if (code != ErrorCode::kNone) return code;
  double backward_offload = 0;
  if (e.training) {
    times.backward_offload_bytes =
        (e.weight_offload ? sums.weight_space : 0) +
        (e.activations_offload ? activations : 0) +
        (e.optimizer_offload ? sums.optimizer_space : 0);
    code = TimeOffload(system.mem2, times.backward_offload_bytes,
                       backward_offload);
    if (code != ErrorCode::kNone) return code;
  }

  const auto& forward_exposed = sums.forward_comm.exposed;
  ByKind& forward0 = times.block_forward_unoffloaded;
  forward0.base = sums.forward.time + forward_exposed[kBase];
  forward0.edge = sums.forward.time + forward_exposed[kEdge] + forward_transfer;
  const auto& redone_exposed = sums.redone_comm.exposed;
  const auto& grad_exposed = sums.activation_grad_comm.exposed;
  ByKind& backward0 = times.block_backward_unoffloaded;
  backward0.base = sums.recompute.time + redone_exposed[kBase] +
                   sums.activation_grad.time + sums.weight_grad.time +
                   grad_exposed[kBase];
  backward0.edge = sums.recompute.time + redone_exposed[kEdge] +
                   sums.activation_grad.time + sums.weight_grad.time +
                   grad_exposed[kEdge] + times.backward_transfer;

  // Offloading shares the memory: what does not fit beside computing and
  // communicating is waited for.
  const double forward_memory = forward_offload + sums.forward.memory_time;
  const double backward_memory = backward_offload +
                                 sums.activation_grad.memory_time +
                                 sums.weight_grad.memory_time;
  const ByKind forward_wait = {std::max(0.0, forward_memory - forward0.base),
                               std::max(0.0, forward_memory - forward0.edge)};
  const ByKind backward_wait = {
      std::max(0.0, backward_memory - backward0.base),
      std::max(0.0, backward_memory - backward0.edge)};
  const ByKind forward = {forward0.base + forward_wait.base,
                          forward0.edge + forward_wait.edge};
  times.block_backward = {backward0.base + backward_wait.base,
                          backward0.edge + backward_wait.edge};
  const double chunk_forward = OverChunk(geometry, forward.base, forward.edge);
  times.chunk_backward =
      OverChunk(geometry, times.block_backward.base, times.block_backward.edge);
  times.forward_offload_exposed =
      over_batch(forward_wait.base, forward_wait.edge);
  times.backward_offload_exposed =
      e.training ? over_batch(backward_wait.base, backward_wait.edge) : 0;
  times.bubble = Bubble(e, geometry, times, forward, chunk_forward);
  return ErrorCode::kNone;
}

}  // namespace lmsimbench::calculon
