#pragma once

#include "capi/handle.h"
#include "lmsimbench/costed_graph.h"
#include "lmsimbench/timeline.h"

struct lmsb_graph : lmsimbench::capi::Handle<lmsimbench::capi::Kind::kGraph> {
  explicit lmsb_graph(lmsimbench::CostedGraph of);

  /// Every operator and collective at the same cost: the graph itself, with
  /// what its rank classes make of the collectives.
  lmsimbench::CostedGraph costed;
  lmsb_operator_batch operators;
  lmsb_collective_batch collectives;

  lmsb_graph(const lmsb_graph&) = delete;
  lmsb_graph& operator=(const lmsb_graph&) = delete;
};

struct lmsb_timeline
    : lmsimbench::capi::Handle<lmsimbench::capi::Kind::kTimeline> {
  lmsb_timeline(lmsimbench::CostedGraph graph, lmsimbench::Timeline of)
      : costed(std::move(graph)), timeline(std::move(of)) {}

  lmsimbench::CostedGraph costed;
  lmsimbench::Timeline timeline;
};
