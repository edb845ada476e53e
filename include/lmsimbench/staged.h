#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/cost_model.h"
#include "lmsimbench/simulator.h"

namespace lmsimbench {

/// What the staged simulator is told beside its cost model.
struct StagedOptions {
  /// What framework, communication library and driver keep on a device,
  /// whatever the model. The default is an estimate, not a fit: contexts and
  /// workspaces of CUDA and NCCL take several hundred MB.
  int64_t framework_bytes = int64_t{512} << 20;
  /// The cost model takes a bandwidth of its own for levels of the network that
  /// state none; then predictions that may rest on it say so.
  bool names_unstated_bandwidth = false;
};

/// The five stages of pipeline.h as a simulator: compile, place, lower, cost,
/// aggregate, with this cost model. Answers time, memory, verdict, evidence and
/// rank classes; refuses by name what the stages do not model and what the cost
/// model does not answer. Choices that the question leaves open are made, and
/// named among the adaptations.
std::unique_ptr<Simulator> MakeStaged(std::string name,
                                      std::shared_ptr<const CostModel> model,
                                      const StagedOptions& options = {});

/// The cost model of `staged`: the best evidence of the bundle
/// (`MakeDefaultCostModel`), the dispatch of a framework (`MakeDispatchModel`),
/// and a bandwidth for levels of the network that state none.
absl::StatusOr<std::unique_ptr<CostModel>> MakeStagedCostModel(
    const Bundle& bundle);

/// Makes the choices that a question leaves open and the stages do not make, as
/// `staged` does, and says in words which: who takes the layers that do not
/// divide, fp16 where a device has no bf16, fused attention on devices with
/// eight-bit formats, the bandwidths that `MakeStagedCostModel` takes.
std::vector<std::string> ChooseWhatIsOpen(const System& system,
                                          Workload& workload,
                                          ParallelConfig& config);

/// `staged`: with `MakeStagedCostModel`, not calibrated on whole iterations.
absl::StatusOr<std::unique_ptr<Simulator>> MakeStaged(const Bundle& bundle);

}  // namespace lmsimbench
