#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/simulator.h"

namespace lmsimbench {

/// What may be changed in a question so that Calculon, which knows less of a
/// model than the measurements do, can be asked. Every change that is made is
/// named in the answer; one that is switched off is refused instead.
struct CalculonAdaptations {
  /// A gated MLP as a plain one with 1.5 times its width.
  bool gated_mlp = true;
  /// Grouped queries as multi-head attention; the MLP is cut so that the number
  /// of parameters stays.
  bool grouped_queries = true;
  /// No recomputation where flash attention is known to have run
  /// (`attention_impl`) as recomputation of the attention core: neither stores
  /// the quadratic tensors.
  bool flash_attention = true;
  /// Sharded parameters (ZeRO stage 3) as a sharded optimizer.
  bool sharded_parameters = true;
  /// What a row does not say: no recomputation, a micro-batch of one sequence,
  /// no virtual stages.
  bool unstated = true;

  /// All switched off: only what Calculon can express as it stands.
  static CalculonAdaptations Strict() {
    return {false, false, false, false, false};
  }
};

/// The analytical model of Calculon (github.com/calculon-ai/calculon, commit
/// caa4b11f), reproduced to the last digit, asked through adaptations.
///
/// Knows two systems, its own descriptions of the A100 and H100 with 80 GB;
/// they stand for the A800 and H800 too, and the A100 with 40 GB differs in the
/// verdict only. Answers time and memory with their parts and a verdict. Time
/// is computed as if memory were unlimited, so that it can be judged apart.
/// Its name is `calculon`, or `calculon-strict` without any adaptation. Refuses
/// other platforms, mixtures of experts, context parallelism, latent
/// attention and missing figures.
std::unique_ptr<Simulator> MakeCalculon(
    const CalculonAdaptations& adaptations = {});

/// The same model under the name `calculon-described`, on any platform that
/// states its peaks and bandwidths: the description is made from the system's
/// figures and from the `fit` kernels and collectives of the bundle. What
/// neither gives is a named default (described_simulator.cc). The answer names
/// the defaults that kernels or collectives of the platform would replace, for
/// 16-bit precision; those that Calculon's own descriptions share (efficiency
/// of vector engine and memory, share of the processor that communication
/// takes) are not repeated in it.
absl::StatusOr<std::unique_ptr<Simulator>> MakeCalculonDescribed(
    const Bundle& bundle, const CalculonAdaptations& adaptations = {});

}  // namespace lmsimbench
