#pragma once

#include <array>
#include <vector>

#include "lib/simulators/vtrain/kernel_table.h"
#include "lib/simulators/vtrain/outputs.h"
#include "lib/simulators/vtrain/plan.h"
#include "lib/simulators/vtrain/rank_passes.h"

namespace lmsimbench::vtrain {

/// The passes of every rank of a plan, folded: what is simulated.
struct FoldedRanks {
  std::array<RankPasses, kRankKinds> passes;
  /// \{ How long the passes of each rank take, with what lies behind them.
  /// Empty for a single rank.
  std::vector<double> forward_ns;
  std::vector<double> recompute_ns;
  std::vector<double> backward_ns;
  /// \}
};

/// Folds the passes of ranks; `table` has to be foldable. Keeps what `ranks`
/// has allocated.
void FoldRanks(const Plan& plan, const FoldedTable& table, FoldedRanks& ranks);

/// What repeated simulations reuse; one entry a rank.
struct FoldedWorkspace {
  /// End of its last pass.
  std::vector<double> end_ns;
  /// When the rank before it has sent its last output.
  std::vector<double> sent_ns;
  /// \{ Starts of its last passes.
  std::vector<double> forward_start_ns;
  std::vector<double> recompute_start_ns;
  std::vector<double> backward_start_ns;
  /// \}
  std::vector<double> gradients_end_ns;
};

/// Simulates one iteration pass by pass. Agrees with `SimulateKernels` to the
/// rounding of sums. Allocates nothing once workspace and outputs have held as
/// many ranks.
void Simulate(const Plan& plan, const FoldedTable& table,
              const FoldedRanks& ranks, FoldedWorkspace& workspace,
              Outputs& outputs);

}  // namespace lmsimbench::vtrain
