#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "lib/calibrate/framework_constants.h"
#include "lib/calibrate/framework_rows.h"
#include "lmsimbench/calibrate.h"
#include "lmsimbench/measurements.h"

/// \file
/// The runs of a class of frameworks, and what is fitted on them.

namespace lmsimbench::calibrate {

/// Runs that one class is fitted on.
struct ClassRuns {
  std::vector<CostedRun> costed;
  /// Configurations that did not run, of those that the simulator answers.
  std::vector<CostedRun> failed;
  int64_t unanswered = 0;
};

/// One entry for each of `FrameworkClasses`, empty where it is not asked for.
absl::StatusOr<std::vector<ClassRuns>> RunsByClass(
    const Measurements& measurements, const Bundle& bundle,
    const CalibrateOptions& options);

/// True if the options ask for this class. NOT_FOUND with the nearest name if
/// they ask for one that is none.
bool IsAsked(const FrameworkClass& framework, const CalibrateOptions& options);
absl::Status CheckAsked(const CalibrateOptions& options);

/// Fits a class on its runs but for those of `left_out`; empty: all of them.
absl::StatusOr<CalibratedFramework> CalibrateClass(
    const FrameworkClass& framework, const ClassRuns& runs,
    const std::string& left_out, const CalibratedFramework* parent,
    const CalibrateOptions& options);

/// The class that a class comes from, of those found; null: none.
const CalibratedFramework* ParentOf(
    const FrameworkClass& framework,
    const std::vector<CalibratedFramework>& found);

}  // namespace lmsimbench::calibrate
