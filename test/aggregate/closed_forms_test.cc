#include <algorithm>
#include <cmath>
#include <random>

#include "lmsimbench/fmt.h"
#include "lmsimbench/legality.h"
#include "test/aggregate/random_iteration.h"
#include "test/aggregate/run_stages.h"
#include "test/pipelines.h"

namespace lmsimbench {
namespace {

// A random number of ticks of 2^-20 s, so that every sum is exact.
double RandomSeconds(std::mt19937_64& random) {
  return std::ldexp(static_cast<double>(1 + random() % 1000), -20);
}

// Layers alone take time: nothing in front of the first or behind the last, no
// norm (which the layers share with the last one), no communication. A forward
// pass of a layer takes `forward`, a backward pass `backward` seconds.
FixedModel LayersOnly(double forward, double backward) {
  FixedModel model({0, Evidence::kAnalytic});
  model.of_operator = [=](const Operator& op) {
    double seconds = 0;
    if (op.kind == OperatorKind::kQkvProjection) {
      if (op.pass == OperatorPass::kForward) seconds = forward;
      if (op.pass == OperatorPass::kInputGradient) seconds = backward;
    }
    return Cost{seconds, Evidence::kAnalytic};
  };
  return model;
}

void CheckBubble(const Prediction& prediction, double work, double bubble) {
  CHECK(prediction.iteration_time_s == work + bubble);
  for (const RankPrediction& rank : prediction.ranks) {
    CAPTURE(rank.pipeline_rank);
    CHECK(rank.compute_s == work);
    CHECK(rank.bubble_s + rank.idle_s == bubble);
    CHECK(rank.exposed_communication_s == 0);
  }
}

TEST_CASE("GPipe and 1F1B have a bubble of (p - 1) (F + B)") {
  std::mt19937_64 random(1);
  Stages stages;
  for (int i = 0; i < 500; ++i) {
    const auto p = static_cast<int64_t>(1 + random() % 8);
    const auto m = static_cast<int64_t>(1 + random() % 20);
    const auto layers = static_cast<int64_t>(1 + random() % 3);
    const double forward = RandomSeconds(random);
    const double backward = RandomSeconds(random);
    const FixedModel model = LayersOnly(forward, backward);
    const double pass = static_cast<double>(layers) * (forward + backward);
    for (const Schedule schedule : {Schedule::kGPipe, Schedule::k1F1B}) {
      CAPTURE(p, m, layers, forward, backward, Name(schedule));
      RunStages(SmallWorkload(layers * p, m), Pipeline(p, schedule),
                TestSystem(), model, stages);
      CheckBubble(stages.prediction, static_cast<double>(m) * pass,
                  static_cast<double>(p - 1) * pass);
    }
  }
}

TEST_CASE("interleaved 1F1B has a bubble of (p - 1) (F + B) / v") {
  std::mt19937_64 random(2);
  Stages stages;
  for (int i = 0; i < 500; ++i) {
    const auto p = static_cast<int64_t>(2 + random() % 7);
    const auto v = static_cast<int64_t>(2 + random() % 4);
    const auto m = p * static_cast<int64_t>(1 + random() % 4);
    const auto layers = static_cast<int64_t>(1 + random() % 3);
    const double forward = RandomSeconds(random);
    const double backward = RandomSeconds(random);
    CAPTURE(p, v, m, layers, forward, backward);
    RunStages(SmallWorkload(layers * p * v, m),
              Pipeline(p, Schedule::kInterleaved1F1B, v), TestSystem(),
              LayersOnly(forward, backward), stages);
    const double chunk = static_cast<double>(layers) * (forward + backward);
    CheckBubble(stages.prediction, static_cast<double>(m * v) * chunk,
                static_cast<double>(p - 1) * chunk);
  }
}

// All micro-batches go through a chunk before the next one begins; with as many
// of them as stages the first is back from the others in time.
TEST_CASE(
    "GPipe over several chunks of a rank has a bubble of (p - 1) (F + B) / v") {
  std::mt19937_64 random(4);
  Stages stages;
  for (int i = 0; i < 200; ++i) {
    const auto p = static_cast<int64_t>(2 + random() % 5);
    const auto v = static_cast<int64_t>(2 + random() % 3);
    const auto m = p + static_cast<int64_t>(random() % 10);
    const double forward = RandomSeconds(random);
    const double backward = RandomSeconds(random);
    CAPTURE(p, v, m, forward, backward);
    RunStages(SmallWorkload(p * v, m), Pipeline(p, Schedule::kGPipe, v),
              TestSystem(), LayersOnly(forward, backward), stages);
    CheckBubble(stages.prediction,
                static_cast<double>(m * v) * (forward + backward),
                static_cast<double>(p - 1) * (forward + backward));
  }
}

// Leaves of all tensors only those that are kept between the passes.
void KeepStoredOnly(Program& program) {
  for (const Block& block : program.blocks) {
    const int32_t backward = block.backward_step - block.begin_step;
    for (int32_t i = block.begin_tensor; i < block.end_tensor; ++i) {
      Tensor& tensor = program.tensors[i];
      if (tensor.first_step < backward && tensor.last_step >= backward) {
        continue;
      }
      Step* const steps = program.steps.data() + block.begin_step;
      steps[tensor.first_step].allocated_bytes -= tensor.bytes;
      steps[tensor.last_step].freed_bytes -= tensor.bytes;
      tensor.bytes = 0;
    }
  }
}

double StateBytes(const Stage& stage) {
  return static_cast<double>(stage.weights_bytes + stage.gradients_bytes +
                             stage.optimizer_bytes);
}

// Most bytes that the passes in flight of a rank keep under GPipe or 1F1B.
double BytesInFlight(const Stages& stages, const ParallelConfig& config,
                     int64_t rank) {
  const Program& program = stages.program;
  const int64_t m = program.micro_batches;
  const auto stored = [&](int64_t chunk) {
    return static_cast<double>(
        program.chunks[program.chunk_kind[chunk]].stored_bytes);
  };
  const int64_t in_flight =
      config.schedule == Schedule::kGPipe ? m : std::min(m, config.pp - rank);
  return static_cast<double>(in_flight) * stored(rank);
}

TEST_CASE("1F1B keeps min(m, p - r) micro-batches, GPipe m") {
  std::mt19937_64 random(3);
  Stages stages;
  for (int counted = 0; counted < 1000;) {
    RandomIteration made = MakeRandomIteration(random);
    ParallelConfig& config = made.config;
    if (config.vpp > 1) continue;
    config.schedule = random() % 2 == 0 ? Schedule::kGPipe : Schedule::k1F1B;
    if (!IsLegal(made.workload, config, kNoCount)) continue;
    ++counted;
    CAPTURE(fmt::format("{}", config), fmt::format("{}", made.workload));
    const RandomCostModel model(random());
    RunStages(made.workload, config, made.system, model, stages);
    // With all tensors, the passes in flight are a lower bound of the peak and
    // an upper bound of what activations hold at its moment; logits may be
    // among what is kept.
    for (const RankPrediction& rank : stages.prediction.ranks) {
      const double kept = BytesInFlight(stages, config, rank.pipeline_rank);
      const double states =
          StateBytes(stages.program.stages[rank.pipeline_rank]);
      CHECK(rank.peak_memory_bytes >= states + kept);
      CHECK(rank.memory.activations_bytes <= kept);
    }
    KeepStoredOnly(stages.program);
    REQUIRE(LowerInto(stages.program, stages.placement, config, stages.graph) ==
            absl::OkStatus());
    REQUIRE(CostGraphInto(stages.graph, model, stages.costed) ==
            absl::OkStatus());
    REQUIRE(AggregateInto(stages.costed, made.system, stages.workspace,
                          stages.prediction) == absl::OkStatus());
    for (const RankPrediction& rank : stages.prediction.ranks) {
      CHECK(rank.peak_memory_bytes ==
            StateBytes(stages.program.stages[rank.pipeline_rank]) +
                BytesInFlight(stages, config, rank.pipeline_rank));
    }
  }
}

TEST_CASE("interleaved 1F1B keeps 2 (p - r - 1) + (v - 1) p + 1 chunks") {
  std::mt19937_64 random(4);
  Stages stages;
  for (int i = 0; i < 200; ++i) {
    const auto p = static_cast<int64_t>(2 + random() % 5);
    const auto v = static_cast<int64_t>(2 + random() % 3);
    const auto m = p * static_cast<int64_t>(1 + random() % 4);
    const ParallelConfig config = Pipeline(p, Schedule::kInterleaved1F1B, v);
    CAPTURE(p, v, m);
    RunStages(SmallWorkload(p * v, m), config, TestSystem(), LayersOnly(1, 2),
              stages);
    // Of the layers alone, which all chunks have in common.
    int64_t layer = 0;
    for (Block& block : stages.program.blocks) {
      if (block.kind == BlockKind::kLayers) {
        layer = block.stored_bytes;
        continue;
      }
      for (int32_t t = block.begin_tensor; t < block.end_tensor; ++t) {
        stages.program.tensors[t].bytes = 0;
      }
      for (int32_t s = block.begin_step; s < block.end_step; ++s) {
        stages.program.steps[s].allocated_bytes = 0;
        stages.program.steps[s].freed_bytes = 0;
      }
    }
    KeepStoredOnly(stages.program);
    REQUIRE(LowerInto(stages.program, stages.placement, config, stages.graph) ==
            absl::OkStatus());
    REQUIRE(CostGraphInto(stages.graph, LayersOnly(1, 2), stages.costed) ==
            absl::OkStatus());
    REQUIRE(AggregateInto(stages.costed, TestSystem(), stages.workspace,
                          stages.prediction) == absl::OkStatus());
    for (const RankPrediction& rank : stages.prediction.ranks) {
      const int64_t r = rank.pipeline_rank;
      const int64_t chunks = std::min(m * v, 2 * (p - r - 1) + (v - 1) * p + 1);
      CHECK(rank.peak_memory_bytes == StateBytes(stages.program.stages[r]) +
                                          static_cast<double>(chunks * layer));
    }
  }
}

}  // namespace
}  // namespace lmsimbench
