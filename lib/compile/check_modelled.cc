#include "lib/compile/check_modelled.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "fmt/format.h"
#include "lib/core/arithmetic.h"
#include "lmsimbench/layout.h"

namespace lmsimbench::compile {
namespace {

absl::Status NotModelled(const std::string& what) {
  return absl::UnimplementedError(
      fmt::format("the staged pipeline does not model {}", what));
}

// A detail says nothing without what it is a detail of.
absl::Status CheckDetails(const ParallelConfig& config) {
  const bool recompute = config.recompute != Recompute::kNotStated;
  const struct {
    const char* name;
    bool is_stated;
    const char* of;
    bool of_is_stated;
  } details[] = {
      {"recompute_layers", IsStated(config.recompute_layers), "recompute",
       recompute},
      {"recompute_method",
       config.recompute_method != RecomputeMethod::kNotStated, "recompute",
       recompute},
      {"recompute_modules", !config.recompute_modules.empty(), "recompute",
       recompute},
      {"zero_group", IsStated(config.zero_group), "zero",
       config.zero != ZeroStage::kNotStated},
  };
  for (const auto& detail : details) {
    if (!detail.is_stated || detail.of_is_stated) continue;
    return absl::FailedPreconditionError(
        fmt::format("{} is stated, and {} is not", detail.name, detail.of));
  }
  return absl::OkStatus();
}

}  // namespace

int64_t GradientBytes(Precision precision) {
  switch (precision) {
    case Precision::kNotStated:
      return 0;
    case Precision::kFp32:
    case Precision::kTf32:
      return 4;
    case Precision::kFp16:
    case Precision::kBf16:
      return 2;
    default:
      return kNotModelled;
  }
}

absl::Status CheckModelled(const Workload& workload,
                           const ParallelConfig& config) {
  const ModelSpec& model = workload.model;
  if (model.attention != AttentionKind::kLatent &&
      IsStated(model.kv_lora_rank)) {
    return absl::FailedPreconditionError(
        fmt::format("kv_lora_rank {} is stated, and attention is {}, not mla",
                    model.kv_lora_rank, std::string(Name(model.attention))));
  }
  if (model.norms_per_layer != 2 && model.norms_per_layer != 4) {
    return NotModelled(fmt::format("{} norms a layer", model.norms_per_layer));
  }
  if (HasExperts(model) && IsStated(config.zero_group) &&
      config.zero_group < config.dp * config.cp) {
    return NotModelled(fmt::format(
        "optimizer state of experts over a part (zero_group {}) of the ranks",
        config.zero_group));
  }
  if (config.zero == ZeroStage::kParameters &&
      SplitsBackward(config.schedule)) {
    return NotModelled(fmt::format(
        "sharded parameters (ZeRO-3) under schedule {}, whose weight gradients "
        "have passes of their own",
        std::string(Name(config.schedule))));
  }
  if (config.zero == ZeroStage::kParameters && model.mtp_layers > 0) {
    return NotModelled(
        "sharded parameters (ZeRO-3) with multi-token prediction, whose layers "
        "use the weights of embedding and head");
  }
  if (config.recompute == Recompute::kOperators &&
      config.recompute_modules.empty()) {
    return NotModelled(
        "recomputation of operators that the framework chooses; state "
        "recompute_modules");
  }
  if (IsYes(config.offload_weights)) return NotModelled("offloaded weights");
  if (IsYes(config.offload_activations)) {
    return NotModelled("offloaded activations");
  }
  if (GradientBytes(workload.gradient_precision) == kNotModelled) {
    return NotModelled(fmt::format(
        "gradients in {}", std::string(Name(workload.gradient_precision))));
  }
  return absl::OkStatus();
}

bool NeedsDenseMlp(const ModelSpec& model) {
  return !HasExperts(model) || model.dense_first_layers > 0;
}

absl::Status CheckStated(const Workload& workload,
                         const ParallelConfig& config) {
  const ModelSpec& model = workload.model;
  const int64_t not_needed = 0;
  const struct {
    const char* name;
    int64_t figure;
  } needed[] = {
      {"hidden", model.hidden},
      {"layers", model.layers},
      {"heads", model.heads},
      {"ffn", HasExperts(model) ? not_needed : model.ffn},
      {"expert_ffn", HasExperts(model) ? model.expert_ffn : not_needed},
      {"vocab", model.vocab},
      {"seq_len", workload.seq_len},
      {"micro_batch", config.micro_batch},
      {"micro-batches (global_batch or grad_accumulation)",
       MicroBatches(workload, config)},
  };
  for (const auto& [name, figure] : needed) {
    if (IsStated(figure)) continue;
    return absl::FailedPreconditionError(
        fmt::format("the staged pipeline needs {}, which is not stated", name));
  }
  if (model.gated_mlp == YesNo::kNotStated) {
    return absl::FailedPreconditionError(
        "the staged pipeline needs gated_mlp, which is not stated");
  }
  const struct {
    const char* name;
    double factor;
    double least;
  } factors[] = {
      {"expert_capacity", workload.expert_capacity, 0},
      {"expert_imbalance", workload.expert_imbalance, 1},
  };
  constexpr double kLargestFactor = 1e6;
  for (const auto& [name, factor, least] : factors) {
    if (!IsStated(factor)) continue;
    if (factor > 0 && factor >= least && factor <= kLargestFactor) continue;
    return absl::InvalidArgumentError(
        fmt::format("{} is {}; it is {} and at most {}", name, factor,
                    least > 0 ? "at least 1" : "positive", kLargestFactor));
  }
  if (workload.loss_impl == LossImpl::kChunked &&
      !IsStated(workload.loss_chunk)) {
    return absl::FailedPreconditionError(
        "a chunked loss needs loss_chunk, which is not stated");
  }
  if (config.recompute == Recompute::kLayers &&
      !IsStated(config.recompute_layers)) {
    return absl::FailedPreconditionError(
        "recomputation of layers needs recompute_layers, which is not stated");
  }
  return CheckDetails(config);
}

absl::Status CheckRange(const Workload& workload, const ParallelConfig& config,
                        bool flash) {
  const ModelSpec& model = workload.model;
  constexpr int64_t kLargest = int64_t{1} << 53;
  // More bytes an element, and more tensors of one shape, than there are.
  constexpr int64_t kMargin = 256;
  const int64_t heads_width = SaturatingProduct(model.heads, HeadDim(model));
  // Of all experts together, which is more than what one token visits but for
  // what a capacity adds.
  const int64_t experts_width =
      HasExperts(model)
          ? std::max(SaturatingProduct(model.experts, model.expert_ffn),
                     SaturatingProduct(
                         model.shared_experts,
                         std::max(model.expert_ffn, model.shared_expert_ffn)))
          : 0;
  const int64_t width = std::max(
      {model.hidden, heads_width, model.ffn, model.vocab, experts_width});
  // Scores are stored where attention is not fused.
  const int64_t scores =
      flash ? 0 : SaturatingProduct(model.heads, workload.seq_len);
  const int64_t tokens =
      SaturatingProduct(workload.seq_len, config.micro_batch);
  const double most =
      std::max({1.0, workload.expert_capacity, workload.expert_imbalance});
  const auto copies = static_cast<int64_t>(std::ceil(most));
  const struct {
    const char* name;
    int64_t product;
  } products[] = {
      {"activations of a layer",
       SaturatingProduct(tokens, std::max(width, scores), kMargin, copies)},
      {"parameters",
       SaturatingProduct(model.hidden, width, model.layers, kMargin)},
      {"the position table",
       SaturatingProduct(model.hidden,
                         std::max<int64_t>(1, model.max_positions), kMargin)},
  };
  for (const auto& [name, product] : products) {
    if (product <= kLargest) continue;
    return absl::OutOfRangeError(fmt::format(
        "{}: hidden {}, ffn {}, heads {}, vocab {}, layers {}, {} tokens of a "
        "micro-batch make numbers that reach 2^53",
        name, model.hidden, model.ffn, model.heads, model.vocab, model.layers,
        tokens));
  }
  return absl::OkStatus();
}

}  // namespace lmsimbench::compile
