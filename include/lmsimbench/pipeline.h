#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lmsimbench/cost_model.h"
#include "lmsimbench/costed_graph.h"
#include "lmsimbench/execution_graph.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/placement.h"
#include "lmsimbench/prediction.h"
#include "lmsimbench/program.h"
#include "lmsimbench/system.h"
#include "lmsimbench/workload.h"
#include "lmsimbench/workspace.h"

/// \file
/// The map of the project: five stages from a configuration to a prediction.
///
/// Each stage is a pure function whose output is a plain value that can be
/// printed, compared with a measurement, changed, or replaced. Each has two
/// forms: one that returns its output, to read and to try, and one that reuses
/// what the output has allocated. After an error an output holds nothing of
/// use. What a stage does not model it refuses by name (UNIMPLEMENTED); a
/// figure that it needs and that is not stated is FAILED_PRECONDITION; an
/// illegal configuration is INVALID_ARGUMENT with the broken rules; sizes
/// beyond what whole numbers hold, or more passes than memory, are
/// OUT_OF_RANGE.

namespace lmsimbench {

/// Workload and configuration to the sharded operators of one micro-batch, with
/// the lifetimes of their tensors.
absl::StatusOr<Program> Compile(const Workload& workload,
                                const ParallelConfig& config);
absl::Status CompileInto(const Workload& workload, const ParallelConfig& config,
                         Program& program);

/// Configuration and system to ranks on devices. A system that states its
/// number of devices has to state that of the configuration; `SubTopology`
/// takes a part of a larger one.
absl::StatusOr<Placement> Place(const ParallelConfig& config,
                                const System& system);
absl::Status PlaceInto(const ParallelConfig& config, const System& system,
                       Placement& placement);

/// Program and placement to what runs in one iteration under the schedule.
absl::StatusOr<ExecutionGraph> Lower(const Program& program,
                                     const Placement& placement,
                                     const ParallelConfig& config);
absl::Status LowerInto(const Program& program, const Placement& placement,
                       const ParallelConfig& config, ExecutionGraph& graph);

/// Execution graph to seconds of every distinct operator and collective.
/// UNIMPLEMENTED names the first operator or collective that the model does not
/// answer, INVALID_ARGUMENT the first transfer that sender and receiver do not
/// expect at the same place: a graph may come from a user.
absl::StatusOr<CostedGraph> CostGraph(const ExecutionGraph& graph,
                                      const CostModel& model);
absl::Status CostGraphInto(const ExecutionGraph& graph, const CostModel& model,
                           CostedGraph& costed);

/// Costed graph to the prediction: simulates the iteration.
absl::StatusOr<Prediction> Aggregate(const CostedGraph& costed,
                                     const System& system);
absl::Status AggregateInto(const CostedGraph& costed, const System& system,
                           Workspace& workspace, Prediction& prediction);

}  // namespace lmsimbench
