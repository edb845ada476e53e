#pragma once

#include <cstdint>
#include <vector>

#include "lib/compile/sizes.h"
#include "lmsimbench/operator.h"
#include "lmsimbench/program.h"

/// \file
/// The operators of a program: shapes, operations and bytes.

namespace lmsimbench::compile {

/// Index of an operator in the program.
using OperatorId = int32_t;

/// A linear layer: one operator for each pass.
struct Linear {
  OperatorId forward = 0;
  OperatorId input_gradient = 0;
  OperatorId weight_gradient = 0;
  /// Weights and biases of a tensor-parallel rank.
  int64_t parameters = 0;
  /// Of those, biases that every rank holds.
  int64_t replicated_parameters = 0;
};

/// An operator without weights, or with few: one for each direction.
struct Elementwise {
  OperatorId forward = 0;
  OperatorId backward = 0;
};

/// The attention core. A fused one uses `fused`; an unfused one the others.
struct AttentionCore {
  Elementwise fused;
  /// Round a ring `fused` is of the keys of the rank itself, `ring_step` of
  /// those of any other.
  Elementwise ring_step;
  Elementwise ring_merge;
  OperatorId scores = 0;
  OperatorId scores_to_query = 0;
  OperatorId scores_to_key = 0;
  Elementwise softmax;
  Elementwise dropout;
  OperatorId values = 0;
  OperatorId values_to_scores = 0;
  OperatorId values_to_value = 0;
};

struct AttentionOperators {
  Linear qkv;
  /// \{ Of latent attention, in place of `qkv`. Without compressed queries
  /// `query_up` starts from the hidden channels.
  Linear query_down;
  Elementwise query_norm;
  Linear query_up;
  Linear key_value_down;
  Elementwise key_value_norm;
  Linear key_value_up;
  /// \}
  Elementwise qk_norm;
  Elementwise rotary;
  AttentionCore whole;     ///< attends to the whole sequence
  AttentionCore windowed;  ///< attends to the window
  Linear output;
};
AttentionOperators AddAttentionOperators(const Sizes& sizes, Program& program);

struct MlpOperators {
  Linear up;
  Elementwise activation;
  Linear down;
};

/// Operators of a mixture of experts.
struct ExpertOperators {
  Linear router;
  Elementwise routing;
  /// Tokens in the order in which they are sent, and back with their weights.
  Elementwise permute;
  Elementwise unpermute;
  /// Arrived tokens in the order of the experts, and back.
  Elementwise sort;
  /// Of all experts of the device, or of one of `repeats`.
  MlpOperators routed;
  int64_t repeats = 1;
  MlpOperators shared;
};
ExpertOperators AddExpertOperators(const Sizes& sizes, Program& program);

/// Operators of a transformer layer, of either kind.
struct LayerOperators {
  Elementwise norm;
  AttentionOperators attention;
  Elementwise residual;
  MlpOperators mlp;
  ExpertOperators experts;
};
LayerOperators AddLayerOperators(const Sizes& sizes, Program& program);

/// What stands between the matrix multiplications of an MLP.
Elementwise AddActivation(const Sizes& sizes, OperatorKind kind, int64_t tokens,
                          int64_t width, Program& program);

/// Operators in front of the first layer.
struct EmbeddingOperators {
  Elementwise embedding;
  Elementwise positions;
  Elementwise dropout;
};
EmbeddingOperators AddEmbeddingOperators(const Sizes& sizes, Program& program);

/// Operators behind the last layer, for `tokens` tokens: all of them, or those
/// of one chunk of the loss.
struct HeadOperators {
  Linear output;
  Elementwise loss;
};
HeadOperators AddHeadOperators(const Sizes& sizes, int64_t tokens,
                               Program& program);
Elementwise AddNorm(const Sizes& sizes, Program& program);

/// Operators in front of the layer of a multi-token prediction: the embedding
/// is that of all tokens.
struct MultiTokenOperators {
  Elementwise embedding;
  Linear projection;
};
MultiTokenOperators AddMultiTokenOperators(const Sizes& sizes,
                                           Program& program);

/// Operators of one step of the optimizer over `parameters` parameters, of
/// which this device updates `updated`.
OperatorId AddGradientNorm(const Sizes& sizes, int64_t parameters,
                           Program& program);
OperatorId AddOptimizer(const Sizes& sizes, int64_t updated, Program& program);

/// \{ Where the state of the optimizer lies in the memory of the host: a copy
/// of `bytes` a parameter over the link, and the step there.
OperatorId AddHostCopy(const Sizes& sizes, int64_t updated, int64_t bytes,
                       Program& program);
OperatorId AddHostOptimizer(const Sizes& sizes, int64_t updated,
                            Program& program);
/// \}

}  // namespace lmsimbench::compile
