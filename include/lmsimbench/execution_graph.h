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
/// has one forward and one backward pass, and where the program splits its
/// backward passes one weight pass. The upper level are *schedules*: for
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
///    of a chunk that is not the last one from the chunk behind. A weight pass
///    needs no transfer: it stands somewhere behind the backward pass of its
///    micro-batch and chunk. A pass goes through its blocks (a weight pass in
///    the order of a backward pass), and each block through its steps in that
///    direction, as `Step` says; a block starts when all before it has ended,
///    and ends when its steps have ended and the host has had the time to start
///    each of them, one after the other, since the block started
///    (`Cost::host_s`). Passes may form a *chain* (each but its last one has
///    `with_next`), where the way turns back (3.) or with `overlaps.experts`:
///    it starts when the inputs of all its passes have arrived, its passes run
///    one behind the other, and what they hand on goes when the last of them
///    has ended, in the order of the passes. With `overlaps.experts` the
///    operators of the forward passes of a chain cover what the experts of its
///    other passes communicate, and the other way round: of x seconds of
///    collectives over groups of experts beside c seconds of operators of the
///    other side each lasts the share 1 - c / x, or nothing where c is more. In
///    the forward pass of its first micro-batch, with `overlaps.param_gather`,
///    a block also waits for the gather of the last of the buckets that hold
///    its parameters. A pass ends when its computations and its collectives
///    have ended.
/// 3. *Transfers.* At the end of a forward pass of a chunk that is not the last
///    the output goes to the chunk behind, at the end of a backward pass of a
///    chunk that is not the first the gradient to the chunk before. Behind a
///    chunk comes the same chunk of the next rank (ranks form a ring: behind
///    chunk c of the last rank comes chunk c + 1 of the first). With
///    `turns_back` chunk 0 goes from the first rank to the last and chunk 1
///    from the last to the first: behind chunk 0 of the last rank comes chunk 1
///    of the same rank, and what goes between these two is there when the pass
///    has ended, without a transfer. A transfer starts when the pass has ended
///    and the transfer before it from that rank to that neighbour has; it
///    occupies the send stream of the one and the receive stream of the other
///    until it arrives. Without `overlaps.p2p` the compute stream of the sender
///    is held until then, behind a chain until the last of its transfers has
///    arrived. Its cost is that of the link between the two, `Group::kPipeline`
///    of the rank whose next is the other. With `bidirectional` the two chunks
///    of a rank have nothing to do with each other: either takes its half of
///    the micro-batches to its own end.
/// 4. *Reductions.* With `overlaps.grad_reduce` a bucket is ready when its step
///    ends, in the last backward pass of its chunk (that of its last
///    micro-batch), or in each with `reduces_every_backward`. Where the program
///    splits its backward passes it is the weight passes instead, and a bucket
///    whose gradients all come from the backward pass of a block, as those of
///    norms and embeddings, is ready when the weight pass comes to that block.
///    `reduce`, then `reduce_replicas`, run on the data stream in the order in
///    which buckets become ready. Without it all buckets run in the same order
///    after the last pass (with `reduces_every_backward` as often as there are
///    micro-batches). Ranks of different kinds of pipeline reduce together:
///    each reduction of a pipeline rank starts when its bucket is ready and the
///    data stream is free in every kind.
/// 5. *After the last pass*, when compute and data stream are free: the
///    `replicated_gradients` of the rank on the tensor stream; with
///    `bidirectional` its `copied_gradients` on the data stream, which start
///    when both ranks of a pair are there, and cost what they would between the
///    first and the last rank of the pipeline; on first and last pipeline rank
///    `embedding_gradients` on the data stream, which start when both ranks of
///    a pipeline are there; the gradient norm operator; the `gradient_norm`
///    collective on the data stream, which starts when all classes are there;
///    the optimizer operator, where it runs on the host between the copies of
///    the stage's gradients to the host and of its weights back, on the compute
///    stream; and without `overlaps.param_gather` the gathers on the data
///    stream, in the order of 1.
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
/// 8. *Contention.* Communication slows what runs beside it on its device, as
///    `Contention` (cost_model.h) says; block by block. D is when all has ended
///    that the data stream has got before the block starts, or as it starts
///    (7.); as this class alone would run it, without waiting for other kinds
///    of pipeline. A block ends later, and before it waits for the host, by
///    `compute` times the time of its operators that lies beside its own
///    collectives or before D. With `links`, also by the time of its
///    collectives that leave the node, at most until the last on the data
///    stream has ended that leaves the node, too; and where transfers behind a
///    pass or a chain leave the node, and one is under way on the data stream
///    that does when they have ended, all its transfers wait until this has
///    ended, or for as long as the slowest of those takes.
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
  kTensor,          ///< collectives within passes
  kSendForward,     ///< to the next rank: activations; of chunk 1 gradients
                    ///< where the way along the ranks turns back
  kSendBackward,    ///< to the previous rank: gradients; of chunk 1 activations
  kReceiveForward,  ///< from the previous rank
  kReceiveBackward,  ///< from the next rank
  kData,             ///< gradient reduction and parameter gathers
};
template <>
struct EnumNames<Stream> {
  static constexpr const char* kNames[] = {
      "compute",         "tensor",           "send forward", "send backward",
      "receive forward", "receive backward", "data"};
};
inline constexpr int kStreams = 7;

