#pragma once

#include "lib/compile/step_emitter.h"

namespace lmsimbench::compile {

/// What the forward pass of the attention core leaves for the backward pass.
struct CoreTensors {
  /// Queries, keys and values as the core has them: of the heads that context
  /// parallelism has exchanged tokens for.
  TensorId query = kNoTensor;
  TensorId key_value = kNoTensor;
  TensorId output = kNoTensor;
  /// The output by tokens again.
  TensorId attended = kNoTensor;
  TensorId log_sum_exp = kNoTensor;
  TensorId probabilities = kNoTensor;
  TensorId mask = kNoTensor;
  TensorId dropped = kNoTensor;
};

/// What the forward pass of latent projections leaves.
struct LatentTensors {
  TensorId query_latent = kNoTensor;
  TensorId query_normed = kNoTensor;
  TensorId key_value_latent = kNoTensor;
  TensorId key_value_normed = kNoTensor;
};

struct AttentionTensors {
  TensorId input = kNoTensor;
  LatentTensors latent;
  TensorId qk_norm_input = kNoTensor;
  TensorId query = kNoTensor;
  TensorId key_value = kNoTensor;
  CoreTensors core;
};

/// Emits attention, from its normed input to the output projection.
class AttentionEmitter : public StepEmitter {
 public:
  AttentionEmitter(const Sizes& sizes, const AttentionOperators& operators,
                   BlockBuilder& builder);

  /// Sets what it leaves in `tensors`, whose `input` is there, and returns the
  /// output.
  TensorId Forward(const AttentionCore& core, AttentionTensors& tensors);
  /// \{ The backward pass in two parts, since what is recomputed stands between
  /// them: from the gradient of the output to that of the core's output, and
  /// from there to that of the input.
  TensorId OutputBackward(const AttentionTensors& tensors, TensorId gradient);
  TensorId InputBackward(const AttentionCore& core,
                         const AttentionTensors& tensors, TensorId gradient);
  /// \}
  /// The core from queries, keys and values.
  CoreTensors Core(const AttentionCore& core, TensorId query,
                   TensorId key_value);

 private:
  void Projections(AttentionTensors& tensors);
  void LatentProjections(AttentionTensors& tensors);
  TensorId ProjectionsBackward(const AttentionTensors& tensors,
                               TensorId gradient);
  TensorId LatentBackward(const AttentionTensors& tensors, TensorId gradient);

  void Unfused(const AttentionCore& core, CoreTensors& tensors);
  void Ring(const AttentionCore& core, CoreTensors& tensors);
  TensorId CoreBackward(const AttentionCore& core, const CoreTensors& tensors,
                        TensorId gradient);
  TensorId FusedBackward(const AttentionCore& core, const CoreTensors& tensors,
                         TensorId gradient);
  TensorId RingBackward(const AttentionCore& core, const CoreTensors& tensors,
                        TensorId gradient);
  TensorId UnfusedBackward(const AttentionCore& core,
                           const CoreTensors& tensors, TensorId gradient);

  // Exchanges tokens for heads, or back.
  void Exchange(int64_t bytes);
  TensorId GatherKeysAndValues(TensorId key_value);
  Group RingGroup() const;
  Group ExchangeGroup() const;

  const AttentionOperators& ops_;
  const int64_t query_bytes_;
  const int64_t attended_bytes_;
  const int64_t key_bytes_;
  const int64_t value_bytes_;
  // Keys and values as the core has them.
  const int64_t core_kv_bytes_;
};

}  // namespace lmsimbench::compile
