#include <algorithm>

#include "lib/aggregate/simulate.h"

namespace lmsimbench::aggregate {
namespace {

// When each bucket of a pass is ready, by its position in the pass that
// completes gradients.
double ReadyAt(const Program& program, const Folds& folds, int32_t kind,
               int32_t variant, const Bucket& bucket) {
  const BlockAt at =
      FindBlock(program, folds, kind, lower::LastDirection(program), variant,
                bucket.block);
  if (bucket.step < 0) return at.start;
  const Block& block = program.blocks[at.block];
  const int32_t first =
      program.splits_backward ? block.weight_step : block.backward_step;
  return at.start +
         folds.step_end[(first + bucket.step) * folds.variants + variant];
}

class Finish {
 public:
  Finish(const CostedGraph& costed, const Folds& folds, IterationTimes& times)
      : costed_(costed),
        graph_(costed.graph),
        folds_(folds),
        times_(times),
        pp_(graph_.placement.pp),
        kinds_(static_cast<int64_t>(times.classes.size()) / pp_) {}

  void Run() {
    for (int64_t rank = 0; rank < pp_; ++rank) ReduceGradients(rank);
    for (auto& mine : times_.classes) {
      mine.compute_free = std::max(mine.compute_free, mine.data_free);
    }
    for (int64_t c = 0; c < classes(); ++c) ReduceReplicated(c);
    if (graph_.bidirectional) {
      for (int64_t c = 0; c < classes(); ++c) {
        if (c % pp_ < pp_ / 2) ReduceCopies(c);
      }
    }
    if (graph_.embedding_gradients >= 0) {
      for (int64_t kind = 0; kind < kinds_; ++kind) ReduceEmbedding(kind);
    }
    double everyone = 0;
    for (int64_t c = 0; c < classes(); ++c) {
      Operator(c, stage(c).gradient_norm);
      everyone = std::max(everyone, times_.classes[c].compute_free);
    }
    times_.iteration_time = 0;
    for (int64_t c = 0; c < classes(); ++c) {
      ClassTimes& mine = times_.classes[c];
      if (graph_.gradient_norm >= 0) mine.compute_free = everyone;
      Data(c, graph_.gradient_norm);
      Operator(c, stage(c).gradients_to_host);
      Operator(c, stage(c).optimizer);
      Operator(c, stage(c).weights_to_device);
      if (!graph_.overlaps.param_gather) GatherParameters(c);
      mine.end = std::max(mine.compute_free, LastTransfer(c));
      times_.iteration_time = std::max(times_.iteration_time, mine.end);
    }
  }

 private:
  int64_t classes() const { return kinds_ * pp_; }
  const Stage& stage(int64_t rank_class) const {
    return graph_.program.stages[rank_class % pp_];
  }

  // One reduction of a pipeline rank: all kinds of pipeline start together.
  template <typename ReadyTime>
  void Reduce(int64_t rank, int32_t collective, ReadyTime&& ready) {
    if (collective < 0) return;
    double start = 0;
    for (int64_t c = rank; c < classes(); c += pp_) {
      start = std::max({start, times_.classes[c].data_free, ready(c)});
    }
    for (int64_t c = rank; c < classes(); c += pp_) {
      ClassTimes& mine = times_.classes[c];
      mine.data_free = start + CollectiveSeconds(costed_, collective, c);
      mine.data.push_back({start, mine.data_free});
    }
  }

  // True if the gradients of a pass are complete and reduced behind it.
  bool Reduces(const Pass& pass) const {
    return pass.direction == lower::LastDirection(graph_.program) &&
           (graph_.reduces_every_backward ||
            pass.micro_batch + 1 == EndMicroBatch(graph_, pass.chunk));
  }

  void ReduceGradients(int64_t rank) {
    const auto passes = Passes(graph_, rank);
    // Most schedules have them at their end.
    size_t at = passes.size();
    int64_t left = graph_.chunks_per_rank;
    if (graph_.reduces_every_backward) {
      left = 0;
      for (int32_t c = 0; c < graph_.chunks_per_rank; ++c) {
        left += EndMicroBatch(graph_, c) - FirstMicroBatch(graph_, c);
      }
    }
    while (left > 0 && at > 0) left -= Reduces(passes[--at]) ? 1 : 0;
    size_t ready = 0;
    for (; at < passes.size(); ++at) {
      if (!Reduces(passes[at])) continue;
      const PlacedChunk& chunk = ChunkOf(graph_, rank, passes[at]);
      for (int32_t b = chunk.begin_bucket; b < chunk.end_bucket; ++b) {
        const Bucket& bucket = graph_.buckets[b];
        Reduce(rank, bucket.reduce, [&](int64_t c) {
          const ClassTimes& mine = times_.classes[c];
          if (!graph_.overlaps.grad_reduce) return mine.compute_free;
          if (costed_.contention.any()) return mine.traffic.ready[ready];
          return mine.pass_start[at] +
                 ReadyAt(graph_.program, folds_, chunk.kind,
                         VariantOf(folds_, c, at), bucket);
        });
        Reduce(rank, bucket.reduce_replicas, [](int64_t) { return 0.0; });
        ++ready;
      }
    }
  }

