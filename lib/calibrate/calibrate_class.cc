#include "lib/calibrate/calibrate_class.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "lib/aggregate/partial.h"
#include "lib/calibrate/framework_fit.h"
#include "lib/calibrate/usable_memory.h"
#include "lmsimbench/nearest_name.h"
#include "lmsimbench/row_kind.h"
#include "lmsimbench/staged.h"

namespace lmsimbench::calibrate {
namespace {

std::vector<const CostedRun*> Without(const std::vector<CostedRun>& runs,
                                      const std::string& source) {
  std::vector<const CostedRun*> left;
  for (const CostedRun& run : runs) {
    if (source.empty() || run.run->source != source) left.push_back(&run);
  }
  return left;
}

// Predicted peaks over the memory of the device.
std::vector<double> PeakShares(absl::Span<const CostedRun* const> runs,
                               const CalibratedFramework& framework) {
  std::vector<double> shares;
  Workspace workspace;
  Prediction prediction;
  CostedGraph costed;
  for (const CostedRun* run : runs) {
    const Accelerator& accelerator = run->system.accelerator;
    costed = run->costed;
    KeepInside(ParametersOf(framework, accelerator.name), costed.graph.program);
    aggregate::PredictPeaks(costed, workspace, prediction);
    const double share =
        prediction.peak_memory_bytes / accelerator.memory_bytes;
    if (IsStated(share)) shares.push_back(share);
  }
  return shares;
}

void AddUsableMemory(absl::Span<const CostedRun* const> ran,
                     absl::Span<const CostedRun* const> failed,
                     CalibratedFramework& framework) {
  CalibratedConstant usable;
  usable.name = "usable_memory";
  usable.value =
      UsableMemory(PeakShares(ran, framework), PeakShares(failed, framework));
  usable.initial = usable.highest = 1;
  usable.lowest = 0.7;
  usable.at_bound = usable.value == usable.lowest;
  if (IsStated(usable.value)) framework.constants.push_back(usable);
}

}  // namespace

bool IsAsked(const FrameworkClass& framework, const CalibrateOptions& options) {
  return options.framework.empty() || options.framework == framework.name;
}

absl::Status CheckAsked(const CalibrateOptions& options) {
  if (options.threads < 1) {
    return absl::InvalidArgumentError(fmt::format(
        "calibrating with {} threads; at least 1 is needed", options.threads));
  }
  std::vector<std::string> names;
  for (const FrameworkClass& framework : FrameworkClasses()) {
    if (IsAsked(framework, options)) return absl::OkStatus();
    names.emplace_back(framework.name);
  }
  const std::string nearest = NearestName(options.framework, names);
  return absl::NotFoundError(fmt::format(
      "no framework class is called '{}'{}", options.framework,
      nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
}

absl::StatusOr<std::vector<ClassRuns>> RunsByClass(
    const Measurements& measurements, const Bundle& bundle,
    const CalibrateOptions& options) {
  const auto device = MakeStagedKernelModel(bundle);
  if (!device.ok()) return device.status();
  const auto classes = FrameworkClasses();
  std::vector<ClassRuns> runs(classes.size());
  for (const auto* tables : {&measurements.runs, &measurements.failed_runs}) {
    for (const MeasuredRun& run : *tables) {
      const int of = ClassOf(run.framework);
      if (of < 0 || run.split != kFitSplit || !IsHeadline(run) ||
          !IsAsked(classes[static_cast<size_t>(of)], options)) {
        continue;
      }
      ClassRuns& here = runs[static_cast<size_t>(of)];
      absl::StatusOr<CostedRun> costed = CostRun(run, bundle, **device);
      if (costed.ok()) {
        (run.ran ? here.costed : here.failed).push_back(*std::move(costed));
      } else if (!IsRefusal(costed.status())) {
        return costed.status();
      } else if (run.ran) {
        ++here.unanswered;
      }
    }
  }
  return runs;
}

absl::StatusOr<CalibratedFramework> CalibrateClass(
    const FrameworkClass& framework, const ClassRuns& runs,
    const std::string& left_out, const CalibratedFramework* parent,
    const CalibrateOptions& options) {
  CalibratedFramework calibrated;
  calibrated.name = framework.name;
  for (const char* const begin : framework.begins) {
    if (begin != nullptr) calibrated.begins.emplace_back(begin);
  }
  calibrated.unanswered = runs.unanswered;
  const std::vector<const CostedRun*> ran = Without(runs.costed, left_out);
  for (const Target target : {Target::kTime, Target::kMemory}) {
    const absl::Status status =
        FrameworkFit(target, ran, parent, options.threads)
            .Run(options.leave_one_out, calibrated);
    if (!status.ok()) return status;
  }
  AddUsableMemory(ran, Without(runs.failed, left_out), calibrated);
  return calibrated;
}

const CalibratedFramework* ParentOf(
    const FrameworkClass& framework,
    const std::vector<CalibratedFramework>& found) {
  for (const CalibratedFramework& before : found) {
    if (before.name == framework.parent) return &before;
  }
  return nullptr;
}

}  // namespace lmsimbench::calibrate
