#include "stages.h"

#include <fmt/core.h>

#include "lmsimbench/pipeline.h"
#include "lmsimbench/staged.h"
#include "lmsimbench/timeline.h"
#include "lmsimbench/workspace.h"

namespace {

// Slices of a timeline that is written. With the samples of memory between them
// they take some 330 bytes each; a browser opens half a gigabyte, and not much
// more.
constexpr int64_t kMostSlices = 1'500'000;

absl::Status Run(StageName stage, const Question& question,
                 const lmsimbench::CostModel& model, Stages& stages) {
  switch (stage) {
    case StageName::kCompile: {
      const absl::Status status = lmsimbench::CompileInto(
          question.workload, question.config, stages.program);
      lmsimbench::KeepInside(lmsimbench::StagedFramework(question.system),
                             stages.program);
      return status;
    }
    case StageName::kPlace:
      return lmsimbench::PlaceInto(question.config, question.system,
                                   stages.placement);
    case StageName::kLower:
      return lmsimbench::LowerInto(stages.program, stages.placement,
                                   question.config, stages.graph);
    case StageName::kCost:
      return lmsimbench::CostGraphInto(stages.graph, model, stages.costed);
    case StageName::kAggregate: {
      lmsimbench::Workspace workspace;
      return lmsimbench::AggregateInto(stages.costed, question.system,
                                       workspace, stages.prediction);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunStage(StageName stage, const Question& question,
                      const lmsimbench::CostModel& model, Stages& stages) {
  const absl::Status status = Run(stage, question, model, stages);
  if (status.ok()) return status;
  return absl::Status(
      status.code(), fmt::format("{}: {}", kStageNames[static_cast<int>(stage)],
                                 std::string(status.message())));
}

absl::StatusOr<std::string> TraceOf(const Question& question,
                                    const lmsimbench::CostModel& model) {
  Stages stages;
  for (const StageName stage : {StageName::kCompile, StageName::kPlace,
                                StageName::kLower, StageName::kCost}) {
    const absl::Status status = RunStage(stage, question, model, stages);
    if (!status.ok()) return status;
  }
  const int64_t slices = lmsimbench::CountTasks(stages.graph);
  if (slices > kMostSlices) {
    return absl::OutOfRangeError(fmt::format(
        "the timeline has {} slices, more than the {} that a viewer opens; "
        "fewer micro-batches (a smaller global batch) show the same pattern",
        slices, kMostSlices));
  }
  const auto timeline = lmsimbench::Expand(stages.costed);
  if (!timeline.ok()) return timeline.status();
  return lmsimbench::ToPerfettoJson(stages.costed, *timeline);
}