enum class Direction : uint8_t {
  kForward,
  kBackward,  ///< all gradients, or those of inputs where passes are split
  kWeight,    ///< gradients of weights, where passes are split
};
template <>
struct EnumNames<Direction> {
  static constexpr const char* kNames[] = {"forward", "backward", "weight"};
};
inline constexpr int kDirections = 3;

/// One pass of one micro-batch through one chunk of a rank.
struct Pass {
  int32_t micro_batch = 0;
  /// Chunk of the rank, 0 .. vpp - 1.
  int16_t chunk = 0;
  Direction direction = Direction::kForward;
  /// Belongs to one chain with the pass behind it in the schedule.
  bool with_next = false;
};

/// A bucket of gradients: reduced as soon as the last of them is complete.
struct Bucket {
  /// Parameters in it, of one tensor-parallel rank.
  int64_t parameters = 0;
  /// Where in the backward pass it becomes complete: which block, counted in
  /// the order in which the pass goes through the repeated blocks of its chunk,
  /// and which step of that block's backward steps. Where passes are split:
  /// where in the weight pass, and which of the weight steps, or -1 for when
  /// the pass comes to the block.
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
  /// In a chain of a forward pass and gradients of another micro-batch, what
  /// the experts of one communicate, while the other computes.
  bool experts = false;
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
  /// Of two chunks of a rank, the first is passed on the way from the first
  /// rank to the last, the second on the way back.
  bool turns_back = false;
  /// Every stage has two copies: chunk 0 of rank r, which takes the first half
  /// of the micro-batches from the first rank to the last, and chunk 1 of rank
  /// pp - 1 - r, which takes the others from the last to the first. Chunk 0 of
  /// the last rank is a last one, chunk 1 of it a first one. Goes with
  /// `turns_back`.
  bool bidirectional = false;

  /// Schedules of all pipeline ranks, one after the other; that of rank r is
  /// [schedule_begin[r], schedule_begin[r + 1]).
  std::vector<Pass> passes;
  std::vector<int32_t> schedule_begin;

  Overlaps overlaps;
  /// Gradients are reduced in every pass that completes them, not only in the
  /// last of a chunk.
  bool reduces_every_backward = false;
  /// Indices into `collectives`; -1 where there is nothing to communicate.
  int32_t transfer = -1;
  int32_t embedding_gradients = -1;
  int32_t gradient_norm = -1;
  /// For each pipeline rank: gradients of replicated parameters under sequence
  /// parallelism.
  std::vector<int32_t> replicated_gradients;
  /// With `bidirectional`, for each pipeline rank: gradients of the stages that
  /// it holds, which ranks r and pp - 1 - r add.
  std::vector<int32_t> copied_gradients;
};

/// True if parameters are gathered once, from the begin of the iteration.
inline bool GathersAtBegin(const ExecutionGraph& graph) {
  return graph.overlaps.param_gather && graph.units.empty();
}

/// \{ Micro-batches that a chunk of a rank takes, from the first one on.
inline int64_t FirstMicroBatch(const ExecutionGraph& graph, int64_t chunk) {
  return graph.bidirectional && chunk == 1 ? graph.program.micro_batches / 2
                                           : 0;
}
inline int64_t EndMicroBatch(const ExecutionGraph& graph, int64_t chunk) {
  return graph.bidirectional && chunk == 0 ? graph.program.micro_batches / 2
                                           : graph.program.micro_batches;
}
/// \}

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
