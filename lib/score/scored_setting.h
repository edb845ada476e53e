#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lib/score/accuracy.h"
#include "lib/score/choice.h"
#include "lib/score/configuration.h"
#include "lib/score/memory.h"
#include "lib/score/ranking.h"
#include "lib/score/setting.h"
#include "lmsimbench/score.h"
#include "lmsimbench/scorecard.h"

namespace lmsimbench::score {

/// Rows by what became of the question.
struct Coverage {
  int64_t rows = 0;
  int64_t answered = 0;
  int64_t refused = 0;
  int64_t failed = 0;
  int64_t timed_out = 0;
  /// Not asked, no line, or answered without the part that counts.
  int64_t missing = 0;

  void Add(const Coverage& other);
};

/// Measured peaks by what they are; the index is the `MemoryScope`.
inline constexpr size_t kScopes = std::size(EnumNames<MemoryScope>::kNames);

/// Everything that is computed within one setting.
struct ScoredSetting {
  const Setting* setting = nullptr;
  /// Of rows with an iteration time, and of failed runs.
  Coverage coverage, failed_coverage;

  Pairs pairs;
  /// NaN where the platform has no calibration.
  double calibration = kNoNumber;
  Errors errors, calibrated_errors;

  std::vector<Configuration> configurations;
  /// Configurations with a measured time, and those of them answered.
  int64_t measured_configurations = 0;
  int64_t answered_configurations = 0;
  Ranking ranking;
  Choice choice;
  bool has_trials = false;
  Trials trials;

  Peaks peaks[kScopes];
  Errors peak_errors[kScopes];
  /// With failed runs whose cause is known, and with the others.
  VerdictTable verdicts, unseparated_verdicts;
  Kept kept;
};

/// Calibration factors by platform.
using Factors = std::map<std::string, double>;

ScoredSetting ScoreSetting(const Setting& setting, const Factors& factors,
                           const ScoreOptions& options);

/// The line of a setting in the table of settings.
SettingScore Summary(const ScoredSetting& scored);

}  // namespace lmsimbench::score
