#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lmsimbench/answer_sheet.h"
#include "lmsimbench/measurements.h"
#include "lmsimbench/scorecard.h"

namespace lmsimbench {

/// What to score, and the choices that the definitions leave open.
struct ScoreOptions {
  Selection selection;
  /// A configuration fits where its predicted peak, raised by this fraction, is
  /// at most the device's memory.
  double memory_margin = 0;
  /// Cost of a configuration said to fit that fails, and of one refused that
  /// runs.
  double false_fit_cost = 5;
  double false_refusal_cost = 1;
};

/// Scores what simulators said of the selected runs: point accuracy, ranking,
/// the choice, memory and coverage (sections A, B, C, D and F of the project's
/// `spec/metrics.md`). Flagged rows stand apart, and so does the shared set
/// where several simulators are scored.
///
/// INVALID_ARGUMENT if there is no sheet, two have one name, one does not have
/// an answer for each run or predicts a time that is not positive, or an option
/// is out of range; NOT_FOUND, with the nearest name, if the selection holds no
/// run.
absl::StatusOr<Scorecard> Score(const Measurements& measurements,
                                absl::Span<const AnswerSheet> sheets,
                                const ScoreOptions& options = {});

/// What one margin would do to the verdicts.
struct MarginPoint {
  double margin = 0;
  double cost_score = kNoNumber;
  double false_fit = kNoNumber;
  double false_refusal = kNoNumber;
};

/// The verdicts under each margin, on rows of the split `fit` alone (source and
/// platform of the selection stand), with failed runs of every source: where a
/// source does not separate lack of memory from crashes, the choice of a margin
/// rests on both.
absl::StatusOr<std::vector<MarginPoint>> SweepMargin(
    const Measurements& measurements, const AnswerSheet& sheet,
    absl::Span<const double> margins, const ScoreOptions& options = {});

}  // namespace lmsimbench
