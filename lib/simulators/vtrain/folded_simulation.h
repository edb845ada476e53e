#pragma once

#include <array>
#include <vector>

#include "lib/simulators/vtrain/kernel_table.h"
#include "lib/simulators/vtrain/outputs.h"
#include "lib/simulators/vtrain/plan.h"
#include "lib/simulators/vtrain/rank_passes.h"

namespace lmsimbench::vtrain {

/// What repeated simulations reuse. Entries of a rank stand at its index,
/// forward ends at its index + 1.
struct FoldedWorkspace {
  std::array<RankPasses, kRankKinds> passes;
  /// \{ What a pass adds to the clock of its rank; see `RunPasses`.
  std::vector<double> forward_ns;
  std::vector<double> whole_ns;
  std::vector<double> return_ns;
  std::vector<double> shift_ns;
  /// \}
  std::vector<double> end_ns;
  std::vector<double> forward_end_ns;
  std::vector<double> recompute_start_ns;
  std::vector<double> gradients_end_ns;
};

/// Simulates one iteration pass by pass; `table` has to be foldable. Agrees
/// with `SimulateKernels` to the rounding of sums. Allocates nothing once
/// workspace and outputs have held as many ranks.
void Simulate(const Plan& plan, const FoldedTable& table,
              FoldedWorkspace& workspace, Outputs& outputs);

}  // namespace lmsimbench::vtrain
