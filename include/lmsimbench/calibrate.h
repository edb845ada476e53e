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
  /// Error of the fitted rows, in percent (`error_percent` of the framework),
  /// with this constant held at its initial value and all others fitted anew;
  /// missing unless asked for.
  double error_percent_without = kNoNumber;
};

/// What was fitted of one framework.
struct CalibratedFramework {
  /// Name of the class, and how names of its frameworks begin.
  std::string name;
  std::vector<std::string> begins;
  /// Rows that it was fitted on, and rows of split `fit` that the simulator
  /// does not answer.
  int64_t rows = 0;
  int64_t unanswered = 0;
  /// exp(mean |ln(predicted / measured)|) - 1 of these rows in percent, before
  /// and after.
  double error_percent_before = kNoNumber;
  double error_percent = kNoNumber;
  std::vector<CalibratedConstant> constants;
};

struct CalibrateOptions {
  /// Only the class with this name; empty: every one.
  std::string framework;
  /// Also fit without each constant in turn.
  bool leave_one_out = false;
};

/// Fits the constants of every framework class with enough rows: those of split
/// `fit` that carry no flag and that the staged simulator answers. NOT_FOUND
/// if `framework` is no class.
absl::StatusOr<std::vector<CalibratedFramework>> CalibrateFrameworks(
    const Measurements& measurements, const Bundle& bundle,
    const CalibrateOptions& options = {});

/// The parameters that a calibration found, one entry a name and device.
std::vector<FittedFramework> Fitted(
    const std::vector<CalibratedFramework>& calibrated);

}  // namespace lmsimbench
