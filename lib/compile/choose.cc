#include "lib/compile/choose.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"
#include "lib/core/arithmetic.h"
#include "lmsimbench/layout.h"

namespace lmsimbench::compile {
namespace {

// Widths of latent attention where they are not stated: those of DeepSeek-V2
// and V3 and of their kin (their published configurations).
constexpr int64_t kQueryRank = 1536;
constexpr int64_t kKeyValueRank = 512;
constexpr int64_t kNope = 128;
constexpr int64_t kRope = 64;
constexpr int64_t kValue = 128;

int64_t StatedOr(int64_t stated, int64_t otherwise, Sizes& sizes) {
  if (IsStated(stated)) return stated;
  Assume(sizes, Assumption::kLatentWidths);
  return otherwise;
}

void ChooseLatentHeads(const ModelSpec& model, Sizes& sizes) {
  LatentSizes& latent = sizes.latent;
  latent.q_rank = StatedOr(model.q_lora_rank, kQueryRank, sizes);
  latent.kv_rank = StatedOr(model.kv_lora_rank, kKeyValueRank, sizes);
  latent.nope = StatedOr(model.qk_nope_head_dim, kNope, sizes);
  latent.rope = StatedOr(model.qk_rope_head_dim, kRope, sizes);
  sizes.kv_heads = sizes.heads;
  sizes.head_dim = latent.nope + latent.rope;
  sizes.value_head_dim = StatedOr(model.v_head_dim, kValue, sizes);
}

// Tokens times a factor, not less than a whole one.
int64_t Scaled(int64_t tokens, double factor) {
  return static_cast<int64_t>(
      std::ceil(static_cast<double>(tokens) * factor - 1e-9));
}

int64_t SharedWidth(const ModelSpec& model) {
  return model.shared_experts * (IsStated(model.shared_expert_ffn)
                                     ? model.shared_expert_ffn
                                     : model.expert_ffn);
}

}  // namespace

int64_t DenseWidth(const ModelSpec& model, Sizes& sizes) {
  if (!HasExperts(model) || IsStated(model.ffn)) return model.ffn;
  Assume(sizes, Assumption::kDenseWidth);
  return model.top_k * model.expert_ffn + SharedWidth(model);
}

void ChooseHeads(const ModelSpec& model, int64_t tp, Sizes& sizes) {
  if (model.attention == AttentionKind::kLatent) {
    ChooseLatentHeads(model, sizes);
  } else {
    const int64_t kv_heads =
        IsStated(model.kv_heads) ? model.kv_heads : model.heads;
    sizes.kv_heads = std::max<int64_t>(1, kv_heads / tp);
    sizes.head_dim = HeadDim(model);
    sizes.value_head_dim =
        IsStated(model.v_head_dim) ? model.v_head_dim : sizes.head_dim;
  }
  sizes.query_width = sizes.heads * sizes.head_dim;
  sizes.key_width = sizes.kv_heads * sizes.head_dim;
  sizes.value_width = sizes.kv_heads * sizes.value_head_dim;
  sizes.attended_width = sizes.heads * sizes.value_head_dim;
}

absl::Status ChooseContext(const ParallelConfig& config, Sizes& sizes) {
  if (config.cp == 1) return absl::OkStatus();
  if (config.context_algorithm == ContextAlgorithm::kNotStated) {
    Assume(sizes, Assumption::kRingContext);
  }
  ContextSizes& context = sizes.context;
  context.inner = ContextInner(config);
  context.outer = config.cp / context.inner;
  context.gathers = config.context_algorithm == ContextAlgorithm::kAllGather;
  if (!sizes.flash) {
    return absl::UnimplementedError(
        "the staged pipeline does not model attention that is not fused over "
        "context-parallel ranks");
  }
  if (sizes.heads % context.inner != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "{} context-parallel ranks that exchange heads do not divide {} query "
        "heads of a tensor-parallel rank",
        context.inner, sizes.heads));
  }
  if (sizes.kv_heads % context.inner != 0 &&
      context.inner % sizes.kv_heads != 0) {
    return absl::UnimplementedError(fmt::format(
        "the staged pipeline does not model {} context-parallel ranks that "
        "exchange heads with {} key and value heads: neither divides the other",
        context.inner, sizes.kv_heads));
  }
  if (sizes.window > 0 && context.outer > 1 && !context.gathers) {
    return absl::UnimplementedError(fmt::format(
        "the staged pipeline does not model a window of {} tokens round a ring "
        "of context-parallel ranks; all-gather and ulysses have windows",
        sizes.window));
  }
  return absl::OkStatus();
}

void ChooseExperts(const Workload& workload, const ParallelConfig& config,
                   Sizes& sizes) {
  const ModelSpec& model = workload.model;
  ExpertSizes& expert = sizes.expert;
  expert.experts = model.experts;
  expert.top_k = model.top_k;
  expert.dense_first = model.dense_first_layers;
  expert.ep = IsStated(config.ep) ? config.ep : 1;
  expert.etp = ExpertTensorParallel(config);
  expert.local = model.experts / expert.ep;
  expert.ffn = CeilDivide(model.expert_ffn, expert.etp);
  expert.shards = ExpertDataParallel(config);
  if (model.shared_experts > 0) {
    expert.shared_experts = model.shared_experts;
    expert.shared_ffn = CeilDivide(SharedWidth(model), config.tp);
  }

  // Tokens are shared out among the tensor-parallel ranks, whether or not they
  // lie so.
  expert.tokens = CeilDivide(sizes.tokens, config.tp);
  const bool has_capacity = IsStated(workload.expert_capacity);
  const bool has_imbalance = IsStated(workload.expert_imbalance);
  if (!has_capacity && !has_imbalance) {
    Assume(sizes, Assumption::kBalancedExperts);
  }
  const int64_t copies = expert.tokens * expert.top_k;
  expert.sent = Scaled(copies, has_capacity ? workload.expert_capacity : 1);
  // A capacity levels what experts get.
  expert.received =
      Scaled(expert.sent * expert.etp,
             has_imbalance && !has_capacity ? workload.expert_imbalance : 1);

  expert.gathers = config.expert_dispatch == ExpertDispatch::kAllGather;
  if (config.expert_dispatch == ExpertDispatch::kNotStated &&
      expert.ep * expert.etp > 1) {
    Assume(sizes, Assumption::kAllToAllDispatch);
  }
  expert.grouped = workload.grouped_gemm != YesNo::kNo;
  if (workload.grouped_gemm == YesNo::kNotStated) {
    Assume(sizes, Assumption::kGroupedExperts);
  }
  expert.overlaps = IsYes(config.overlap_expert);
}

}  // namespace lmsimbench::compile