  // Sequence parallelism leaves partial sums of what every tensor rank holds.
  void ReduceReplicated(int64_t rank_class) {
    ClassTimes& mine = times_.classes[rank_class];
    const int32_t collective = graph_.replicated_gradients[rank_class % pp_];
    if (collective < 0) return;
    const double start = mine.compute_free;
    mine.compute_free += CollectiveSeconds(costed_, collective, rank_class);
    mine.tensor = {start, mine.compute_free};
  }

  // The ranks of a pair add the gradients of the stages that both hold.
  void ReduceCopies(int64_t rank_class) {
    const int64_t rank = rank_class % pp_;
    const int64_t other = rank_class + pp_ - 1 - 2 * rank;
    if (graph_.copied_gradients[rank] < 0) return;
    const double start = std::max(times_.classes[rank_class].compute_free,
                                  times_.classes[other].compute_free);
    for (const int64_t c : {rank_class, other}) {
      times_.classes[c].compute_free = start;
      Data(c, graph_.copied_gradients[c % pp_]);
    }
  }

  // First and last rank of a pipeline add what they have of the embedding.
  void ReduceEmbedding(int64_t kind) {
    const int64_t first = kind * pp_;
    const int64_t last = first + pp_ - 1;
    const double start = std::max(times_.classes[first].compute_free,
                                  times_.classes[last].compute_free);
    times_.classes[first].compute_free = start;
    times_.classes[last].compute_free = start;
    Data(first, graph_.embedding_gradients);
    if (last != first) Data(last, graph_.embedding_gradients);
  }

  // A collective on the data stream that computation waits for.
  void Data(int64_t rank_class, int32_t collective) {
    if (collective < 0) return;
    ClassTimes& mine = times_.classes[rank_class];
    const double start = mine.compute_free;
    mine.compute_free += CollectiveSeconds(costed_, collective, rank_class);
    mine.data.push_back({start, mine.compute_free});
  }

  void Operator(int64_t rank_class, int32_t op) {
    if (op < 0) return;
    ClassTimes& mine = times_.classes[rank_class];
    const double start = mine.compute_free;
    mine.compute_free += costed_.operators[op].seconds;
    mine.segments[mine.segment_count++] = {start, mine.compute_free,
                                           mine.compute_free,
                                           Segment::What::kOperator, op};
  }

  void GatherParameters(int64_t rank_class) {
    const int64_t rank = rank_class % pp_;
    for (int32_t c = 0; c < graph_.chunks_per_rank; ++c) {
      const PlacedChunk& chunk =
          graph_.chunks[rank * graph_.chunks_per_rank + c];
      for (int32_t b = chunk.end_bucket - 1; b >= chunk.begin_bucket; --b) {
        Data(rank_class, graph_.buckets[b].gather);
      }
    }
  }

  // End of the last transfer at either end of it.
  double LastTransfer(int64_t rank_class) const {
    const auto& all = times_.classes;
    const ClassTimes& mine = all[rank_class];
    const ClassTimes& previous =
        all[PreviousClass(graph_.placement, rank_class)];
    const ClassTimes& next = all[NextClass(graph_.placement, rank_class)];
    const auto last = [](const ClassTimes& sender, size_t direction) {
      const size_t count = sender.sent_count[direction];
      return count == 0 ? 0 : sender.sent[direction][count - 1].end;
    };
    return std::max(
        {last(mine, 0), last(mine, 1), last(previous, 0), last(next, 1)});
  }

  const CostedGraph& costed_;
  const ExecutionGraph& graph_;
  const Folds& folds_;
  IterationTimes& times_;
  const int64_t pp_;
  const int64_t kinds_;
};

}  // namespace

void SimulateFinish(const CostedGraph& costed, const Folds& folds,
                    IterationTimes& times) {
  Finish(costed, folds, times).Run();
}

}  // namespace lmsimbench::aggregate
