#pragma once

#include <array>
#include <cstdint>

#include "lib/simulators/vtrain/kernel_table.h"
#include "lib/simulators/vtrain/plan.h"

namespace lmsimbench::vtrain {

/// A pass of a rank over one micro-batch, or its weight update: the layers that
/// it runs, without what it waits for and without a transfer behind it.
struct RankPass {
  double length_ns = 0;
  double compute_ns = 0;
  double gap_ns = 0;
  /// All-reduces of activations in it.
  int64_t all_reduces = 0;
  int64_t layers = 0;
  /// Tasks of its layers.
  int64_t tasks = 0;
};

/// The passes of a kind of rank.
struct RankPasses {
  RankPass forward;  ///< with the loss
  RankPass recompute;
  RankPass backward;
  RankPass update;
  /// From the start of the forward or repeated pass to the start of its last
  /// forward kernel.
  double last_forward_ns = 0;
  double last_recompute_ns = 0;
  /// From the start of the backward pass to the end of its last all-reduce.
  double last_all_reduce_ns = 0;
};

/// The update of the output layer: the table's, or what the plan takes in its
/// place.
FoldedPass UpdateOfOutput(const Plan& plan, const FoldedTable& table);

/// Folds the layers of a rank. `update_of_output` is the update of the output
/// layer, in the place of the table's.
RankPasses FoldRank(const Plan& plan, const FoldedTable& table, RankKind kind,
                    const FoldedPass& update_of_output);

/// From the start of a backward pass to the end of its layer `index`, counted
/// in the order in which it runs; `hop_ns` lies behind the last one.
double BackwardLayerEnd(const Plan& plan, const FoldedTable& table,
                        RankKind kind, int64_t index, double hop_ns);

}  // namespace lmsimbench::vtrain
