#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lmsimbench/costed_graph.h"
#include "lmsimbench/prediction.h"

/// \file
/// How often every operator and collective runs, and for how long together.

namespace lmsimbench::aggregate {

/// Runs in one iteration of a pipeline rank.
struct RankRuns {
  /// One for each of the program's operators.
  std::vector<int64_t> operators;
  /// Of those, runs for the second time.
  std::vector<int64_t> recomputed;
  /// One for each of the graph's collectives, without transfers.
  std::vector<int64_t> collectives;
  /// Transfers to the next and to the previous rank.
  int64_t sent_to_next = 0;
  int64_t sent_to_previous = 0;
};

/// Sums of a rank class that go beside its totals.
struct ClassSums {
  /// Forward passes without what is recomputed; input and weight gradients;
  /// gradient norm and optimizer; copies to and from the host, missing where
  /// there are none.
  double forward = 0;
  double backward = 0;
  double optimizer = 0;
  double host_copies = kNoNumber;
  /// Seconds of all operators and collectives by what they rest on.
  std::array<double, kEvidences> by_evidence = {};
};

void CountRuns(const ExecutionGraph& graph, int64_t pipeline_rank,
               RankRuns& runs);

/// Appends the totals of a rank class to the prediction.
ClassSums AppendTotals(const CostedGraph& costed, int64_t rank_class,
                       const RankRuns& runs, Prediction& prediction);

}  // namespace lmsimbench::aggregate
