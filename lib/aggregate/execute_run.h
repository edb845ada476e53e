#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lib/aggregate/execute_block.h"
#include "lib/aggregate/execute_pipeline.h"
#include "lib/aggregate/execute_steps.h"
#include "lib/aggregate/execute_units.h"
#include "lmsimbench/costed_graph.h"

namespace lmsimbench {

/// A bucket of gradients that waits for its reduction.
struct ReadyBucket {
  int32_t bucket = 0;
  double ready_s = 0;
  /// The backward pass that completed it.
  Pass pass;
};

/// The data stream as a class has it if it waits for no other kind of pipeline:
/// what gets in the way of its passes.
struct OwnData {
  DataBeside beside;
  /// What leaves the node: start and end.
  std::vector<std::pair<double, double>> on_links;

  void Issue(double time_s, double seconds, bool leaves_node) {
    const double start_s = std::max(beside.until_s, time_s);
    beside.until_s = start_s + seconds;
    if (!leaves_node) return;
    beside.links_until_s = beside.until_s;
    on_links.emplace_back(start_s, beside.until_s);
  }
  /// The end of what is on the links at this time; else the time.
  double Behind(double time_s) const {
    for (const auto& [start_s, end_s] : on_links) {
      if (start_s <= time_s && time_s < end_s) return end_s;
    }
    return time_s;
  }
};

/// Where a rank class stands.
struct RunningClass {
  int64_t rank = 0;
  /// Index into `ExecutionGraph::passes` of the pass to come.
  int32_t next_pass = 0;
  double compute_free_s = 0;
  double data_free_s = 0;
  /// For either direction when the last transfer has arrived.
  double send_free_s[2] = {0, 0};
  AllocatedMemory memory;
  OwnData own;
  /// In the order in which they became ready.
  std::vector<ReadyBucket> ready;
};

/// What an executor needs, kept from one iteration to the next.
struct RunState {
  FlatSteps flat;
  /// At least one for each class.
  std::vector<RunningClass> classes;
  /// When the input of a pass arrived at a class, negative until it did.
  std::vector<double> arrivals;
  /// For each class, chunk of it and bucket the end of its gather: chunks of
  /// one kind share their buckets.
  std::vector<double> gather_ends;
  std::vector<PendingCollective> pending;
  std::vector<double> ends;
  UnitState units;
};

/// INVALID_ARGUMENT if a pass, the neighbour of a chunk or a bucket lies
/// outside the graph.
absl::Status CheckSchedules(const ExecutionGraph& graph);

/// INVALID_ARGUMENT that names the ranks that wait, and at which pass.
absl::Status WaitingForEver(const ExecutionGraph& graph,
                            absl::Span<const RunningClass> classes);

/// Runs one iteration of a graph, operator by operator. `Sink` has
///   Out& Class(int64_t rank_class);
/// where Out is as `BlockRunner` wants it.
template <typename Sink>
class Executor {
 public:
  Executor(const CostedGraph& costed, RunState& state, Sink& sink)
      : costed_(costed),
        graph_(costed.graph),
        state_(state),
        sink_(sink),
        pp_(graph_.placement.pp) {}

  absl::Status Run() {
    absl::Status status = CheckSchedules(graph_);
    if (!status.ok()) return status;
    status = FlattenSteps(costed_, state_.flat);
    if (!status.ok()) return status;
    Begin();
    status = RunPasses();
    if (!status.ok()) return status;
    RunReductions();
    RunTail();
    return absl::OkStatus();
  }

 private:
  using Out = std::decay_t<decltype(std::declval<Sink&>().Class(0))>;

  int64_t Classes() const { return graph_.placement.classes.size(); }
  RunningClass& ClassAt(int64_t rank_class) {
    return state_.classes[rank_class];
  }

  void Begin() {
    if (static_cast<int64_t>(state_.classes.size()) < Classes())
      state_.classes.resize(Classes());
    state_.pending.resize(state_.flat.longest_block);
    state_.ends.resize(state_.flat.longest_block);
    state_.arrivals.assign(
        Classes() * graph_.chunks_per_rank * 2 * graph_.program.micro_batches,
        -1.0);
    if (GathersAtBegin(graph_)) {
      state_.gather_ends.resize(Classes() * graph_.chunks_per_rank *
                                graph_.buckets.size());
    }
    for (int64_t c = 0; c < Classes(); ++c) {
      RunningClass& running = ClassAt(c);
      running.rank = graph_.placement.classes[c].pipeline_rank;
      running.next_pass = graph_.schedule_begin[running.rank];
      running.compute_free_s = running.data_free_s = 0;
      running.send_free_s[0] = running.send_free_s[1] = 0;
      running.ready.clear();
      running.own = OwnData();
      const Stage& stage = graph_.program.stages[running.rank];
      running.memory = AllocatedMemory();
      running.memory.bytes = stage.weights_bytes + stage.gradients_bytes +
                             stage.optimizer_bytes +
                             graph_.program.framework_bytes;
      sink_.Class(c).Memory(0, running.memory);
      if (GathersAtBegin(graph_)) Gather(c);
    }
  }

