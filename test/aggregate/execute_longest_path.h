#pragma once

#include <cstdint>
#include <vector>

#include "lmsimbench/timeline.h"

namespace lmsimbench {

/// An iteration as a graph of tasks with an edge for everything that a task
/// waits for, as the head comment of execution_graph.h says; every task starts
/// at the end of the longest path to it. Slow, without order, without streams:
/// what the executor is compared with.
struct LongestPath {
  /// All tasks, a transfer as two, in no order.
  std::vector<Slice> slices;
  /// For each class the changes of memory of its steps in the order of issue,
  /// the taking of each before its giving back.
  struct Change {
    double time_s = 0;
    int64_t bytes = 0;
  };
  std::vector<std::vector<Change>> memory;
};

LongestPath FindLongestPath(const CostedGraph& costed);

}  // namespace lmsimbench
