#include <algorithm>
#include <cmath>
#include <random>

#include "lmsimbench/fmt.h"
#include "lmsimbench/timeline.h"
#include "test/aggregate/run_stages.h"
#include "test/pipelines.h"

// Zero-bubble schedules: bubbles and memory as their papers have them (arXiv
// 2401.10241, 2405.15362), F, B and W being the forward pass, the gradients of
// inputs and those of weights.

namespace lmsimbench {
namespace {

// A random number of ticks of 2^-20 s, so that every sum is exact.
double RandomSeconds(std::mt19937_64& random, int least = 1) {
  return std::ldexp(static_cast<double>(least + random() % 1000), -20);
}

// Layers alone take time, in one of their operators, and nothing is
// communicated.
FixedModel Layers(double forward, double backward, double weight) {
  FixedModel model({0, Evidence::kAnalytic});
  model.of_operator = [=](const Operator& op) {
    double seconds = 0;
    if (op.kind == OperatorKind::kQkvProjection) {
      if (op.pass == OperatorPass::kForward) seconds = forward;
      if (op.pass == OperatorPass::kInputGradient) seconds = backward;
      if (op.pass == OperatorPass::kWeightGradient) seconds = weight;
    }
    return Cost{seconds, Evidence::kAnalytic};
  };
  return model;
}

TEST_CASE("ZB-H1 has a bubble of (p - 1) (F + B - W)") {
  std::mt19937_64 random(11);
  Stages stages;
  for (int i = 0; i < 300; ++i) {
    const auto p = static_cast<int64_t>(1 + random() % 8);
    const auto m = p + static_cast<int64_t>(random() % 20);
    const auto layers = static_cast<int64_t>(1 + random() % 3);
    const double weight = RandomSeconds(random);
    // Weight passes fill the gaps as long as they are not longer than these;
    // with F = B = W a third of the bubble of 1F1B is left.
    const bool equal = i % 3 == 0;
    const double forward = equal ? weight : weight + RandomSeconds(random, 0);
    const double backward = equal ? weight : forward;
    CAPTURE(p, m, layers, forward, backward, weight);
    RunStages(SmallWorkload(layers * p, m),
              Pipeline(p, Schedule::kZeroBubbleH1), TestSystem(),
              Layers(forward, backward, weight), stages);
    const auto n = static_cast<double>(layers);
    const double work =
        static_cast<double>(m) * n * (forward + backward + weight);
    const double bubble =
        static_cast<double>(p - 1) * n * (forward + backward - weight);
    CHECK(stages.prediction.iteration_time_s == work + bubble);
    for (const RankPrediction& rank : stages.prediction.ranks) {
      CHECK(rank.compute_s == work);
      CHECK(rank.bubble_s + rank.idle_s == bubble);
    }
  }
}

// DualPipeV has half the ranks: (p - 1) of them where DualPipe has (p / 2 - 1).
TEST_CASE("DualPipe has a bubble of (p / 2 - 1) (F&B + B - 3 W)") {
  // F&B is a forward pass and all gradients, B all gradients, of one chunk.
  std::mt19937_64 random(13);
  Stages stages;
  for (int i = 0; i < 200; ++i) {
    const bool halved = i % 2 == 0;
    const auto turn = static_cast<int64_t>(1 + random() % 5);
    const int64_t p = halved ? turn : 2 * turn;
    const auto m = 2 * (p + static_cast<int64_t>(random() % 10));
    const auto layers = 2 * static_cast<int64_t>(1 + random() % 2);
    const double weight = RandomSeconds(random);
    const double forward =
        i % 3 == 0 ? weight : weight + RandomSeconds(random, 0);
    CAPTURE(halved, p, m, layers, forward, weight);
    RunStages(SmallWorkload(layers * 2 * turn, m),
              Pipeline(p, halved ? Schedule::kDualPipeV : Schedule::kDualPipe),
              TestSystem(), Layers(forward, forward, weight), stages);
    const auto n = static_cast<double>(layers);
    const double gradients = forward + weight;
    const double work =
        static_cast<double>(halved ? 2 * m : m) * n * (forward + gradients);
    const double bubble = static_cast<double>(turn - 1) * n *
                          (forward + gradients + gradients - 3 * weight);
    CHECK(stages.prediction.iteration_time_s == work + bubble);
    for (const RankPrediction& rank : stages.prediction.ranks) {
      CHECK(rank.compute_s == work);
      CHECK(rank.bubble_s + rank.idle_s == bubble);
    }
  }
}

// When the passes of a rank have begun and ended.
struct Passed {
  double begin = 0;
  double end = 0;
};
Passed PassedOf(const Timeline& timeline, int32_t rank_class) {
  Passed passed = {HUGE_VAL, 0};
  for (const Slice& slice : timeline.slices) {
    if (slice.rank_class != rank_class || slice.pass.micro_batch < 0 ||
        slice.stream != Stream::kCompute || slice.start_s == slice.end_s) {
      continue;
    }
    passed.begin = std::min(passed.begin, slice.start_s);
    passed.end = std::max(passed.end, slice.end_s);
  }
  return passed;
}

TEST_CASE("ZB-H2 and ZB-V have no bubble between their first and last pass") {
  std::mt19937_64 random(12);
  Stages stages;
  for (const Schedule schedule :
       {Schedule::kZeroBubbleH2, Schedule::kZeroBubbleV}) {
    const int64_t chunks = schedule == Schedule::kZeroBubbleV ? 2 : 1;
    for (int i = 0; i < 60; ++i) {
      const auto p = static_cast<int64_t>(1 + random() % 8);
      const auto m = 2 * p - 1 + static_cast<int64_t>(random() % 12);
      const auto layers = static_cast<int64_t>(1 + random() % 3);
      const double pass = RandomSeconds(random);
      CAPTURE(Name(schedule), p, m, layers, pass);
      RunStages(SmallWorkload(layers * p * chunks, m), Pipeline(p, schedule),
                TestSystem(), Layers(pass, pass, pass), stages);
      const double of_chunk = static_cast<double>(layers) * pass;
      const double work = static_cast<double>(3 * m * chunks) * of_chunk;
      const absl::StatusOr<Timeline> timeline = Expand(stages.costed);
      REQUIRE(timeline.ok());
      for (const RankPrediction& rank : stages.prediction.ranks) {
        const Passed passed =
            PassedOf(*timeline, static_cast<int32_t>(rank.pipeline_rank));
        CHECK(passed.begin ==
              static_cast<double>(rank.pipeline_rank) * of_chunk);
        CHECK(passed.end == passed.begin + work);
        CHECK(rank.compute_s == work);
      }
      // The gradient norm waits for the rank that has begun last. Without it
      // the next iteration would begin there as much later.
      CHECK(stages.prediction.iteration_time_s ==
            work + static_cast<double>(p - 1) * of_chunk);
    }
  }
}

// Leaves of all tensors those of layers that are made in a forward pass and
// last read in passes of this direction. Returns their bytes of one layer.
int64_t KeepUntil(Direction direction, Program& program) {
  int64_t kept = 0;
  for (const Block& block : program.blocks) {
    const int32_t backward = block.backward_step - block.begin_step;
    const int32_t weight = block.weight_step - block.begin_step;
    int64_t of_block = 0;
    for (int32_t i = block.begin_tensor; i < block.end_tensor; ++i) {
      Tensor& tensor = program.tensors[i];
      const bool until_weight = tensor.last_step >= weight;
      const bool until_backward = tensor.last_step >= backward && !until_weight;
      if (block.kind == BlockKind::kLayers && tensor.first_step < backward &&
          (direction == Direction::kWeight ? until_weight : until_backward)) {
        of_block += tensor.bytes;
        continue;
      }
      Step* const steps = program.steps.data() + block.begin_step;
      steps[tensor.first_step].allocated_bytes -= tensor.bytes;
      steps[tensor.last_step].freed_bytes -= tensor.bytes;
      tensor.bytes = 0;
    }
    if (block.kind == BlockKind::kLayers) kept = of_block;
  }
  return kept;
}

// Most micro-batches, times chunks, that each rank keeps from their forward
// pass to that in a direction, by simulation.
std::vector<double> KeptOf(const ParallelConfig& config, int64_t layers,
                           int64_t m, Direction direction, Stages& stages) {
  const FixedModel model = Layers(1, 1, 1);
  RunStages(SmallWorkload(layers, m), config, TestSystem(), model, stages);
  const int64_t bytes = KeepUntil(direction, stages.program);
  REQUIRE(bytes > 0);
  REQUIRE(LowerInto(stages.program, stages.placement, config, stages.graph) ==
          absl::OkStatus());
  REQUIRE(CostGraphInto(stages.graph, model, stages.costed) ==
          absl::OkStatus());
  REQUIRE(AggregateInto(stages.costed, TestSystem(), stages.workspace,
                        stages.prediction) == absl::OkStatus());
  std::vector<double> kept;
  for (const RankPrediction& rank : stages.prediction.ranks) {
    const Stage& stage = stages.program.stages[rank.pipeline_rank];
    const auto state = static_cast<double>(
        stage.weights_bytes + stage.gradients_bytes + stage.optimizer_bytes);
    kept.push_back((rank.peak_memory_bytes - state) /
                   static_cast<double>(bytes));
  }
  return kept;
}

TEST_CASE("split schedules keep as many micro-batches as their papers say") {
  Stages stages;
  for (int64_t p = 1; p <= 5; ++p) {
    for (const int64_t m : {int64_t{1}, p, 2 * p - 1, 3 * p}) {
      const auto h1 = [&](Direction direction) {
        return KeptOf(Pipeline(p, Schedule::kZeroBubbleH1), p, m, direction,
                      stages);
      };
      const auto h2 = [&](Direction direction) {
        return KeptOf(Pipeline(p, Schedule::kZeroBubbleH2), p, m, direction,
                      stages);
      };
      const auto v = KeptOf(Pipeline(p, Schedule::kZeroBubbleV), 2 * p, m,
                            Direction::kWeight, stages);
      for (int64_t rank = 0; rank < p; ++rank) {
        CAPTURE(p, m, rank);
        // Until the gradients of inputs as 1F1B, or the way there twice; until
        // those of weights on every rank as on the first.
        const auto until_backward = [&](int64_t in_flight) {
          return static_cast<double>(std::min(m, in_flight));
        };
        CHECK(h1(Direction::kBackward)[rank] == until_backward(p - rank));
        CHECK(h1(Direction::kWeight)[rank] == until_backward(p));
        CHECK(h2(Direction::kBackward)[rank] ==
              until_backward(2 * (p - rank) - 1));
        CHECK(h2(Direction::kWeight)[rank] == until_backward(2 * p - 1));
        // Halves of a rank: as much as the first rank of 1F1B keeps.
        CHECK(v[rank] <= static_cast<double>(std::min(2 * m, 2 * p)));
        if (m >= 2 * p - 1) CHECK(v[rank] == static_cast<double>(2 * p));
      }
    }
    // DualPipeV: halves again, one more than there are stages.
    for (const int64_t m : {2 * p, 2 * p + 3}) {
      CAPTURE(p, m);
      const auto dual = KeptOf(Pipeline(p, Schedule::kDualPipeV), 2 * p, m,
                               Direction::kWeight, stages);
      for (const double kept : dual) {
        CHECK(kept == static_cast<double>(2 * p + 1));
      }
    }
    if (p % 2 != 0) continue;
    // DualPipe: a stage is what one of its two chunks holds, here of 2 layers.
    for (const int64_t m : {2 * p, 4 * p}) {
      CAPTURE(p, m);
      const auto dual = KeptOf(Pipeline(p, Schedule::kDualPipe), 2 * p, m,
                               Direction::kWeight, stages);
      for (const double kept : dual) {
        CHECK(kept == static_cast<double>(2 * (p + 1)));
      }
    }
  }
}

}  // namespace
}  // namespace lmsimbench
