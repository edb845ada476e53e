#include "lib/core/rules.h"

namespace lmsimbench::legality {
namespace {

bool Divides(int64_t tp, int64_t width, const char* what, std::string* why) {
  if (!Indivisible(width, tp)) return true;
  return Broken(why, "tensor parallel size {} does not divide {} {}", tp, width,
                what);
}

bool Heads(const Subject& s, std::string* why) {
  return Divides(s.config.tp, s.model.heads, "attention heads", why);
}

// More tensor ranks than key and value heads hold copies of them.
bool KvHeads(const Subject& s, std::string* why) {
  const int64_t tp = s.config.tp;
  const int64_t kv_heads = s.model.kv_heads;
  if (!Indivisible(kv_heads, tp) || tp % kv_heads == 0) return true;
  return Broken(why,
                "tensor parallel size {} and {} key and value heads: neither "
                "divides the other",
                tp, kv_heads);
}

bool Hidden(const Subject& s, std::string* why) {
  return Divides(s.config.tp, s.model.hidden, "hidden channels", why);
}

// The dense width of a model whose layers all have experts is not used.
bool DenseMlp(const Subject& s, std::string* why) {
  if (HasExperts(s.model) && s.model.dense_first_layers <= 0) return true;
  return Divides(s.config.tp, s.model.ffn, "channels of the MLP", why);
}

bool SharedExperts(const Subject& s, std::string* why) {
  const int64_t width = IsStated(s.model.shared_expert_ffn)
                            ? s.model.shared_expert_ffn
                            : s.model.expert_ffn;
  if (s.model.shared_experts <= 0 || !IsStated(width)) return true;
  return Divides(s.config.tp, s.model.shared_experts * width,
                 "channels of the shared experts", why);
}

bool SequenceParallel(const Subject& s, std::string* why) {
  const int64_t tp = s.config.tp;
  const int64_t cp = s.config.cp;
  if (!IsYes(s.config.sequence_parallel) || !IsStated(s.workload.seq_len) ||
      s.workload.seq_len % cp != 0) {
    return true;
  }
  const int64_t tokens = s.workload.seq_len / cp;
  if (!Indivisible(tokens, tp)) return true;
  return Broken(why,
                "sequence parallelism over {} tensor ranks does not divide the "
                "{} tokens of a rank (sequence {}, CP {})",
                tp, tokens, s.workload.seq_len, cp);
}

bool Context(const Subject& s, std::string* why) {
  if (!Indivisible(s.workload.seq_len, s.config.cp)) return true;
  return Broken(why, "context parallel size {} does not divide {} tokens",
                s.config.cp, s.workload.seq_len);
}

// Causal attention is balanced by giving every rank a piece of the beginning
// and one of the end (Megatron-LM); only all-to-all on heads does without.
bool ContextHalves(const Subject& s, std::string* why) {
  const ContextAlgorithm algorithm = s.config.context_algorithm;
  if (s.config.cp == 1 || algorithm == ContextAlgorithm::kNotStated ||
      algorithm == ContextAlgorithm::kUlysses) {
    return true;
  }
  if (!Indivisible(s.workload.seq_len, 2 * s.config.cp)) return true;
  return Broken(why,
                "{} context parallelism of size {} cuts the sequence into {} "
                "pieces, which do not divide {} tokens",
                std::string(Name(algorithm)), s.config.cp, 2 * s.config.cp,
                s.workload.seq_len);
}

// Fewer key and value heads than ranks are copied; query heads are not.
bool UlyssesHeads(const Subject& s, std::string* why) {
  if (s.config.cp == 1 ||
      s.config.context_algorithm != ContextAlgorithm::kUlysses) {
    return true;
  }
  const int64_t ranks = SaturatingProduct(s.config.tp, s.config.cp);
  if (!Indivisible(s.model.heads, ranks)) return true;
  return Broken(why,
                "ulysses context parallelism: TP {} * CP {} = {} does not "
                "divide {} attention heads",
                s.config.tp, s.config.cp, ranks, s.model.heads);
}

bool ContextInnerDivides(const Subject& s, std::string* why) {
  if (s.config.context_algorithm != ContextAlgorithm::kHybrid ||
      !Indivisible(s.config.cp, s.config.context_inner)) {
    return true;
  }
  return Broken(why,
                "{} neighbours that exchange heads do not divide context "
                "parallelism of size {}",
                s.config.context_inner, s.config.cp);
}

// A tensor parallelism of experts is ignored by frameworks where there are
// none, and runs state it; expert parallelism is refused.
bool EpNeedsExperts(const Subject& s, std::string* why) {
  if (s.model.experts != 0 || s.config.ep <= 1) return true;
  return Broken(why, "expert parallel size {} for a model without experts",
                s.config.ep);
}

bool Experts(const Subject& s, std::string* why) {
  if (!HasExperts(s.model) || !Indivisible(s.model.experts, s.config.ep)) {
    return true;
  }
  return Broken(why, "expert parallel size {} does not divide {} experts",
                s.config.ep, s.model.experts);
}

bool ExpertMlp(const Subject& s, std::string* why) {
  if (!HasExperts(s.model) || !Indivisible(s.model.expert_ffn, s.config.etp)) {
    return true;
  }
  return Broken(why,
                "tensor parallel size {} of experts does not divide the {} "
                "channels of an expert",
                s.config.etp, s.model.expert_ffn);
}

bool ExpertGroups(const Subject& s, std::string* why) {
  if (s.model.experts == 0 || !IsStated(s.config.ep)) return true;
  const int64_t etp = IsStated(s.config.etp) ? s.config.etp : 1;
  const int64_t group = SaturatingProduct(etp, s.config.ep, s.config.pp);
  if (s.devices % group == 0) return true;
  return Broken(why, "ETP {} * EP {} * PP {} = {} does not divide {} devices",
                etp, s.config.ep, s.config.pp, group, s.devices);
}

constexpr Rule kTensorRules[] = {
    {"tp divides heads", Heads, {"tp"}},
    {"tp and kv heads divide one another", KvHeads, {"tp"}},
    {"tp divides the hidden width", Hidden, {"tp"}},
    {"tp divides the mlp width", DenseMlp, {"tp"}},
    {"tp divides the shared experts", SharedExperts, {"tp"}},
    {"sequence parallelism divides the sequence",
     SequenceParallel,
     {"tp", "sequence_parallel", "cp"}},
    {"cp divides the sequence", Context, {"cp"}},
    {"twice cp divides the sequence",
     ContextHalves,
     {"cp", "context_algorithm"}},
    {"ulysses divides the heads",
     UlyssesHeads,
     {"cp", "context_algorithm", "tp"}},
    {"context inner divides cp", ContextInnerDivides, {"context_inner", "cp"}},
};

constexpr Rule kExpertRules[] = {
    {"ep needs experts", EpNeedsExperts, {"ep"}},
    {"ep divides the experts", Experts, {"ep"}},
    {"etp divides the expert width", ExpertMlp, {"etp"}},
    {"expert groups divide the devices", ExpertGroups, {"ep", "etp", "pp"}},
};

}  // namespace

absl::Span<const Rule> TensorRules() { return kTensorRules; }
absl::Span<const Rule> ExpertRules() { return kExpertRules; }

}  // namespace lmsimbench::legality