  // Runs a collective outside of passes on the data stream, from `start_s`.
  void RunData(int64_t c, int32_t collective, double start_s,
               const Pass& pass) {
    if (collective < 0) return;
    double& free_s = ClassAt(c).data_free_s;
    free_s = start_s + CollectiveSeconds(costed_, collective, c);
    sink_.Class(c).Run(Stream::kData, start_s, free_s,
                       CollectiveSlot(graph_, collective, false), pass);
  }

  // Gathers all parameters of a class, from when its data stream is free.
  void Gather(int64_t c) {
    RunningClass& running = ClassAt(c);
    for (int32_t chunk = 0; chunk < graph_.chunks_per_rank; ++chunk) {
      Pass pass;
      pass.micro_batch = -1;
      pass.chunk = static_cast<int16_t>(chunk);
      const PlacedChunk& placed = ChunkOf(graph_, running.rank, pass);
      for (int32_t b = placed.end_bucket - 1; b >= placed.begin_bucket; --b) {
        RunData(c, graph_.buckets[b].gather, running.data_free_s, pass);
        if (graph_.overlaps.param_gather) {
          IssueOwn(c, graph_.buckets[b].gather, 0);
          state_.gather_ends[GatherIndex(c, chunk, b)] = running.data_free_s;
        }
      }
    }
  }

  void IssueOwn(int64_t c, int32_t collective, double time_s) {
    if (collective < 0) return;
    ClassAt(c).own.Issue(time_s, CollectiveSeconds(costed_, collective, c),
                         LeavesNode(costed_, collective, c));
  }

  size_t GatherIndex(int64_t c, int32_t chunk, int32_t bucket) const {
    return (c * graph_.chunks_per_rank + chunk) * graph_.buckets.size() +
           bucket;
  }

  absl::Status RunPasses() {
    // Goes round; a class runs until the input of its next pass is missing.
    for (bool waiting = true; waiting;) {
      waiting = false;
      bool has_moved = false;
      for (int64_t c = 0; c < Classes(); ++c) {
        RunningClass& running = ClassAt(c);
        const int32_t end = graph_.schedule_begin[running.rank + 1];
        while (running.next_pass < end) {
          int32_t next = running.next_pass + 1;
          while (next < end && graph_.passes[next - 1].with_next) ++next;
          if (!RunChain(c, running.next_pass, next)) break;
          has_moved = true;
          running.next_pass = next;
        }
        if (running.next_pass < end) waiting = true;
      }
      if (waiting && !has_moved) {
        return WaitingForEver(
            graph_, absl::MakeConstSpan(state_.classes).subspan(0, Classes()));
      }
    }
    return absl::OkStatus();
  }

  double& Arrival(int64_t c, int64_t chunk, Direction direction,
                  int64_t micro_batch) {
    return state_.arrivals[((c * graph_.chunks_per_rank + chunk) * 2 +
                            static_cast<int64_t>(direction)) *
                               graph_.program.micro_batches +
                           micro_batch];
  }

  // Runs the passes of a chain of a class, most often one alone; false if an
  // input has not arrived.
  bool RunChain(int64_t c, int32_t begin, int32_t end) {
    RunningClass& running = ClassAt(c);
    double time_s = running.compute_free_s;
    for (int32_t i = begin; i < end; ++i) {
      const Pass& pass = graph_.passes[i];
      if (!TakesInput(ChunkOf(graph_, running.rank, pass), pass.direction))
        continue;
      const double arrival_s =
          Arrival(c, pass.chunk, pass.direction, pass.micro_batch);
      if (arrival_s < 0) return false;
      time_s = std::max(time_s, arrival_s);
    }
    for (int32_t i = begin; i < end; ++i) {
      const Pass& pass = graph_.passes[i];
      const PlacedChunk& placed = ChunkOf(graph_, running.rank, pass);
      const double exposed = Exposed(c, begin, end, pass.direction);
      time_s = !graph_.units.empty()
                   ? RunUnits(c, placed, pass, exposed, time_s)
               : pass.direction == Direction::kForward
                   ? RunForward(c, placed, pass, exposed, time_s)
                   : RunBackward(c, placed, pass, exposed, time_s);
    }
    running.compute_free_s = time_s;
    const double send_s = SendTime(c, begin, end, time_s);
    for (int32_t i = begin; i < end; ++i) {
      const Pass& pass = graph_.passes[i];
      if (HandsOn(ChunkOf(graph_, running.rank, pass), pass.direction))
        Send(c, pass, time_s, send_s);
    }
    return true;
  }

