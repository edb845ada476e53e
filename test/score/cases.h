#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lmsimbench/answer_sheet.h"
#include "lmsimbench/measurements.h"

/// \file
/// Measurements and answers made by hand.

namespace lmsimbench {

/// A run of the setting "w" of the source "s" on the platform "p".
inline MeasuredRun Run(const std::string& configuration, double time_s) {
  MeasuredRun run;
  run.record_id = configuration;
  run.workload_id = "w";
  run.source = "s";
  run.platform = "p";
  run.split = "test";
  run.grade = "A";
  run.devices = 8;
  run.configuration_key = configuration;
  run.iteration_time_s = time_s;
  return run;
}

/// A configuration of the same setting that did not run.
inline MeasuredRun FailedRun(const std::string& configuration) {
  MeasuredRun run = Run(configuration, kNoNumber);
  run.record_id = "failed-" + configuration;
  run.grade.clear();
  run.ran = false;
  return run;
}

inline Answer Answered(double time_s, Verdict verdict = Verdict::kFits) {
  Answer answer;
  answer.status = AnswerStatus::kAnswered;
  answer.iteration_time_s = time_s;
  answer.verdict = verdict;
  return answer;
}

inline Answer Declined(AnswerStatus status) {
  Answer answer;
  answer.status = status;
  answer.notes = "because";
  return answer;
}

/// Measurements under construction, beside one simulator's answers to them.
struct Case {
  Measurements measurements;
  AnswerSheet sheet;

  Case() { sheet.simulator = "sim"; }
  Case& Add(MeasuredRun run, Answer answer) {
    auto& runs = run.ran ? measurements.runs : measurements.failed_runs;
    auto& answers = run.ran ? sheet.runs : sheet.failed_runs;
    runs.push_back(std::move(run));
    answers.push_back(std::move(answer));
    return *this;
  }
};

}  // namespace lmsimbench
