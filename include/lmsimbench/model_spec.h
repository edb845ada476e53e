#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "lmsimbench/values.h"

namespace lmsimbench {

/// How keys and values are shared or compressed.
enum class AttentionKind : uint8_t {
  kNotStated,
  kMultiHead,     ///< one key and value head per query head
  kGroupedQuery,  ///< `kv_heads` shared by groups of query heads (1:
                  ///< multi-query)
  kLatent,        ///< multi-head latent attention: low-rank keys and values
};
template <>
struct EnumNames<AttentionKind> {
  static constexpr const char* kNames[] = {"not stated", "mha", "gqa", "mla"};
};

/// Normalisation before attention and MLP.
enum class NormKind : uint8_t {
  kNotStated,
  kLayerNorm,  ///< weight and bias: 2 parameters per channel
  kRmsNorm,    ///< weight only: 1 parameter per channel
};
template <>
struct EnumNames<NormKind> {
  static constexpr const char* kNames[] = {"not stated", "layernorm",
                                           "rmsnorm"};
};

/// How positions enter the network.
enum class PositionKind : uint8_t {
  kNotStated,
  kLearned,  ///< a learned table of `max_positions` rows
  kRotary,
  kAlibi,
  kNone,
};
template <>
struct EnumNames<PositionKind> {
  static constexpr const char* kNames[] = {"not stated", "learned", "rotary",
                                           "alibi", "none"};
};

/// Architecture of a decoder-only transformer.
///
/// A plain value. Counts are per model, not per device. A count of -1 or an
/// enumeration's `kNotStated` means that the source does not say; a simulator
/// that needs the figure refuses and names it.
struct ModelSpec {
  std::string name;

  /// Width of the residual stream.
  int64_t hidden = kNoCount;
  /// Transformer layers, dense and mixture-of-experts together, without
  /// multi-token prediction layers.
  int64_t layers = kNoCount;
  /// Query heads.
  int64_t heads = kNoCount;
  /// Key and value heads; equals `heads` for multi-head attention.
  int64_t kv_heads = kNoCount;
  /// Width of one head; not stated: `hidden / heads` (see `HeadDim`).
  int64_t head_dim = kNoCount;
  /// Inner width of a dense MLP; for a gated MLP the width of one of its two
  /// inputs.
  int64_t ffn = kNoCount;
  /// Three matrices (gate, up, down) instead of two.
  YesNo gated_mlp = YesNo::kNotStated;
  /// Vocabulary before padding.
  int64_t vocab = kNoCount;
  /// Input embedding and output layer share one matrix.
  YesNo tied_embeddings = YesNo::kNotStated;

  AttentionKind attention = AttentionKind::kNotStated;
  /// Window of local attention in tokens; 0: every layer attends to the whole
  /// sequence.
  int64_t sliding_window = 0;
  /// One layer in this many has full attention, the others the window (1: all
  /// layers have the window).
  int64_t sliding_window_period = 1;
  /// Normalisation of queries and keys in each head.
  YesNo qk_norm = YesNo::kNotStated;

  NormKind norm = NormKind::kNotStated;
  /// Normalisations in a layer; 4 where a second one follows each block.
  int64_t norms_per_layer = 2;
  /// Bias of the query, key and value projections.
  YesNo qkv_bias = YesNo::kNotStated;
  /// Bias of all other linear layers (output projection and MLP).
  YesNo linear_bias = YesNo::kNotStated;
  PositionKind positions = PositionKind::kNotStated;
  /// Rows of the learned position table.
  int64_t max_positions = kNoCount;
  /// Dropout probability in [0, 1); missing: not stated.
  double dropout = kNoNumber;

  /// Routed experts of a mixture-of-experts layer; 0: a dense model.
  int64_t experts = 0;
  /// Routed experts that each token visits.
  int64_t top_k = 0;
  /// Inner width of one routed expert.
  int64_t expert_ffn = kNoCount;
  /// Experts that every token visits.
  int64_t shared_experts = 0;
  /// Inner width of one shared expert; not stated: `expert_ffn`.
  int64_t shared_expert_ffn = kNoCount;
  /// Layers at the beginning that have a dense MLP of width `ffn`.
  int64_t dense_first_layers = 0;

  /// Rank of the compressed queries; 0: queries are not compressed. Latent
  /// attention only, as the three below.
  int64_t q_lora_rank = kNoCount;
  /// Rank of the compressed keys and values.
  int64_t kv_lora_rank = kNoCount;
  /// Width of the part of a head without positions.
  int64_t qk_nope_head_dim = kNoCount;
  /// Width of the part of a head with rotary positions.
  int64_t qk_rope_head_dim = kNoCount;
  /// Width of one value head; not stated: that of a head.
  int64_t v_head_dim = kNoCount;

  /// Multi-token prediction layers, each with its own output loss.
  int64_t mtp_layers = 0;

  template <typename Visit, typename... Self>
  static void VisitFields(Visit&& visit, Self&... self) {
    visit("name", self.name...);
    visit("hidden", self.hidden...);
    visit("layers", self.layers...);
    visit("heads", self.heads...);
    visit("kv_heads", self.kv_heads...);
    visit("head_dim", self.head_dim...);
    visit("ffn", self.ffn...);
    visit("gated_mlp", self.gated_mlp...);
    visit("vocab", self.vocab...);
    visit("tied_embeddings", self.tied_embeddings...);
    visit("attention", self.attention...);
    visit("sliding_window", self.sliding_window...);
    visit("sliding_window_period", self.sliding_window_period...);
    visit("qk_norm", self.qk_norm...);
    visit("norm", self.norm...);
    visit("norms_per_layer", self.norms_per_layer...);
    visit("qkv_bias", self.qkv_bias...);
    visit("linear_bias", self.linear_bias...);
    visit("positions", self.positions...);
    visit("max_positions", self.max_positions...);
    visit("dropout", self.dropout...);
    visit("experts", self.experts...);
    visit("top_k", self.top_k...);
    visit("expert_ffn", self.expert_ffn...);
    visit("shared_experts", self.shared_experts...);
    visit("shared_expert_ffn", self.shared_expert_ffn...);
    visit("dense_first_layers", self.dense_first_layers...);
    visit("q_lora_rank", self.q_lora_rank...);
    visit("kv_lora_rank", self.kv_lora_rank...);
    visit("qk_nope_head_dim", self.qk_nope_head_dim...);
    visit("qk_rope_head_dim", self.qk_rope_head_dim...);
    visit("v_head_dim", self.v_head_dim...);
    visit("mtp_layers", self.mtp_layers...);
  }

  friend bool operator==(const ModelSpec& a, const ModelSpec& b) {
    return SameFields(a, b);
  }
  friend bool operator!=(const ModelSpec& a, const ModelSpec& b) {
    return !SameFields(a, b);
  }
  template <typename H>
  friend H AbslHashValue(H state, const ModelSpec& model) {
    return HashFields(std::move(state), model);
  }
};

/// Width of one head: as stated, else `hidden / heads`; -1 if neither is known.
inline int64_t HeadDim(const ModelSpec& model) {
  if (IsStated(model.head_dim)) return model.head_dim;
  if (!IsStated(model.hidden) || model.heads <= 0) return kNoCount;
  return model.hidden / model.heads;
}

/// True for a mixture of experts.
inline bool HasExperts(const ModelSpec& model) { return model.experts > 0; }

}  // namespace lmsimbench
