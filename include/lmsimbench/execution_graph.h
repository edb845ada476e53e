#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "lmsimbench/operator.h"
#include "lmsimbench/placement.h"
#include "lmsimbench/program.h"

/// \file
/// What `Lower` makes: what runs in one iteration, at two levels.
///
/// The lower level are *pass templates*: the program's chunks, each of which
/// has one forward and one backward pass. The upper level are *schedules*: for
/// every pipeline rank the order of its passes. Single tasks are not stored;
/// `Expand` (timeline.h) lists them. There are no edges: a pass waits for the
/// pass before it on its rank and for the transfer that brings its input, and
/// transfers arrive in the order in which their passes stand in the schedule.
///
/// What a graph means, for every rank class, from time 0:
///
/// 1. *Gathers.* With `overlaps.param_gather` the data stream gathers the
///    parameters back to back from time 0: chunk by chunk, the buckets of each
///    from the last to the first (the order in which forward needs them).
/// 2. *Passes* run in the order of the schedule. A pass starts when the compute
///    stream is free and its input has arrived: a forward pass of a chunk that
///    is not the first needs a transfer from the chunk before, a backward pass
///    of a chunk that is not the last one from the chunk behind. It goes
///    through its blocks, and each block through its steps, as `Step` says; a
///    block starts when all before it has ended. In the forward pass of
///    micro-batch 0, with `overlaps.param_gather`, a block also waits for the
///    gather of the last of the buckets that hold its parameters. A pass ends
///    when its computations and its collectives have ended.
/// 3. *Transfers.* At the end of a forward pass of a chunk that is not the last
///    the output goes to the next rank, at the end of a backward pass of a
///    chunk that is not the first the gradient to the previous one (ranks form
///    a ring: the last rank's next is the first). A transfer starts when the
///    pass has ended and the transfer before it in that direction from that
///    rank has; it occupies the send stream of the one and the receive stream
///    of the other until it arrives. Without `overlaps.p2p` the compute stream
///    of the sender is held until then. Its cost is that of the link between
///    the two, `Group::kPipeline` of the rank whose next is the other.
/// 4. *Reductions.* With `overlaps.grad_reduce` a bucket is ready when its step
///    ends, in the last backward pass of its chunk (that of the last
///    micro-batch), or in each with `reduces_every_backward`; `reduce`, then
///    `reduce_replicas`, run on the data stream in the order in which buckets
///    become ready. Without it all buckets run in the same order after the last
///    pass (with `reduces_every_backward` as often as there are micro-batches).
///    Ranks of different kinds of pipeline reduce together: each reduction of a
///    pipeline rank starts when its bucket is ready and the data stream is free
///    in every kind.
/// 5. *After the last pass*, when compute and data stream are free: the
///    `replicated_gradients` of the rank on the tensor stream; on first and
///    last pipeline rank `embedding_gradients` on the data stream, which start
///    when both ranks of a pipeline are there; the gradient norm operator; the
///    `gradient_norm` collective on the data stream, which starts when all
///    classes are there; the optimizer operator; and without
///    `overlaps.param_gather` the gathers on the data stream, in the order
///    of 1.
/// 6. The iteration ends when the last class has ended.
/// 7. *Units.* Where parameters are sharded (ZeRO-3, FSDP) the graph has a unit
///    for every block of the program and no buckets, and 1 does not apply. A
///    pass then has the data stream for itself, which runs what is issued to it
///    one by one, in the order of issue. At its start the pass issues the
///    gathers of the units that stay, and then that of its first block. A block
///    starts when all before it has ended, and its own gather. With
///    `overlaps.param_gather` the gather of the block behind it is issued when
///    a block starts; else when the block has ended and, in a backward pass,
///    its gradients are reduced. When a block of a backward pass has ended, the
///    reduction of its gradients is issued; the next block waits for it, unless
///    `overlaps.grad_reduce` and `overlaps.param_gather` are set. A pass ends
///    when its last block and all that it has issued have ended. So nothing of
///    a unit reaches from one pass into another: a pass has one duration. Units
///    of different kinds of pipeline are timed each for itself, as the
///    collectives of steps are.
///
/// Memory: weights, gradients, optimizer state and the framework's part lie
/// there all the time; a step takes memory when it starts and gives it back
/// when it ends. The whole weights of a unit lie there from when its gather is
/// issued, or the pass starts that finds them still there, until its block has
/// ended; the whole gradients from when its block starts in a backward pass
/// until the next block waits for their reduction, or else until the next block
/// has ended, and those of the last block until the pass ends. Those of a unit
/// that stays lie there as long as the pass runs.

