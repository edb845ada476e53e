#include "test/aggregate/execute_random.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "fmt/format.h"
#include "test/aggregate/execute_graphs.h"

namespace lmsimbench::hand_made {
namespace {

class Drawer {
 public:
  explicit Drawer(uint32_t seed) : random_(seed) {}

  CostedGraph Draw() {
    pp_ = Number(1, 3);
    chunks_ = pp_ > 1 ? Number(1, 2) : 1;
    kinds_ = Number(1, 2);
    micro_batches_ = Number(1, 4);
    costed_ = Pipelines(pp_, kinds_, chunks_, micro_batches_);
    ExecutionGraph& graph = costed_.graph;
    graph.overlaps = {Toss(), Toss(), Toss()};
    graph.reduces_every_backward = Number(0, 3) == 0;
    splits_ = graph.program.splits_backward = Toss();
    graph.turns_back = chunks_ == 2 && Toss();
    DrawCosts();
    DrawChunks();
    for (int32_t rank = 0; rank < pp_; ++rank) DrawSchedule(rank);
    DrawTail();
    return std::move(costed_);
  }

 private:
  int32_t Number(int32_t from, int32_t to) {
    return std::uniform_int_distribution<int32_t>(from, to)(random_);
  }
  bool Toss() { return Number(0, 1) == 1; }
  double Seconds() {
    return Number(0, 2) == 0 ? Number(0, 3) : Number(0, 64) / 16.0;
  }
  int32_t Maybe(int32_t index) { return Number(0, 3) == 0 ? -1 : index; }

  int32_t DrawCollective(CollectiveKind kind, Group group) {
    return AddCollective(costed_, kind, group, {Seconds(), Seconds()});
  }

  void DrawCosts() {
    for (int i = 0; i < kOperators; ++i) {
      AddOperator(costed_, OperatorKind::kMlpUp, OperatorPass::kForward,
                  Seconds());
    }
    for (int i = 0; i < kTensorCollectives; ++i)
      DrawCollective(CollectiveKind::kAllReduce, Group::kTensor);
    reduce_ = DrawCollective(CollectiveKind::kReduceScatter, Group::kShard);
    replicas_ = DrawCollective(CollectiveKind::kAllReduce, Group::kReplica);
    gather_ = DrawCollective(CollectiveKind::kAllGather, Group::kShard);
    costed_.graph.transfer =
        DrawCollective(CollectiveKind::kSendReceive, Group::kPipeline);
    if (pp_ == 1) costed_.graph.transfer = -1;
    for (int64_t c = 0; c < pp_ * kinds_; ++c) {
      for (int group = 0; group < kGroups; ++group)
        UseSpan(costed_, c, static_cast<Group>(group), Number(0, 1));
    }
  }

  std::vector<Step> DrawSteps() {
    std::vector<Step> steps(Number(1, 6));
    for (Step& step : steps) {
      step = Number(0, 2) == 0 ? Communicate(Number(0, kTensorCollectives - 1))
                               : Compute(Number(0, kOperators - 1), Toss());
      if (Number(0, 3) == 0) step = Again(step);
      step = WithMemory(step, Number(0, 2) * Number(0, 9),
                        Number(0, 2) * Number(0, 9));
    }
    return steps;
  }

  // Buckets at some of the places of a chunk, in the order of its backward
  // pass.
  std::vector<Bucket> DrawBuckets(int32_t kind) {
    const Program& program = costed_.graph.program;
    std::vector<Bucket> buckets;
    const auto runs = Runs(program, program.chunks[kind]);
    int32_t block_index = 0;
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      const Block& block = program.blocks[run->block];
      const auto steps =
          static_cast<int32_t>((splits_ ? WeightSteps(program, block)
                                        : BackwardSteps(program, block))
                                   .size());
      for (int32_t i = 0; i < run->count; ++i, ++block_index) {
        for (int32_t step = splits_ ? -1 : 0; step < steps; ++step) {
          if (Number(0, 3) != 0) continue;
          Bucket bucket;
          bucket.block = block_index;
          bucket.step = step;
          bucket.reduce = Maybe(reduce_);
          bucket.reduce_replicas = Maybe(replicas_);
          bucket.gather = Maybe(gather_);
          buckets.push_back(bucket);
        }
      }
    }
    return buckets;
  }

