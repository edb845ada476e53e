#include "test/aggregate/random_iteration.h"

#include <algorithm>
#include <initializer_list>

namespace lmsimbench {
namespace {

template <typename T>
T Any(std::mt19937_64& random, std::initializer_list<T> of) {
  return of.begin()[random() % of.size()];
}

int64_t Between(std::mt19937_64& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random() % (high - low + 1));
}

YesNo AnyFact(std::mt19937_64& random) {
  return Any(random, {YesNo::kNotStated, YesNo::kNo, YesNo::kYes});
}

// Seconds that depend on the question only.
Cost Draw(uint64_t seed, bool has_host, uint64_t question) {
  // The finaliser of splitmix64 spreads what a sum leaves close together.
  uint64_t bits = seed * 0x9e3779b97f4a7c15u + question;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  bits ^= bits >> 31;
  Cost cost;
  cost.evidence = static_cast<Evidence>(1 + bits % 4);
  const uint64_t draw = (bits >> 8) % 1000;
  const bool few = seed % 2 == 0;
  cost.seconds = few ? 1e-3 * static_cast<double>(draw % 4)
                     : 1e-6 * static_cast<double>(draw * draw % 9973);
  if (has_host) {
    const uint64_t host = (bits >> 32) % 1000;
    cost.host_s = few ? 1e-3 * static_cast<double>(host % 4)
                      : 1e-6 * static_cast<double>(host * host % 9973);
  }
  return cost;
}

template <typename... Parts>
uint64_t Question(const Parts&... parts) {
  uint64_t sum = 0;
  ((sum = sum * 1000003u + static_cast<uint64_t>(parts) + 1), ...);
  return sum;
}

}  // namespace

RandomIteration MakeRandomIteration(std::mt19937_64& random) {
  RandomIteration made;
  ParallelConfig& config = made.config;
  config.tp = Any<int64_t>(random, {1, 1, 2, 4, 3});
  config.pp = Any<int64_t>(random, {1, 1, 2, 3, 4, 5});
  config.dp = Any<int64_t>(random, {1, 2, 3, 4});
  config.vpp = config.pp > 1 ? Any<int64_t>(random, {1, 1, 2, 3, 4}) : 1;
  config.micro_batch = Between(random, 1, 2);
  config.sequence_parallel = AnyFact(random);
  config.zero =
      Any(random, {ZeroStage::kNone, ZeroStage::kOptimizerState,
                   ZeroStage::kGradients, ZeroStage::kDistributedOptimizer});
  if (config.zero != ZeroStage::kNone && config.dp % 2 == 0 &&
      random() % 3 == 0) {
    config.zero_group = 2;
  }
  config.recompute = Any(random, {Recompute::kNone, Recompute::kSelective,
                                  Recompute::kFull, Recompute::kLayers});
  if (config.recompute == Recompute::kLayers) {
    config.recompute_layers = Between(random, 1, 2);
    config.recompute_method =
        Any(random, {RecomputeMethod::kUniform, RecomputeMethod::kBlock});
  }
  if (config.recompute == Recompute::kSelective) {
    config.recompute_modules =
        Any(random, {"", "norm", "activation-attention", "mlp-norm"});
  }
  config.schedule =
      config.vpp > 1
          ? Any(random, {Schedule::kInterleaved1F1B, Schedule::kGPipe})
          : Any(random,
                {Schedule::kNotStated, Schedule::kGPipe, Schedule::k1F1B});
  config.overlap_grad_reduce = AnyFact(random);
  config.overlap_param_gather = AnyFact(random);
  config.overlap_p2p = AnyFact(random);
  config.overlap_tensor = AnyFact(random);
  config.offload_optimizer = AnyFact(random);
  config.rank_order =
      Any(random, {"tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp", "dp-tp-cp-ep-pp"});
  const int64_t chunks = config.pp * config.vpp;
  config.placement =
      Any(random, {StagePlacement::kRemainderFirst,
                   StagePlacement::kRemainderLast, StagePlacement::kBalanced});

  ModelSpec& model = made.workload.model;
  model.name = "random";
  model.layers = chunks + Between(random, 0, 5);
  model.heads = 12;
  model.kv_heads = Any<int64_t>(random, {12, 12, 1, 4});
  // Large enough for several buckets a chunk.
  model.hidden = Any<int64_t>(random, {96, 4800, 9600});
  model.ffn = 4 * model.hidden;
  model.vocab = Any<int64_t>(random, {1000, 50257});
  model.gated_mlp = AnyFact(random) == YesNo::kYes ? YesNo::kYes : YesNo::kNo;
  model.tied_embeddings = AnyFact(random);
  model.dropout = Any(random, {0.0, 0.1});
  model.linear_bias = AnyFact(random);
  model.qk_norm = AnyFact(random);
  model.positions =
      Any(random, {PositionKind::kRotary, PositionKind::kLearned});
  model.norms_per_layer = Any<int64_t>(random, {2, 2, 4});
  if (random() % 4 == 0) {
    model.sliding_window = 32;
    model.sliding_window_period = Between(random, 1, 3);
  }
  Workload& workload = made.workload;
  workload.seq_len = 96;
  workload.precision =
      Any(random, {Precision::kBf16, Precision::kFp16, Precision::kFp32});
  workload.attention_impl =
      Any(random, {AttentionImpl::kFlash, AttentionImpl::kUnfused});
  workload.loss_impl =
      Any(random, {LossImpl::kPlain, LossImpl::kFused, LossImpl::kChunked});
  workload.loss_chunk = Any<int64_t>(random, {40, 96});
  int64_t micro_batches = Between(random, 1, 12);
  if (config.vpp > 1) {
    micro_batches += config.pp;
    if (random() % 3 == 0) {
      config.micro_batch_group =
          std::min(micro_batches, config.pp + Between(random, 0, 2));
    }
  }
  workload.global_batch = config.dp * config.micro_batch * micro_batches;

  System& system = made.system;
  system.name = "random";
  system.accelerator.memory_bytes = 80e9;
  system.network.push_back(
      {"node", Any<int64_t>(random, {4, 8, 8, 5}), "", 1e11, 1e-6});
  system.network.push_back({"cluster", kNoCount, "", 1e10, 1e-5});
  return made;
}

