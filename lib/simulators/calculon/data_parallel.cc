#include "lib/simulators/calculon/data_parallel.h"

#include <algorithm>
#include <cmath>

#include "lib/simulators/calculon/network.h"

namespace lmsimbench::calculon {
namespace {

const Network::Op& OpOf(const Network& network, NetworkOp op) {
  return network.ops[static_cast<size_t>(op)];
}

// Seconds of the communication of one block.
double BlockTime(const Execution& e, const Network& network, double bytes) {
  const auto replicas = static_cast<double>(e.data_par);
  if (!e.optimizer_sharding) {
    return NetworkTime(network, NetworkOp::kAllReduce, bytes, replicas);
  }
  return NetworkTime(network, NetworkOp::kReduceScatter, bytes, replicas) +
         NetworkTime(network, NetworkOp::kAllGather, bytes, replicas);
}

// Time of one block's backward pass behind which data-parallel communication
// can hide: what is neither memory accesses nor tensor-parallel communication
// on the same network.
double BlockWindow(const Execution& e, const Placement& placement,
                   const BlockSums& sums, BlockKind kind,
                   double block_backward) {
  double window = block_backward -
                  (sums.activation_grad.memory_time +
                   sums.weight_grad.memory_time + sums.recompute.memory_time);
  if (!e.optimizer_sharding)
    window += sums.optimizer.time - sums.optimizer.memory_time;
  if (placement.data == placement.tensor) {
    window -=
        sums.redone_comm.time[kind] + sums.activation_grad_comm.time[kind];
  }
  return window;
}

}  // namespace

double FloorDivide(double x, double y) {
  const double quotient = (x - std::fmod(x, y)) / y;
  const double floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

ErrorCode TimeDataParallel(const Execution& e, const Geometry& geometry,
                           const Placement& placement, const BlockSums& sums,
                           const BatchTimes& batch, DataParallelTimes& times) {
  if (e.data_par == 1 || !e.training) return ErrorCode::kNone;
  const Network& network = *placement.data;
  times.block_bytes = sums.weight_space;
  const double block_time = BlockTime(e, network, times.block_bytes);
  times.link = static_cast<double>(geometry.blocks) * block_time;
  times.exposed = times.link;
  if (!e.data_par_overlap) return ErrorCode::kNone;

  const double usage = network.processor_usage;
  const ByKind& backward = batch.block_backward;
  const auto base_blocks = static_cast<double>(geometry.base_blocks);
  const auto chunk_blocks = static_cast<double>(geometry.chunk_blocks);
  const auto stages = static_cast<double>(e.pipeline_par);
  const auto chunks_but_last = static_cast<double>(e.pipeline_interleaving - 1);
  const bool shares_with_pipeline = placement.data == placement.pipeline;

  double block_compute = sums.activation_grad.flops_time +
                         sums.weight_grad.flops_time +
                         sums.recompute.flops_time;
  if (!e.optimizer_sharding) block_compute += sums.optimizer.flops_time;
  const double chunk_window =
      base_blocks * BlockWindow(e, placement, sums, kBase, backward.base) +
      BlockWindow(e, placement, sums, kEdge, backward.edge);
  const double chunk_compute = chunk_blocks * block_compute;
  const double chunk_time = chunk_blocks * block_time;

  // All chunks but the last hide behind the next chunk's passes of all stages.
  const double window = stages * chunk_window;
  const double compute = stages * chunk_compute;
  double collisions = 0;
  if (shares_with_pipeline) {
    if (!(batch.chunk_backward > 0)) return ErrorCode::kDiv0Other;
    const int64_t rest = geometry.microbatches % e.pipeline_par;
    collisions =
        std::min(FloorDivide(chunk_time, batch.chunk_backward),
                 static_cast<double>(rest != 0 ? rest : e.pipeline_par));
  }
  const double chunk_excess = chunk_time -
                              (window - collisions * batch.backward_transfer) +
                              compute * usage;
  const double chunks_exposed = chunk_excess > 0
                                    ? chunks_but_last * chunk_excess
                                    : chunks_but_last * chunk_time * usage;

  const double scalar = e.optimizer_sharding
                            ? OpOf(network, NetworkOp::kReduceScatter).scalar +
                                  OpOf(network, NetworkOp::kAllGather).scalar
                            : OpOf(network, NetworkOp::kAllReduce).scalar;
  double overlap_time = window + compute * usage;
  if (shares_with_pipeline) overlap_time -= batch.backward_transfer;
  overlap_time *= chunks_but_last;
  times.required_bandwidth_chunk =
      overlap_time > 0
          ? chunk_blocks * times.block_bytes / overlap_time * scalar
          : 0;

  // The last chunk hides behind its own blocks but the first; a single block
  // hides nothing.
  double last_window = 0;
  if (geometry.base_blocks > 0) {
    last_window = chunk_window - batch.backward_transfer -
                  (backward.base + backward.edge) / 2;
    if (!e.optimizer_sharding)
      last_window += sums.optimizer.time - sums.optimizer.memory_time;
  }
  const double last_excess =
      base_blocks * block_time + (block_compute * usage - last_window);
  const double last_exposed =
      last_excess > 0 ? last_excess : base_blocks * block_time * usage;
  const double tail_time = last_window + base_blocks * block_time * usage;
  times.required_bandwidth_tail =
      tail_time > 0 ? chunk_blocks * times.block_bytes / tail_time * scalar : 0;

  times.exposed = block_time + (chunks_exposed + last_exposed);
  return ErrorCode::kNone;
}

}  // namespace lmsimbench::calculon
