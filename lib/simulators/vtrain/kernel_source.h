#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lib/simulators/vtrain/config.h"
#include "lib/simulators/vtrain/kernel_table.h"
#include "lmsimbench/cost_model.h"
#include "lmsimbench/evidence.h"
#include "lmsimbench/program.h"
#include "lmsimbench/system.h"
#include "lmsimbench/workload.h"

namespace lmsimbench::vtrain {

/// A kernel table with what it rests on.
struct SourcedKernels {
  KernelTable table;
  /// Nanoseconds of each pass by evidence, gaps but the last included.
  std::array<std::array<double, kEvidences>, kLayerPasses> evidence_ns = {};
};

/// What composing kernels reuses.
struct ComposeWorkspace {
  Workload workload;
  Program program;
  std::vector<Cost> costs;
};

/// Composes the kernels that vTrain's profile would hold: the operators of one
/// layer, of the embeddings, of output layer and loss, on one tensor-parallel
/// rank for `config.micro_batch` sequences, each as long as `model` says. The
/// host starts one every `dispatch_s`; where an operator is shorter the device
/// waits. As in the profile the final norm and the backward pass of the loss
/// have no layer, and the output layer has no update. UNIMPLEMENTED names what
/// the model does not answer.
absl::Status ComposeKernels(const Workload& workload, const System& system,
                            const Config& config, const CostModel& model,
                            double dispatch_s, ComposeWorkspace& workspace,
                            SourcedKernels& kernels);

/// The published layer latencies as kernels without gaps. What was solved as a
/// sum is divided over its passes so that the sum stays. FAILED_PRECONDITION
/// names a shape that was not published.
absl::Status PublishedKernels(const Config& config, SourcedKernels& kernels);

/// A table whose kernels were all measured.
void MarkMeasured(SourcedKernels& kernels);

}  // namespace lmsimbench::vtrain
