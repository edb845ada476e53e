#include "lib/compile/check_modelled.h"

#include <algorithm>
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
  if (HasExperts(model)) return NotModelled("mixtures of experts");
  if (model.attention == AttentionKind::kLatent ||
      IsStated(model.kv_lora_rank)) {
    return NotModelled("multi-head latent attention");
  }
  if (IsStated(model.v_head_dim) && model.v_head_dim != HeadDim(model)) {
    return NotModelled(
        fmt::format("value heads of width {} beside query heads of width {}",
                    model.v_head_dim, HeadDim(model)));
  }
  if (model.mtp_layers > 0) return NotModelled("multi-token prediction");
  if (model.norms_per_layer != 2 && model.norms_per_layer != 4) {
    return NotModelled(fmt::format("{} norms a layer", model.norms_per_layer));
  }
  if (config.cp > 1) return NotModelled("context parallelism");
  if (config.ep > 1) return NotModelled("expert parallelism");
  if (config.zero == ZeroStage::kParameters) {
    return NotModelled("sharded parameters (ZeRO-3)");
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
  if (IsYes(config.offload_optimizer)) {
    return NotModelled("an offloaded optimizer");
  }
  if (GradientBytes(workload.gradient_precision) == kNotModelled) {
    return NotModelled(fmt::format(
        "gradients in {}", std::string(Name(workload.gradient_precision))));
  }
  if (workload.optimizer == Optimizer::kAdafactor ||
      workload.optimizer == Optimizer::kMuon) {
    return NotModelled(
        fmt::format("the optimizer {}", std::string(Name(workload.optimizer))));
  }
  return absl::OkStatus();
}

absl::Status CheckStated(const Workload& workload,
                         const ParallelConfig& config) {
  const ModelSpec& model = workload.model;
  const struct {
    const char* name;
    int64_t figure;
  } needed[] = {
      {"hidden", model.hidden},
      {"layers", model.layers},
      {"heads", model.heads},
      {"ffn", model.ffn},
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
  const int64_t width =
      std::max({model.hidden, heads_width, model.ffn, model.vocab});
  // Scores are stored where attention is not fused.
  const int64_t scores =
      flash ? 0 : SaturatingProduct(model.heads, workload.seq_len);
  const int64_t tokens =
      SaturatingProduct(workload.seq_len, config.micro_batch);
  const struct {
    const char* name;
    int64_t product;
  } products[] = {
      {"activations of a layer",
       SaturatingProduct(tokens, std::max(width, scores), kMargin)},
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
