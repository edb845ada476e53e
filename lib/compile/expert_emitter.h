#pragma once

#include "lib/compile/mlp_emitter.h"

namespace lmsimbench::compile {

/// What the forward pass of a mixture of experts leaves for the backward pass.
struct ExpertTensors {
  TensorId input = kNoTensor;
  TensorId scores = kNoTensor;
  /// What the experts of the device get, in their order.
  TensorId expert_input = kNoTensor;
  TensorId activation_input = kNoTensor;
  TensorId activation_output = kNoTensor;
  /// What the experts of the tokens of this device gave.
  TensorId combined = kNoTensor;
  MlpTensors shared;
};

/// Emits a mixture of experts, from its normed input to its output: the router,
/// tokens on their way to their experts (dispatch), the experts, and back
/// (combine); beside them the shared experts.
///
/// All-to-all: every device sends the copies of its tokens to the devices that
/// hold their experts; where expert tensor ranks share an expert, each gathers
/// what all of them got, and they reduce and scatter what they computed.
/// All-gather: every device has the tokens of all, picks those of its experts,
/// and what they gave is reduced and scattered.
class ExpertEmitter : public StepEmitter {
 public:
  ExpertEmitter(const Sizes& sizes, const ExpertOperators& operators,
                BlockBuilder& builder);

  /// \{ As those of `MlpEmitter`.
  TensorId Forward(ExpertTensors& tensors);
  void Recompute(ExpertTensors& tensors);
  TensorId Backward(const ExpertTensors& tensors, TensorId gradient);
  /// \}

 private:
  void Route(ExpertTensors& tensors);
  // Towards the experts, and what they gave back; the backward passes of the
  // one are the communication of the other.
  TensorId Dispatch(TensorId tokens, bool backward);
  TensorId Combine(TensorId given, bool backward);
  void Up(ExpertTensors& tensors);
  void Activation(ExpertTensors& tensors);
  TensorId Down(ExpertTensors& tensors);
  TensorId RoutedBackward(const ExpertTensors& tensors, TensorId gradient);
  TensorId RouterBackward(const ExpertTensors& tensors, TensorId gradient);
  // Between tokens that tensor ranks share and those that all of them have.
  void GatherTokens();

  const ExpertSizes& e_;
  const ExpertOperators& ops_;
  MlpEmitter shared_;
  const int64_t sent_bytes_;
  const int64_t received_bytes_;
  const int64_t inner_bytes_;
  // Tokens of all devices, where they are gathered.
  const int64_t gathered_bytes_;
};

}  // namespace lmsimbench::compile
