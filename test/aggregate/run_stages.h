#pragma once

#include "catch2/catch.hpp"
#include "lmsimbench/pipeline.h"

namespace lmsimbench {

/// The outputs of all five stages for one configuration. Reused from one run to
/// the next.
struct Stages {
  Program program;
  Placement placement;
  ExecutionGraph graph;
  CostedGraph costed;
  Workspace workspace;
  Prediction prediction;
};

/// Runs all five stages; each has to succeed.
inline void RunStages(const Workload& workload, const ParallelConfig& config,
                      const System& system, const CostModel& model,
                      Stages& stages) {
  REQUIRE(CompileInto(workload, config, stages.program) == absl::OkStatus());
  REQUIRE(PlaceInto(config, system, stages.placement) == absl::OkStatus());
  REQUIRE(LowerInto(stages.program, stages.placement, config, stages.graph) ==
          absl::OkStatus());
  REQUIRE(CostGraphInto(stages.graph, model, stages.costed) ==
          absl::OkStatus());
  REQUIRE(AggregateInto(stages.costed, system, stages.workspace,
                        stages.prediction) == absl::OkStatus());
}

}  // namespace lmsimbench
