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
  /// Weights of norms, and biases where the model states them.
  bool norms_and_biases = true;
  /// Rows of the vocabulary matrices: the model's own vocabulary padded to this
  /// multiple.
  int64_t vocab_multiple = 1;
};

/// Parameters of a whole model, by part.
struct ParameterCount {
  int64_t embedding = 0;
  int64_t attention = 0;
  int64_t dense_mlp = 0;
  int64_t router = 0;
  int64_t routed_experts = 0;
  int64_t shared_experts = 0;
  int64_t norms_and_biases = 0;
  /// Output layer where it is not tied to the embedding.
  int64_t output = 0;
  /// Multi-token prediction layers, all their parts.
  int64_t multi_token = 0;
  int64_t total = 0;
  /// Those that one token visits: of the routed experts only `top_k`.
  int64_t active = 0;
};

/// Counts the parameters. FAILED_PRECONDITION names the first figure that the
/// model does not state.
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
  /// Add the forward pass again, as full recomputation executes it.
  bool full_recompute = false;
};

/// One line that names the convention, to be printed beside every count.
std::string Describe(const FlopConvention& convention);

/// Operations per token of a forward and backward pass, by part. Multiply and
/// add count as two.
struct FlopCount {
  double attention_projections = 0;
  double attention_core = 0;
  double mlp = 0;
  double router_and_norms = 0;
  double output = 0;
  double recompute = 0;
  double total = 0;
};

/// Counts the operations for sequences of `workload.seq_len` tokens. Source of
/// the formula: Megatron-LM's num_floating_point_operations (commit d98e8a6).
/// FAILED_PRECONDITION names the first figure that is not stated.
absl::StatusOr<FlopCount> CountFlopsPerToken(
    const Workload& workload, const FlopConvention& convention = {});

}  // namespace lmsimbench
