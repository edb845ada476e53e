#include "lib/calibrate/framework_rows.h"

#include "lmsimbench/answer_sheet.h"
#include "lmsimbench/lookup.h"
#include "lmsimbench/pipeline.h"
#include "lmsimbench/staged.h"

namespace lmsimbench::calibrate {

absl::StatusOr<CostedRun> CostRun(const MeasuredRun& run, const Bundle& bundle,
                                  const CostModel& device) {
  const absl::StatusOr<System> platform = FindPlatform(bundle, run.platform);
  if (!platform.ok()) {
    return absl::FailedPreconditionError(platform.status().message());
  }
  CostedRun costed;
  costed.run = &run;
  costed.system = SystemOfRun(*platform, run);
  Workload workload = run.workload;
  ParallelConfig config = run.config;
  ChooseWhatIsOpen(costed.system, workload, config);
  const absl::StatusOr<Program> program = Compile(workload, config);
  if (!program.ok()) return program.status();
  const absl::StatusOr<Placement> placement = Place(config, costed.system);
  if (!placement.ok()) return placement.status();
  const absl::StatusOr<ExecutionGraph> graph =
      Lower(*program, *placement, config);
  if (!graph.ok()) return graph.status();
  const absl::Status status = CostGraphInto(*graph, device, costed.costed);
  if (!status.ok()) return status;
  return costed;
}

}  // namespace lmsimbench::calibrate