namespace lmsimbench {

/// Streams of a device. Each runs one thing at a time, in order.
enum class Stream : uint8_t {
  kCompute,
  kTensor,           ///< collectives within passes
  kSendForward,      ///< activations to the next stage
  kSendBackward,     ///< gradients to the previous stage
  kReceiveForward,   ///< activations from the previous stage
  kReceiveBackward,  ///< gradients from the next stage
  kData,             ///< gradient reduction and parameter gathers
};
template <>
struct EnumNames<Stream> {
  static constexpr const char* kNames[] = {
      "compute",         "tensor",           "send forward", "send backward",
      "receive forward", "receive backward", "data"};
};
inline constexpr int kStreams = 7;

enum class Direction : uint8_t { kForward, kBackward };
template <>
struct EnumNames<Direction> {
  static constexpr const char* kNames[] = {"forward", "backward"};
};

/// One pass of one micro-batch through one chunk of a rank.
struct Pass {
  int32_t micro_batch = 0;
  /// Chunk of the rank, 0 .. vpp - 1.
  int16_t chunk = 0;
  Direction direction = Direction::kForward;
};

/// A bucket of gradients: reduced as soon as the last of them is complete.
struct Bucket {
  /// Parameters in it, of one tensor-parallel rank.
  int64_t parameters = 0;
  /// Where in the backward pass it becomes complete: which block, counted in
  /// the order in which the pass goes through the repeated blocks of its chunk,
  /// and which step of that block's backward steps.
  int32_t block = 0;
  int32_t step = 0;
  /// Index into `ExecutionGraph::collectives` of what reduces it, and of what
  /// follows on the same stream where sharding groups are replicated (-1:
  /// nothing); of what gathers its parameters (-1: nothing).
  int32_t reduce = -1;
  int32_t reduce_replicas = -1;
  int32_t gather = -1;
};

/// A chunk of a pipeline rank.
struct PlacedChunk {
  /// Index into `Program::chunks`.
  int32_t kind = 0;
  /// Range of `ExecutionGraph::buckets`, in the order of the backward pass.
  int32_t begin_bucket = 0;
  int32_t end_bucket = 0;
  bool is_first = false;  ///< takes no input from another chunk
  bool is_last = false;   ///< hands its output to no other chunk
};

/// The parameters of a block, where they are sharded: gathered before the block
/// runs and given up behind it. One for each of the program's blocks, however
/// often that is repeated.
struct Unit {
  /// Indices into `ExecutionGraph::collectives`, in the order in which they
  /// run, of what gathers parameters and those of experts, and of what reduces
  /// gradients, those of replicas of the shard, and those of experts; -1:
  /// nothing.
  int32_t gather = -1;
  int32_t gather_experts = -1;
  int32_t reduce = -1;
  int32_t reduce_replicas = -1;
  int32_t reduce_experts = -1;
  /// The backward pass gathers, too; else it finds the weights still there,
  /// because it follows the forward pass at once.
  bool is_gathered_again = true;
  /// Other blocks of the pass use the parameters, too: they stay from its start
  /// to its end.
  bool stays = false;
  /// Of the whole weights and gradients, as they are gathered and reduced.
  int64_t weights_bytes = 0;
  int64_t gradients_bytes = 0;
};

/// What communication runs beside computation.
struct Overlaps {
  /// Buckets are reduced while the backward pass goes on; else all of them
  /// after the last pass. Of units: while the next blocks run.
  bool grad_reduce = false;
  /// Parameters are gathered while the first forward passes go on; else all of
  /// them after the optimizer step. Of units: while the block before runs.
  bool param_gather = false;
  /// A rank goes on while it sends; else its next pass waits for the transfer.
  bool p2p = false;
};

/// One iteration. Keeps the program and the placement that it was made from. A
/// plain value.
struct ExecutionGraph {
  Program program;
  Placement placement;

  /// Those of the program, with the same indices, and behind them those that
  /// the schedule adds.
  std::vector<Collective> collectives;
  std::vector<Bucket> buckets;
  /// One for each of the program's blocks where parameters are sharded, else
  /// none.
  std::vector<Unit> units;
  /// `chunks_per_rank` chunks of each pipeline rank, rank by rank.
  std::vector<PlacedChunk> chunks;
  int32_t chunks_per_rank = 1;

  /// Schedules of all pipeline ranks, one after the other; that of rank r is
  /// [schedule_begin[r], schedule_begin[r + 1]).
  std::vector<Pass> passes;
  std::vector<int32_t> schedule_begin;

  Overlaps overlaps;
  /// Gradients are reduced in every backward pass, not only in the last of a
  /// chunk.
  bool reduces_every_backward = false;
  /// Indices into `collectives`; -1 where there is nothing to communicate.
  int32_t transfer = -1;
  int32_t embedding_gradients = -1;
  int32_t gradient_norm = -1;
  /// For each pipeline rank: gradients of replicated parameters under sequence
  /// parallelism.
  std::vector<int32_t> replicated_gradients;
};

/// True if parameters are gathered once, from the begin of the iteration.
inline bool GathersAtBegin(const ExecutionGraph& graph) {
  return graph.overlaps.param_gather && graph.units.empty();
}

/// The passes of a pipeline rank in the order in which they run.
inline absl::Span<const Pass> Passes(const ExecutionGraph& graph,
                                     int64_t pipeline_rank) {
  const int32_t begin = graph.schedule_begin[pipeline_rank];
  return absl::MakeConstSpan(graph.passes)
      .subspan(begin, graph.schedule_begin[pipeline_rank + 1] - begin);
}

/// The chunk that a pass of this pipeline rank runs.
inline const PlacedChunk& ChunkOf(const ExecutionGraph& graph,
                                  int64_t pipeline_rank, const Pass& pass) {
  return graph.chunks[pipeline_rank * graph.chunks_per_rank + pass.chunk];
}

/// Operator and collective tasks that one iteration of the graph has, over all
/// rank classes, transfers counted at both ends.
int64_t CountTasks(const ExecutionGraph& graph);

/// The graph as text: for each rank class its streams and the order of its
/// passes, buckets, and what follows the last pass.
std::string ToText(const ExecutionGraph& graph);
/// The same as JSON.
std::string ToJson(const ExecutionGraph& graph);

}  // namespace lmsimbench