namespace {

void AddExperts(std::mt19937_64& random, ModelSpec& model, Workload& workload,
                ParallelConfig& config) {
  model.experts = Any<int64_t>(random, {4, 8, 10});
  model.top_k = Between(random, 1, 3);
  model.expert_ffn = Any<int64_t>(random, {120, 1200});
  model.shared_experts = Any<int64_t>(random, {0, 0, 1, 2});
  if (random() % 2 == 0) model.shared_expert_ffn = 240;
  model.dense_first_layers = Any<int64_t>(random, {0, 0, 1, 2});
  config.ep = Any<int64_t>(random, {1, 2, 4, 5});
  config.etp = Any<int64_t>(random, {kNoCount, 1, 2, 3});
  config.expert_dispatch =
      Any(random, {ExpertDispatch::kNotStated, ExpertDispatch::kAllToAll,
                   ExpertDispatch::kAllGather});
  config.overlap_expert = AnyFact(random);
  config.zero_group = kNoCount;
  if (config.pp > 1) config.rank_order = "tp-cp-ep-dp-pp";
  workload.grouped_gemm = AnyFact(random);
}

void AddLatentAttention(std::mt19937_64& random, ModelSpec& model) {
  model.attention = AttentionKind::kLatent;
  model.q_lora_rank = Any<int64_t>(random, {0, 48});
  model.kv_lora_rank = 40;
  model.qk_nope_head_dim = 24;
  model.qk_rope_head_dim = 8;
  model.v_head_dim = Any<int64_t>(random, {16, 32});
  model.kv_heads = model.heads;
  model.qk_norm = YesNo::kNo;
}

void AddContext(std::mt19937_64& random, Workload& workload,
                ParallelConfig& config) {
  config.cp = Any<int64_t>(random, {2, 3, 4});
  config.context_algorithm =
      Any(random, {ContextAlgorithm::kNotStated, ContextAlgorithm::kRing,
                   ContextAlgorithm::kAllGather, ContextAlgorithm::kUlysses,
                   ContextAlgorithm::kHybrid});
  workload.attention_impl = AttentionImpl::kFlash;
  if (config.context_algorithm != ContextAlgorithm::kAllGather &&
      config.context_algorithm != ContextAlgorithm::kUlysses) {
    workload.model.sliding_window = 0;
  }
}

}  // namespace

RandomIteration MakeRandomSparseIteration(std::mt19937_64& random) {
  RandomIteration made = MakeRandomIteration(random);
  ModelSpec& model = made.workload.model;
  // Several buckets a chunk take long to add up where a layer has many steps.
  model.hidden = Any<int64_t>(random, {96, 4800});
  if (random() % 3 != 0) AddExperts(random, model, made.workload, made.config);
  if (random() % 3 == 0)
    AddLatentAttention(random, model);
  else if (random() % 4 == 0)
    model.v_head_dim = 16;
  if (random() % 4 == 0) model.mtp_layers = Between(random, 1, 2);
  if (random() % 3 == 0) AddContext(random, made.workload, made.config);
  return made;
}

RandomIteration MakeRandomShardedIteration(std::mt19937_64& random) {
  RandomIteration made = random() % 2 == 0 ? MakeRandomIteration(random)
                                           : MakeRandomSparseIteration(random);
  ParallelConfig& config = made.config;
  config.zero = ZeroStage::kParameters;
  config.zero_group = kNoCount;
  made.workload.model.mtp_layers = 0;
  made.workload.gradient_precision =
      Any(random, {Precision::kNotStated, Precision::kFp32});
  const int64_t ranks = config.dp * config.cp;
  if (made.workload.model.experts <= 0 && random() % 2 == 0) {
    config.zero_group = Any<int64_t>(random, {1, 2, 3, 4});
    if (ranks % config.zero_group != 0) config.zero_group = kNoCount;
  }
  return made;
}

