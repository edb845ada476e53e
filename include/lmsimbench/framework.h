#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "lmsimbench/cost_model.h"
#include "lmsimbench/program.h"
#include "lmsimbench/system.h"
#include "lmsimbench/values.h"

/// \file
/// What a training framework adds to the costs of a device: few constants with
/// a meaning, one set a framework.

namespace lmsimbench {

/// How a framework runs operators and collectives, beside what they take alone.
/// The defaults say nothing of any framework but how often a host starts an
/// operator.
struct FrameworkParameters {
  /// \{ Factors on the time of matrix multiplications (those of 8-bit
  /// and of 4-bit numbers and those of routed experts have another one beside
  /// it), of the attention
  /// core (fused, or its four operators), of elementwise kernels within the
  /// layers, and of the loss: kernels of the framework's own, fused or not,
  /// beside those that were measured alone or follow from published figures.
  double matrix_factor = 1;
  double matrix_fp8_factor = 1;
  double matrix_fp4_factor = 1;
  double expert_matrix_factor = 1;
  double attention_factor = 1;
  double elementwise_factor = 1;
  double loss_factor = 1;
  /// \}
  /// Seconds that an operator takes at least: most are several kernels. The
  /// default is what operators take at least where they were measured inside a
  /// training framework: of the `fit` rows of sources aceso_v100_ops and
  /// sailor_aceso_ops (Megatron-LM on V100, A100 and GH200) the shortest
  /// forward time of layernorm, layernorm_final, bias_dropout_add, gelu and
  /// linear_fwd, each platform for itself: 20 times from 42 to 190 us, their
  /// median.
  double operator_s = 70e-6;
  /// Seconds of the host to start an operator (`Cost::host_s`).
  double operator_host_s = 20e-6;
  /// \{ Seconds of the host for a collective within a pass among two ranks;
  /// among n ranks in k nodes it is (n / 2) ^ growth * k ^ node growth times as
  /// long. Where there is a pipeline, whose transfers the host waits for, it
  /// takes another time more, with a growth of its own.
  double collective_host_s = 0;
  double collective_growth = 0;
  double collective_node_growth = 0;
  double pipelined_host_s = 0;
  double pipelined_growth = 0;
  /// \}
  /// Seconds that a collective within a pass takes beside its own time, as its
  /// ranks do not arrive together.
  double skew_s = 0;
  /// \{ Factors on the time of collectives: of tensor and context groups, of
  /// expert groups, of the groups that reduce gradients and gather parameters.
  /// Below 1 where the framework hides a part of them behind computation in a
  /// way that the graph does not know, above 1 where it does not reach what the
  /// links give.
  double tensor_factor = 1;
  double expert_factor = 1;
  double data_factor = 1;
  /// \}
  /// Seconds that a second of computation takes more beside communication of
  /// its device (`Contention::compute`).
  double contention = 0;
  /// Seconds that each rank of the sharding group adds to a gather of
  /// parameters, where every owner broadcasts what it has updated.
  double gather_rank_s = 0;
  /// Seconds that a transfer between stages takes beside its own time.
  double transfer_s = 0;
  /// Seconds of an iteration in which nothing of the model runs: data loader,
  /// logging, the optimizer's host.
  double iteration_s = 0;
  /// \{ Factors on the memory of activations, of logits and their gradients,
  /// and of gradients of parameters: what a framework keeps beside what has to
  /// be kept, such as copies in other formats.
  double activations_factor = 1;
  double logits_factor = 1;
  double gradients_factor = 1;
  /// \}
  /// Bytes that framework, communication library and driver keep on a device,
  /// whatever the model. The default is an estimate: contexts and workspaces of
  /// CUDA and NCCL take several hundred MB.
  double reserved_bytes = 512.0 * 1024 * 1024;
  /// Share of a device's memory that can be filled before an allocation fails
  /// or the allocator only searches.
  double usable_memory = 1;

  template <typename Visit, typename... Self>
  static void VisitFields(Visit&& visit, Self&... self) {
    visit("matrix_factor", self.matrix_factor...);
    visit("matrix_fp8_factor", self.matrix_fp8_factor...);
    visit("matrix_fp4_factor", self.matrix_fp4_factor...);
    visit("expert_matrix_factor", self.expert_matrix_factor...);
    visit("attention_factor", self.attention_factor...);
    visit("elementwise_factor", self.elementwise_factor...);
    visit("loss_factor", self.loss_factor...);
    visit("operator_s", self.operator_s...);
    visit("operator_host_s", self.operator_host_s...);
    visit("collective_host_s", self.collective_host_s...);
    visit("collective_growth", self.collective_growth...);
    visit("collective_node_growth", self.collective_node_growth...);
    visit("pipelined_host_s", self.pipelined_host_s...);
    visit("pipelined_growth", self.pipelined_growth...);
    visit("skew_s", self.skew_s...);
    visit("tensor_factor", self.tensor_factor...);
    visit("expert_factor", self.expert_factor...);
    visit("data_factor", self.data_factor...);
    visit("contention", self.contention...);
    visit("gather_rank_s", self.gather_rank_s...);
    visit("transfer_s", self.transfer_s...);
    visit("iteration_s", self.iteration_s...);
    visit("activations_factor", self.activations_factor...);
    visit("logits_factor", self.logits_factor...);
    visit("gradients_factor", self.gradients_factor...);
    visit("reserved_bytes", self.reserved_bytes...);
    visit("usable_memory", self.usable_memory...);
  }
  friend bool operator==(const FrameworkParameters& a,
                         const FrameworkParameters& b) {
    return SameFields(a, b);
  }
};

/// Parameters of a framework on the devices that it was fitted on.
struct FittedFramework {
  /// How its name begins, whatever follows (a version, a fork), in lower case.
  std::string name;
  /// The device, as `Accelerator::name`; empty: any.
  std::string accelerator;
  FrameworkParameters parameters;
};

/// The parameters of the system's framework: those of the longest name that
/// begins `System::framework`, of its device where that is there, else of any
/// device; null where there are none.
const FrameworkParameters* FindFramework(
    absl::Span<const FittedFramework> fitted, const System& system);

/// The constants that were fitted on the `fit` iterations of the measurement
/// bundle, from lib/cost/frameworks.json, which says by how much they are
/// certain and what they buy.
std::vector<FittedFramework> FittedFrameworks();

/// The costs of `device` inside the system's framework: `parameters` where
/// `fitted` does not know it. What a factor other than 1 changes is analytic
/// evidence.
std::unique_ptr<CostModel> MakeFrameworkModel(
    std::shared_ptr<const CostModel> device,
    const FrameworkParameters& parameters = {},
    std::vector<FittedFramework> fitted = {});

/// Makes of what `Compile` says of memory what the framework keeps.
void KeepInside(const FrameworkParameters& parameters, Program& program);

}  // namespace lmsimbench
