#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lmsimbench/answer_sheet.h"
#include "lmsimbench/calibrate.h"
#include "lmsimbench/measurements.h"
#include "lmsimbench/scorecard.h"

/// \file
/// Scorecards for people and for programs.

namespace lmsimbench {

/// What a printed scorecard shows beside its first table.
struct TableOptions {
  /// One line a source, for each simulator.
  bool by_source = true;
  /// One line a setting that is answered and has at least three
  /// configurations, for each simulator.
  bool by_setting = false;
  /// The lines of flagged rows.
  bool flagged = true;
};

/// The scorecard as text for a terminal of 120 columns: the choice and the
/// accuracy of each simulator, the shared set, errors, memory and verdicts,
/// sources, flagged rows. Units stand in the heads; what is undefined is '-'.
std::string ScorecardTable(const Scorecard& card,
                           const TableOptions& options = {});

/// The whole scorecard as a JSON object: every figure with the rows and
/// settings that it rests on. What is undefined is null.
std::string ScorecardJson(const Scorecard& card);

/// The answers as CSV (RFC 4180): a line for each selected run, failed ones
/// too, and simulator, with the columns record_id, simulator, status,
/// measured_ms, predicted_ms, measured_mem_gib, predicted_mem_gib, verdict,
/// notes. What is not measured or not answered is empty. `ReadAnswerSheet`
/// reads it.
std::string AnswersCsv(const Measurements& measurements,
                       absl::Span<const AnswerSheet> sheets,
                       const Selection& selection = {});

/// What a calibration found, as JSON: the form of lib/cost/frameworks.json.
std::string CalibrationJson(const std::vector<CalibratedFramework>& calibrated);

/// How constants carry over: a table for a terminal, and the same as a JSON
/// array.
std::string CarryOverTable(const std::vector<CarriedOver>& carried);
std::string CarryOverJson(const std::vector<CarriedOver>& carried);

/// Writes a file beside its place and renames it, so that the place holds
/// either the old contents or the new ones. An error names the file and what
/// the system says.
absl::Status WriteReport(const std::string& path, absl::string_view text);

}  // namespace lmsimbench