  // Of what the experts communicate in the passes of a chain that go in this
  // direction, the share that operators of the passes of the other side do not
  // cover. Forward passes are one side, all others the other.
  double Exposed(int64_t c, int32_t begin, int32_t end, Direction direction) {
    if (!graph_.overlaps.experts) return 1;
    double communicated_s = 0;
    double computed_s = 0;
    for (int32_t i = begin; i < end; ++i) {
      const Pass& pass = graph_.passes[i];
      const bool same_side = (pass.direction == Direction::kForward) ==
                             (direction == Direction::kForward);
      VisitSteps(c, pass, [&](const FlatStep& step) {
        if (same_side && step.is_of_experts) communicated_s += step.seconds;
        if (!same_side && !step.is_collective) computed_s += step.seconds;
      });
    }
    if (communicated_s <= 0) return 1;
    return std::max(0.0, 1 - computed_s / communicated_s);
  }

  template <typename Visit>
  void VisitSteps(int64_t c, const Pass& pass, Visit&& visit) const {
    const Program& program = graph_.program;
    const Chunk& chunk =
        program.chunks[ChunkOf(graph_, state_.classes[c].rank, pass).kind];
    for (const BlockRun& run : Runs(program, chunk)) {
      const Block& block = program.blocks[run.block];
      const int32_t begins[] = {block.begin_step, block.backward_step,
                                block.weight_step, block.end_step};
      const auto d = static_cast<size_t>(pass.direction);
      for (int32_t i = 0; i < run.count; ++i) {
        for (int32_t s = begins[d]; s < begins[d + 1]; ++s) {
          visit(*state_.flat.Of(c, s));
        }
      }
    }
  }

  // When transfers behind passes that have ended may start.
  double SendTime(int64_t c, int32_t begin, int32_t end, double end_s) {
    if (!costed_.contention.links) return end_s;
    const RunningClass& running = ClassAt(c);
    double slowest_s = 0;
    for (int32_t i = begin; i < end; ++i) {
      const Pass& pass = graph_.passes[i];
      if (!HandsOn(ChunkOf(graph_, running.rank, pass), pass.direction))
        continue;
      const ChunkPlace to =
          Receiver({running.rank, pass.chunk}, pass.direction, graph_);
      if (graph_.turns_back && to.rank == running.rank) continue;
      const int64_t link =
          LinkClass(graph_.placement, c, OutStream(c, pass, to));
      if (LeavesNode(costed_, graph_.transfer, link)) {
        slowest_s = std::max(
            slowest_s, CollectiveSeconds(costed_, graph_.transfer, link));
      }
    }
    return std::min(running.own.Behind(end_s), end_s + slowest_s);
  }

  Stream OutStream(int64_t c, const Pass& pass, const ChunkPlace& to) {
    const bool to_next = graph_.turns_back
                             ? to.rank > ClassAt(c).rank
                             : pass.direction == Direction::kForward;
    return to_next ? Stream::kSendForward : Stream::kSendBackward;
  }

  double RunUnits(int64_t c, const PlacedChunk& placed, const Pass& pass,
                  double exposed, double start_s) {
    return UnitRunner<Out>(costed_, state_.flat, c, pass, ClassAt(c).memory,
                           state_.pending.data(), state_.units, exposed,
                           sink_.Class(c))
        .Run(graph_.program.chunks[placed.kind], start_s);
  }

  double RunForward(int64_t c, const PlacedChunk& placed, const Pass& pass,
                    double exposed, double start_s) {
    const Program& program = graph_.program;
    BlockRunner<Out> runner(costed_.contention, exposed, pass,
                            ClassAt(c).memory, state_.pending.data(),
                            sink_.Class(c));
    const bool waits = graph_.overlaps.param_gather &&
                       pass.micro_batch == FirstMicroBatch(graph_, pass.chunk);
    double time_s = start_s;
    int32_t block_index = 0;  // counted as in the backward pass
    if (waits) {
      for (const BlockRun& run : Runs(program, program.chunks[placed.kind]))
        block_index += run.count;
    }
    for (const BlockRun& run : Runs(program, program.chunks[placed.kind])) {
      const Block& block = program.blocks[run.block];
      const FlatStep* begin = state_.flat.Of(c, block.begin_step);
      const FlatStep* end = state_.flat.Of(c, block.backward_step);
      for (int32_t i = 0; i < run.count; ++i) {
        if (waits && block.parameters > 0)
          time_s = std::max(time_s,
                            GatherEnd(c, placed, pass.chunk, block_index - 1));
        time_s = runner.template Run<false>(begin, end, time_s,
                                            ClassAt(c).own.beside, nullptr);
        --block_index;
      }
    }
    return time_s;
  }

