#include "lmsimbench/score.h"

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "fmt/format.h"
#include "lib/score/figures.h"
#include "lib/score/scored_setting.h"
#include "lib/score/setting.h"

namespace lmsimbench {
namespace {

/// A predicted time is positive: errors are logarithms too.
absl::Status CheckTimes(const AnswerSheet& sheet,
                        const std::vector<MeasuredRun>& runs,
                        const std::vector<Answer>& answers) {
  for (size_t i = 0; i < runs.size(); ++i) {
    const double time = answers[i].iteration_time_s;
    if (IsStated(time) && !(time > 0 && std::isfinite(time))) {
      return absl::InvalidArgumentError(
          fmt::format("'{}' predicts {} s for {}; a time is positive and "
                      "finite, or not answered",
                      sheet.simulator, time, runs[i].record_id));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckOptions(const ScoreOptions& options) {
  if (!(options.memory_margin > -1 && std::isfinite(options.memory_margin))) {
    return absl::InvalidArgumentError(fmt::format(
        "a memory margin of {}; it is a fraction above -1, 0.1 for 10 %",
        options.memory_margin));
  }
  if (!(options.false_fit_cost >= 0 && options.false_refusal_cost >= 0)) {
    return absl::InvalidArgumentError(fmt::format(
        "costs of {} for a false fit and {} for a false refusal; neither may "
        "be negative",
        options.false_fit_cost, options.false_refusal_cost));
  }
  return absl::OkStatus();
}

absl::Status CheckSheets(const Measurements& measurements,
                         absl::Span<const AnswerSheet> sheets) {
  if (sheets.empty()) {
    return absl::InvalidArgumentError("no simulator to score");
  }
  std::set<std::string> names;
  for (const AnswerSheet& sheet : sheets) {
    if (!names.insert(sheet.simulator).second) {
      return absl::InvalidArgumentError(fmt::format(
          "two answer sheets are of the simulator '{}'", sheet.simulator));
    }
    if (sheet.runs.size() != measurements.runs.size() ||
        sheet.failed_runs.size() != measurements.failed_runs.size()) {
      return absl::InvalidArgumentError(fmt::format(
          "the answer sheet of '{}' has {} runs and {} failed runs, the "
          "measurements have {} and {}",
          sheet.simulator, sheet.runs.size(), sheet.failed_runs.size(),
          measurements.runs.size(), measurements.failed_runs.size()));
    }
    absl::Status status = CheckTimes(sheet, measurements.runs, sheet.runs);
    if (status.ok()) {
      status = CheckTimes(sheet, measurements.failed_runs, sheet.failed_runs);
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

/// Factors fitted on the rows of `fit`, whatever their source: a factor belongs
/// to a simulator and a platform.
std::vector<Calibration> Calibrate(const score::Grouping& grouping,
                                   const AnswerSheet& sheet,
                                   const Selection& selection) {
  std::map<std::string, score::Pairs> pairs;
  for (const score::Line& line :
       grouping.Lines(sheet, {kFitSplit, "", selection.platform})) {
    if (line.subset != score::kHeadline) continue;
    for (const score::Setting& setting : line.settings) {
      for (const score::Row& row : setting.rows) {
        if (!score::IsTimeAnswered(row)) continue;
        pairs[setting.platform].Add(row.run->iteration_time_s,
                                    row.answer->iteration_time_s);
      }
    }
  }
  std::vector<Calibration> calibration;
  for (const auto& [platform, found] : pairs) {
    calibration.push_back({platform, score::CalibrationFactor(found),
                           static_cast<int64_t>(found.size())});
  }
  return calibration;
}

/// 1 for each answer that is there in every sheet.
std::vector<char> AnsweredByAll(absl::Span<const AnswerSheet> sheets,
                                std::vector<Answer> AnswerSheet::*answers,
                                bool (*answered)(const Answer&)) {
  std::vector<char> all((sheets.front().*answers).size(), 1);
  for (const AnswerSheet& sheet : sheets) {
    for (size_t i = 0; i < all.size(); ++i) {
      all[i] = static_cast<char>(all[i] != 0 && answered((sheet.*answers)[i]));
    }
  }
  return all;
}

void ScoreLines(const std::vector<score::Line>& lines,
                const score::Factors& factors, const ScoreOptions& options,
                std::vector<Figure>& figures,
                std::vector<SettingScore>* summaries) {
  for (const score::Line& line : lines) {
    std::vector<score::ScoredSetting> scored;
    for (const score::Setting& setting : line.settings) {
      scored.push_back(score::ScoreSetting(setting, factors, options));
      if (summaries != nullptr && line.subset == score::kHeadline &&
          scored.back().coverage.rows > 0) {
        summaries->push_back(score::Summary(scored.back()));
      }
    }
    score::AppendFigures(line.subset, scored, options, figures);
  }
}

}  // namespace

absl::StatusOr<Scorecard> Score(const Measurements& measurements,
                                absl::Span<const AnswerSheet> sheets,
                                const ScoreOptions& options) {
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  if (absl::Status status = CheckSheets(measurements, sheets); !status.ok()) {
    return status;
  }
  if (absl::Status status = CheckSelection(options.selection, measurements);
      !status.ok()) {
    return status;
  }
  const score::Grouping grouping(measurements);

  Scorecard card;
  card.selection = options.selection;
  card.fingerprint = measurements.fingerprint;
  card.memory_margin = options.memory_margin;
  card.false_fit_cost = options.false_fit_cost;
  card.false_refusal_cost = options.false_refusal_cost;

  const std::vector<char> shared = AnsweredByAll(
      sheets, &AnswerSheet::runs,
      [](const Answer& answer) { return IsStated(answer.iteration_time_s); });
  const std::vector<char> shared_failed = AnsweredByAll(
      sheets, &AnswerSheet::failed_runs, [](const Answer& answer) {
        return answer.status == AnswerStatus::kAnswered;
      });
  for (size_t i = 0; i < measurements.runs.size(); ++i) {
    const MeasuredRun& run = measurements.runs[i];
    if (!Selects(options.selection, run) || grouping.kinds()[i] != 0 ||
        !IsStated(run.iteration_time_s)) {
      continue;
    }
    ++card.headline_rows;
    card.shared_rows += shared[i];
  }

  for (const AnswerSheet& sheet : sheets) {
    SimulatorScore result;
    result.simulator = sheet.simulator;
    result.calibration = Calibrate(grouping, sheet, options.selection);
    score::Factors factors;
    for (const Calibration& calibration : result.calibration) {
      factors[calibration.platform] = calibration.factor;
    }
    ScoreLines(grouping.Lines(sheet, options.selection), factors, options,
               result.figures, &result.settings);
    if (sheets.size() > 1) {
      ScoreLines(
          grouping.Lines(sheet, options.selection, shared, shared_failed),
          factors, options, result.shared_figures, nullptr);
    }
    card.simulators.push_back(std::move(result));
  }
  return card;
}

absl::StatusOr<std::vector<MarginPoint>> SweepMargin(
    const Measurements& measurements, const AnswerSheet& sheet,
    absl::Span<const double> margins, const ScoreOptions& options) {
  if (absl::Status status = CheckSheets(measurements, {&sheet, 1});
      !status.ok()) {
    return status;
  }
  Selection selection = options.selection;
  selection.split = kFitSplit;
  if (absl::Status status = CheckSelection(selection, measurements);
      !status.ok()) {
    return status;
  }
  const std::vector<score::Line> lines =
      score::Grouping(measurements).Lines(sheet, selection);
  std::vector<MarginPoint> points;
  for (const double margin : margins) {
    score::VerdictTable table;
    for (const score::Line& line : lines) {
      if (line.subset != score::kHeadline) continue;
      for (const score::Setting& setting : line.settings) {
        for (const score::Row& row : setting.rows) {
          table.CountRan(
              score::Judge(*row.answer, setting.capacity_bytes, margin));
        }
        for (const score::Row& row : setting.failed) {
          table.CountFailed(
              score::Judge(*row.answer, setting.capacity_bytes, margin));
        }
      }
    }
    const score::VerdictFigures figures = score::FiguresOf(
        table, options.false_fit_cost, options.false_refusal_cost);
    points.push_back(
        {margin, figures.cost, figures.false_fit, figures.false_refusal});
  }
  return points;
}

const Figure* SimulatorScore::Find(const std::string& source,
                                   const std::string& subset,
                                   const std::string& metric,
                                   bool shared) const {
  for (const Figure& figure : shared ? shared_figures : figures) {
    if (figure.source == source && figure.subset == subset &&
        figure.metric == metric) {
      return &figure;
    }
  }
  return nullptr;
}

double SimulatorScore::Value(const std::string& source,
                             const std::string& subset,
                             const std::string& metric, bool shared) const {
  const Figure* figure = Find(source, subset, metric, shared);
  return figure == nullptr ? kNoNumber : figure->value;
}

}  // namespace lmsimbench
