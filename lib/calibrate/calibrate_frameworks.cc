#include <memory>
#include <set>
#include <utility>

#include "absl/types/span.h"
#include "fmt/format.h"
#include "lib/calibrate/framework_constants.h"
#include "lib/calibrate/framework_fit.h"
#include "lib/calibrate/framework_rows.h"
#include "lib/calibrate/usable_memory.h"
#include "lmsimbench/calibrate.h"
#include "lmsimbench/nearest_name.h"
#include "lmsimbench/row_kind.h"
#include "lmsimbench/staged.h"

namespace lmsimbench {
namespace {

using calibrate::CostedRun;
using calibrate::FrameworkClass;
using calibrate::Target;

bool IsAsked(const FrameworkClass& framework, const CalibrateOptions& options) {
  return options.framework.empty() || options.framework == framework.name;
}

// Runs that one class is fitted on.
struct ClassRuns {
  std::vector<CostedRun> costed;
  /// Configurations that did not run, of those that the simulator answers.
  std::vector<CostedRun> failed;
  int64_t unanswered = 0;
};

absl::StatusOr<std::vector<ClassRuns>> RunsByClass(
    const Measurements& measurements, const Bundle& bundle,
    const CalibrateOptions& options) {
  const auto device = MakeStagedKernelModel(bundle);
  if (!device.ok()) return device.status();
  const auto classes = calibrate::FrameworkClasses();
  std::vector<ClassRuns> runs(classes.size());
  for (const auto* tables : {&measurements.runs, &measurements.failed_runs}) {
    for (const MeasuredRun& run : *tables) {
      const int of = calibrate::ClassOf(run.framework);
      if (of < 0 || run.split != kFitSplit || !IsHeadline(run) ||
          !IsAsked(classes[static_cast<size_t>(of)], options)) {
        continue;
      }
      ClassRuns& here = runs[static_cast<size_t>(of)];
      absl::StatusOr<CostedRun> costed =
          calibrate::CostRun(run, bundle, **device);
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

// Predicted peaks over the memory of the device.
absl::StatusOr<std::vector<double>> PeakShares(
    absl::Span<const CostedRun> runs, const CalibratedFramework& framework) {
  calibrate::FrameworkFit memory(Target::kMemory, {}, nullptr);
  std::vector<double> shares;
  for (const CostedRun& run : runs) {
    const auto peak = memory.PredictedPeak(run, framework);
    if (!peak.ok()) return peak.status();
    const double share = *peak / run.system.accelerator.memory_bytes;
    if (IsStated(share)) shares.push_back(share);
  }
  return shares;
}

absl::Status AddUsableMemory(const ClassRuns& runs,
                             CalibratedFramework& framework) {
  auto ran = PeakShares(runs.costed, framework);
  if (!ran.ok()) return ran.status();
  auto failed = PeakShares(runs.failed, framework);
  if (!failed.ok()) return failed.status();
  CalibratedConstant usable;
  usable.name = "usable_memory";
  usable.value = calibrate::UsableMemory(*std::move(ran), *std::move(failed));
  usable.initial = usable.highest = 1;
  usable.lowest = 0.7;
  usable.at_bound = usable.value == usable.lowest;
  if (IsStated(usable.value)) framework.constants.push_back(usable);
  return absl::OkStatus();
}

absl::StatusOr<CalibratedFramework> CalibrateClass(
    const FrameworkClass& framework, const ClassRuns& runs,
    const CalibratedFramework* parent, bool leave_one_out) {
  CalibratedFramework calibrated;
  calibrated.name = framework.name;
  for (const char* const begin : framework.begins) {
    if (begin != nullptr) calibrated.begins.emplace_back(begin);
  }
  calibrated.unanswered = runs.unanswered;
  std::vector<const CostedRun*> costed;
  for (const CostedRun& run : runs.costed) costed.push_back(&run);
  for (const Target target : {Target::kTime, Target::kMemory}) {
    const absl::Status status = calibrate::FrameworkFit(target, costed, parent)
                                    .Run(leave_one_out, calibrated);
    if (!status.ok()) return status;
  }
  const absl::Status status = AddUsableMemory(runs, calibrated);
  if (!status.ok()) return status;
  return calibrated;
}

}  // namespace

absl::StatusOr<std::vector<CalibratedFramework>> CalibrateFrameworks(
    const Measurements& measurements, const Bundle& bundle,
    const CalibrateOptions& options) {
  const auto runs = RunsByClass(measurements, bundle, options);
  if (!runs.ok()) return runs.status();
  const auto classes = calibrate::FrameworkClasses();
  std::vector<CalibratedFramework> calibrated;
  std::vector<std::string> names;
  for (size_t i = 0; i < classes.size(); ++i) {
    names.emplace_back(classes[i].name);
    if (!IsAsked(classes[i], options)) continue;
    const CalibratedFramework* parent = nullptr;
    for (const CalibratedFramework& before : calibrated) {
      if (before.name == classes[i].parent) parent = &before;
    }
    auto framework =
        CalibrateClass(classes[i], (*runs)[i], parent, options.leave_one_out);
    if (!framework.ok()) return framework.status();
    calibrated.push_back(*std::move(framework));
  }
  if (calibrated.empty()) {
    const std::string nearest = NearestName(options.framework, names);
    return absl::NotFoundError(fmt::format(
        "no framework class is called '{}'{}", options.framework,
        nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
  }
  return calibrated;
}

std::vector<FittedFramework> Fitted(
    const std::vector<CalibratedFramework>& calibrated) {
  std::vector<FittedFramework> fitted;
  for (const CalibratedFramework& framework : calibrated) {
    std::set<std::string> accelerators;
    for (const CalibratedConstant& constant : framework.constants) {
      accelerators.insert(constant.accelerator);
    }
    for (const std::string& accelerator : accelerators) {
      FittedFramework entry;
      entry.accelerator = accelerator;
      entry.parameters = calibrate::ParametersOf(framework, accelerator);
      for (const std::string& begin : framework.begins) {
        entry.name = begin;
        fitted.push_back(entry);
      }
    }
  }
  return fitted;
}

}  // namespace lmsimbench
