#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/cost_model.h"
#include "lmsimbench/framework.h"
#include "lmsimbench/simulator.h"

namespace lmsimbench {

/// What the staged simulator is told beside its cost model.
struct StagedOptions {
  /// What the framework keeps in memory: of the system's framework where
  /// `fitted_frameworks` has it, else these.
  FrameworkParameters framework;
  std::vector<FittedFramework> fitted_frameworks;
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

/// What `MakeStagedCostModel` takes for the device itself: the best evidence of
/// the bundle, and a bandwidth for levels of the network that state none.
absl::StatusOr<std::unique_ptr<CostModel>> MakeStagedKernelModel(
    const Bundle& bundle);

/// Costs of a device from its published figures alone, with the same.
std::unique_ptr<CostModel> MakeDatasheetModel();

/// The cost model of `staged`: `MakeStagedKernelModel` inside the framework
/// that the system names, with the constants of `FittedFrameworks`.
absl::StatusOr<std::unique_ptr<CostModel>> MakeStagedCostModel(
    const Bundle& bundle);

/// Makes the choices that a question leaves open and the stages do not make, as
/// `staged` does, and says in words which: the defaults of the framework that
/// the system names, who takes the layers that do not divide, fp16 where a
/// device has no bf16, fused attention on devices with eight-bit formats, the
/// bandwidths that `MakeStagedCostModel` takes.
std::vector<std::string> ChooseWhatIsOpen(const System& system,
                                          Workload& workload,
                                          ParallelConfig& config);

/// What `staged` takes for the framework of a system.
FrameworkParameters StagedFramework(const System& system);

/// What a staged simulator rests on.
enum class StagedLevel : uint8_t {
  kDatasheet,  ///< published figures: what to expect of hardware that nobody
               ///< has measured
  kKernels,    ///< and measured kernels and collectives, where there are some
  kFull,       ///< and constants of frameworks, fitted on whole iterations
};

/// `staged-datasheet`, `staged-kernels` or `staged`.
absl::StatusOr<std::unique_ptr<Simulator>> MakeStaged(
    const Bundle& bundle, StagedLevel level = StagedLevel::kFull);

}  // namespace lmsimbench
