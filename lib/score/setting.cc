#include "lib/score/setting.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace lmsimbench::score {
namespace {

/// Noise of a source that does not give a spread of repeats.
constexpr double kLeastTie = 0.01;

using SettingKey = std::tuple<std::string, std::string, std::string, int64_t>;

SettingKey KeyOf(const MeasuredRun& run) {
  return {run.source, run.workload_id, run.platform, run.devices};
}

}  // namespace

bool IsTimed(const Row& row) { return IsStated(row.run->iteration_time_s); }

bool IsTimeAnswered(const Row& row) {
  return IsTimed(row) && IsStated(row.answer->iteration_time_s);
}

Grouping::Grouping(const Measurements& measurements)
    : measurements_(&measurements) {
  // Settings are numbered in the order of their keys, so that lists of them
  // are sorted whatever the order of the rows.
  std::map<SettingKey, size_t> settings;
  for (const auto* runs : {&measurements.runs, &measurements.failed_runs}) {
    for (const MeasuredRun& run : *runs) settings.emplace(KeyOf(run), 0);
  }
  for (auto& entry : settings) entry.second = settings_++;

  std::map<std::pair<size_t, std::string>, size_t> configurations;
  const auto number = [&](const MeasuredRun& run, std::vector<size_t>& setting,
                          std::vector<size_t>& configuration) {
    setting.push_back(settings.at(KeyOf(run)));
    const auto found = configurations.emplace(
        std::make_pair(setting.back(), run.configuration_key),
        configurations.size());
    configuration.push_back(found.first->second);
  };
  for (const MeasuredRun& run : measurements.runs) {
    kinds_.push_back(KindsOf(run));
    number(run, setting_, configuration_);
  }
  const size_t measured = configurations.size();
  for (const MeasuredRun& run : measurements.failed_runs) {
    number(run, failed_setting_, failed_configuration_);
    failed_also_ran_.push_back(failed_configuration_.back() < measured);
  }
}

Setting Grouping::NewSetting(const MeasuredRun& run) const {
  Setting setting;
  setting.source = run.source;
  setting.workload_id = run.workload_id;
  setting.platform = run.platform;
  setting.devices = run.devices;
  setting.tie = kLeastTie;
  const auto spread = measurements_->repeat_spread_percent.find(run.source);
  if (spread != measurements_->repeat_spread_percent.end()) {
    setting.tie = std::max(kLeastTie, 2 * spread->second / 100);
  }
  const auto memory = measurements_->memory_capacity_bytes.find(run.platform);
  if (memory != measurements_->memory_capacity_bytes.end()) {
    setting.capacity_bytes = memory->second;
  }
  return setting;
}

std::vector<Line> Grouping::Lines(const AnswerSheet& sheet,
                                  const Selection& selection,
                                  const std::vector<char>& keep,
                                  const std::vector<char>& keep_failed) const {
  // Line 0 is the headline, line i + 1 that of kind i.
  constexpr size_t kLines = std::size(kFlaggedKinds) + 1;
  std::vector<std::vector<Setting>> settings(kLines);
  const auto in_line = [&](size_t line, size_t setting,
                           const MeasuredRun& run) -> Setting& {
    if (settings[line].empty()) settings[line].resize(settings_);
    Setting& found = settings[line][setting];
    if (found.rows.empty() && found.failed.empty()) found = NewSetting(run);
    return found;
  };
  for (size_t i = 0; i < measurements_->runs.size(); ++i) {
    const MeasuredRun& run = measurements_->runs[i];
    if (!Selects(selection, run) || (!keep.empty() && keep[i] == 0)) continue;
    for (size_t line = 0; line < kLines; ++line) {
      const bool belongs =
          line == 0 ? kinds_[i] == 0 : (kinds_[i] >> (line - 1) & 1U) != 0;
      if (!belongs) continue;
      in_line(line, setting_[i], run)
          .rows.push_back({&run, &sheet.runs[i], configuration_[i]});
    }
  }
  for (size_t i = 0; i < measurements_->failed_runs.size(); ++i) {
    const MeasuredRun& run = measurements_->failed_runs[i];
    if (!Selects(selection, run)) continue;
    if (!keep_failed.empty() && keep_failed[i] == 0) continue;
    in_line(0, failed_setting_[i], run)
        .failed.push_back({&run, &sheet.failed_runs[i],
                           failed_configuration_[i], failed_also_ran_[i] != 0});
  }

  std::vector<Line> lines;
  for (size_t line = 0; line < kLines; ++line) {
    Line filled;
    filled.subset = line == 0 ? kHeadline : kFlaggedKinds[line - 1];
    for (Setting& setting : settings[line]) {
      if (!setting.rows.empty() || !setting.failed.empty()) {
        filled.settings.push_back(std::move(setting));
      }
    }
    if (!filled.settings.empty()) lines.push_back(std::move(filled));
  }
  return lines;
}

}  // namespace lmsimbench::score
