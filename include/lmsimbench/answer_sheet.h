#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/measurements.h"
#include "lmsimbench/prediction.h"
#include "lmsimbench/simulator.h"
#include "lmsimbench/values.h"

namespace lmsimbench {

/// What became of the question about one run.
enum class AnswerStatus : uint8_t {
  kMissing,   ///< not asked, or no line in the table of predictions
  kAnswered,  ///< at least one of time, memory and verdict
  kRefused,   ///< a reason was given
  kFailed,    ///< an error that is no refusal
  kTimedOut,
};
template <>
struct EnumNames<AnswerStatus> {
  static constexpr const char* kNames[] = {"missing", "answered", "refused",
                                           "failed", "timed out"};
};

/// What a simulator said of one run. A part that it did not answer is missing
/// (NaN, `Verdict::kNotAnswered`).
struct Answer {
  AnswerStatus status = AnswerStatus::kMissing;
  double iteration_time_s = kNoNumber;
  /// Of the device that needs most.
  /// Of rank 0 where the run was measured there alone (`memory_of_first_rank`)
  /// and the simulator tells ranks apart, else of the device that needs most.
  double peak_memory_bytes = kNoNumber;
  Verdict verdict = Verdict::kNotAnswered;
  /// Adaptations of the question where it was answered, the reason elsewhere.
  std::string notes;
};

/// Everything a simulator said of the measurements: one answer a run, in the
/// order of `Measurements::runs` and `Measurements::failed_runs`.
struct AnswerSheet {
  std::string simulator;
  std::vector<Answer> runs;
  std::vector<Answer> failed_runs;
};

/// Which runs to ask about, and how.
struct AskOptions {
  Selection selection;
  /// Ask also about the `fit` runs of the platforms selected, which calibrated
  /// errors need.
  bool calibration_runs = true;
  /// Threads to ask with. Above 1 the simulator must allow concurrent calls.
  int threads = 1;
  /// Called with the number of questions asked and their total, after each
  /// answer, by one thread at a time; false stops with CANCELLED.
  std::function<bool(size_t asked, size_t total)> progress;
};

/// The platform of a run as the run used it: its number of devices and, where
/// that is stated, its node size.
System SystemOfRun(const System& platform, const MeasuredRun& run);

/// The peak that the run's measured one is to be compared with: of rank 0 where
/// that alone was read and the simulator tells ranks apart, else of the device
/// that needs most.
double PeakAsMeasured(const MeasuredRun& run, const Prediction& prediction);

/// Asks a simulator about the runs selected, one by one: the run's workload and
/// configuration, on the run's platform with its number of devices and its node
/// size where stated. What a simulator refuses or fails at is an answer, never
/// an error of this call. A platform that the bundle lacks is a refusal that
/// names it.
absl::StatusOr<AnswerSheet> Ask(const Simulator& simulator,
                                const Measurements& measurements,
                                const Bundle& bundle,
                                const AskOptions& options = {});

/// Reads predictions made elsewhere from a CSV file (RFC 4180). Columns
/// `record_id` and at least one of `predicted_ms`, `predicted_mem_gib` (GiB)
/// and `verdict`; `adaptations` or `notes`, `status` and `simulator` may be
/// there, and `measured_ms`, `measured_mem_gib` are passed over, so that the
/// table that `AnswersCsv` writes is read too. With a column `simulator`, lines
/// of other simulators are passed over.
///
/// A verdict is "fits", "oom" or "does not fit", "illegal", empty (not
/// answered), or a refusal: "unsupported: REASON" or "refused: REASON". A run
/// without a line is missing. NOT_FOUND if there is no such file;
/// INVALID_ARGUMENT names file, line, column and rule; unknown columns and
/// record ids come with the nearest known one.
absl::StatusOr<AnswerSheet> ReadAnswerSheet(const std::string& path,
                                            const std::string& simulator,
                                            const Measurements& measurements);

}  // namespace lmsimbench
