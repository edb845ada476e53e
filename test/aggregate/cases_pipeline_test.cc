#include <algorithm>
#include <cmath>

#include "lmsimbench/cost_models.h"
#include "lmsimbench/timeline.h"
#include "test/aggregate/run_stages.h"
#include "test/compile/korthikanti.h"
#include "test/core/model_examples.h"
#include "test/cost/fixed_model.h"

namespace lmsimbench {
namespace {

constexpr double kGiB = 1 << 30;

// Every operator and collective takes a microsecond.
FixedModel AnyTime() { return FixedModel({1e-6, Evidence::kAnalytic}); }

TEST_CASE("the peak of stages [1,2,2,3] is that of the stage that needs most") {
  Workload workload;
  workload.model = DenseGated("uneven", 256, 8, 4, 4, 512, 1280);
  workload.seq_len = 64;
  workload.global_batch = 8;
  workload.loss_impl = LossImpl::kFused;
  ParallelConfig config;
  config.pp = 4;
  config.micro_batch = 1;
  config.stage_layers = {1, 2, 2, 3};
  Stages stages;
  RunStages(workload, config, TestSystem(), AnyTime(), stages);
  const auto& ranks = stages.prediction.ranks;
  REQUIRE(ranks.size() == 4);

  // A layer: 4 h^2 of attention, 3 h f of the MLP, two norms of h. Embedding
  // and output layer: V h each; final norm: h.
  constexpr double kLayer = 4 * 256 * 256 + 3 * 256 * 512 + 2 * 256;
  constexpr double kMatrix = 1280 * 256;
  const double owned[] = {kLayer + kMatrix, 2 * kLayer, 2 * kLayer,
                          3 * kLayer + kMatrix + 256};
  double sum = 0;
  for (size_t r = 0; r < 4; ++r) {
    CAPTURE(r);
    CHECK(ranks[r].memory.weights_bytes == 2 * owned[r]);
    CHECK(ranks[r].memory.gradients_bytes == 4 * owned[r]);
    CHECK(ranks[r].memory.optimizer_bytes == 12 * owned[r]);
    // Only the last stage has logits.
    CHECK((ranks[r].memory.logits_bytes > 0) == (r == 3));
    sum += ranks[r].peak_memory_bytes;
  }
  const auto most =
      std::max_element(ranks.begin(), ranks.end(),
                       [](const RankPrediction& a, const RankPrediction& b) {
                         return a.peak_memory_bytes < b.peak_memory_bytes;
                       });
  CHECK(most->pipeline_rank == 3);
  CHECK(stages.prediction.peak_memory_bytes == most->peak_memory_bytes);
  CHECK(stages.prediction.memory == most->memory);
  CHECK(stages.prediction.peak_memory_bytes > 1.2 * sum / 4);
}

TEST_CASE("latencies of 10 ms and operators beyond 2^31 ns do not overflow") {
  // Two stages, one micro-batch, no overlap: everything runs one after the
  // other. Operators take 3 s, more than 2^31 ns; a transfer takes its latency,
  // its bytes and nothing else.
  Workload workload;
  workload.model = DenseGated("slow", 256, 2, 4, 4, 512, 1280);
  workload.seq_len = 64;
  workload.global_batch = 1;
  ParallelConfig config;
  config.pp = 2;
  config.micro_batch = 1;
  System system = TestSystem();
  system.network[0].latency_s = 10e-3;
  CollectiveParameters parameters;
  parameters.base_s = 0;
  parameters.node_efficiency = 1;
  const auto links = MakeCollectiveModel(parameters);
  FixedModel model({3, Evidence::kAnalytic});
  model.of_collective = [&](const SpannedCollective& c) {
    return CostOf(*links, system, c);
  };
  Stages stages;
  RunStages(workload, config, system, model, stages);
  // Per stage and direction: the transfer of 64 x 256 16-bit numbers at 50
  // GB/s. The norm of the gradients is all-reduced over both stages: 2 steps
  // of 10 ms for 4 bytes.
  const auto rounded = [](double seconds) {
    return std::nearbyint(std::ldexp(seconds, 40)) / std::ldexp(1, 40);
  };
  const double transfer_s = rounded(10e-3 + 64 * 256 * 2 / 50e9);
  const double norm_s = rounded(20e-3 + 4 / 50e9);
  double operators = 0;
  for (const OperatorTotal& total : stages.prediction.operators) {
    // Optimizer and gradient norm run on both stages at the same time.
    if (total.pass == OperatorPass::kOptimizer && total.rank_class == 1) {
      continue;
    }
    operators += static_cast<double>(total.runs);
    CHECK(total.seconds == 3.0 * static_cast<double>(total.runs));
  }
  CHECK(operators > 40);
  CHECK(stages.prediction.iteration_time_s ==
        3 * operators + 2 * transfer_s + norm_s);
  const auto timeline = Expand(stages.costed);
  REQUIRE(timeline.ok());
  CHECK(timeline->iteration_time_s == stages.prediction.iteration_time_s);
}

TEST_CASE("the first stage of Korthikanti's models peaks as the paper says") {
  for (const KorthikantiCase& c : kKorthikanti) {
    for (const bool selective : {false, true}) {
      CAPTURE(c.name, selective);
      Stages stages;
      RunStages(WorkloadOf(c), ConfigOf(c, selective), TestSystem(), AnyTime(),
                stages);
      // Beside the layers the embedding keeps token ids and a dropout mask, for
      // the micro-batches whose first chunk is in flight: p, or interleaved the
      // 2 p of two groups.
      double layer = 0;
      double embedding = 0;
      for (const Block& block : stages.program.blocks) {
        const auto bytes = static_cast<double>(block.stored_bytes);
        if (block.kind == BlockKind::kLayers) layer = bytes;
        if (block.kind == BlockKind::kEmbedding) embedding = bytes;
      }
      embedding *= static_cast<double>(c.pp) * (c.vpp > 1 ? 2 : 1);
      const double kept = kGiB * (selective ? c.selective_gib : c.none_gib);
      // Where the attention core runs again, the peak lies there, in the last
      // layer. Then 24 of the layer's 34 sbh/t are given back: 19 of the MLP,
      // the input of its norm, 2, the other mask, 1, and the input of the
      // output projection, 2. Else it lies at the begin of the backward pass of
      // the last layer, or, where it is on the same stage, in the head, which
      // keeps its input and that of the output layer, 2 sbh each.
      const double given_back = selective ? layer * 24 / 34 : 0;
      const double head =
          c.pp == 1 && !selective
              ? 4.0 * 2048 * static_cast<double>(c.micro_batch * c.hidden)
              : 0;
      CHECK(stages.prediction.ranks[0].memory.activations_bytes ==
            kept + embedding + head - given_back);
    }
  }
}

TEST_CASE("a distributed optimizer over 8 devices costs P (6 + 12/8) bytes") {
  Workload workload;
  workload.model = Llama2_7B();
  workload.seq_len = 4096;
  workload.global_batch = 128;
  workload.precision = Precision::kBf16;
  ParallelConfig config;
  config.dp = 8;
  config.micro_batch = 2;
  config.zero = ZeroStage::kDistributedOptimizer;
  Stages stages;
  RunStages(workload, config, TestSystem(), AnyTime(), stages);
  const double p = 6'738'415'616;  // see `CountParameters`
  const MemoryParts& memory = stages.prediction.memory;
  CHECK(memory.weights_bytes == 2 * p);
  CHECK(memory.gradients_bytes == 4 * p);
  CHECK(memory.optimizer_bytes == 1.5 * p);
  CHECK(memory.weights_bytes + memory.gradients_bytes + memory.optimizer_bytes +
            memory.activations_bytes + memory.logits_bytes +
            memory.buffers_bytes + memory.framework_bytes ==
        stages.prediction.peak_memory_bytes);
}

TEST_CASE("a chunked loss takes the logits of a chunk from the peak") {
  Workload workload;
  workload.model = DenseGated("qwen", 512, 2, 8, 8, 1024, 151936);
  workload.seq_len = 8192;
  workload.global_batch = 1;
  workload.precision = Precision::kFp32;
  ParallelConfig config;
  config.micro_batch = 1;
  Stages stages;
  RunStages(workload, config, TestSystem(), AnyTime(), stages);
  // 8192 * 151936 * 4 bytes, and a chunk's eighth.
  CHECK(stages.prediction.memory.logits_bytes / kGiB ==
        Approx(4.637).margin(5e-4));
  workload.loss_impl = LossImpl::kChunked;
  workload.loss_chunk = 1024;
  RunStages(workload, config, TestSystem(), AnyTime(), stages);
  CHECK(stages.prediction.memory.logits_bytes / kGiB ==
        Approx(0.580).margin(5e-4));
}

TEST_CASE("a verdict compares the peak with the memory of a device") {
  Workload workload;
  workload.model = Llama2_7B();
  workload.seq_len = 4096;
  workload.global_batch = 1;
  ParallelConfig config;
  config.micro_batch = 1;
  System system = TestSystem();
  Stages stages;
  RunStages(workload, config, system, AnyTime(), stages);
  CHECK(stages.prediction.verdict == Verdict::kNotAnswered);
  const double peak = stages.prediction.peak_memory_bytes;
  system.accelerator.memory_bytes = peak;
  RunStages(workload, config, system, AnyTime(), stages);
  CHECK(stages.prediction.verdict == Verdict::kFits);
  CHECK(stages.prediction.memory_margin_bytes == 0);
  system.accelerator.memory_bytes = peak - 1;
  RunStages(workload, config, system, AnyTime(), stages);
  CHECK(stages.prediction.verdict == Verdict::kDoesNotFit);
  CHECK(stages.prediction.memory_margin_bytes == -1);
}

}  // namespace
}  // namespace lmsimbench
