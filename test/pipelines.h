#pragma once

#include <cstdint>
#include <utility>

#include "catch2/catch.hpp"
#include "lmsimbench/pipeline.h"
#include "test/core/model_examples.h"
#include "test/cost/fixed_model.h"

/// \file
/// Small pipelines, and stages that have to succeed, for the tests of several
/// stages.

namespace lmsimbench {

/// A dense transformer whose micro-batches have one sequence on one replica.
inline Workload SmallWorkload(int64_t layers, int64_t micro_batches) {
  Workload workload;
  workload.model = DenseGated("small", 512, layers, 8, 8, 1024, 1024);
  workload.seq_len = 128;
  workload.global_batch = micro_batches;
  return workload;
}

/// One replica on `pp` devices, one sequence a micro-batch.
inline ParallelConfig Pipeline(int64_t pp,
                               Schedule schedule = Schedule::kNotStated,
                               int64_t vpp = 1) {
  ParallelConfig config;
  config.pp = pp;
  config.vpp = vpp;
  config.schedule = schedule;
  config.micro_batch = 1;
  return config;
}

inline Program Compiled(const Workload& workload,
                        const ParallelConfig& config) {
  absl::StatusOr<Program> program = Compile(workload, config);
  INFO(program.status());
  REQUIRE(program.ok());
  return *std::move(program);
}

inline Placement Placed(const ParallelConfig& config, const System& system) {
  absl::StatusOr<Placement> placement = Place(config, system);
  INFO(placement.status());
  REQUIRE(placement.ok());
  return *std::move(placement);
}

inline ExecutionGraph Lowered(const Workload& workload,
                              const ParallelConfig& config,
                              const System& system = TestSystem()) {
  absl::StatusOr<ExecutionGraph> graph =
      Lower(Compiled(workload, config), Placed(config, system), config);
  INFO(graph.status());
  REQUIRE(graph.ok());
  return *std::move(graph);
}

inline CostedGraph Costed(const ExecutionGraph& graph, const CostModel& model) {
  absl::StatusOr<CostedGraph> costed = CostGraph(graph, model);
  INFO(costed.status());
  REQUIRE(costed.ok());
  return *std::move(costed);
}

}  // namespace lmsimbench
