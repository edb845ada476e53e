#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "lib/aggregate/execute.h"
#include "lmsimbench/timeline.h"
#include "test/aggregate/run_stages.h"
#include "test/pipelines.h"

/// \file
/// Passes whose parameters are sharded, against what can be said in closed
/// form.

namespace lmsimbench {
namespace {

// A random number of ticks of 2^-20 s, so that every sum is exact.
double RandomSeconds(std::mt19937_64& random) {
  return std::ldexp(static_cast<double>(1 + random() % 1000), -20);
}

// Seconds of the three kinds of block.
struct OfBlocks {
  double embedding = 0;
  double layer = 0;
  double head = 0;
};

struct Times {
  OfBlocks forward;
  OfBlocks backward;
  OfBlocks gather;
  OfBlocks reduce;
};

OfBlocks RandomOfBlocks(std::mt19937_64& random) {
  return {RandomSeconds(random), RandomSeconds(random), RandomSeconds(random)};
}

// Three ranks, so that the bytes of embedding (512 * 1024 parameters), head
// (the same and a norm) and layer tell which unit a collective is of.
constexpr int64_t kEmbeddingBytes = int64_t{2} * 512 * 1024;
constexpr int64_t kHeadBytes = kEmbeddingBytes + 2 * 512;

double OfBytes(const OfBlocks& of, int64_t bytes) {
  if (bytes == kEmbeddingBytes) return of.embedding;
  if (bytes == kHeadBytes) return of.head;
  return of.layer;
}

FixedModel ModelOf(const Times& times) {
  FixedModel model({0, Evidence::kAnalytic});
  model.of_operator = [times](const Operator& op) {
    const bool forward = op.pass == OperatorPass::kForward;
    const OfBlocks& of = forward ? times.forward : times.backward;
    double seconds = 0;
    if (op.kind == OperatorKind::kEmbedding) seconds = of.embedding;
    if (forward || op.pass == OperatorPass::kInputGradient) {
      if (op.kind == OperatorKind::kQkvProjection) seconds = of.layer;
      if (op.kind == OperatorKind::kOutputLayer) seconds = of.head;
    }
    return Cost{seconds, Evidence::kAnalytic};
  };
  model.of_collective = [times](const SpannedCollective& c) {
    double seconds = 0;
    if (c.collective.kind == CollectiveKind::kAllGather) {
      seconds = OfBytes(times.gather, c.collective.bytes);
    }
    if (c.collective.kind == CollectiveKind::kReduceScatter) {
      seconds = OfBytes(times.reduce, c.collective.bytes);
    }
    return Cost{seconds, Evidence::kAnalytic};
  };
  return model;
}

ParallelConfig Sharded() {
  ParallelConfig config = Pipeline(1);
  config.dp = 3;
  config.zero = ZeroStage::kParameters;
  return config;
}

// Block by block in the order of a pass.
std::vector<double> InOrder(const OfBlocks& of, int64_t layers, bool forward) {
  std::vector<double> all(static_cast<size_t>(layers), of.layer);
  all.insert(all.begin(), of.embedding);
  all.push_back(of.head);
  if (!forward) std::reverse(all.begin(), all.end());
  return all;
}

// Of a forward pass: the first gather, and of every other one what the block
// before it does not cover.
double ExposedForward(const Times& times, int64_t layers) {
  const auto compute = InOrder(times.forward, layers, true);
  const auto gather = InOrder(times.gather, layers, true);
  double exposed = gather[0];
  for (size_t i = 0; i + 1 < compute.size(); ++i) {
    exposed += std::max(0.0, gather[i + 1] - compute[i]);
  }
  return exposed;
}

// Of a backward pass, where the head is still there: beside every block the
// reduction of the block before it and the gather of the one behind it, and
// behind the last one its own reduction.
double ExposedBackward(const Times& times, int64_t layers) {
  const auto compute = InOrder(times.backward, layers, false);
  const auto gather = InOrder(times.gather, layers, false);
  const auto reduce = InOrder(times.reduce, layers, false);
  double exposed = reduce.back();
  for (size_t i = 0; i < compute.size(); ++i) {
    double beside = 0;
    if (i > 0) beside += reduce[i - 1];
    if (i + 1 < compute.size()) beside += gather[i + 1];
    exposed += std::max(0.0, beside - compute[i]);
  }
  return exposed;
}

double Sum(const std::vector<double>& seconds) {
  double sum = 0;
  for (const double s : seconds) sum += s;
  return sum;
}

double ComputeSeconds(const Times& times, int64_t layers) {
  return Sum(InOrder(times.forward, layers, true)) +
         Sum(InOrder(times.backward, layers, false));
}

// Gathers of both passes but the head's second, and reductions.
double DataSeconds(const Times& times, int64_t layers) {
  return 2 * Sum(InOrder(times.gather, layers, true)) - times.gather.head +
         Sum(InOrder(times.reduce, layers, true));
}

TEST_CASE(
    "what a unit ahead does not cover of gathers and reductions is exposed") {
  std::mt19937_64 random(1);
  Stages stages;
  for (int i = 0; i < 500; ++i) {
    const auto layers = static_cast<int64_t>(1 + random() % 6);
    const auto m = static_cast<int64_t>(1 + random() % 4);
    const Times times = {RandomOfBlocks(random), RandomOfBlocks(random),
                         RandomOfBlocks(random), RandomOfBlocks(random)};
    CAPTURE(layers, m);
    RunStages(SmallWorkload(layers, 3 * m), Sharded(), TestSystem(),
              ModelOf(times), stages);
    const auto passes = static_cast<double>(m);
    const double compute = passes * ComputeSeconds(times, layers);
    const double exposed = passes * (ExposedForward(times, layers) +
                                     ExposedBackward(times, layers));
    CHECK(stages.prediction.iteration_time_s == compute + exposed);
    REQUIRE(stages.prediction.ranks.size() == 1);
    const RankPrediction& rank = stages.prediction.ranks[0];
    CHECK(rank.compute_s == compute);
    CHECK(rank.exposed_communication_s == exposed);
    CHECK(rank.overlapped_communication_s ==
          passes * DataSeconds(times, layers) - exposed);
    CHECK(rank.bubble_s == 0);
    CHECK(stages.prediction.time.data_communication_s == exposed);
    CHECK(stages.prediction.time.tensor_communication_s == 0);
  }
}

TEST_CASE("units that do not run ahead are exposed") {
  std::mt19937_64 random(2);
  Stages stages;
  ParallelConfig config = Sharded();
  config.overlap_param_gather = YesNo::kNo;
  for (const YesNo reduce : {YesNo::kNo, YesNo::kYes}) {
    config.overlap_grad_reduce = reduce;
    const Times times = {RandomOfBlocks(random), RandomOfBlocks(random),
                         RandomOfBlocks(random), RandomOfBlocks(random)};
    RunStages(SmallWorkload(4, 3), config, TestSystem(), ModelOf(times),
              stages);
    const RankPrediction& rank = stages.prediction.ranks[0];
    CHECK(rank.exposed_communication_s == DataSeconds(times, 4));
    CHECK(rank.overlapped_communication_s == 0);
  }
}

TEST_CASE("reductions that do not run beside are exposed, gathers are ahead") {
  std::mt19937_64 random(3);
  Stages stages;
  ParallelConfig config = Sharded();
  config.overlap_grad_reduce = YesNo::kNo;
  const Times times = {RandomOfBlocks(random), RandomOfBlocks(random),
                       RandomOfBlocks(random), RandomOfBlocks(random)};
  RunStages(SmallWorkload(4, 3), config, TestSystem(), ModelOf(times), stages);
  Times free_reductions = times;
  free_reductions.reduce = {};
  CHECK(stages.prediction.ranks[0].exposed_communication_s ==
        ExposedForward(times, 4) + ExposedBackward(free_reductions, 4) +
            Sum(InOrder(times.reduce, 4, false)));
}

TEST_CASE("gathers that computation covers leave the first of the pass") {
  Stages stages;
  const Times times = {{8, 8, 8}, {16, 16, 16}, {1, 2, 4}, {1, 2, 4}};
  RunStages(SmallWorkload(4, 6), Sharded(), TestSystem(), ModelOf(times),
            stages);
  // Two micro-batches: forward the embedding's gather, backward its reduction.
  CHECK(stages.prediction.ranks[0].exposed_communication_s == 2 * (1 + 1));
}

// A head whose logits are the highest of all.
Workload HighHead() {
  Workload workload = SmallWorkload(4, 3);
  workload.model.vocab = 16384;
  workload.seq_len = 2048;
  return workload;
}
constexpr int64_t kHighHeadBytes = int64_t{2} * 512 * 16384 + 2 * 512;

TEST_CASE("beside the head lie its weights, its gradients and a layer whole") {
  Workload workload = HighHead();
  workload.precision = Precision::kBf16;
  Stages stages;
  const auto peak = [&](const ParallelConfig& config) {
    RunStages(workload, config, TestSystem(),
              ModelOf({{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}), stages);
    return stages.prediction.ranks[0];
  };
  const RankPrediction sharded = peak(Sharded());
  const Stage& stage = stages.program.stages[0];
  // Of an odd number over three, rounded up.
  const auto bytes = static_cast<double>((4 * stage.parameters + 2) / 3);
  CHECK(sharded.memory.weights_bytes == bytes);
  CHECK(sharded.memory.gradients_bytes == bytes);
  CHECK(sharded.memory.optimizer_bytes ==
        static_cast<double>((8 * stage.parameters + 2) / 3));
  // Activations are highest at the begin of the backward pass, beside the head
  // and its gradient, and the layer that is gathered.
  ParallelConfig whole = Sharded();
  whole.zero = ZeroStage::kNone;
  whole.overlap_param_gather = whole.overlap_grad_reduce = YesNo::kNo;
  const RankPrediction replicated = peak(whole);
  const auto layer_bytes = static_cast<double>(
      2 * (3 * 512 * 512 + 512 * 512 + 3 * 512 * 1024 + 2 * 512));
  CHECK(sharded.memory.activations_bytes ==
        replicated.memory.activations_bytes);
  CHECK(sharded.memory.logits_bytes == replicated.memory.logits_bytes);
  CHECK(sharded.memory.buffers_bytes - replicated.memory.buffers_bytes ==
        2 * kHighHeadBytes + layer_bytes);
  // Nothing is gathered ahead.
  ParallelConfig one = Sharded();
  one.overlap_param_gather = YesNo::kNo;
  CHECK(peak(one).memory.buffers_bytes - replicated.memory.buffers_bytes ==
        2 * kHighHeadBytes);
}

TEST_CASE(
    "in the middle of a backward pass two layers and two gradients lie there") {
  // A head without logits to speak of, and a recomputed layer with much in it.
  Workload workload = SmallWorkload(6, 3);
  workload.model.vocab = 128;
  workload.seq_len = 1024;
  ParallelConfig config = Sharded();
  config.recompute = Recompute::kFull;
  Stages stages;
  RunStages(workload, config, TestSystem(),
            ModelOf({{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}), stages);
  const auto& blocks = stages.program.blocks;
  const auto of_kind = [&](BlockKind kind) {
    return std::find_if(blocks.begin(), blocks.end(),
                        [&](const Block& b) { return b.kind == kind; }) -
           blocks.begin();
  };
  const auto layer = of_kind(BlockKind::kLayers);
  const Unit unit = stages.graph.units[layer];
  const int64_t head_gradients =
      stages.graph.units[of_kind(BlockKind::kHead)].gradients_bytes;
  const double sharded = stages.prediction.peak_memory_bytes;
  const double at = stages.prediction.ranks[0].peak_time_s;
  // The same without whole weights and gradients.
  for (Unit& u : stages.costed.graph.units) {
    u.weights_bytes = u.gradients_bytes = 0;
  }
  REQUIRE(AggregateInto(stages.costed, TestSystem(), stages.workspace,
                        stages.prediction) == absl::OkStatus());
  // The last layer leaves most behind it, but with the head in front of it only
  // that one's gradients are being reduced; so the one before it is highest.
  REQUIRE(head_gradients < unit.gradients_bytes);
  const double last = static_cast<double>(
      2 * unit.weights_bytes + unit.gradients_bytes + head_gradients);
  const double before =
      static_cast<double>(2 * unit.weights_bytes + 2 * unit.gradients_bytes) -
      static_cast<double>(blocks[layer].stored_bytes);
  CHECK(sharded - stages.prediction.peak_memory_bytes ==
        std::max(last, before));
  CHECK(at >= stages.prediction.ranks[0].peak_time_s);
}

TEST_CASE("the whole embedding stays where the head uses it, too") {
  Workload workload = SmallWorkload(4, 3);
  workload.model.tied_embeddings = YesNo::kYes;
  Stages stages;
  const Times times = {{8, 8, 8}, {16, 16, 16}, {1, 2, 4}, {1, 2, 4}};
  RunStages(workload, Sharded(), TestSystem(), ModelOf(times), stages);
  // The head has a norm alone, whose gather takes as long as a layer's. The
  // backward pass finds the embedding still there and reduces it at its end.
  CHECK(stages.prediction.ranks[0].exposed_communication_s == 1 + 1);
}

TEST_CASE("beside a head that uses the embedding lie that and its gradients") {
  Workload workload = HighHead();
  workload.model.tied_embeddings = YesNo::kYes;
  Stages stages;
  RunStages(workload, Sharded(), TestSystem(), ModelOf({}), stages);
  // Embedding, layer, and the norm of the head.
  int64_t weights = 0;
  for (const Unit& unit : stages.graph.units) weights += unit.weights_bytes;
  const double peak = stages.prediction.peak_memory_bytes;
  for (Unit& unit : stages.costed.graph.units) {
    unit.weights_bytes = unit.gradients_bytes = 0;
  }
  REQUIRE(AggregateInto(stages.costed, TestSystem(), stages.workspace,
                        stages.prediction) == absl::OkStatus());
  CHECK(peak - stages.prediction.peak_memory_bytes ==
        static_cast<double>(weights + kHighHeadBytes));
}

TEST_CASE("pipeline ranks gather in every pass") {
  // Two stages of two layers; every gather and reduction takes a second, every
  // block no time, so a pass takes as long as its data stream.
  Stages stages;
  ParallelConfig config = Sharded();
  config.pp = 2;
  RunStages(SmallWorkload(4, 6), config, TestSystem(),
            ModelOf({{}, {}, {1, 1, 1}, {1, 1, 1}}), stages);
  // Forward three gathers; backward the first stage three of them and three
  // reductions, the last one, which finds the head still there, one gather
  // less: F 3, F 3, B 5, then F, B and the first stage's B again: 3 + 5 + 6.
  CHECK(stages.prediction.iteration_time_s == 3 + (3 + 5) * 2 + 6);
  const RankPrediction& last = stages.prediction.ranks[1];
  CHECK(last.exposed_communication_s == 2 * (3 + 5));
  CHECK(last.bubble_s + last.idle_s == 3 + 6);
}

TEST_CASE("a timeline shows gathers and reductions on the data stream") {
  Stages stages;
  RunStages(SmallWorkload(2, 3), Sharded(), TestSystem(),
            ModelOf({{4, 4, 4}, {4, 4, 4}, {1, 2, 3}, {1, 2, 3}}), stages);
  const absl::StatusOr<Timeline> timeline = Expand(stages.costed);
  REQUIRE(timeline.ok());
  std::vector<std::vector<double>> data;
  for (const Slice& slice : timeline->slices) {
    if (slice.stream == Stream::kData && slice.pass.micro_batch >= 0) {
      data.push_back({slice.start_s, slice.end_s});
    }
  }
  // Forward: the embedding, then while it runs (1 to 5) the first layer, while
  // that runs (5 to 9) the second, then the head (9 to 13; it runs until 17).
  // Backward: the second layer's gather beside the head (17 to 21); then (21)
  // the head's reduction and the first layer's gather, which end at 26, a
  // second behind the layer; then (26) the second layer's reduction and the
  // embedding's gather, then (30) the first layer's reduction, and the
  // embedding's own.
  const std::vector<std::vector<double>> expected = {
      {0, 1},   {1, 3},   {5, 7},   {9, 12},  {17, 19}, {21, 24},
      {24, 26}, {26, 28}, {28, 29}, {30, 32}, {34, 35}};
  CHECK(data == expected);
}

}  // namespace
}  // namespace lmsimbench
