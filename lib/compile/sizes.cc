#include "lib/compile/sizes.h"

#include <algorithm>
#include <string>

#include "absl/strings/string_view.h"
#include "lib/compile/check_modelled.h"
#include "lib/compile/choose.h"
#include "lib/core/arithmetic.h"
#include "lib/core/recompute_modules.h"
#include "lmsimbench/layout.h"

namespace lmsimbench::compile {
namespace {

// Megatron-LM's default divisor of the padded vocabulary.
constexpr int64_t kVocabDivisor = 128;

constexpr int64_t kMasterBytes = 4;

// Sets `choice` to what is stated, else to `otherwise`.
void Choose(Sizes& sizes, YesNo stated, bool otherwise, Assumption assumption,
            bool& choice) {
  choice = stated == YesNo::kNotStated ? otherwise : IsYes(stated);
  if (stated == YesNo::kNotStated) Assume(sizes, assumption);
}

void ChoosePrecision(const Workload& workload, Sizes& sizes) {
  switch (workload.precision) {
    case Precision::kFp32:
    case Precision::kTf32:
      sizes.precision = sizes.matrix_precision = workload.precision;
      sizes.bytes = sizes.matrix_bytes = 4;
      return;
    case Precision::kFp16:
    case Precision::kBf16:
    case Precision::kAmp:
      sizes.precision = sizes.matrix_precision = workload.precision;
      return;
    case Precision::kNotStated:
      Assume(sizes, Assumption::kPrecisionBf16);
      return;
    default:
      // 8 and 4 bits are formats of the matrix multiplications; everything
      // between them stays in 16 bits.
      sizes.matrix_precision = workload.precision;
      sizes.matrix_bytes = 1;
      return;
  }
}

// Bytes that the optimizer keeps beside a 32-bit copy of the weights. Adafactor
// keeps a number for each row and column of a matrix, which is next to nothing;
// Muon one moment.
int64_t MomentBytes(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kSgd:
    case Optimizer::kAdafactor:
      return 0;
    case Optimizer::kSgdMomentum:
    case Optimizer::kMuon:
      return 4;
    default:
      return 8;
  }
}

// The host has weights of 32 bits and moments, whatever the device would have
// kept; the device has the weights and gradients that its passes work on.
void KeepOnHost(int64_t moments, bool fully_sharded, Sizes& sizes) {
  sizes.host_bytes = kMasterBytes + moments;
  sizes.optimizer_bytes = 0;
  if (moments == 8 && fully_sharded && sizes.bytes == 2) {
    sizes.state_table = StateTable::kZero;
  }
}

void ChooseStates(const Workload& workload, const ParallelConfig& config,
                  Sizes& sizes) {
  const ZeroStage zero = config.zero;
  if (zero == ZeroStage::kNotStated) {
    Assume(sizes, Assumption::kMegatronStates);
  }
  if (workload.optimizer == Optimizer::kNotStated) {
    Assume(sizes, Assumption::kAdam);
  }
  const int64_t moments = MomentBytes(workload.optimizer);
  const bool deepspeed =
      zero == ZeroStage::kOptimizerState || zero == ZeroStage::kGradients;
  const bool fully_sharded = zero == ZeroStage::kParameters;
  if (fully_sharded) {
    // FSDP keeps shards in 32 bits, and gathers and reduces in the format of
    // the computation unless told otherwise.
    sizes.state_table = StateTable::kFullySharded;
    sizes.weight_bytes = sizes.bytes;
    sizes.gradient_bytes = sizes.bytes;
    sizes.optimizer_bytes = moments;
  } else if (sizes.bytes == 4) {
    sizes.state_table = StateTable::kMegatronFp32;
    sizes.weight_bytes = 4;
    sizes.gradient_bytes = 4;
    sizes.optimizer_bytes = moments;
  } else if (deepspeed) {
    sizes.state_table = StateTable::kZero;
    sizes.gradient_bytes = 2;
    sizes.optimizer_bytes = kMasterBytes + moments;
  } else if (sizes.precision == Precision::kFp16) {
    // Gradients of 16 bits, and a copy of them in 32 for the step.
    sizes.state_table = StateTable::kMegatronFp16;
    sizes.gradient_bytes = 2;
    sizes.optimizer_bytes = kMasterBytes + 4 + moments;
  } else {
    sizes.state_table = StateTable::kMegatronBf16;
    sizes.gradient_bytes = 4;
    sizes.optimizer_bytes = kMasterBytes + moments;
  }
  // The tables are of an optimizer with two moments.
  if (moments != 8) sizes.state_table = StateTable::kStated;
  const int64_t stated = GradientBytes(workload.gradient_precision);
  if (stated != 0 && fully_sharded) {
    sizes.gradient_bytes = stated;
  } else if (stated != 0 && stated != sizes.gradient_bytes) {
    sizes.state_table = StateTable::kStated;
    sizes.gradient_bytes = stated;
    if (sizes.bytes == 2) sizes.optimizer_bytes = kMasterBytes + moments;
  }
  if (IsYes(config.offload_optimizer))
    KeepOnHost(moments, fully_sharded, sizes);
  sizes.shards_optimizer = ShardsOptimizer(zero);
  sizes.shards_weights = fully_sharded;
  sizes.shards_gradients = fully_sharded || zero == ZeroStage::kGradients;
  // FSDP steps on what the device keeps.
  const bool keeps_masters = fully_sharded && sizes.host_bytes == 0;
  sizes.kept_weight_bytes = keeps_masters ? kMasterBytes : sizes.weight_bytes;
  sizes.kept_gradient_bytes =
      keeps_masters ? kMasterBytes : sizes.gradient_bytes;
  if (fully_sharded && config.dp * config.cp > 1 &&
      (config.overlap_param_gather == YesNo::kNotStated ||
       config.overlap_grad_reduce == YesNo::kNotStated)) {
    Assume(sizes, Assumption::kUnitsAhead);
  }
  sizes.state_shards =
      IsStated(config.zero_group) ? config.zero_group : config.dp * config.cp;
}

// Fused attention came with the models that have a gated MLP, and dropout went
// with the models that had neither: GPT-2 and GPT-3 train with it, Llama and
// its kin without. A model that says more is taken at its word; so with norms
// and positions.
void ChooseAttention(const Workload& workload, const ParallelConfig& config,
                     Sizes& sizes) {
  const ModelSpec& model = workload.model;
  if (workload.attention_impl == AttentionImpl::kNotStated &&
      workload.flash_attention == YesNo::kNotStated) {
    // Nobody divides a sequence without it.
    sizes.flash = IsYes(model.gated_mlp) || config.cp > 1;
    Assume(sizes, sizes.flash ? Assumption::kFlashAttention
                              : Assumption::kUnfusedAttention);
  } else {
    sizes.flash = UsesFlashAttention(workload);
  }
  if (IsStated(model.dropout)) {
    sizes.dropout = model.dropout > 0;
  } else {
    sizes.dropout = !sizes.flash;
    Assume(sizes,
           sizes.dropout ? Assumption::kDropout : Assumption::kNoDropout);
  }
}

void ChooseNormAndPositions(const ModelSpec& model, Sizes& sizes) {
  const bool gated = IsYes(model.gated_mlp);
  bool rms = model.norm == NormKind::kRmsNorm;
  if (model.norm == NormKind::kNotStated) {
    rms = gated;
    Assume(sizes, rms ? Assumption::kRmsNorm : Assumption::kLayerNorm);
  }
  sizes.norm_parameters = rms ? model.hidden : 2 * model.hidden;
  sizes.rotary = model.positions == PositionKind::kRotary;
  if (model.positions == PositionKind::kNotStated) {
    sizes.rotary = gated;
    Assume(sizes, gated ? Assumption::kRotary : Assumption::kNoPositionTable);
  }
}

void ChooseRecompute(const ParallelConfig& config, Sizes& sizes) {
  if (config.recompute == Recompute::kNotStated) {
    Assume(sizes, Assumption::kNoRecompute);
  }
  if (config.recompute != Recompute::kSelective &&
      config.recompute != Recompute::kOperators) {
    return;
  }
  if (config.recompute_modules.empty()) {
    sizes.recompute_attention = true;
    return;
  }
  VisitRecomputeModules(config.recompute_modules, [&](absl::string_view name) {
    if (name == "attention") sizes.recompute_attention = true;
    if (name == "norm") sizes.recompute_norm = true;
    if (name == "activation") sizes.recompute_activation = true;
    if (name == "mlp") sizes.recompute_mlp = true;
    return true;
  });
}

}  // namespace

