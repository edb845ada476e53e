#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/score/choice.h"
#include "lib/score/memory.h"
#include "lib/score/setting.h"
#include "lmsimbench/values.h"

/// \file
/// The distinct configurations of a setting, and the figures that count
/// configurations rather than rows.

namespace lmsimbench::score {

/// One configuration; its figures are medians over the rows that repeat it.
struct Configuration {
  size_t number = 0;
  /// Rows with an iteration time.
  int64_t timed_rows = 0;
  int64_t answered_rows = 0;
  /// Seconds; NaN if no row has a time, or none of those is answered.
  double measured = kNoNumber;
  double predicted = kNoNumber;
  /// Rows said to fit or not to fit. A configuration fits if none of its rows
  /// is said not to.
  Judgement judgement = Judgement::kNone;
};

/// The configurations of the rows, in the order of their numbers.
std::vector<Configuration> ConfigurationsOf(const std::vector<Row>& rows,
                                            double capacity_bytes,
                                            double margin);

/// The configurations with a measured time as candidates; what is not answered
/// ranks last.
std::vector<Candidate> MeasuredCandidates(
    const std::vector<Configuration>& configurations);

/// Configurations that the simulator keeps, of those that ran and are judged.
struct Kept {
  int64_t judged = 0;
  int64_t kept = 0;
  /// 1 if the best measured configuration is refused, else 0. Undefined if
  /// fewer than two configurations have a time, or the best is not judged.
  double lost_optimum = kNoNumber;
};
Kept KeptOf(const std::vector<Configuration>& configurations);

/// What trying configurations in the simulator's order would give, in a setting
/// with failed runs. False, leaving `trials` alone, if the setting has no
/// measured configuration with a time or none of its candidates is judged.
bool TrialsOfSetting(const Setting& setting,
                     const std::vector<Configuration>& configurations,
                     double margin, Trials& trials);

}  // namespace lmsimbench::score