  // When the parameters of a block are there. Of the buckets that hold some the
  // first to be complete in the backward pass is the last to be gathered: the
  // first that is complete in this block or behind it.
  double GatherEnd(int64_t c, const PlacedChunk& placed, int32_t chunk,
                   int32_t block_index) const {
    for (int32_t b = placed.begin_bucket; b < placed.end_bucket; ++b) {
      if (graph_.buckets[b].block >= block_index)
        return state_.gather_ends[GatherIndex(c, chunk, b)];
    }
    return 0;
  }

  // A backward or a weight pass.
  double RunBackward(int64_t c, const PlacedChunk& placed, const Pass& pass,
                     double exposed, double start_s) {
    const Program& program = graph_.program;
    RunningClass& running = ClassAt(c);
    BlockRunner<Out> runner(costed_.contention, exposed, pass, running.memory,
                            state_.pending.data(), sink_.Class(c));
    const bool weights = pass.direction == Direction::kWeight;
    const bool reduces =
        weights == program.splits_backward &&
        (graph_.reduces_every_backward ||
         pass.micro_batch == EndMicroBatch(graph_, pass.chunk) - 1);
    int32_t bucket = reduces ? placed.begin_bucket : placed.end_bucket;
    const auto runs = Runs(program, program.chunks[placed.kind]);
    double time_s = start_s;
    int32_t block_index = 0;
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      const Block& block = program.blocks[run->block];
      const FlatStep* begin =
          state_.flat.Of(c, weights ? block.weight_step : block.backward_step);
      const FlatStep* end =
          state_.flat.Of(c, weights ? block.end_step : block.weight_step);
      for (int32_t i = 0; i < run->count; ++i, ++block_index) {
        if (bucket == placed.end_bucket ||
            graph_.buckets[bucket].block != block_index) {
          time_s = runner.template Run<false>(begin, end, time_s,
                                              ClassAt(c).own.beside, nullptr);
          continue;
        }
        double* ends = state_.ends.data();
        const double block_start_s = time_s;
        time_s = runner.template Run<true>(begin, end, time_s,
                                           running.own.beside, ends);
        for (; bucket < placed.end_bucket &&
               graph_.buckets[bucket].block == block_index;
             ++bucket) {
          const int32_t step = graph_.buckets[bucket].step;
          const double ready_s = step < 0 ? block_start_s : ends[step];
          running.ready.push_back({bucket, ready_s, pass});
          if (!graph_.overlaps.grad_reduce) continue;
          IssueOwn(c, graph_.buckets[bucket].reduce, ready_s);
          IssueOwn(c, graph_.buckets[bucket].reduce_replicas, ready_s);
        }
      }
    }
    return time_s;
  }

  // Hands on the output of a pass that has ended; a transfer waits until
  // `send_s`.
  void Send(int64_t c, const Pass& pass, double end_s, double send_s) {
    RunningClass& running = ClassAt(c);
    const ChunkPlace to =
        Receiver({running.rank, pass.chunk}, pass.direction, graph_);
    const int64_t receiver = c - running.rank + to.rank;
    if (graph_.turns_back && to.rank == running.rank) {
      Arrival(c, to.chunk, pass.direction, pass.micro_batch) = end_s;
      return;
    }
    const Stream out = OutStream(c, pass, to);
    const bool to_next = out == Stream::kSendForward;
    const int way = to_next ? 0 : 1;
    const Stream in =
        to_next ? Stream::kReceiveForward : Stream::kReceiveBackward;
    const double start_s = std::max(send_s, running.send_free_s[way]);
    const double arrival_s =
        start_s + CollectiveSeconds(costed_, graph_.transfer,
                                    LinkClass(graph_.placement, c, out));
    running.send_free_s[way] = arrival_s;
    Arrival(receiver, to.chunk, pass.direction, pass.micro_batch) = arrival_s;
    if (!graph_.overlaps.p2p) {
      running.compute_free_s = std::max(running.compute_free_s, arrival_s);
    }
    if (graph_.transfer < 0) return;
    const int32_t slot = CollectiveSlot(graph_, graph_.transfer, false);
    Pass received = pass;
    received.chunk = static_cast<int16_t>(to.chunk);
    sink_.Class(c).Run(out, start_s, arrival_s, slot, pass);
    sink_.Class(receiver).Run(in, start_s, arrival_s, slot, received);
  }

