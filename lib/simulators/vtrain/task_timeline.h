#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lib/simulators/vtrain/folded_simulation.h"
#include "lib/simulators/vtrain/kernel_simulation.h"

namespace lmsimbench::vtrain {

/// Every kernel and communication of every rank, written out. Tasks are
/// interned: one refers to an entry of `distinct`.
struct TaskTimeline {
  struct Task {
    /// A `LayerPass`, or `kAllReduceTask`.
    uint8_t name = kAllReduceTask;
    double duration_ns = 0;
    double gap_ns = 0;
  };
  struct Rank {
    /// Index into `distinct`, and start; in the order in which the rank runs
    /// them, what it reduces beside its backward pass at the end of the pass.
    std::vector<uint32_t> task;
    std::vector<double> start_ns;
  };
  std::vector<Task> distinct;
  std::vector<Rank> ranks;

  /// A pass as it is written: the tasks, and their starts from its own.
  struct Pass {
    std::vector<uint32_t> task;
    std::vector<double> offset_ns;
    double length_ns = 0;
  };
  /// Kept between calls: forward, repeated, backward pass and update of each
  /// kind of rank.
  std::array<std::array<Pass, 4>, kRankKinds> passes;
  std::array<uint32_t, kLayerPasses> first_task = {};
  /// Tasks that end a pass, with the gap of a transfer behind them.
  struct Variant {
    uint32_t task = 0;
    double gap_ns = 0;
    uint32_t with_gap = 0;
  };
  std::vector<Variant> variants;
  /// \{ Starts of the passes of each rank, and its clock.
  std::vector<double> forward_start_ns;
  std::vector<double> recompute_start_ns;
  std::vector<double> backward_start_ns;
  std::vector<double> clocks_ns;
  std::vector<double> sent_ns;
  /// \}
};

/// Writes the tasks of an iteration that `workspace` and `outputs` hold the
/// simulation of; the table has to be foldable. Allocates nothing once
/// `timeline` has held as many tasks.
void WriteTasks(const Plan& plan, const KernelTable& table,
                const FoldedWorkspace& workspace, const Outputs& outputs,
                TaskTimeline& timeline);

/// The timeline with names, durations and gaps at every task.
void SpellTasks(const TaskTimeline& timeline, std::vector<RankTasks>& tasks);

}  // namespace lmsimbench::vtrain
