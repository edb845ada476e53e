#pragma once

#include "lib/compile/attention_emitter.h"
#include "lib/compile/expert_emitter.h"
#include "lib/compile/mlp_emitter.h"

namespace lmsimbench::compile {

/// What the forward pass of a layer leaves for the backward pass.
struct LayerTensors {
  TensorId input = kNoTensor;
  AttentionTensors attention;
  TensorId attention_mask = kNoTensor;
  TensorId post_norm_input[2] = {kNoTensor, kNoTensor};
  TensorId middle = kNoTensor;
  TensorId mlp_input = kNoTensor;
  MlpTensors mlp;
  ExpertTensors experts;
  TensorId mlp_mask = kNoTensor;
  TensorId output = kNoTensor;
};

/// Emits the steps of transformer layers.
class LayerEmitter : public StepEmitter {
 public:
  LayerEmitter(const Sizes& sizes, const LayerOperators& operators,
               BlockBuilder& builder);

  /// The layer of the model with this number.
  LayerTensors Forward(int64_t layer, TensorId input);
  /// Runs again what selective recomputation has not kept, as the backward pass
  /// comes to it. Returns the gradient of the input.
  TensorId Backward(int64_t layer, LayerTensors tensors, TensorId gradient,
                    bool whole_layer_is_there);

 private:
  const AttentionCore& CoreOf(int64_t layer) const;
  TensorId NormAgain(TensorId input);
  TensorId PostNorm(LayerTensors& tensors, int which, TensorId branch);
  TensorId PostNormBackward(const LayerTensors& tensors, int which,
                            TensorId gradient);
  TensorId Residual(const char* name, TensorId branch, TensorId stream,
                    TensorId& mask);
  // Gradient of the branch that was added to the stream.
  TensorId ResidualBackward(TensorId mask, TensorId gradient);
  TensorId MlpBackward(int64_t layer, LayerTensors& tensors, TensorId gradient,
                       bool again);

  const LayerOperators& ops_;
  AttentionEmitter attention_;
  MlpEmitter mlp_;
  ExpertEmitter experts_;
};

}  // namespace lmsimbench::compile
