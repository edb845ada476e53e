#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/framework.h"
#include "lmsimbench/measurements.h"
#include "lmsimbench/values.h"

/// \file
/// Constants of training frameworks, fitted on whole iterations.

namespace lmsimbench {

/// A constant of a framework and what the fit says of it.
struct CalibratedConstant {
  /// As in `FrameworkParameters`.
  std::string name;
  /// The device that it holds for; empty: every one.
  std::string accelerator;
  double value = kNoNumber;
  /// One standard error, in the unit of the value.
  double error = kNoNumber;
  /// The value before the fit, and the range in which it is plausible.
  double initial = kNoNumber;
  double lowest = kNoNumber;
  double highest = kNoNumber;
  /// The range, not the measurements, decided.
  bool at_bound = false;
  /// Error of the fitted runs as in `CalibrationError::after_percent`, with
  /// this constant held at its initial value and all others fitted anew;
  /// missing unless asked for.
  double error_percent_without = kNoNumber;
};

/// How far predictions are from measurements: exp(mean |ln(predicted /
/// measured)|) - 1 in percent, with the initial constants and those found.
struct CalibrationError {
  int64_t runs = 0;
  double before_percent = kNoNumber;
  double after_percent = kNoNumber;
};

/// What was fitted of one class of frameworks.
struct CalibratedFramework {
  /// Name of the class, and how names of its frameworks begin.
  std::string name;
  std::vector<std::string> begins;
  /// Runs of split `fit` that the simulator does not answer.
  int64_t unanswered = 0;
  /// Of the iteration time and of the peak memory. Where there are too few runs
  /// nothing is fitted.
  CalibrationError time;
  CalibrationError memory;
  std::vector<CalibratedConstant> constants;
};

struct CalibrateOptions {
  /// Only the class with this name, without what it takes from the class it
  /// comes from; empty: every one.
  std::string framework;
  /// Also fit without each constant in turn.
  bool leave_one_out = false;
};

/// Fits the constants of every framework class with enough runs: those of split
/// `fit` that carry no flag and that the staged simulator answers. NOT_FOUND
/// if `framework` is no class.
absl::StatusOr<std::vector<CalibratedFramework>> CalibrateFrameworks(
    const Measurements& measurements, const Bundle& bundle,
    const CalibrateOptions& options = {});

/// The parameters that a calibration found, one entry a name and device.
std::vector<FittedFramework> Fitted(
    const std::vector<CalibratedFramework>& calibrated);

}  // namespace lmsimbench