  // Reduces what became ready; the kinds of pipeline go together.
  void RunReductions() {
    if (!graph_.overlaps.grad_reduce) {
      for (int64_t c = 0; c < Classes(); ++c) {
        for (ReadyBucket& ready : ClassAt(c).ready)
          ready.ready_s = ClassAt(c).compute_free_s;
      }
    }
    for (int64_t rank = 0; rank < pp_; ++rank) {
      for (size_t i = 0; i < ClassAt(rank).ready.size(); ++i) {
        const Bucket& bucket = graph_.buckets[ClassAt(rank).ready[i].bucket];
        RunReduction(rank, i, bucket.reduce);
        RunReduction(rank, i, bucket.reduce_replicas);
      }
    }
  }

  void RunReduction(int64_t rank, size_t i, int32_t collective) {
    double start_s = 0;
    for (int64_t c = rank; c < Classes(); c += pp_) {
      start_s = std::max(
          {start_s, ClassAt(c).ready[i].ready_s, ClassAt(c).data_free_s});
    }
    for (int64_t c = rank; c < Classes(); c += pp_)
      RunData(c, collective, start_s, ClassAt(c).ready[i].pass);
  }

  // What follows the last pass. From here on a class does one thing at a time;
  // `data_free_s` is when it is done.
  void RunTail() {
    for (int64_t c = 0; c < Classes(); ++c) {
      RunningClass& running = ClassAt(c);
      running.data_free_s =
          std::max(running.data_free_s, running.compute_free_s);
      RunReplicatedGradients(c);
    }
    for (int64_t first = 0; first < Classes(); first += pp_) {
      if (graph_.bidirectional) RunCopiedGradients(first);
      RunEmbeddingGradients(first);
    }
    double all_s = 0;
    for (int64_t c = 0; c < Classes(); ++c) {
      RunOperator(c, graph_.program.stages[ClassAt(c).rank].gradient_norm);
      all_s = std::max(all_s, ClassAt(c).data_free_s);
    }
    for (int64_t c = 0; c < Classes(); ++c) {
      RunData(c, graph_.gradient_norm, all_s, NoPass());
      const Stage& stage = graph_.program.stages[ClassAt(c).rank];
      RunOperator(c, stage.gradients_to_host);
      RunOperator(c, stage.optimizer);
      RunOperator(c, stage.weights_to_device);
      if (!graph_.overlaps.param_gather) Gather(c);
    }
  }

  static Pass NoPass() {
    Pass pass;
    pass.micro_batch = -1;
    return pass;
  }

  void RunReplicatedGradients(int64_t c) {
    RunningClass& running = ClassAt(c);
    const int32_t collective = graph_.replicated_gradients[running.rank];
    if (collective < 0) return;
    const double start_s = running.data_free_s;
    running.data_free_s += CollectiveSeconds(costed_, collective, c);
    sink_.Class(c).Run(Stream::kTensor, start_s, running.data_free_s,
                       CollectiveSlot(graph_, collective, false), NoPass());
  }

  void RunCopiedGradients(int64_t first) {
    for (int64_t rank = 0; rank < pp_ / 2; ++rank) {
      const int64_t copy = pp_ - 1 - rank;
      const double start_s = std::max(ClassAt(first + rank).data_free_s,
                                      ClassAt(first + copy).data_free_s);
      for (const int64_t of : {rank, copy}) {
        RunData(first + of, graph_.copied_gradients[of], start_s, NoPass());
      }
    }
  }

  void RunEmbeddingGradients(int64_t first) {
    const int64_t last = first + pp_ - 1;
    const double start_s =
        std::max(ClassAt(first).data_free_s, ClassAt(last).data_free_s);
    RunData(first, graph_.embedding_gradients, start_s, NoPass());
    if (last != first)
      RunData(last, graph_.embedding_gradients, start_s, NoPass());
  }

  void RunOperator(int64_t c, int32_t op) {
    if (op < 0) return;
    RunningClass& running = ClassAt(c);
    const double start_s = running.data_free_s;
    running.data_free_s += costed_.operators[op].seconds;
    sink_.Class(c).Run(Stream::kCompute, start_s, running.data_free_s,
                       OperatorSlot(op, false), NoPass());
  }

  const CostedGraph& costed_;
  const ExecutionGraph& graph_;
  RunState& state_;
  Sink& sink_;
  const int64_t pp_;
};

}  // namespace lmsimbench
