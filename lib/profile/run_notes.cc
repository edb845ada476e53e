#include "lib/profile/run_notes.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace lmsimbench {
namespace {

bool Says(absl::string_view notes, absl::string_view phrase) {
  return absl::StrContains(notes, phrase);
}

// The count behind the first `phrase`, past spaces; -1 where there is none.
int64_t CountBehind(absl::string_view notes, absl::string_view phrase) {
  const size_t at = notes.find(phrase);
  if (at == absl::string_view::npos) return kNoCount;
  absl::string_view rest =
      absl::StripLeadingAsciiWhitespace(notes.substr(at + phrase.size()));
  size_t digits = 0;
  while (digits < rest.size() && absl::ascii_isdigit(rest[digits])) ++digits;
  int64_t count = kNoCount;
  return absl::SimpleAtoi(rest.substr(0, digits), &count) ? count : kNoCount;
}

// The count before the first `phrase`, past one space.
int64_t CountBefore(absl::string_view notes, absl::string_view phrase) {
  const size_t at = notes.find(phrase);
  if (at == absl::string_view::npos || at < 2 || notes[at - 1] != ' ') {
    return kNoCount;
  }
  size_t begin = at - 1;
  while (begin > 0 && absl::ascii_isdigit(notes[begin - 1])) --begin;
  int64_t count = kNoCount;
  return absl::SimpleAtoi(notes.substr(begin, at - 1 - begin), &count)
             ? count
             : kNoCount;
}

void Fill(int64_t noted, int64_t& count) {
  if (!IsStated(count)) count = noted;
}
void Fill(bool noted, YesNo value, YesNo& fact) {
  if (noted && fact == YesNo::kNotStated) fact = value;
}
template <typename T>
void Fill(bool noted, T value, T& choice) {
  if (noted && choice == T::kNotStated) choice = value;
}

// "q_lora 1536 kv_lora 512 qk 128+64 v 128"
void ReadLatent(absl::string_view notes, ModelSpec& model) {
  const size_t at = notes.find("q_lora ");
  if (at == absl::string_view::npos ||
      model.attention != AttentionKind::kLatent) {
    return;
  }
  const absl::string_view widths = notes.substr(at);
  Fill(CountBehind(widths, "q_lora"), model.q_lora_rank);
  Fill(CountBehind(widths, "kv_lora"), model.kv_lora_rank);
  Fill(CountBehind(widths, " qk "), model.qk_nope_head_dim);
  Fill(CountBehind(widths, "+"), model.qk_rope_head_dim);
  Fill(CountBehind(widths, " v "), model.v_head_dim);
}

// "first 3 layers dense ffn 18432", "first layer dense ffn 12288", "1 shared
// expert", "2 shared experts (3072)": the width of all of them together.
void ReadExperts(absl::string_view notes, ModelSpec& model) {
  if (model.experts == 0) return;
  if (model.dense_first_layers == 0) {
    if (Says(notes, "first layer dense")) {
      model.dense_first_layers = 1;
    } else if (Says(notes, " layers dense ffn ")) {
      const int64_t layers = CountBehind(notes, "first ");
      if (IsStated(layers)) model.dense_first_layers = layers;
    }
  }
  if (model.dense_first_layers > 0) {
    Fill(CountBehind(notes, "dense ffn "), model.ffn);
  }
  if (model.shared_experts > 0) return;
  const int64_t shared = CountBefore(notes, "shared expert");
  if (!IsStated(shared) || shared < 1) return;
  model.shared_experts = shared;
  const int64_t together = CountBehind(notes, "shared experts (");
  if (IsStated(together)) Fill(together / shared, model.shared_expert_ffn);
}

}  // namespace

void ReadNotes(absl::string_view notes, Workload& workload,
               ParallelConfig& config) {
  ModelSpec& model = workload.model;
  const bool untied = Says(notes, "embeddings untied") ||
                      Says(notes, "untie-embeddings-and-output-weights");
  Fill(untied, YesNo::kNo, model.tied_embeddings);
  Fill(Says(notes, "embeddings tied") || Says(notes, "tied embeddings"),
       YesNo::kYes, model.tied_embeddings);
  ReadLatent(notes, model);
  ReadExperts(notes, model);

  // The modes of mixed precision of Composer: only the pure one reduces in 16
  // bits.
  Fill(Says(notes, "grads accumulated fp32") || Says(notes, "MP mode DEFAULT"),
       Precision::kFp32, workload.gradient_precision);
  Fill(Says(notes, "MP mode PURE"), Precision::kBf16,
       workload.gradient_precision);
  Fill(Says(notes, "cross-entropy fusion"), LossImpl::kFused,
       workload.loss_impl);

  for (absl::string_view piece : absl::StrSplit(notes, ';')) {
    piece = absl::StripAsciiWhitespace(piece);
    if (!absl::StartsWith(piece, "flags:")) continue;
    // A script without the flag runs attention in four operators.
    Fill(true,
         Says(piece, "use-flash-attn") ? AttentionImpl::kFlash
                                       : AttentionImpl::kUnfused,
         workload.attention_impl);
    for (const absl::string_view flag : absl::StrSplit(piece, ' ')) {
      // Matrix multiplication and collective in one kernel.
      Fill(flag == "use-mc2" || flag == "use-ascend-mc2" ||
               flag == "use-ascend-coc",
           YesNo::kYes, config.overlap_tensor);
      Fill(flag == "overlap-grad-reduce", YesNo::kYes,
           config.overlap_grad_reduce);
      Fill(flag == "overlap-param-gather", YesNo::kYes,
           config.overlap_param_gather);
    }
  }
}

}  // namespace lmsimbench
