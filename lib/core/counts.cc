#include "lmsimbench/counts.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"
#include "lmsimbench/layout.h"

namespace lmsimbench {
namespace {

// Up to here every whole number is a double, so that counting in doubles is
// exact and cannot overflow.
constexpr double kLargestExact = 9007199254740992.0;  // 2^53

// Hands out the figures of a model and remembers the first that is not stated.
class Figures {
 public:
  double operator()(const char* name, int64_t figure) {
    if (figure < 0) Miss(name);
    return static_cast<double>(figure);
  }
  bool operator()(const char* name, YesNo fact) {
    if (fact == YesNo::kNotStated) Miss(name);
    return IsYes(fact);
  }
  void Miss(const char* name) {
    if (missing_ == nullptr) missing_ = name;
  }
  absl::Status status(const ModelSpec& model) const {
    if (missing_ == nullptr) return absl::OkStatus();
    return absl::FailedPreconditionError(
        fmt::format("model '{}' does not state {}", model.name, missing_));
  }

 private:
  const char* missing_ = nullptr;
};

// Widths of the attention of one layer and the parameters of its projections.
struct Attention {
  double heads = 0;
  double qk_width = 0;  // of one head
  double v_width = 0;
  double matrices = 0;
  double biases = 0;           // of queries, keys and values
  double latent_channels = 0;  // each latent vector is normalised
  double normed_head_channels = 0;
};

Attention LatentAttention(const ModelSpec& model, Figures& figures) {
  const double hidden = figures("hidden", model.hidden);
  const double nope = figures("qk_nope_head_dim", model.qk_nope_head_dim);
  const double rope = figures("qk_rope_head_dim", model.qk_rope_head_dim);
  const double q_rank = figures("q_lora_rank", model.q_lora_rank);
  const double kv_rank = figures("kv_lora_rank", model.kv_lora_rank);
  Attention attention;
  attention.heads = figures("heads", model.heads);
  attention.qk_width = nope + rope;
  attention.v_width = figures("v_head_dim", model.v_head_dim);
  const double queries = attention.heads * attention.qk_width;
  attention.matrices =
      (q_rank > 0 ? q_rank * (hidden + queries) : hidden * queries) +
      kv_rank * (hidden + attention.heads * (nope + attention.v_width)) +
      hidden * rope + attention.heads * attention.v_width * hidden;
  attention.biases = (q_rank > 0 ? q_rank : queries) + kv_rank + rope;
  attention.latent_channels = q_rank + kv_rank;
  return attention;
}

Attention HeadAttention(const ModelSpec& model, Figures& figures) {
  const double hidden = figures("hidden", model.hidden);
  Attention attention;
  attention.heads = figures("heads", model.heads);
  const bool all_heads =
      model.attention == AttentionKind::kMultiHead && !IsStated(model.kv_heads);
  const double kv_heads =
      all_heads ? attention.heads : figures("kv_heads", model.kv_heads);
  const double width = figures("head_dim", HeadDim(model));
  const double v_width = IsStated(model.v_head_dim)
                             ? figures("v_head_dim", model.v_head_dim)
                             : width;
  attention.qk_width = width;
  attention.v_width = v_width;
  attention.matrices =
      hidden * (attention.heads + kv_heads) * (width + v_width);
  attention.biases = (attention.heads + kv_heads) * width + kv_heads * v_width;
  if (IsYes(model.qk_norm)) attention.normed_head_channels = 2 * width;
  return attention;
}

Attention AttentionOf(const ModelSpec& model, Figures& figures) {
  return model.attention == AttentionKind::kLatent
             ? LatentAttention(model, figures)
             : HeadAttention(model, figures);
}

// An MLP of one inner width: its matrices and its biases.
struct Mlp {
  double matrices = 0;
  double biases = 0;
};

// Layers by kind and the parameters of each kind of MLP.
struct Layers {
  double dense = 0;
  double sparse = 0;       // with routed experts
  double multi_token = 0;  // of the kind of the last layer
  bool multi_token_sparse = false;
  Mlp dense_mlp;
  Mlp expert;
  Mlp shared_expert;
  double experts = 0;
  double top_k = 0;
  double shared_experts = 0;
  double router = 0;

