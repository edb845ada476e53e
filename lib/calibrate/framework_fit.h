#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lib/calibrate/framework_constants.h"
#include "lib/calibrate/framework_rows.h"
#include "lib/calibrate/least_squares.h"
#include "lib/calibrate/run_predictions.h"
#include "lmsimbench/calibrate.h"

/// \file
/// The fit of the constants of one framework class for one target.

namespace lmsimbench::calibrate {

class FrameworkFit {
 public:
  /// `runs` are those of the class; the ones that do not state the target are
  /// left out. What `parent` found is expected here too; null: no parent.
  FrameworkFit(Target target, absl::Span<const CostedRun* const> runs,
               const CalibratedFramework* parent, int threads);

  /// Adds what it finds to `framework`: nothing if there are too few runs.
  absl::Status Run(bool leave_one_out, CalibratedFramework& framework);

 private:
  // A constant of the fit: which field, of which device.
  struct Searched {
    std::string field;
    std::string accelerator;
    Constant constant;
    double busy = 0;
    // The parent has it, whether or not these runs say something of it.
    bool inherited = false;
    // What is searched for a device is how far it is from all of them.
    bool is_relative() const { return !accelerator.empty(); }
  };

  void AddSearched(FrameworkConstant constant,
                   const CalibratedFramework* parent);
  void AddRelative(const FrameworkConstant& constant,
                   const std::string& accelerator,
                   const CalibratedFramework* parent);
  // Drops the constants of which these runs say nothing, wherever the search
  // starts: a framework of dense models has no constants of experts. Those of a
  // parent stay, for runs to come.
  absl::Status KeepFelt();
  FrameworkParameters ParametersOn(const std::string& accelerator,
                                   absl::Span<const double> constants) const;
  // ln(predicted / measured) of every run.
  absl::Status Residuals(absl::Span<const double> constants,
                         absl::Span<double> residuals);
  // Fits all constants, from both starts, and writes what remains.
  absl::StatusOr<LeastSquaresFit> Search(absl::Span<double> residuals);
  // Fits all but one, which has its initial value, from what was `found`, and
  // writes what remains.
  absl::Status SearchWithout(size_t left_out,
                             absl::Span<const FittedConstant> found,
                             absl::Span<double> residuals);

  const Target target_;
  RunPredictions predictions_;
  std::vector<Searched> searched_;
  // The constants for which predictions are kept.
  std::vector<double> anchor_;
};

}  // namespace lmsimbench::calibrate