RandomIteration MakeRandomSplitIteration(std::mt19937_64& random) {
  RandomIteration made = random() % 2 == 0 ? MakeRandomIteration(random)
                                           : MakeRandomSparseIteration(random);
  ParallelConfig& config = made.config;
  config.schedule =
      Any(random,
          {Schedule::kZeroBubbleH1, Schedule::kZeroBubbleH2,
           Schedule::kZeroBubbleV, Schedule::kDualPipe, Schedule::kDualPipeV});
  if (config.schedule == Schedule::kDualPipe) {
    config.pp = Any<int64_t>(random, {2, 4, 6});
  }
  config.vpp = 1;
  config.micro_batch_group = kNoCount;
  made.workload.model.layers += config.pp;
  if (config.schedule == Schedule::kDualPipe ||
      config.schedule == Schedule::kDualPipeV) {
    // Two micro-batches for each rank are the least.
    const int64_t micro_batches = 2 * (config.pp + Between(random, 0, 4));
    made.workload.global_batch = micro_batches * config.dp * config.micro_batch;
  }
  return made;
}

RandomIteration MakeRandomDeepIteration(std::mt19937_64& random) {
  const uint64_t kind = random() % 8;
  RandomIteration made = kind == 0   ? MakeRandomSplitIteration(random)
                         : kind == 1 ? MakeRandomShardedIteration(random)
                         : kind == 2 ? MakeRandomSparseIteration(random)
                                     : MakeRandomIteration(random);
  ParallelConfig& config = made.config;
  // What has no steady state that is looked for is drawn now and then only.
  if (config.schedule == Schedule::kGPipe && random() % 8 != 0) {
    config.schedule =
        config.vpp > 1 ? Schedule::kInterleaved1F1B : Schedule::k1F1B;
  }
  if (config.zero == ZeroStage::kGradients && random() % 4 != 0) {
    config.zero = ZeroStage::kDistributedOptimizer;
  }
  if (config.pp > 1 && config.schedule != Schedule::kDualPipe) {
    config.pp = Any<int64_t>(random, {2, 3, 4, 5, 6, 8});
  }
  ModelSpec& model = made.workload.model;
  model.layers = config.pp * config.vpp *
                     (config.schedule == Schedule::kZeroBubbleV ||
                              config.schedule == Schedule::kDualPipeV
                          ? 2
                          : 1) +
                 Between(random, 0, 5);
  int64_t micro_batches = Between(random, 24, 200);
  if (config.vpp > 1) {
    // Every third time the last group is another one.
    const int64_t group = config.pp + Between(random, 0, 3);
    if (random() % 2 == 0) config.micro_batch_group = group;
    micro_batches = group * Between(random, 6, 24);
    if (random() % 3 == 0) micro_batches += Between(random, 0, group - 1);
  }
  if (config.schedule == Schedule::kDualPipe) micro_batches *= 2;
  made.workload.global_batch = config.dp * config.micro_batch * micro_batches;
  return made;
}

absl::Status RandomCostModel::DoOperatorCosts(
    const System&, absl::Span<const Operator> operators,
    absl::Span<Cost> costs) const {
  for (size_t i = 0; i < operators.size(); ++i) {
    const Operator& op = operators[i];
    costs[i] =
        Draw(seed_, has_host_,
             Question(op.kind, op.pass, op.m, op.n, op.k, op.rows, op.width,
                      op.window, op.batch, op.query_tokens, op.key_tokens));
  }
  return absl::OkStatus();
}

absl::Status RandomCostModel::DoCollectiveCosts(
    const System&, absl::Span<const SpannedCollective> collectives,
    absl::Span<Cost> costs) const {
  for (size_t i = 0; i < collectives.size(); ++i) {
    const Collective& collective = collectives[i].collective;
    const Span& span = collectives[i].span;
    costs[i] =
        Draw(seed_, has_host_,
             Question(collective.kind, collective.group, collective.bytes,
                      span.nodes, span.members_per_node, span.level));
    if (collective.group == Group::kPipeline) costs[i].seconds *= slow_links_;
    if (collective.group == Group::kData || collective.group == Group::kShard) {
      costs[i].seconds *= slow_data_;
    }
  }
  return absl::OkStatus();
}

Contention RandomCostModel::DoContentionOn(const System&) const {
  if (!has_contention_) return {};
  constexpr double kFactors[] = {0, 0.3, 0.7, 2};
  return {kFactors[seed_ / 2 % 4], seed_ % 2 == 0};
}

}  // namespace lmsimbench