  double all() const { return dense + sparse + multi_token; }
  double all_dense() const {
    return dense + (multi_token_sparse ? 0 : multi_token);
  }
  double all_sparse() const {
    return sparse + (multi_token_sparse ? multi_token : 0);
  }
};

Layers LayersOf(const ModelSpec& model, Figures& figures) {
  const double hidden = figures("hidden", model.hidden);
  const double inputs = figures("gated_mlp", model.gated_mlp) ? 2 : 1;
  const auto mlp = [&](double width) {
    return Mlp{(inputs + 1) * hidden * width, inputs * width + hidden};
  };
  Layers layers;
  const double all = figures("layers", model.layers);
  layers.multi_token = figures("mtp_layers", model.mtp_layers);
  layers.experts = figures("experts", model.experts);
  layers.multi_token_sparse = HasExperts(model);
  layers.dense = HasExperts(model)
                     ? std::min(all, figures("dense_first_layers",
                                             model.dense_first_layers))
                     : all;
  layers.sparse = all - layers.dense;
  if (layers.all_dense() > 0) {
    layers.dense_mlp = mlp(figures("ffn", model.ffn));
  }
  if (HasExperts(model)) {
    layers.top_k = figures("top_k", model.top_k);
    layers.expert = mlp(figures("expert_ffn", model.expert_ffn));
    layers.shared_experts = figures("shared_experts", model.shared_experts);
    if (layers.shared_experts > 0) {
      layers.shared_expert =
          mlp(figures("shared_expert_ffn", IsStated(model.shared_expert_ffn)
                                               ? model.shared_expert_ffn
                                               : model.expert_ffn));
    }
    layers.router = hidden * layers.experts;
  }
  return layers;
}

// Parameters of one normalised channel.
double NormParameters(const ModelSpec& model, Figures& figures) {
  if (model.norm == NormKind::kNotStated) figures.Miss("norm");
  return model.norm == NormKind::kLayerNorm ? 2 : 1;
}

// Norms of one layer.
double LayerNorms(const ModelSpec& model, const Attention& attention,
                  Figures& figures) {
  return NormParameters(model, figures) *
         (figures("norms_per_layer", model.norms_per_layer) *
              figures("hidden", model.hidden) +
          attention.latent_channels + attention.normed_head_channels);
}

// Norms of a multi-token layer beside those of any layer: of both inputs and
// of the output.
constexpr double kMultiTokenNorms = 3;

}  // namespace

absl::StatusOr<ParameterCount> CountParameters(
    const ModelSpec& model, const ParameterConvention& convention) {
  if (convention.vocab_multiple < 1) {
    return absl::InvalidArgumentError(fmt::format(
        "vocab_multiple is {}, not positive", convention.vocab_multiple));
  }
  Figures figures;
  const Attention attention = AttentionOf(model, figures);
  const Layers layers = LayersOf(model, figures);
  const double hidden = figures("hidden", model.hidden);
  const double rows = figures(
      "vocab", model.vocab < 0
                   ? model.vocab
                   : PaddedVocab(model.vocab, convention.vocab_multiple, 1));
  const double positions = model.positions == PositionKind::kLearned
                               ? figures("max_positions", model.max_positions)
                               : 0;
  const bool tied = figures("tied_embeddings", model.tied_embeddings);

  // Norms and biases of a layer, without those of its experts.
  double norms = 0;
  double norm_channel = 0;
  double attention_biases = 0;
  double expert_bias = 0;
  double shared_bias = 0;
  double dense_bias = 0;
  double router_bias = 0;
  if (convention.norms_and_biases) {
    norm_channel = NormParameters(model, figures);
    norms = LayerNorms(model, attention, figures);
    if (IsYes(model.qkv_bias)) attention_biases += attention.biases;
    if (IsYes(model.linear_bias)) {
      attention_biases += hidden;
      dense_bias = layers.dense_mlp.biases;
      expert_bias = layers.expert.biases;
      shared_bias = layers.shared_expert.biases;
      router_bias = layers.experts;
    }
  }
  const double sparse_bias = layers.experts * expert_bias +
                             layers.shared_experts * shared_bias + router_bias;
  const double any_layer = attention.matrices + norms + attention_biases;
  const double sparse_mlp =
      layers.experts * layers.expert.matrices +
      layers.shared_experts * layers.shared_expert.matrices + layers.router +
      sparse_bias;
  const double dense_mlp = layers.dense_mlp.matrices + dense_bias;
  const double multi_token_layer =
      any_layer + (layers.multi_token_sparse ? sparse_mlp : dense_mlp) +
      2 * hidden * hidden + kMultiTokenNorms * norm_channel * hidden;

  const double total =
      (rows + positions) * hidden + (tied ? 0 : rows * hidden) +
      (layers.dense + layers.sparse) * any_layer + layers.dense * dense_mlp +
      layers.sparse * sparse_mlp + norm_channel * hidden +
      layers.multi_token * multi_token_layer;
  absl::Status status = figures.status(model);
  if (!status.ok()) return status;
  if (total > kLargestExact) {
    return absl::OutOfRangeError(fmt::format(
        "model '{}' has {:.3g} parameters, more than 2^53", model.name, total));
  }

  const auto whole = [](double number) { return static_cast<int64_t>(number); };
  ParameterCount count;
  count.embedding = whole((rows + positions) * hidden);
  count.attention = whole((layers.dense + layers.sparse) * attention.matrices);
  count.dense_mlp = whole(layers.dense * layers.dense_mlp.matrices);
  count.router = whole(layers.sparse * layers.router);
  count.routed_experts =
      whole(layers.sparse * layers.experts * layers.expert.matrices);
  count.shared_experts = whole(layers.sparse * layers.shared_experts *
                               layers.shared_expert.matrices);
  count.norms_and_biases =
      whole((layers.dense + layers.sparse) * (norms + attention_biases) +
            layers.dense * dense_bias + layers.sparse * sparse_bias +
            norm_channel * hidden);
  count.output = whole(tied ? 0 : rows * hidden);
  count.multi_token = whole(layers.multi_token * multi_token_layer);
  count.total = whole(total);
  const double idle_experts = std::max(0.0, layers.experts - layers.top_k);
  count.active = whole(total - layers.all_sparse() * idle_experts *
                                   (layers.expert.matrices + expert_bias));
  return count;
}

std::string Describe(const FlopConvention& convention) {
  return fmt::format(
      "6 operations per weight and token, {} attention, router and norms {}, "
      "{}",
      convention.mask == FlopConvention::Mask::kCausal ? "causal" : "full",
      convention.router_and_norms ? "counted" : "not counted",
      convention.full_recompute ? "full recomputation counted"
                                : "recomputation not counted");
}

namespace {

// Keys that a token meets on average, summed over the layers.
double KeysOverLayers(const ModelSpec& model, double seq_len, double layers,
                      FlopConvention::Mask mask, Figures& figures) {
  const double window = figures("sliding_window", model.sliding_window);
  const double period =
      figures("sliding_window_period", model.sliding_window_period);
  double whole_sequence = layers;
  if (window > 0 && window < seq_len) {
    whole_sequence = period > 1 ? std::floor(layers / period) : 0;
  }
  // A causal token has met half of the sequence; within a window of w tokens,
  // w but for the first w of the sequence, which have met half of that.
  const double causal =
      whole_sequence * seq_len / 2 +
      (layers - whole_sequence) * (window - window * window / (2 * seq_len));
  return mask == FlopConvention::Mask::kCausal ? causal : 2 * causal;
}

}  // namespace

absl::StatusOr<FlopCount> CountFlopsPerToken(const Workload& workload,
                                             const FlopConvention& convention) {
  // Forward, gradient of the input and gradient of the weight; multiply and
  // add.
  constexpr double kPerWeight = 6;

  const ModelSpec& model = workload.model;
  Figures figures;
  const Attention attention = AttentionOf(model, figures);
  const Layers layers = LayersOf(model, figures);
  const double hidden = figures("hidden", model.hidden);
  const double vocab = figures("vocab", model.vocab);
  const double seq_len = figures("seq_len", workload.seq_len);

  FlopCount count;
  count.attention_projections = kPerWeight * attention.matrices * layers.all();
  count.attention_core =
      kPerWeight * attention.heads * (attention.qk_width + attention.v_width) *
      KeysOverLayers(model, seq_len, layers.all(), convention.mask, figures);
  count.mlp = kPerWeight *
              (layers.all_dense() * layers.dense_mlp.matrices +
               layers.all_sparse() *
                   (layers.top_k * layers.expert.matrices +
                    layers.shared_experts * layers.shared_expert.matrices));
  count.output = kPerWeight * hidden * vocab * (1 + layers.multi_token);
  count.multi_token = kPerWeight * layers.multi_token * 2 * hidden * hidden;
  double small_in_layers = 0;
  if (convention.router_and_norms) {
    small_in_layers =
        kPerWeight * (layers.all() * LayerNorms(model, attention, figures) +
                      layers.all_sparse() * layers.router);
    count.router_and_norms =
        small_in_layers + kPerWeight * NormParameters(model, figures) * hidden *
                              (1 + kMultiTokenNorms * layers.multi_token);
  }
  if (convention.full_recompute) {
    count.recompute = (count.attention_projections + count.attention_core +
                       count.mlp + small_in_layers) /
                      3;
  }
  count.total = count.attention_projections + count.attention_core + count.mlp +
                count.router_and_norms + count.output + count.multi_token +
                count.recompute;
  absl::Status status = figures.status(model);
  if (!status.ok()) return status;
  return count;
}

absl::StatusOr<double> AttentionCoreFlops(const Workload& workload,
                                          double sequences,
                                          FlopConvention::Mask mask) {
  FlopConvention convention;
  convention.mask = mask;
  absl::StatusOr<FlopCount> count = CountFlopsPerToken(workload, convention);
  if (!count.ok()) return count.status();
  return count->attention_core * static_cast<double>(workload.seq_len) *
         sequences;
}

}  // namespace lmsimbench
