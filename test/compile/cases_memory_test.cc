#include <algorithm>
#include <string>

#include "catch2/catch.hpp"
#include "lmsimbench/counts.h"
#include "lmsimbench/pipeline.h"
#include "test/compile/korthikanti.h"
#include "test/pipelines.h"

namespace lmsimbench {
namespace {

constexpr double kGiB = 1 << 30;

const Block& TheBlock(const Program& program, BlockKind kind) {
  const auto of_kind = [kind](const Block& b) { return b.kind == kind; };
  REQUIRE(std::count_if(program.blocks.begin(), program.blocks.end(),
                        of_kind) == 1);
  return *std::find_if(program.blocks.begin(), program.blocks.end(), of_kind);
}

// Bytes of the only tensor of this name in a block.
int64_t BytesOf(const Program& program, const Block& block,
                const std::string& name) {
  int64_t bytes = -1;
  for (int32_t i = block.begin_tensor; i < block.end_tensor; ++i) {
    if (program.tensors[i].name != name) continue;
    REQUIRE(bytes == -1);
    bytes = program.tensors[i].bytes;
  }
  return bytes;
}

// Most bytes that tensors of a kind hold at once in a block.
int64_t MostAlive(const Program& program, const Block& block, TensorKind kind) {
  int64_t most = 0;
  for (int32_t step = 0; step < block.end_step - block.begin_step; ++step) {
    int64_t alive = 0;
    for (int32_t i = block.begin_tensor; i < block.end_tensor; ++i) {
      const Tensor& tensor = program.tensors[i];
      if (tensor.kind == kind && tensor.first_step <= step &&
          step <= tensor.last_step) {
        alive += tensor.bytes;
      }
    }
    most = std::max(most, alive);
  }
  return most;
}

TEST_CASE("the four models of Korthikanti keep what the paper says") {
  for (const KorthikantiCase& c : kKorthikanti) {
    for (const bool selective : {false, true}) {
      CAPTURE(c.name, selective);
      const Program program = Compiled(WorkloadOf(c), ConfigOf(c, selective));
      const int64_t chunk_layers = c.layers / (c.pp * c.vpp);
      const int64_t bytes = TheBlock(program, BlockKind::kLayers).stored_bytes *
                            chunk_layers * ChunksInFlight(c);
      CHECK(static_cast<double>(bytes) / kGiB ==
            (selective ? c.selective_gib : c.none_gib));
    }
  }
}

TEST_CASE("a layer keeps what each remedy of Korthikanti leaves") {
  // Table 2 of the paper, in s b h bytes with t = 8 and 5 a s / h = 80 for
  // 175B: tensor parallelism alone 10 + 24/t + 80/t, with sequence parallelism
  // (34 + 80)/t, with selective recomputation 10 + 24/t, with both 34/t; full
  // recomputation keeps the input, 2, or 2/t sharded along the sequence.
  const KorthikantiCase& c = kKorthikanti[1];
  const int64_t sbh = 2048 * c.hidden;
  const struct {
    YesNo sequence_parallel;
    Recompute recompute;
    int64_t eighths;
  } remedies[] = {
      {YesNo::kNo, Recompute::kNone, 80 + 24 + 80},
      {YesNo::kYes, Recompute::kNone, 34 + 80},
      {YesNo::kNo, Recompute::kSelective, 80 + 24},
      {YesNo::kYes, Recompute::kSelective, 34},
      {YesNo::kNo, Recompute::kFull, 16},
      {YesNo::kYes, Recompute::kFull, 2},
  };
  for (const auto& remedy : remedies) {
    ParallelConfig config = ConfigOf(c, false);
    config.sequence_parallel = remedy.sequence_parallel;
    config.recompute = remedy.recompute;
    CAPTURE(remedy.eighths);
    const Program program = Compiled(WorkloadOf(c), config);
    CHECK(TheBlock(program, BlockKind::kLayers).stored_bytes ==
          remedy.eighths * sbh / 8);
  }
}

TEST_CASE("selective recomputation saves almost nothing with flash attention") {
  Workload workload;
  workload.model = Llama2_7B();
  workload.model.dropout = 0;
  workload.seq_len = 4096;
  workload.global_batch = 1;
  ParallelConfig config;
  config.micro_batch = 1;
  const auto saved = [&](AttentionImpl attention) {
    workload.attention_impl = attention;
    config.recompute = Recompute::kNone;
    const Program none = Compiled(workload, config);
    config.recompute = Recompute::kSelective;
    const Program selective = Compiled(workload, config);
    const int64_t all = TheBlock(none, BlockKind::kLayers).stored_bytes;
    return std::make_pair(
        all - TheBlock(selective, BlockKind::kLayers).stored_bytes, all);
  };
  // Fused: one 32-bit number a head and token, 128 of a token's 131,712 bytes:
  // inputs of both norms and of both branches, queries, keys, values and the
  // core's output, 8192 each; gate, up and their product, 22,016 each.
  const auto [flash_saved, flash_all] = saved(AttentionImpl::kFlash);
  CHECK(flash_saved == 4096 * 32 * 4);
  CHECK(flash_all == 4096 * (8 * 8192 + 3 * 22016 + 32 * 4));
  CHECK(flash_saved < flash_all / 1000);
  // Not fused: the probabilities, 2 a s^2 bytes, more than half of all.
  const auto [unfused_saved, unfused_all] = saved(AttentionImpl::kUnfused);
  CHECK(unfused_saved == int64_t{2} * 32 * 4096 * 4096);
  CHECK(unfused_saved > unfused_all / 2);
}

TEST_CASE("weights, gradients and sharded state are P (6 + 12/8) bytes") {
  Workload workload;
  workload.model = Llama2_7B();
  workload.seq_len = 4096;
  workload.global_batch = 128;
  workload.precision = Precision::kBf16;
  ParallelConfig config;
  config.dp = 8;
  config.micro_batch = 2;
  config.zero = ZeroStage::kDistributedOptimizer;
  const Program program = Compiled(workload, config);
  const auto parameters = CountParameters(workload.model);
  REQUIRE(parameters.ok());
  // 32000 is a multiple of 128, so nothing is padded: 6,738,415,616.
  const int64_t p = parameters->total;
  CHECK(p == 6'738'415'616);
  REQUIRE(program.stages.size() == 1);
  const Stage& stage = program.stages[0];
  CHECK(stage.weights_bytes == 2 * p);
  CHECK(stage.gradients_bytes == 4 * p);
  CHECK(stage.optimizer_bytes == 12 * p / 8);
  CHECK(program.micro_batches == 8);
}

TEST_CASE("the table of state bytes that was used is told") {
  Workload workload;
  workload.model = Gpt3_175B();
  workload.seq_len = 2048;
  workload.global_batch = 64;
  ParallelConfig config;
  config.dp = 16;
  config.tp = 8;
  config.micro_batch = 1;
  // Bytes of one parameter on one of D = 16 devices, in sixteenths.
  const struct {
    Precision precision;
    Precision gradients;
    ZeroStage zero;
    StateTable table;
    int64_t sixteenths;
  } rows[] = {
      // Megatron-LM, docs/user-guide/features/dist_optimizer.md: 18 and
      // 6 + 12/D, 20 and 4 + 16/D, 16 and 8 + 8/D.
      {Precision::kBf16, Precision::kNotStated, ZeroStage::kNone,
       StateTable::kMegatronBf16, 16 * 18},
      {Precision::kBf16, Precision::kNotStated,
       ZeroStage::kDistributedOptimizer, StateTable::kMegatronBf16,
       16 * 6 + 12},
      {Precision::kFp16, Precision::kNotStated, ZeroStage::kNone,
       StateTable::kMegatronFp16, 16 * 20},
      {Precision::kFp16, Precision::kNotStated,
       ZeroStage::kDistributedOptimizer, StateTable::kMegatronFp16,
       16 * 4 + 16},
      {Precision::kFp32, Precision::kNotStated, ZeroStage::kNone,
       StateTable::kMegatronFp32, 16 * 16},
      {Precision::kFp32, Precision::kNotStated,
       ZeroStage::kDistributedOptimizer, StateTable::kMegatronFp32, 16 * 8 + 8},
      // ZeRO, arXiv 1910.02054: 16 P, 4 P + 12 P / N, 2 P + 14 P / N. Stage 0
      // has 16-bit gradients where they are stated to be so.
      {Precision::kFp16, Precision::kFp16, ZeroStage::kOptimizerState,
       StateTable::kZero, 16 * 4 + 12},
      {Precision::kBf16, Precision::kNotStated, ZeroStage::kOptimizerState,
       StateTable::kZero, 16 * 4 + 12},
      {Precision::kBf16, Precision::kNotStated, ZeroStage::kGradients,
       StateTable::kZero, 16 * 2 + 14},
      {Precision::kBf16, Precision::kBf16, ZeroStage::kNone,
       StateTable::kStated, 16 * 16},
      // Stage 3: 16 P / N, whatever is gathered and reduced.
      {Precision::kBf16, Precision::kNotStated, ZeroStage::kParameters,
       StateTable::kFullySharded, 16},
      {Precision::kFp16, Precision::kFp32, ZeroStage::kParameters,
       StateTable::kFullySharded, 16},
      {Precision::kFp32, Precision::kNotStated, ZeroStage::kParameters,
       StateTable::kFullySharded, 16},
  };
  for (const auto& row : rows) {
    workload.precision = row.precision;
    workload.gradient_precision = row.gradients;
    config.zero = row.zero;
    const Program program = Compiled(workload, config);
    CAPTURE(Name(row.precision), Name(row.zero));
    CHECK(program.state_table == row.table);
    const Stage& stage = program.stages[0];
    // A multiple of 16 parameters, so no share is rounded.
    REQUIRE(stage.parameters % 16 == 0);
    CHECK(stage.weights_bytes + stage.gradients_bytes + stage.optimizer_bytes ==
          stage.parameters / 16 * row.sixteenths);
    const std::string name(Name(program.state_table));
    CHECK_THAT(ToText(program), Catch::Matchers::Contains(name));
  }
}

TEST_CASE("an optimizer without two moments is in no table") {
  // Master weights of 4 bytes, and one moment of 4 or none.
  Workload workload = SmallWorkload(2, 1);
  workload.precision = Precision::kBf16;
  for (const auto& [optimizer, bytes] :
       {std::pair(Optimizer::kSgd, 4), std::pair(Optimizer::kSgdMomentum, 8)}) {
    workload.optimizer = optimizer;
    const Program program = Compiled(workload, Pipeline(1));
    CHECK(program.state_table == StateTable::kStated);
    CHECK(program.stages[0].optimizer_bytes ==
          bytes * program.stages[0].parameters);
  }
}

TEST_CASE("7.5 billion parameters over 64 devices as the ZeRO paper has them") {
  // Figure 1 of arXiv 1910.02054: 120, 31.4, 16.6 and 1.9 GB. The text and the
  // formula give 31.40625, 16.640625 and 1.875.
  Workload workload;
  ModelSpec& model = workload.model;
  model = DenseGated("7.5B", 4000, 38, 40, 40, 16000, 51200);
  model.gated_mlp = YesNo::kNo;
  workload.seq_len = 1024;
  workload.global_batch = 64;
  workload.gradient_precision = Precision::kFp16;
  ParallelConfig config;
  config.dp = 64;
  config.micro_batch = 1;
  const auto bytes_a_parameter = [&](ZeroStage zero) {
    config.zero = zero;
    const Stage stage = Compiled(workload, config).stages[0];
    return static_cast<double>(stage.weights_bytes + stage.gradients_bytes +
                               stage.optimizer_bytes) /
           static_cast<double>(stage.parameters);
  };
  CHECK(7.5 * bytes_a_parameter(ZeroStage::kNone) == Approx(120));
  CHECK(7.5 * bytes_a_parameter(ZeroStage::kOptimizerState) ==
        Approx(31.40625));
  CHECK(7.5 * bytes_a_parameter(ZeroStage::kGradients) == Approx(16.640625));
  CHECK(7.5 * bytes_a_parameter(ZeroStage::kParameters) == Approx(1.875));
}

TEST_CASE("32-bit logits of 8192 tokens and 151936 words are 4.637 GiB") {
  Workload workload;
  workload.model = DenseGated("qwen", 2048, 4, 16, 16, 6144, 151936);
  workload.seq_len = 8192;
  workload.global_batch = 1;
  ParallelConfig config;
  config.micro_batch = 1;
  // 151936 is 1187 * 128: nothing is padded.
  constexpr int64_t kLogits = int64_t{8192} * 151936;

  SECTION("stored in 32 bits, between two copies of 16") {
    workload.loss_impl = LossImpl::kPlain;
    const Program program = Compiled(workload, config);
    const Block& head = TheBlock(program, BlockKind::kHead);
    const int64_t bytes = BytesOf(program, head, "32-bit logits");
    CHECK(bytes == 4 * kLogits);
    CHECK(static_cast<double>(bytes) / kGiB == Approx(4.637).margin(5e-4));
    // Beside them the 16-bit logits, or their gradient.
    CHECK(MostAlive(program, head, TensorKind::kLogits) == 6 * kLogits);
  }
  SECTION("in training in 32 bits, where one copy is all") {
    workload.loss_impl = LossImpl::kPlain;
    workload.precision = Precision::kFp32;
    const Program program = Compiled(workload, config);
    CHECK(MostAlive(program, TheBlock(program, BlockKind::kHead),
                    TensorKind::kLogits) == 4 * kLogits);
  }
  SECTION("in chunks of 1024 tokens 0.580 GiB") {
    workload.loss_impl = LossImpl::kChunked;
    workload.loss_chunk = 1024;
    workload.precision = Precision::kFp32;
    const Program program = Compiled(workload, config);
    const int64_t bytes = MostAlive(
        program, TheBlock(program, BlockKind::kHead), TensorKind::kLogits);
    CHECK(bytes == 4 * kLogits / 8);
    CHECK(static_cast<double>(bytes) / kGiB == Approx(0.580).margin(5e-4));
  }
  SECTION("fused in 16 bits half of it") {
    workload.loss_impl = LossImpl::kFused;
    const Program program = Compiled(workload, config);
    CHECK(MostAlive(program, TheBlock(program, BlockKind::kHead),
                    TensorKind::kLogits) == 2 * kLogits);
  }
}

}  // namespace
}  // namespace lmsimbench
