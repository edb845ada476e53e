#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "lmsimbench/costed_graph.h"

namespace lmsimbench {

/// A step of the program with all that running it takes, side by side.
struct FlatStep {
  double seconds = 0;
  double host_s = 0;
  int64_t allocated_bytes = 0;
  int64_t freed_bytes = 0;
  std::array<int64_t, kTensorKinds> allocated = {};
  std::array<int64_t, kTensorKinds> freed = {};
  /// See `TaskSlot`.
  int32_t slot = 0;
  bool is_collective = false;
  bool joins = false;
  bool leaves_node = false;
  /// A collective over a group of experts.
  bool is_of_experts = false;
};

/// Names a distinct task of a graph: an operator or a collective, run for the
/// first or a second time. Slots of operators stand before those of
/// collectives.
inline int32_t OperatorSlot(int32_t id, bool recomputed) {
  return 2 * id + recomputed;
}
inline int32_t CollectiveSlot(const ExecutionGraph& graph, int32_t id,
                              bool recomputed) {
  return 2 * (static_cast<int32_t>(graph.program.operators.size()) + id) +
         recomputed;
}
inline int32_t Slots(const ExecutionGraph& graph) {
  return CollectiveSlot(graph, static_cast<int32_t>(graph.collectives.size()),
                        false);
}

/// The steps of a program as each rank class runs them. Classes whose
/// collectives cost the same share a copy.
struct FlatSteps {
  /// Copies of the program's steps, one after the other.
  std::vector<FlatStep> steps;
  /// For each class where its copy begins.
  std::vector<size_t> class_begin;
  /// Most steps that one block has in one direction.
  size_t longest_block = 0;

  /// The step with this index into `Program::steps`.
  const FlatStep* Of(int64_t rank_class, int32_t step) const {
    return steps.data() + class_begin[rank_class] + step;
  }
};

/// Fills `flat`. INVALID_ARGUMENT if a tensor's lifetime lies outside its
/// block.
absl::Status FlattenSteps(const CostedGraph& costed, FlatSteps& flat);

}  // namespace lmsimbench
