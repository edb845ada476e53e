#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lib/calibrate/framework_constants.h"
#include "lib/calibrate/framework_rows.h"
#include "lib/calibrate/least_squares.h"
#include "lmsimbench/calibrate.h"
#include "lmsimbench/prediction.h"
#include "lmsimbench/workspace.h"

/// \file
/// The fit of the constants of one framework class for one target.

namespace lmsimbench::calibrate {

class FrameworkFit {
 public:
  /// `runs` are those of the class; the ones that do not state the target are
  /// left out. What `parent` found is expected here too; null: no parent.
  FrameworkFit(Target target, absl::Span<const CostedRun* const> runs,
               const CalibratedFramework* parent);

  /// Adds what it finds to `framework`: nothing if there are too few runs.
  absl::Status Run(bool leave_one_out, CalibratedFramework& framework);

  /// Peak memory of the device of a run that needs most, with what `framework`
  /// says. Of a fit for memory.
  absl::StatusOr<double> PredictedPeak(const CostedRun& run,
                                       const CalibratedFramework& framework);

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
  absl::StatusOr<double> Predicted(const CostedRun& run,
                                   const FrameworkParameters& parameters);
  // Fits all constants but one, from both starts, and writes what remains.
  absl::StatusOr<LeastSquaresFit> Search(size_t left_out,
                                         absl::Span<double> residuals);

  const Target target_;
  std::vector<const CostedRun*> runs_;
  std::vector<Searched> searched_;
  CostedGraph costed_;
  Workspace workspace_;
  Prediction prediction_;
};

}  // namespace lmsimbench::calibrate
