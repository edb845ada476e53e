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
  /// this constant held at its initial value and all others fitted anew, from
  /// what was found with it; missing unless asked for.
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
  /// At least 1; decides nothing but how long it takes.
  int threads = 1;
};

/// Fits the constants of every framework class with enough runs: those of split
/// `fit` that carry no flag and that the staged simulator answers. NOT_FOUND
/// if `framework` is no class.
absl::StatusOr<std::vector<CalibratedFramework>> CalibrateFrameworks(
    const Measurements& measurements, const Bundle& bundle,
    const CalibrateOptions& options = {});

/// How far predictions of the runs of a source are from measurements, as in
/// `CalibrationError`: with `FrameworkParameters()`, with constants fitted on
/// the other sources of its class alone, and on all of them.
struct CarryOverError {
  /// 0: the source does not state it, or the others have too few runs to fit.
  int64_t runs = 0;
  double uncalibrated_percent = kNoNumber;
  double without_percent = kNoNumber;
  double with_percent = kNoNumber;
};

/// How constants carry over to a source that they were not fitted on.
struct CarriedOver {
  /// Name of the class, and the source.
  std::string framework;
  std::string source;
  /// Of the iteration time and of the peak memory.
  CarryOverError time;
  CarryOverError memory;
};

/// For every class that several sources share, and each of its sources with
/// enough other runs. A source that is left out of a class is left out of the
/// class that it comes from, too. Runs and errors as for
/// `CalibrateFrameworks`; `leave_one_out` does not matter.
absl::StatusOr<std::vector<CarriedOver>> CarryOver(
    const Measurements& measurements, const Bundle& bundle,
    const CalibrateOptions& options = {});

/// The parameters that a calibration found, one entry a name and device.
std::vector<FittedFramework> Fitted(
    const std::vector<CalibratedFramework>& calibrated);

}  // namespace lmsimbench
