#include "lib/compile/head_emitter.h"

#include <algorithm>

namespace lmsimbench::compile {

HeadParts AddHeadParts(const Sizes& sizes, Program& program) {
  const int64_t chunk = sizes.loss_chunk > 0 ? sizes.loss_chunk : sizes.tokens;
  const int64_t rest = sizes.tokens % chunk;
  HeadParts parts;
  parts.whole = AddHeadOperators(sizes, chunk, program);
  parts.rest = rest == 0 ? parts.whole : AddHeadOperators(sizes, rest, program);
  return parts;
}

HeadEmitter::HeadEmitter(const Sizes& sizes, const HeadParts& parts,
                         const Elementwise& norm, bool owns_output,
                         BlockBuilder& builder)
    : StepEmitter(sizes, builder),
      parts_(parts),
      norm_(norm),
      owns_output_(owns_output) {}

void HeadEmitter::Forward(TensorId input) {
  input_ = input;
  normed_ = Norm(norm_, "output layer input", input, s_.hidden);
  const TensorId hidden = Gather(normed_, s_.hidden);
  if (s_.loss_chunk > 0) {
    ForwardInChunks(hidden);
  } else {
    kept_ = Loss(parts_.whole, s_.tokens, hidden, !s_.overlap_tensor);
  }
}

TensorId HeadEmitter::Backward() {
  if (s_.loss_chunk == 0) return BackwardOfWhole();
  const TensorId reduced = Reduce(kept_, s_.hidden, "scattered gradient");
  const TensorId gradient =
      NormBackward(norm_, input_, reduced, kNoTensor, s_.hidden);
  b_.Completes(OutputParameters(), 0);
  return gradient;
}

void HeadEmitter::ForwardInChunks(TensorId hidden) {
  TensorId gradient = kNoTensor;
  for (int64_t done = 0; done < s_.tokens; done += s_.loss_chunk) {
    const int64_t tokens = std::min(s_.loss_chunk, s_.tokens - done);
    const HeadOperators& ops =
        tokens == s_.loss_chunk ? parts_.whole : parts_.rest;
    const TensorId logits_gradient =
        LossBackward(ops, tokens, Loss(ops, tokens, hidden, true));
    b_.Compute(ops.output.input_gradient);
    b_.Read(logits_gradient);
    if (gradient == kNoTensor) {
      gradient = b_.Make("input gradient", TensorKind::kTemporary,
                         FullBytes(s_.hidden));
    }
    b_.Compute(ops.output.weight_gradient);
    b_.Read(logits_gradient);
    b_.Read(hidden);
  }
  b_.Read(gradient);
  kept_ = gradient;
}

TensorId HeadEmitter::BackwardOfWhole() {
  const HeadOperators& ops = parts_.whole;
  const TensorId logits_gradient = LossBackward(ops, s_.tokens, kept_);
  const bool splits = b_.splits_backward();
  TensorId whole = splits ? kNoTensor : Gather(normed_, s_.hidden);
  b_.Compute(ops.output.input_gradient, splits || !s_.overlap_tensor);
  b_.Read(logits_gradient);
  const TensorId gradient =
      b_.Make("input gradient", TensorKind::kTemporary, FullBytes(s_.hidden));
  const TensorId reduced = Reduce(gradient, s_.hidden, "scattered gradient");
  b_.Weight([&] {
    if (splits) whole = Gather(normed_, s_.hidden);
    b_.Compute(ops.output.weight_gradient, splits || !s_.overlap_tensor);
    b_.Read(logits_gradient);
    b_.Read(whole);
    b_.Completes(OutputParameters(), 0);
  });
  return NormBackward(norm_, input_, reduced, kNoTensor, s_.hidden);
}

// From the hidden states to the loss; returns what the gradient starts from.
TensorId HeadEmitter::Loss(const HeadOperators& ops, int64_t tokens,
                           TensorId hidden, bool joins) {
  const int64_t size = tokens * s_.vocab;
  b_.Compute(ops.output.forward, joins);
  b_.Read(hidden);
  const TensorId logits =
      b_.Make("logits", TensorKind::kLogits, size * s_.bytes);
  b_.Compute(ops.loss.forward);
  b_.Read(logits);
  TensorId kept = logits;
  if (!s_.fused_loss && s_.bytes < 4) {
    kept = b_.Make("32-bit logits", TensorKind::kLogits, 4 * size);
  }
  // Maximum, sum of exponentials and the target's logit of every token, each
  // reduced over the shards of the vocabulary.
  for (int i = 0; i < 3 && s_.tp > 1; ++i) {
    b_.Communicate({CollectiveKind::kAllReduce, Group::kTensor, 4 * tokens});
  }
  return kept;
}

// Gradient of the logits, in the place of what was kept.
TensorId HeadEmitter::LossBackward(const HeadOperators& ops, int64_t tokens,
                                   TensorId kept) {
  b_.Compute(ops.loss.backward);
  b_.Read(kept);
  if (s_.fused_loss || s_.bytes == 4) return kept;
  return b_.Make("logits gradient", TensorKind::kLogits,
                 tokens * s_.vocab * s_.bytes);
}

int64_t HeadEmitter::OutputParameters() const {
  return owns_output_ ? parts_.whole.output.parameters : 0;
}

}  // namespace lmsimbench::compile
