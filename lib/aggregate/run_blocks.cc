#include "lib/aggregate/run_blocks.h"

#include <algorithm>

namespace lmsimbench::aggregate {
namespace {

class BlockRunner {
 public:
  BlockRunner(const CostedGraph& costed, const Folds& folds, int64_t rank_class,
              const Pass& pass, int32_t variant, ClassTimes& mine)
      : costed_(costed),
        graph_(costed.graph),
        folds_(folds),
        rank_class_(rank_class),
        rank_(graph_.placement.classes[rank_class].pipeline_rank),
        variant_(variant),
        pass_(pass),
        chunk_(ChunkOf(graph_, rank_, pass)),
        mine_(mine) {}

  size_t Run(double start, size_t segment_count) {
    const Program& program = graph_.program;
    const Chunk& blocks = program.chunks[chunk_.kind];
    const int32_t count = RepeatedBlocks(program, blocks);
    MakeRoom(segment_count + 2 * static_cast<size_t>(count));
    segment_ = mine_.segments.data() + segment_count;
    free_ = start;
    bucket_ = Reduces() ? chunk_.begin_bucket : chunk_.end_bucket;
    const bool waits =
        pass_.direction == Direction::kForward && GathersAtBegin(graph_) &&
        pass_.micro_batch == FirstMicroBatch(graph_, pass_.chunk);
    int32_t gathered = chunk_.end_bucket;
    int32_t index = 0;
    VisitRuns(program, blocks, pass_.direction, [&](const BlockRun& run) {
      for (int32_t i = 0; i < run.count; ++i, ++index) {
        if (waits && program.blocks[run.block].parameters > 0) {
          Wait(count - 1 - index, gathered);
        }
        RunBlock(run.block, index);
      }
    });
    return segment_ - mine_.segments.data();
  }

 private:
  bool Reduces() const {
    return pass_.direction == lower::LastDirection(graph_.program) &&
           graph_.overlaps.grad_reduce &&
           (graph_.reduces_every_backward ||
            pass_.micro_batch + 1 == EndMicroBatch(graph_, pass_.chunk));
  }

  // There is room for all but what passes that run block by block add.
  void MakeRoom(size_t needed) {
    const size_t passes = Passes(graph_, rank_).size();
    needed += 2 * passes + kMostFinishOperators;
    if (mine_.segments.size() < needed) mine_.segments.resize(2 * needed);
  }

  // Waits for the parameters of a block, counted in the order of the backward
  // pass. Buckets stand in that order, too; so a block waits for the first
  // bucket that holds a part of it, which is gathered last. `bucket` is where
  // the block before it left off.
  void Wait(int32_t block_index, int32_t& bucket) {
    while (bucket > chunk_.begin_bucket &&
           graph_.buckets[bucket - 1].block >= block_index) {
      --bucket;
    }
    if (bucket == chunk_.end_bucket) return;
    // The gathers of a rank stand in its data stream, first of all.
    size_t first_gather = 0;
    for (int32_t c = 0; c < pass_.chunk; ++c) {
      const PlacedChunk& before =
          graph_.chunks[rank_ * graph_.chunks_per_rank + c];
      first_gather += before.end_bucket - before.begin_bucket;
    }
    free_ = std::max(
        free_, mine_.data[first_gather + (chunk_.end_bucket - 1 - bucket)].end);
  }

  void RunBlock(int32_t index, int32_t block_index) {
    const FoldedBlock& block = folds_.block(index, pass_.direction, variant_);
    const Beside beside = {std::max(0.0, mine_.traffic.until - free_),
                           std::max(0.0, mine_.traffic.links_until - free_)};
    const double start = free_;
    Append(block.duration,
           static_cast<Segment::What>(
               static_cast<int>(Segment::What::kForwardBlock) +
               static_cast<int>(pass_.direction)),
           folds_.Index(index, pass_.direction, variant_));
    if (beside.data > 0 && costed_.contention.any()) {
      const double slowed =
          SlowedSeconds(costed_.contention, folds_, block, beside);
      if (slowed > 0) Append(slowed, Segment::What::kDelay, 0);
      mine_.slowed += slowed;
    }
    for (; bucket_ < chunk_.end_bucket &&
           graph_.buckets[bucket_].block == block_index;
         ++bucket_) {
      Issue(graph_.buckets[bucket_], index, start);
    }
  }

  void Append(double seconds, Segment::What what, int32_t index) {
    const double end = free_ + seconds;
    *segment_++ = {free_, end, end, what, index};
    free_ = end;
  }

  // Issues the reduction of a bucket that becomes ready in a block.
  void Issue(const Bucket& bucket, int32_t index, double start) {
    const Block& block = graph_.program.blocks[index];
    const int32_t first = graph_.program.splits_backward ? block.weight_step
                                                         : block.backward_step;
    const double ready =
        bucket.step < 0
            ? start
            : start + folds_.step_end[(first + bucket.step) * folds_.variants +
                                      variant_];
    mine_.traffic.ready.push_back(ready);
    for (const int32_t collective : {bucket.reduce, bucket.reduce_replicas}) {
      if (collective < 0) continue;
      mine_.traffic.Issue(ready,
                          CollectiveSeconds(costed_, collective, rank_class_),
                          LeavesNode(costed_, collective, rank_class_));
    }
  }

  const CostedGraph& costed_;
  const ExecutionGraph& graph_;
  const Folds& folds_;
  const int64_t rank_class_;
  const int64_t rank_;
  const int32_t variant_;
  const Pass& pass_;
  const PlacedChunk& chunk_;
  ClassTimes& mine_;
  Segment* segment_ = nullptr;
  double free_ = 0;
  int32_t bucket_ = 0;
};

}  // namespace

size_t RunBlocks(const CostedGraph& costed, const Folds& folds,
                 int64_t rank_class, size_t at, double start,
                 size_t segment_count, ClassTimes& mine) {
  mine.blockwise.push_back({at, segment_count});
  const int64_t rank = costed.graph.placement.classes[rank_class].pipeline_rank;
  return BlockRunner(costed, folds, rank_class, Passes(costed.graph, rank)[at],
                     VariantOf(folds, rank_class, at), mine)
      .Run(start, segment_count);
}

}  // namespace lmsimbench::aggregate