absl::Status MakeSizes(const Workload& workload, const ParallelConfig& config,
                       Sizes& sizes) {
  absl::Status status = CheckModelled(workload, config);
  if (status.ok()) status = CheckStated(workload, config);
  if (!status.ok()) return status;

  const ModelSpec& model = workload.model;
  sizes = Sizes();
  ChoosePrecision(workload, sizes);
  ChooseStates(workload, config, sizes);
  ChooseRecompute(config, sizes);

  sizes.tp = config.tp;
  sizes.sequences = config.micro_batch;
  sizes.seq_len = workload.seq_len;
  sizes.tokens = config.micro_batch * (workload.seq_len / config.cp);
  const bool experts_need_it = HasExperts(model) && config.tp > 1;
  bool sequence_parallel = false;
  Choose(sizes, config.sequence_parallel, experts_need_it,
         experts_need_it ? Assumption::kSequenceParallelExperts
                         : Assumption::kNoSequenceParallel,
         sequence_parallel);
  sizes.sequence_parallel = sequence_parallel && config.tp > 1;
  sizes.region_tokens = sizes.sequence_parallel
                            ? CeilDivide(sizes.tokens, config.tp)
                            : sizes.tokens;

  sizes.hidden = model.hidden;
  sizes.heads = model.heads / config.tp;
  ChooseHeads(model, config.tp, sizes);
  if (NeedsDenseMlp(model)) {
    sizes.ffn = CeilDivide(DenseWidth(model, sizes), config.tp);
  }
  sizes.ffn_inputs = IsYes(model.gated_mlp) ? 2 : 1;
  sizes.vocab = PaddedVocab(model.vocab, kVocabDivisor, config.tp) / config.tp;
  if (sizes.vocab * config.tp != model.vocab) {
    Assume(sizes, Assumption::kPaddedVocab);
  }
  if (model.positions == PositionKind::kLearned) {
    sizes.positions =
        IsStated(model.max_positions) ? model.max_positions : workload.seq_len;
  }
  ChooseNormAndPositions(model, sizes);
  sizes.norms_per_layer = model.norms_per_layer;
  if (model.sliding_window < workload.seq_len) {
    sizes.window = model.sliding_window;
    sizes.window_period = std::max<int64_t>(1, model.sliding_window_period);
  }

  ChooseAttention(workload, config, sizes);
  status = ChooseContext(config, sizes);
  if (!status.ok()) return status;
  if (HasExperts(model)) ChooseExperts(workload, config, sizes);
  sizes.layers = model.layers;
  sizes.multi_token_layers = model.mtp_layers;
  status = CheckRange(workload, config, sizes.flash);
  if (!status.ok()) return status;
  sizes.causal = workload.causal != YesNo::kNo;
  sizes.qk_norm = IsYes(model.qk_norm);
  sizes.qkv_bias = IsYes(model.qkv_bias);
  sizes.linear_bias = IsYes(model.linear_bias);
  if (model.qkv_bias == YesNo::kNotStated ||
      model.linear_bias == YesNo::kNotStated) {
    Assume(sizes, Assumption::kNoBias);
  }
  if (IsYes(workload.packed)) Assume(sizes, Assumption::kWholeSequence);
  Choose(sizes, model.tied_embeddings, false, Assumption::kUntiedEmbeddings,
         sizes.tied_embeddings);
  // A chunk says that the loss is chunked.
  if (IsStated(workload.loss_chunk)) {
    sizes.loss_chunk = std::min(workload.loss_chunk, sizes.tokens);
  } else if (workload.loss_impl == LossImpl::kNotStated) {
    Assume(sizes, Assumption::kPlainLoss);
  }
  sizes.fused_loss = workload.loss_impl == LossImpl::kFused;
  sizes.fused_norm = workload.fused_norm != YesNo::kNo;

  // Only where asked to: whether a framework overlaps by itself depends on its
  // version and on the order in which the device takes kernels.
  sizes.overlap_tensor = IsYes(config.overlap_tensor);
  return absl::OkStatus();
}

RecomputedLayers RecomputedOf(const ParallelConfig& config, int64_t layers) {
  if (config.recompute == Recompute::kFull) {
    const bool grouped = config.recompute_method == RecomputeMethod::kUniform &&
                         IsStated(config.recompute_layers);
    return {layers, grouped ? config.recompute_layers : 1};
  }
  if (config.recompute != Recompute::kLayers) return {0, 1};
  if (config.recompute_method == RecomputeMethod::kUniform) {
    return {layers, config.recompute_layers};
  }
  return {std::min(layers, config.recompute_layers), 1};
}

}  // namespace lmsimbench::compile
