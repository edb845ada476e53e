#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "capi/handle.h"
#include "capi/values.h"
#include "lmsimbench/answer_sheet.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/measurements.h"
#include "lmsimbench/scorecard.h"

namespace lmsimbench::capi {

/// What answers and scorecards share with the measurements they are of.
struct Runs {
  Runs(Bundle from, Measurements of);

  Bundle bundle;
  Measurements measurements;
  /// Those that ran, then those that failed to.
  std::vector<const MeasuredRun*> all;
  /// Place in `all` of a record.
  std::map<std::string, size_t> by_record;

  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;
};

/// The selection that a caller states; NULL: the split "test".
absl::StatusOr<Selection> ReadSelection(const lmsb_selection* selection);

/// The status of a verdict's number.
absl::StatusOr<Verdict> ReadVerdict(int32_t verdict);

}  // namespace lmsimbench::capi

struct lmsb_measurements
    : lmsimbench::capi::Handle<lmsimbench::capi::Kind::kMeasurements> {
  explicit lmsb_measurements(std::shared_ptr<const lmsimbench::capi::Runs> of);

  std::shared_ptr<const lmsimbench::capi::Runs> runs;
  std::deque<lmsb_workload> workloads;
  std::deque<lmsb_config> configs;
};

struct lmsb_answers
    : lmsimbench::capi::Handle<lmsimbench::capi::Kind::kAnswers> {
  lmsb_answers(std::shared_ptr<const lmsimbench::capi::Runs> of,
               lmsimbench::AnswerSheet answers)
      : runs(std::move(of)), sheet(std::move(answers)) {}

  std::shared_ptr<const lmsimbench::capi::Runs> runs;
  lmsimbench::AnswerSheet sheet;
};

struct lmsb_scorecard
    : lmsimbench::capi::Handle<lmsimbench::capi::Kind::kScorecard> {
  explicit lmsb_scorecard(lmsimbench::Scorecard of) : card(std::move(of)) {}

  lmsimbench::Scorecard card;
};