  // Gives the last chunk, now and then, the buckets of one of its kind.
  void ShareBuckets() {
    PlacedChunk& last = costed_.graph.chunks.back();
    for (const PlacedChunk& placed : costed_.graph.chunks) {
      if (placed.kind != last.kind || !Toss()) continue;
      last.begin_bucket = placed.begin_bucket;
      last.end_bucket = placed.end_bucket;
    }
  }

  void DrawChunks() {
    const int32_t blocks = Number(1, 3);
    for (int32_t i = 0; i < blocks; ++i) {
      const std::vector<Step> forward = DrawSteps();
      const std::vector<Step> backward = DrawSteps();
      AddBlock(costed_, forward, backward, Number(0, 2),
               splits_ ? DrawSteps() : std::vector<Step>());
    }
    const int32_t kinds = Number(1, 3);
    for (int32_t i = 0; i < kinds; ++i) {
      std::vector<BlockRun> runs(Number(1, 3));
      for (BlockRun& run : runs) run = {Number(0, blocks - 1), Number(1, 3)};
      AddChunk(costed_, runs);
    }
    for (int32_t i = 0; i < pp_ * chunks_; ++i) {
      const int32_t kind = Number(0, kinds - 1);
      PlaceChunk(costed_, kind, DrawBuckets(kind));
      ShareBuckets();
    }
  }

  void DrawSchedule(int32_t rank) {
    std::string passes;
    const int32_t warm_up = chunks_ > 1 || uses_gpipe_
                                ? micro_batches_
                                : std::min(micro_batches_, pp_ - rank - 1);
    for (int32_t chunk = 0; chunk < chunks_; ++chunk) {
      for (int32_t m = 0; m < warm_up; ++m)
        passes += fmt::format("F{}.{} ", m, chunk);
    }
    for (int32_t m = warm_up; m < micro_batches_; ++m) {
      passes += fmt::format("F{}.0 ", m);
      passes += Backward(m - warm_up, 0);
    }
    for (int32_t chunk = chunks_ - 1; chunk >= 0; --chunk) {
      for (int32_t m = micro_batches_ - warm_up; m < micro_batches_; ++m)
        passes += Backward(m, chunk);
    }
    passes += left_over_;
    left_over_.clear();
    AddSchedule(costed_, passes.c_str());
  }

  // A backward pass and, where these are split, weight passes that have been
  // left over, this one's among them now and then.
  std::string Backward(int32_t micro_batch, int32_t chunk) {
    if (!splits_) return fmt::format("B{}.{} ", micro_batch, chunk);
    if (costed_.graph.turns_back && Toss())
      return fmt::format("B{0}.{1}+ W{0}.{1} ", micro_batch, chunk);
    std::string passes = fmt::format("B{}.{} ", micro_batch, chunk);
    left_over_ += fmt::format("W{}.{} ", micro_batch, chunk);
    if (Toss()) return passes;
    passes += left_over_;
    left_over_.clear();
    return passes;
  }

  void DrawTail() {
    ExecutionGraph& graph = costed_.graph;
    for (int32_t& replicated : graph.replicated_gradients)
      replicated = Maybe(Number(0, kTensorCollectives - 1));
    graph.embedding_gradients =
        Maybe(DrawCollective(CollectiveKind::kAllReduce, Group::kEmbedding));
    graph.gradient_norm =
        Maybe(DrawCollective(CollectiveKind::kAllReduce, Group::kModel));
    for (Stage& stage : graph.program.stages) {
      stage.gradient_norm = Number(0, kOperators - 1);
      stage.optimizer = Number(0, kOperators - 1);
      stage.gradients_to_host = Maybe(Number(0, kOperators - 1));
      stage.weights_to_device = Maybe(Number(0, kOperators - 1));
      stage.weights_bytes = Number(0, 9);
      stage.optimizer_bytes = Number(0, 9);
    }
  }

  static constexpr int kOperators = 4;
  static constexpr int kTensorCollectives = 3;

  std::mt19937 random_;
  CostedGraph costed_;
  int32_t pp_ = 1;
  int32_t chunks_ = 1;
  int32_t kinds_ = 1;
  int32_t micro_batches_ = 1;
  bool splits_ = false;
  std::string left_over_;
  bool uses_gpipe_ = Toss();
  int32_t reduce_ = -1;
  int32_t replicas_ = -1;
  int32_t gather_ = -1;
};

}  // namespace

CostedGraph RandomGraph(uint32_t seed) { return Drawer(seed).Draw(); }

}  // namespace lmsimbench::hand_made
