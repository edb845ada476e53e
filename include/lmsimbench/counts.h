#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "lmsimbench/workload.h"

/// \file
/// Parameters of a model and floating-point operations of a token, under named
/// conventions.

namespace lmsimbench {

/// What counts as a parameter.
struct ParameterConvention {
  /// Weights of norms, and biases where the model says that it has them.
  bool norms_and_biases = true;
  /// Rows of the vocabulary matrices: the model's own vocabulary padded to this
  /// multiple.
  int64_t vocab_multiple = 1;
};

/// Parameters of a whole model, by part.
struct ParameterCount {
  /// Token embedding, and the position table of learned positions.
  int64_t embedding = 0;
  /// Projections of queries, keys, values and output.
  int64_t attention = 0;
  int64_t dense_mlp = 0;
  int64_t router = 0;
  int64_t routed_experts = 0;
  int64_t shared_experts = 0;
  int64_t norms_and_biases = 0;
  /// Output layer where it is not tied to the embedding.
  int64_t output = 0;
  /// Multi-token prediction layers, all their parts: a layer each, of the kind
  /// of the last one, behind a projection of two hidden widths to one.
  /// Embedding and output layer are shared with the model.
  int64_t multi_token = 0;
  int64_t total = 0;
  /// Those that one token visits: of the routed experts only `top_k`.
  int64_t active = 0;
};

/// Counts the parameters. FAILED_PRECONDITION names the first figure that the
/// model does not state; OUT_OF_RANGE above 2^53 parameters.
absl::StatusOr<ParameterCount> CountParameters(
    const ModelSpec& model, const ParameterConvention& convention = {});

/// What counts as a floating-point operation.
struct FlopConvention {
  enum class Mask : uint8_t {
    kCausal,  ///< half of the attention scores
    kFull,    ///< all of them, as kernels without a causal mask compute
  };
  Mask mask = Mask::kCausal;
  /// Count the router and the norms as 6 operations per parameter.
  bool router_and_norms = false;
  /// Add the forward pass of the layers again, as full recomputation executes
  /// it. The output layer is not recomputed.
  bool full_recompute = false;
};

/// One line that names the convention, to be printed beside every count.
std::string Describe(const FlopConvention& convention);

/// Operations per token of a forward and backward pass, by part. Multiply and
/// add count as two.
struct FlopCount {
  double attention_projections = 0;
  /// Scores and their product with the values.
  double attention_core = 0;
  double mlp = 0;
  double router_and_norms = 0;
  /// Output layer, once for the model and once for each multi-token prediction
  /// layer. Multi-token layers count as layers in the parts above.
  double output = 0;
  /// Projections in front of the multi-token prediction layers.
  double multi_token = 0;
  double recompute = 0;
  double total = 0;
};

/// Counts the operations for sequences of `workload.seq_len` tokens, each
/// attended to as a whole, also where several documents are packed into it: how
/// long they are is not part of a workload. A sliding window limits the keys.
/// The vocabulary is the model's own. Source of the formula: Megatron-LM's
/// num_floating_point_operations (commit d98e8a6). FAILED_PRECONDITION names
/// the first figure that is not stated.
absl::StatusOr<FlopCount> CountFlopsPerToken(
    const Workload& workload, const FlopConvention& convention = {});

/// Operations of the attention core of all layers, forward and backward, for
/// `sequences` whole sequences. Errors as `CountFlopsPerToken`.
absl::StatusOr<double> AttentionCoreFlops(
    const Workload& workload, double sequences,
    FlopConvention::Mask mask = FlopConvention::Mask::kCausal);

}  // namespace lmsimbench
