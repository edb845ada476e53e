#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lmsimbench/answer_sheet.h"
#include "lmsimbench/measurements.h"
#include "lmsimbench/row_kind.h"

/// \file
/// The measurements, divided for scoring: lines of rows of one kind, each a
/// list of settings.

namespace lmsimbench::score {

/// A run beside what a simulator said of it.
struct Row {
  const MeasuredRun* run;
  const Answer* answer;
  /// Number of its configuration; rows of one setting with equal numbers
  /// repeat one configuration.
  size_t configuration;
  /// Failed runs only: the same configuration was measured, so it does run.
  bool also_ran = false;
};

/// True if the run has an iteration time.
bool IsTimed(const Row& row);
/// True if it has one and the simulator answered it.
bool IsTimeAnswered(const Row& row);

/// Rows of one kind in one (source, workload, platform, number of devices).
struct Setting {
  std::string source;
  std::string workload_id;
  std::string platform;
  int64_t devices = kNoCount;
  /// Relative difference below which two measured times are a tie.
  double tie = 0;
  /// Memory of a device in bytes; NaN if not known.
  double capacity_bytes = kNoNumber;
  std::vector<Row> rows;
  std::vector<Row> failed;
};

/// Rows scored together. Failed runs carry no flag and stand in the headline
/// line only.
struct Line {
  /// "headline", or a kind of flagged rows.
  std::string subset;
  std::vector<Setting> settings;
};

inline constexpr char kHeadline[] = "headline";

/// What is the same for every simulator: the kind, setting and configuration of
/// each run.
class Grouping {
 public:
  explicit Grouping(const Measurements& measurements);

  /// The lines of the selected runs, headline first, each with at least one
  /// row; settings in the order of (source, workload, platform, devices).
  /// `keep` and `keep_failed`, if not empty, hold a value for each run: 0
  /// leaves it out.
  std::vector<Line> Lines(const AnswerSheet& sheet, const Selection& selection,
                          const std::vector<char>& keep = {},
                          const std::vector<char>& keep_failed = {}) const;

  /// Kinds of each run.
  const std::vector<unsigned>& kinds() const { return kinds_; }

 private:
  Setting NewSetting(const MeasuredRun& run) const;

  const Measurements* measurements_;
  std::vector<unsigned> kinds_;
  std::vector<size_t> setting_, failed_setting_;
  std::vector<size_t> configuration_, failed_configuration_;
  std::vector<char> failed_also_ran_;
  size_t settings_ = 0;
};

}  // namespace lmsimbench::score
