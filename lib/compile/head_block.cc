#include <algorithm>

#include "lib/compile/block_builder.h"
#include "lib/compile/blocks.h"

namespace lmsimbench::compile {
namespace {

// Emits output layer and loss for the tokens of one chunk of the loss, or all.
class HeadEmitter {
 public:
  HeadEmitter(const Sizes& sizes, const HeadOperators& operators,
              int64_t tokens, BlockBuilder& builder)
      : s_(sizes),
        ops_(operators),
        b_(builder),
        tokens_(tokens),
        logits_(tokens * sizes.vocab) {}

  // From the hidden states to the loss; returns what the gradient starts from.
  TensorId Forward(TensorId hidden, bool joins) {
    b_.Compute(ops_.output.forward, joins);
    b_.Read(hidden);
    const TensorId logits =
        b_.Make("logits", TensorKind::kLogits, logits_ * s_.bytes);
    b_.Compute(ops_.loss.forward);
    b_.Read(logits);
    TensorId kept = logits;
    if (!s_.fused_loss && s_.bytes < 4) {
      kept = b_.Make("32-bit logits", TensorKind::kLogits, 4 * logits_);
    }
    // Maximum, sum of exponentials and the target's logit of every token, each
    // reduced over the shards of the vocabulary.
    for (int i = 0; i < 3 && s_.tp > 1; ++i) {
      b_.Communicate({CollectiveKind::kAllReduce, Group::kTensor, 4 * tokens_});
    }
    return kept;
  }

  // Gradient of the logits, in the place of what was kept.
  TensorId LossBackward(TensorId kept) {
    b_.Compute(ops_.loss.backward);
    b_.Read(kept);
    if (s_.fused_loss || s_.bytes == 4) return kept;
    return b_.Make("logits gradient", TensorKind::kLogits, logits_ * s_.bytes);
  }

 private:
  const Sizes& s_;
  const HeadOperators& ops_;
  BlockBuilder& b_;
  const int64_t tokens_;
  const int64_t logits_;
};

struct Context {
  const Sizes& sizes;
  const Elementwise& norm;
  bool owns_output;
  BlockBuilder& builder;
  int64_t full_bytes;
  int64_t stream_bytes;

  // Tensors are the sequence's shard; the output layer needs all of it.
  TensorId Gathered(TensorId shard) const {
    if (!sizes.sequence_parallel) return shard;
    builder.Communicate(GatherActivations(sizes));
    builder.Read(shard);
    return builder.Make("gathered", TensorKind::kBuffer, full_bytes);
  }
  TensorId Reduced(TensorId whole) const {
    if (sizes.tp == 1) return whole;
    builder.Communicate(ReduceActivations(sizes));
    builder.Read(whole);
    if (!sizes.sequence_parallel) return whole;
    return builder.Make("scattered gradient", TensorKind::kBuffer,
                        stream_bytes);
  }
  int64_t OutputParameters(const Linear& output) const {
    return owns_output ? output.parameters : 0;
  }
  void NormBackward(TensorId input, TensorId gradient) const {
    builder.Compute(norm.backward);
    builder.Read(input);
    builder.Read(gradient);
    builder.Completes(sizes.norm_parameters, sizes.norm_parameters);
    builder.Make("stream gradient", TensorKind::kTemporary, stream_bytes);
  }
};

void AddWholeHead(const Context& c, TensorId input, Program& program) {
  const Sizes& s = c.sizes;
  const HeadOperators ops = AddHeadOperators(s, s.tokens, program);
  HeadEmitter head(s, ops, s.tokens, c.builder);
  c.builder.Compute(c.norm.forward);
  c.builder.Read(input);
  const TensorId normed = c.builder.Make(
      "output layer input", TensorKind::kTemporary, c.stream_bytes);
  const TensorId kept = head.Forward(c.Gathered(normed), !s.overlap_tensor);

  c.builder.BeginBackward();
  const TensorId logits_gradient = head.LossBackward(kept);
  const TensorId whole = c.Gathered(normed);
  c.builder.Compute(ops.output.input_gradient, !s.overlap_tensor);
  c.builder.Read(logits_gradient);
  const TensorId gradient =
      c.builder.Make("input gradient", TensorKind::kTemporary, c.full_bytes);
  const TensorId reduced = c.Reduced(gradient);
  c.builder.Compute(ops.output.weight_gradient, !s.overlap_tensor);
  c.builder.Read(logits_gradient);
  c.builder.Read(whole);
  c.builder.Completes(c.OutputParameters(ops.output), 0);
  c.NormBackward(input, reduced);
}

// The gradient of a chunk is taken as soon as its loss is known, in the forward
// pass, so that its logits need not be kept.
void AddChunkedHead(const Context& c, TensorId input, Program& program) {
  const Sizes& s = c.sizes;
  const int64_t chunk = s.loss_chunk;
  const int64_t rest = s.tokens % chunk;
  const HeadOperators whole_chunk = AddHeadOperators(s, chunk, program);
  const HeadOperators last_chunk =
      rest == 0 ? whole_chunk : AddHeadOperators(s, rest, program);
  c.builder.Compute(c.norm.forward);
  c.builder.Read(input);
  const TensorId normed = c.builder.Make(
      "output layer input", TensorKind::kTemporary, c.stream_bytes);
  const TensorId hidden = c.Gathered(normed);
  TensorId gradient = kNoTensor;
  for (int64_t done = 0; done < s.tokens; done += chunk) {
    const int64_t tokens = std::min(chunk, s.tokens - done);
    const HeadOperators& ops = tokens == chunk ? whole_chunk : last_chunk;
    HeadEmitter head(s, ops, tokens, c.builder);
    const TensorId logits_gradient =
        head.LossBackward(head.Forward(hidden, true));
    c.builder.Compute(ops.output.input_gradient);
    c.builder.Read(logits_gradient);
    if (gradient == kNoTensor) {
      gradient = c.builder.Make("input gradient", TensorKind::kTemporary,
                                c.full_bytes);
    }
    c.builder.Compute(ops.output.weight_gradient);
    c.builder.Read(logits_gradient);
    c.builder.Read(hidden);
  }
  c.builder.Read(gradient);

  c.builder.BeginBackward();
  const TensorId reduced = c.Reduced(gradient);
  c.NormBackward(input, reduced);
  c.builder.Completes(c.OutputParameters(whole_chunk.output), 0);
}

}  // namespace

int32_t AddHeadBlock(const Sizes& sizes, const Elementwise& norm,
                     bool owns_output, Program& program) {
  BlockBuilder builder(BlockKind::kHead, 0, program);
  const Context context{sizes,
                        norm,
                        owns_output,
                        builder,
                        sizes.tokens * sizes.hidden * sizes.bytes,
                        sizes.region_tokens * sizes.hidden * sizes.bytes};
  const TensorId input = builder.Arrives("head input", TensorKind::kTemporary,
                                         context.stream_bytes);
  if (sizes.loss_chunk > 0) {
    AddChunkedHead(context, input, program);
  } else {
    AddWholeHead(context, input, program);
  }
  return builder.Finish();
}

}  // namespace lmsimbench::compile
