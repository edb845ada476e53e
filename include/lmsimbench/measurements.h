#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/measured_run.h"

namespace lmsimbench {

/// The runs that simulators are scored on, with what scoring has to know of
/// their sources and platforms. A plain value: tests and users may fill it by
/// hand.
struct Measurements {
  /// What ran, in the order of the table.
  std::vector<MeasuredRun> runs;
  /// Configurations of a sweep that did not run.
  std::vector<MeasuredRun> failed_runs;
  /// Spread of repeated measurements in percent, by source; a source that does
  /// not give one is not in the map.
  std::map<std::string, double> repeat_spread_percent;
  /// Memory of one device in bytes, by platform; a platform that does not state
  /// it is not in the map.
  std::map<std::string, double> memory_capacity_bytes;
  /// Which data this is: `Bundle::Fingerprint`.
  std::string fingerprint;
};

/// Reads the runs of a bundle. Errors are those of `ReadRuns` and
/// `ReadFailedRuns`, or say what is wrong with the table of sources.
absl::StatusOr<Measurements> ReadMeasurements(const Bundle& bundle);

/// Which of the runs are meant.
struct Selection {
  /// "test", "fit", or a user's own.
  std::string split = "test";
  /// Empty: every source, every platform.
  std::string source;
  std::string platform;
};

/// True if the run is one of those selected.
bool Selects(const Selection& selection, const MeasuredRun& run);

/// OK if the selection holds a run. Else NOT_FOUND that says which part of it
/// names nothing, with the nearest name known.
absl::Status CheckSelection(const Selection& selection,
                            const Measurements& measurements);

/// The split whose rows may be used to fit models, and calibration factors.
inline constexpr char kFitSplit[] = "fit";

}  // namespace lmsimbench
