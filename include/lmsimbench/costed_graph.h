#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "lmsimbench/cost_model.h"
#include "lmsimbench/execution_graph.h"

namespace lmsimbench {

/// An execution graph with the cost of every distinct operator and collective.
/// Seconds are multiples of 2^-40 s, so that sums below 8192 s are exact and
/// do not depend on their order. A plain value.
struct CostedGraph {
  ExecutionGraph graph;
  /// One for each of the program's operators.
  std::vector<Cost> operators;
  /// Collectives of the graph with the spans that its classes give them: of
  /// collective c and a class k the entry is
  /// `collective_begin[c] + (ordinal of the class's span)`; see
  /// `CollectiveCost`.
  std::vector<SpannedCollective> spanned;
  std::vector<Cost> collectives;
  /// For each collective of the graph the first of its entries.
  std::vector<int32_t> collective_begin;
  /// For each class and group, `class * kGroups + group`: which of the group's
  /// distinct spans the class has.
  std::vector<int32_t> span_ordinal;
  Contention contention;
};

/// Seconds to the next multiple of 2^-40 s.
inline double WholeTicks(double seconds) {
  constexpr double kTicks = 1099511627776.0;  // 2^40
  return std::nearbyint(seconds * kTicks) / kTicks;
}

/// Index into `spanned` and `collectives` of a collective of the graph as a
/// rank class runs it.
inline int32_t SpannedIndex(const CostedGraph& costed, int32_t collective,
                            int64_t rank_class) {
  const auto group =
      static_cast<int>(costed.graph.collectives[collective].group);
  return costed.collective_begin[collective] +
         costed.span_ordinal[rank_class * kGroups + group];
}

/// True if a collective of the graph, as a rank class runs it, leaves the node;
/// false for -1.
inline bool LeavesNode(const CostedGraph& costed, int32_t collective,
                       int64_t rank_class) {
  return collective >= 0 &&
         costed.spanned[SpannedIndex(costed, collective, rank_class)]
                 .span.level > 0;
}

/// Seconds of a collective of the graph as a rank class runs it; 0 for -1.
inline double CollectiveSeconds(const CostedGraph& costed, int32_t collective,
                                int64_t rank_class) {
  if (collective < 0) return 0;
  return costed.collectives[SpannedIndex(costed, collective, rank_class)]
      .seconds;
}

/// The costs as text, with their evidence.
std::string ToText(const CostedGraph& costed);
/// The same as JSON.
std::string ToJson(const CostedGraph& costed);

}  // namespace lmsimbench
