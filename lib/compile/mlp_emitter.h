#pragma once

#include "lib/compile/step_emitter.h"

namespace lmsimbench::compile {

/// What the forward pass of an MLP leaves for the backward pass.
struct MlpTensors {
  TensorId input = kNoTensor;
  TensorId activation_input = kNoTensor;
  TensorId activation_output = kNoTensor;
};

/// Emits an MLP of inner width `ffn`, from its normed input to its output,
/// over tensor-parallel ranks.
class MlpEmitter : public StepEmitter {
 public:
  /// Without `joins` it runs beside what communicates when it begins, which it
  /// does not need.
  MlpEmitter(const Sizes& sizes, const MlpOperators& operators, int64_t ffn,
             BlockBuilder& builder, bool joins = true);

  /// Sets what it leaves in `tensors`, whose `input` is there, and returns the
  /// output.
  TensorId Forward(MlpTensors& tensors);
  /// Runs again what selective recomputation has not kept.
  void Recompute(MlpTensors& tensors);
  /// From the gradient of the output to that of the input.
  TensorId Backward(const MlpTensors& tensors, TensorId gradient);

 private:
  void Up(MlpTensors& tensors);
  void Activation(MlpTensors& tensors);

  const MlpOperators& ops_;
  const int64_t inner_bytes_;
  const bool joins_;
};

}  // namespace lmsimbench::compile
