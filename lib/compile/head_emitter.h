#pragma once

#include "lib/compile/step_emitter.h"

namespace lmsimbench::compile {

/// Operators of the head: of all tokens, or of whole chunks of the loss, and of
/// what is left for the last chunk.
struct HeadParts {
  HeadOperators whole;
  HeadOperators rest;
};
HeadParts AddHeadParts(const Sizes& sizes, Program& program);

/// Emits final norm, output layer and loss. Where the loss is chunked the
/// gradient of a chunk is taken as soon as its loss is known, in the forward
/// pass, so that its logits need not be kept.
class HeadEmitter : public StepEmitter {
 public:
  /// `owns_output`: the output layer has weights of its own here, rather than
  /// those of an embedding in this stage or of another head.
  HeadEmitter(const Sizes& sizes, const HeadParts& parts,
              const Elementwise& norm, bool owns_output, BlockBuilder& builder);

  void Forward(TensorId input);
  /// Returns the gradient of the input.
  TensorId Backward();

 private:
  void ForwardInChunks(TensorId hidden);
  TensorId BackwardOfWhole();
  TensorId Loss(const HeadOperators& operators, int64_t tokens, TensorId hidden,
                bool joins);
  TensorId LossBackward(const HeadOperators& operators, int64_t tokens,
                        TensorId kept);
  int64_t OutputParameters() const;

  const HeadParts& parts_;
  const Elementwise& norm_;
  const bool owns_output_;
  TensorId input_ = kNoTensor;
  TensorId normed_ = kNoTensor;
  // What the backward pass starts from: the logits, or, where the loss is
  // chunked, the gradient of the output layer's input.
  TensorId kept_ = kNoTensor;
};

}  // namespace lmsimbench::compile
