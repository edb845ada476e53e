#include <set>
#include <string>
#include <utility>

#include "lib/calibrate/calibrate_class.h"
#include "lib/calibrate/framework_constants.h"
#include "lmsimbench/calibrate.h"

namespace lmsimbench {

absl::StatusOr<std::vector<CalibratedFramework>> CalibrateFrameworks(
    const Measurements& measurements, const Bundle& bundle,
    const CalibrateOptions& options) {
  const absl::Status asked = calibrate::CheckAsked(options);
  if (!asked.ok()) return asked;
  const auto runs = calibrate::RunsByClass(measurements, bundle, options);
  if (!runs.ok()) return runs.status();
  const auto classes = calibrate::FrameworkClasses();
  std::vector<CalibratedFramework> calibrated;
  for (size_t i = 0; i < classes.size(); ++i) {
    if (!calibrate::IsAsked(classes[i], options)) continue;
    auto framework = calibrate::CalibrateClass(
        classes[i], (*runs)[i], "", calibrate::ParentOf(classes[i], calibrated),
        options);
    if (!framework.ok()) return framework.status();
    calibrated.push_back(*std::move(framework));
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
