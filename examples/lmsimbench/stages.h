#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lmsimbench/cost_model.h"
#include "lmsimbench/costed_graph.h"
#include "lmsimbench/execution_graph.h"
#include "lmsimbench/placement.h"
#include "lmsimbench/prediction.h"
#include "lmsimbench/program.h"
#include "question.h"

/// The stages of the pipeline, in the order in which they run.
enum class StageName { kCompile, kPlace, kLower, kCost, kAggregate };
inline constexpr const char* kStageNames[] = {"compile", "place", "lower",
                                              "cost", "aggregate"};

/// What the stages made of one question. The program stands in the graph, the
/// graph in the costed graph too, as each stage keeps what it was given.
struct Stages {
  lmsimbench::Program program;
  lmsimbench::Placement placement;
  lmsimbench::ExecutionGraph graph;
  lmsimbench::CostedGraph costed;
  lmsimbench::Prediction prediction;
};

/// Runs one stage on the outputs of those before it, as the simulator `staged`
/// does. An error begins with the name of the stage.
absl::Status RunStage(StageName stage, const Question& question,
                      const lmsimbench::CostModel& model, Stages& stages);

/// The timeline of the question in the format of Perfetto.
absl::StatusOr<std::string> TraceOf(const Question& question,
                                    const lmsimbench::CostModel& model);
