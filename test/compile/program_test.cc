#include <algorithm>
#include <random>
#include <vector>

#include "catch2/catch.hpp"
#include "lmsimbench/counts.h"
#include "lmsimbench/fmt.h"
#include "lmsimbench/layout.h"
#include "lmsimbench/legality.h"
#include "lmsimbench/pipeline.h"
#include "test/aggregate/random_iteration.h"
#include "test/pipelines.h"

namespace lmsimbench {
namespace {

// Operations of matrix multiplications and attention cores in all passes of one
// micro-batch, but for the router's, which no convention counts alone. A
// recomputed step counts each time.
double FlopsOfPasses(const Program& program) {
  double flops = 0;
  for (const int32_t kind : program.chunk_kind) {
    for (const BlockRun& run : Runs(program, program.chunks[kind])) {
      const Block& block = program.blocks[run.block];
      for (int32_t s = block.begin_step; s < block.end_step; ++s) {
        if (program.steps[s].is_collective) continue;
        const Operator& op = program.operators[program.steps[s].id];
        if (op.computation != Computation::kElementwise &&
            op.kind != OperatorKind::kRouter) {
          flops += run.count * op.flops;
        }
      }
    }
  }
  return flops;
}

TEST_CASE("what a model leaves open is chosen by its kind of MLP, and told") {
  Workload workload = SmallWorkload(8, 8);
  workload.model.norm = NormKind::kNotStated;
  workload.model.positions = PositionKind::kNotStated;
  const auto rotates = [](const Program& program) {
    return std::any_of(
        program.operators.begin(), program.operators.end(),
        [](const Operator& op) { return op.kind == OperatorKind::kRotary; });
  };
  // A norm has h = 512 weights, and as many biases: 17 norms.
  workload.model.gated_mlp = YesNo::kYes;
  const Program gated = Compiled(workload, Pipeline(1));
  CHECK(gated.Assumes(Assumption::kRmsNorm));
  CHECK(gated.Assumes(Assumption::kRotary));
  CHECK(gated.stages[0].replicated_parameters == 17 * 512);
  CHECK(rotates(gated));
  workload.model.gated_mlp = YesNo::kNo;
  const Program plain = Compiled(workload, Pipeline(1));
  CHECK(plain.Assumes(Assumption::kLayerNorm));
  CHECK(plain.Assumes(Assumption::kNoPositionTable));
  CHECK(plain.stages[0].replicated_parameters == 17 * 2 * 512);
  CHECK_FALSE(rotates(plain));
  // What is stated is not assumed.
  workload.model.gated_mlp = YesNo::kYes;
  workload.model.norm = NormKind::kLayerNorm;
  workload.model.positions = PositionKind::kAlibi;
  workload.model.qkv_bias = YesNo::kNo;
  workload.model.linear_bias = YesNo::kNo;
  const Program stated = Compiled(workload, Pipeline(1));
  for (const Assumption assumption :
       {Assumption::kRmsNorm, Assumption::kLayerNorm, Assumption::kRotary,
        Assumption::kNoPositionTable, Assumption::kNoBias,
        Assumption::kWholeSequence}) {
    CHECK_FALSE(stated.Assumes(assumption));
  }
  CHECK(stated.stages[0].replicated_parameters == 17 * 2 * 512);
  CHECK_FALSE(rotates(stated));
  workload.packed = YesNo::kYes;
  workload.model.linear_bias = YesNo::kNotStated;
  const Program packed = Compiled(workload, Pipeline(1));
  CHECK(packed.Assumes(Assumption::kWholeSequence));
  CHECK(packed.Assumes(Assumption::kNoBias));
}

TEST_CASE("a chunk of the loss says that the loss is chunked") {
  Workload workload = SmallWorkload(2, 1);
  workload.loss_chunk = 32;
  const Program program = Compiled(workload, Pipeline(1));
  CHECK_FALSE(program.Assumes(Assumption::kPlainLoss));
  workload.loss_impl = LossImpl::kChunked;
  CHECK(ToText(program) == ToText(Compiled(workload, Pipeline(1))));
}

// Iterations of dense models and of all others, every other time.
RandomIteration MakeAnyIteration(std::mt19937_64& random) {
  return random() % 2 == 0 ? MakeRandomIteration(random)
                           : MakeRandomSparseIteration(random);
}

// What `Compile` refuses by name: a question of another time.
bool IsModelled(const RandomIteration& made) {
  if (!IsLegal(made.workload, made.config, kNoCount)) return false;
  const absl::Status status = Compile(made.workload, made.config).status();
  if (status.code() == absl::StatusCode::kUnimplemented ||
      status.code() == absl::StatusCode::kInvalidArgument) {
    return false;
  }
  INFO(status);
  REQUIRE(status.ok());
  return true;
}

TEST_CASE("the stages of one tensor rank hold the parameters of the model") {
  std::mt19937_64 random(7);
  int sparse = 0;
  for (int counted = 0; counted < 1500;) {
    RandomIteration made = MakeAnyIteration(random);
    ModelSpec& model = made.workload.model;
    made.config.tp = 1;
    if (made.config.etp != kNoCount) made.config.etp = 1;
    model.tied_embeddings = YesNo::kNo;
    model.vocab = 128 * (1 + random() % 100);
    model.norm = random() % 2 == 0 ? NormKind::kRmsNorm : NormKind::kLayerNorm;
    model.qkv_bias = random() % 2 == 0 ? YesNo::kYes : YesNo::kNo;
    model.max_positions = made.workload.seq_len + random() % 100;
    if (!IsModelled(made)) continue;
    ++counted;
    sparse += HasExperts(model);
    CAPTURE(fmt::format("{}", made.workload), fmt::format("{}", made.config));
    const Program program = Compiled(made.workload, made.config);
    int64_t parameters = 0;
    int64_t experts = 0;
    for (const Stage& stage : program.stages) {
      parameters += stage.parameters;
      experts += stage.expert_parameters;
    }
    // Every device has its share of the experts.
    parameters += (made.config.ep - 1) * experts;
    // To predict further tokens the last stage embeds them, too.
    if (model.mtp_layers > 0 && made.config.pp > 1) {
      parameters -= model.vocab * model.hidden;
    }
    const auto count = CountParameters(model);
    REQUIRE(count.ok());
    CHECK(parameters == count->total);
    if (!IsYes(model.linear_bias) && model.mtp_layers == 0) {
      CHECK(experts * made.config.ep == count->routed_experts);
    }
  }
  CHECK(sparse > 200);
}

TEST_CASE("tensor ranks share all but what each of them holds whole") {
  std::mt19937_64 random(8);
  for (int counted = 0; counted < 600;) {
    RandomIteration made = MakeAnyIteration(random);
    ParallelConfig& config = made.config;
    config.tp = 4;
    config.etp = 1;
    // Every head of its own, a padded vocabulary either way: what is divided
    // divides by 4.
    made.workload.model.kv_heads = 12;
    made.workload.model.vocab = 51200;
    config.rank_order = "tp-cp-ep-dp-pp";
    if (!IsModelled(made)) continue;
    RandomIteration of_one = made;
    // As many devices, so that experts lie as they do.
    of_one.config.tp = 1;
    of_one.config.dp *= 4;
    of_one.workload.global_batch *= 4;
    if (!IsModelled(of_one)) continue;
    ++counted;
    CAPTURE(fmt::format("{}", made.workload), fmt::format("{}", config));
    const Program divided = Compiled(made.workload, config);
    const Program whole = Compiled(of_one.workload, of_one.config);
    for (size_t i = 0; i < whole.stages.size(); ++i) {
      const Stage& one = divided.stages[i];
      const int64_t apart = one.replicated_parameters + one.expert_parameters;
      CHECK(4 * (one.parameters - apart) ==
            whole.stages[i].parameters - whole.stages[i].expert_parameters -
                one.replicated_parameters);
      CHECK(one.expert_parameters == whole.stages[i].expert_parameters);
    }
  }
}

TEST_CASE("more tensor ranks than key and value heads hold copies of them") {
  Workload workload = SmallWorkload(8, 8);
  workload.model.kv_heads = 2;
  // Heads of 64: one query head and the copy of a key and of a value head that
  // 8 / 2 ranks share.
  ParallelConfig config = Pipeline(1);
  config.tp = 8;
  const Program program = Compiled(workload, config);
  const auto qkv =
      std::find_if(program.operators.begin(), program.operators.end(),
                   [](const Operator& op) {
                     return op.kind == OperatorKind::kQkvProjection;
                   });
  REQUIRE(qkv != program.operators.end());
  CHECK(qkv->n == 64 + 2 * 64);
}

TEST_CASE("operators have the operations that are counted for their tokens") {
  std::mt19937_64 random(9);
  for (int counted = 0; counted < 2000;) {
    RandomIteration made = MakeAnyIteration(random);
    Workload& workload = made.workload;
    ParallelConfig& config = made.config;
    config.tp = config.dp = 1;
    config.zero_group = kNoCount;
    // Of all devices together, whatever they exchange.
    if (config.etp != kNoCount) config.etp = 1;
    config.ep = std::min<int64_t>(config.ep, config.cp);
    workload.model.vocab = 128 * (1 + random() % 100);
    workload.causal = random() % 2 == 0 ? YesNo::kYes : YesNo::kNo;
    if (random() % 2 == 0) {
      config.recompute = Recompute::kFull;
      config.recompute_modules.clear();
      config.recompute_layers = kNoCount;
      config.recompute_method = RecomputeMethod::kNotStated;
    } else {
      config.recompute = Recompute::kNone;
      config.recompute_modules.clear();
      config.recompute_layers = kNoCount;
      config.recompute_method = RecomputeMethod::kNotStated;
    }
    const bool again = config.recompute == Recompute::kFull;
    const bool flash = workload.attention_impl == AttentionImpl::kFlash;
    // A core that is not fused computes the scores that its mask or window
    // leaves out.
    if (!flash) {
      workload.model.sliding_window = 0;
      workload.causal = YesNo::kNo;
    }
    const int64_t micro_batches = MicroBatches(workload, config);
    if (micro_batches < 1) continue;
    if (!IsModelled(made)) continue;
    ++counted;
    CAPTURE(fmt::format("{}", workload), fmt::format("{}", config));

    FlopConvention convention;
    convention.mask = IsYes(workload.causal) ? FlopConvention::Mask::kCausal
                                             : FlopConvention::Mask::kFull;
    convention.full_recompute = again;
    const auto count = CountFlopsPerToken(workload, convention);
    REQUIRE(count.ok());
    // Counted are 2 products of the core forward and 4 backward. A fused
    // backward pass has 5, it computes the scores again: a third of what is
    // counted, times the share of the scores.
    const ModelSpec& model = workload.model;
    double keys = static_cast<double>(HeadDim(model));
    if (model.attention == AttentionKind::kLatent) {
      keys =
          static_cast<double>(model.qk_nope_head_dim + model.qk_rope_head_dim);
    }
    const double values = IsStated(model.v_head_dim)
                              ? static_cast<double>(model.v_head_dim)
                              : keys;
    const double expected =
        count->total +
        (flash ? count->attention_core / 3 * keys / (keys + values) : 0);
    const Program program = Compiled(workload, config);
    const double tokens = static_cast<double>(workload.global_batch) *
                          static_cast<double>(workload.seq_len);
    const double ranks = static_cast<double>(config.cp);
    CHECK(FlopsOfPasses(program) * static_cast<double>(micro_batches) * ranks ==
          Approx(expected * tokens).epsilon(1e-12));
  }
}

TEST_CASE("the vocabulary is padded to a multiple of 128 a tensor rank") {
  Workload workload = SmallWorkload(8, 8);
  workload.model.vocab = 50257;
  // ceil(50257 / (128 t)) * 128.
  const struct {
    int64_t tp, shard;
  } cases[] = {{1, 50304}, {2, 50432 / 2}, {4, 50688 / 4}, {8, 51200 / 8}};
  for (const auto& [tp, shard] : cases) {
    CAPTURE(tp);
    ParallelConfig config = Pipeline(1);
    config.tp = tp;
    const Program program = Compiled(workload, config);
    CHECK(program.Assumes(Assumption::kPaddedVocab));
    const auto output =
        std::find_if(program.operators.begin(), program.operators.end(),
                     [](const Operator& op) {
                       return op.kind == OperatorKind::kOutputLayer &&
                              op.pass == OperatorPass::kForward;
                     });
    REQUIRE(output != program.operators.end());
    CHECK(output->n == shard);
    CHECK(program.blocks[program.runs[0].block].kind == BlockKind::kEmbedding);
    CHECK(program.blocks[program.runs[0].block].parameters == shard * 512);
  }
  workload.model.vocab = 51200;
  CHECK(!Compiled(workload, Pipeline(1)).Assumes(Assumption::kPaddedVocab));
}

TEST_CASE("tied embeddings are held once on one stage and twice on several") {
  Workload workload = SmallWorkload(8, 8);
  constexpr int64_t kMatrix = int64_t{1024} * 512;
  const auto parameters = [&](YesNo tied, int64_t pp) {
    workload.model.tied_embeddings = tied;
    return Compiled(workload, Pipeline(pp));
  };
  const Program tied_one = parameters(YesNo::kYes, 1);
  const Program untied_one = parameters(YesNo::kNo, 1);
  CHECK(untied_one.stages[0].parameters - tied_one.stages[0].parameters ==
        kMatrix);
  CHECK(tied_one.shared_embedding_parameters == 0);

  const Program tied = parameters(YesNo::kYes, 4);
  const Program untied = parameters(YesNo::kNo, 4);
  CHECK(tied.shared_embedding_parameters == kMatrix);
  CHECK(untied.shared_embedding_parameters == 0);
  for (size_t i = 0; i < 4; ++i) {
    CHECK(tied.stages[i].parameters == untied.stages[i].parameters);
  }
  // 2 layers everywhere; the first stage has the embedding beside them, the
  // last the output layer and the final norm (512 weights).
  CHECK(tied.stages[0].parameters - tied.stages[1].parameters == kMatrix);
  CHECK(tied.stages[3].parameters - tied.stages[1].parameters == kMatrix + 512);
}

TEST_CASE("stages own the layers that a policy or a list gives them") {
  Workload workload = SmallWorkload(8, 8);
  workload.model.layers = 61;
  ParallelConfig config = Pipeline(4);
  const auto layers = [&] {
    std::vector<int64_t> all;
    const Program program = Compiled(workload, config);
    for (const Stage& stage : program.stages) all.push_back(stage.layers);
    return all;
  };
  using List = std::vector<int64_t>;
  config.placement = StagePlacement::kRemainderFirst;
  CHECK(layers() == List{16, 15, 15, 15});
  config.placement = StagePlacement::kRemainderLast;
  CHECK(layers() == List{15, 15, 15, 16});
  // 63 parts with embedding and output layer: 16, 16, 16, 15.
  config.placement = StagePlacement::kBalanced;
  CHECK(layers() == List{15, 16, 16, 14});
  config.placement = StagePlacement::kNotStated;
  config.stage_layers = {1, 10, 20, 30};
  CHECK(layers() == List{1, 10, 20, 30});
  // Of chunks: rank r has chunks r and r + 2.
  config = Pipeline(2);
  config.vpp = 2;
  config.stage_layers = {1, 10, 20, 30};
  CHECK(layers() == List{21, 40});
}

TEST_CASE("what is kept never grows with what is recomputed") {
  std::mt19937_64 random(10);
  for (int counted = 0; counted < 1000;) {
    RandomIteration made = MakeAnyIteration(random);
    ParallelConfig& config = made.config;
    config.recompute_modules.clear();
    config.recompute_layers = kNoCount;
    config.recompute_method = RecomputeMethod::kNotStated;
    config.recompute = Recompute::kNone;
    if (!IsModelled(made)) continue;
    ++counted;
    CAPTURE(fmt::format("{}", made.workload), fmt::format("{}", config));
    const auto stored = [&](Recompute recompute) {
      config.recompute = recompute;
      const Program program = Compiled(made.workload, config);
      std::vector<int64_t> bytes;
      for (const int32_t kind : program.chunk_kind) {
        bytes.push_back(program.chunks[kind].stored_bytes);
      }
      return bytes;
    };
    const auto none = stored(Recompute::kNone);
    const auto selective = stored(Recompute::kSelective);
    const auto full = stored(Recompute::kFull);
    for (size_t i = 0; i < none.size(); ++i) {
      CHECK(none[i] >= selective[i]);
      CHECK(selective[i] >= full[i]);
    }
  }
}

}  // namespace
}  // namespace lmsimbench
