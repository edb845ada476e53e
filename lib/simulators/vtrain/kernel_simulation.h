#pragma once

#include <cstdint>
#include <vector>

#include "lib/simulators/vtrain/kernel_table.h"
#include "lib/simulators/vtrain/outputs.h"
#include "lib/simulators/vtrain/plan.h"

namespace lmsimbench::vtrain {

/// Stands for a communication where a task is named by its `LayerPass`.
inline constexpr uint8_t kAllReduceTask = kLayerPasses;

/// Every kernel and communication of a rank in its order, one entry a task.
struct RankTasks {
  /// A `LayerPass`, or `kAllReduceTask`.
  std::vector<uint8_t> name;
  std::vector<double> start_ns;
  std::vector<double> duration_ns;
  std::vector<double> gap_ns;
};

/// What repeated simulations reuse.
struct KernelWorkspace {
  struct Sum {
    double value = 0;
    double lost = 0;
  };
  struct Rank {
    /// End of its last task.
    double end = 0;
    /// End of its gradients' reduction beside it.
    double gradients_end = 0;
    Sum tensor;
    Sum gap;
  };
  std::vector<Rank> ranks;
  /// End of the last task of every micro-batch.
  std::vector<double> chains;
  /// Ends of the layers of a backward pass.
  std::vector<double> layer_ends;
};

/// Simulates every kernel of every rank, one after the other, in the arithmetic
/// of the original: the reference that the folded simulation is held to, and
/// the only one that is right where a kernel's gap is shorter than minus its
/// duration. `tasks`, if it is not null, becomes the tasks of every rank.
void SimulateKernels(const Plan& plan, const KernelTable& table,
                     KernelWorkspace& workspace, Outputs& outputs,
                     std::vector<RankTasks>* tasks = nullptr);

}  // namespace lmsimbench::vtrain
