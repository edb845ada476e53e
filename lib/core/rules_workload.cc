#include <string>
#include <type_traits>

#include "absl/strings/string_view.h"
#include "lib/core/rules.h"

namespace lmsimbench::legality {
namespace {

// Figures of which a model may have none at all.
bool MayBeZero(absl::string_view name) {
  for (const absl::string_view zero :
       {"sliding_window", "experts", "top_k", "shared_experts",
        "dense_first_layers", "q_lora_rank", "mtp_layers"}) {
    if (name == zero) return true;
  }
  return false;
}

template <typename T>
bool FiguresInRange(const T& value, std::string* why) {
  bool holds = true;
  T::VisitFields(
      [&](const char* name, const auto& field) {
        if constexpr (std::is_same_v<std::decay_t<decltype(field)>, int64_t>) {
          if (!holds || !IsStated(field)) return;
          const int64_t least = field < 1 && MayBeZero(name) ? 0 : 1;
          if (field >= least && field <= kLargestSize) return;
          holds = Broken(why, "{} is {}; it ranges from {} to {}", name, field,
                         least, kLargestSize);
        }
      },
      value);
  return holds;
}

bool InRange(const Subject& s, std::string* why) {
  return FiguresInRange(s.workload, why) && FiguresInRange(s.model, why);
}

bool KvHeads(const Subject& s, std::string* why) {
  const int64_t heads = s.model.heads;
  const int64_t kv_heads = s.model.kv_heads;
  if (!IsStated(heads) || !IsStated(kv_heads)) return true;
  if (s.model.attention == AttentionKind::kMultiHead && heads != kv_heads) {
    return Broken(why,
                  "multi-head attention has {} key and value heads for {} "
                  "attention heads",
                  kv_heads, heads);
  }
  if (!Indivisible(heads, kv_heads)) return true;
  return Broken(why, "{} key and value heads do not divide {} attention heads",
                kv_heads, heads);
}

bool TopK(const Subject& s, std::string* why) {
  const int64_t experts = s.model.experts;
  const int64_t top_k = s.model.top_k;
  if (!IsStated(experts) || !IsStated(top_k)) return true;
  if (experts == 0 ? top_k == 0 : top_k >= 1 && top_k <= experts) return true;
  return Broken(why, "a token cannot visit {} of {} experts", top_k, experts);
}

bool ExpertFigures(const Subject& s, std::string* why) {
  if (s.model.experts != 0) return true;
  if (s.model.shared_experts > 0) {
    return Broken(why, "{} shared experts in a model without routed experts",
                  s.model.shared_experts);
  }
  if (s.model.dense_first_layers > 0) {
    return Broken(why,
                  "{} dense first layers in a model without routed experts",
                  s.model.dense_first_layers);
  }
  return true;
}

bool DenseFirstLayers(const Subject& s, std::string* why) {
  const int64_t dense = s.model.dense_first_layers;
  if (!HasExperts(s.model) || !IsStated(s.model.layers)) return true;
  if (dense < s.model.layers) return true;
  return Broken(why, "{} dense first layers leave no layer of {} for experts",
                dense, s.model.layers);
}

bool LatentFigures(const Subject& s, std::string* why) {
  const bool heads_of_their_own =
      s.model.attention == AttentionKind::kMultiHead ||
      s.model.attention == AttentionKind::kGroupedQuery;
  if (!heads_of_their_own || s.model.kv_lora_rank <= 0) return true;
  return Broken(why, "kv_lora_rank {} belongs to latent attention, not to {}",
                s.model.kv_lora_rank, std::string(Name(s.model.attention)));
}

bool Dropout(const Subject& s, std::string* why) {
  const double dropout = s.model.dropout;
  if (!IsStated(dropout) || (dropout >= 0 && dropout < 1)) return true;
  return Broken(why, "dropout {} is not a probability in [0, 1)", dropout);
}

bool LossChunk(const Subject& s, std::string* why) {
  if (!IsStated(s.workload.loss_chunk) ||
      s.workload.loss_impl == LossImpl::kNotStated ||
      s.workload.loss_impl == LossImpl::kChunked) {
    return true;
  }
  return Broken(why, "loss_chunk {} belongs to a chunked loss, not to a {} one",
                s.workload.loss_chunk, std::string(Name(s.workload.loss_impl)));
}

bool Positions(const Subject& s, std::string* why) {
  if (s.model.positions != PositionKind::kLearned ||
      !IsStated(s.model.max_positions) ||
      s.workload.seq_len <= s.model.max_positions) {
    return true;
  }
  return Broken(why, "a sequence of {} tokens, {} learned positions",
                s.workload.seq_len, s.model.max_positions);
}

constexpr Rule kRules[] = {
    {"workload figures are in range", InRange, {}},
    {"kv heads divide heads", KvHeads, {}},
    {"top-k is within the experts", TopK, {}},
    {"expert figures need experts", ExpertFigures, {}},
    {"dense first layers leave layers for experts", DenseFirstLayers, {}},
    {"latent figures need latent attention", LatentFigures, {}},
    {"dropout is a probability below 1", Dropout, {}},
    {"loss chunk needs a chunked loss", LossChunk, {}},
    {"learned positions reach the sequence", Positions, {}},
};

}  // namespace

absl::Span<const Rule> WorkloadRules() { return kRules; }

}  // namespace lmsimbench::legality
