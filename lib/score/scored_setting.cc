#include "lib/score/scored_setting.h"

#include <utility>

#include "fmt/format.h"

namespace lmsimbench::score {
namespace {

Coverage CoverageOf(const std::vector<Row>& rows) {
  Coverage coverage;
  for (const Row& row : rows) {
    if (row.run->ran && !IsTimed(row)) continue;
    ++coverage.rows;
    switch (row.answer->status) {
      case AnswerStatus::kAnswered:
        if (!row.run->ran || IsTimeAnswered(row)) {
          ++coverage.answered;
        } else {
          ++coverage.missing;
        }
        break;
      case AnswerStatus::kRefused:
        ++coverage.refused;
        break;
      case AnswerStatus::kFailed:
        ++coverage.failed;
        break;
      case AnswerStatus::kTimedOut:
        ++coverage.timed_out;
        break;
      case AnswerStatus::kMissing:
        ++coverage.missing;
        break;
    }
  }
  return coverage;
}

void CountVerdicts(const Setting& setting, double margin,
                   ScoredSetting& scored) {
  for (const Row& row : setting.rows) {
    const Judgement judgement =
        Judge(*row.answer, setting.capacity_bytes, margin);
    scored.verdicts.CountRan(judgement);
    scored.unseparated_verdicts.CountRan(judgement);
  }
  for (const Row& row : setting.failed) {
    const Judgement judgement =
        Judge(*row.answer, setting.capacity_bytes, margin);
    (row.run->failure_cause_unknown ? scored.unseparated_verdicts
                                    : scored.verdicts)
        .CountFailed(judgement);
  }
}

std::string Reason(Undefined undefined, size_t fewest) {
  switch (undefined) {
    case Undefined::kNo:
      return "";
    case Undefined::kNotAnswered:
      return "not answered";
    case Undefined::kTooFew:
      return fmt::format("fewer than {} configurations", fewest);
    case Undefined::kAllTied:
      return "all measured alike within the noise";
    case Undefined::kNoSpread:
      return "all predicted alike";
    case Undefined::kNoRunnable:
      return "nothing that runs among the first";
  }
  return "";
}

}  // namespace

void Coverage::Add(const Coverage& other) {
  rows += other.rows;
  answered += other.answered;
  refused += other.refused;
  failed += other.failed;
  timed_out += other.timed_out;
  missing += other.missing;
}

ScoredSetting ScoreSetting(const Setting& setting, const Factors& factors,
                           const ScoreOptions& options) {
  ScoredSetting scored;
  scored.setting = &setting;
  scored.coverage = CoverageOf(setting.rows);
  scored.failed_coverage = CoverageOf(setting.failed);

  for (const Row& row : setting.rows) {
    if (!IsTimeAnswered(row)) continue;
    scored.pairs.Add(row.run->iteration_time_s, row.answer->iteration_time_s);
  }
  scored.errors = ErrorsOf(scored.pairs);
  const auto factor = factors.find(setting.platform);
  if (factor != factors.end()) {
    scored.calibration = factor->second;
    scored.calibrated_errors = ErrorsOf(scored.pairs, factor->second);
  }

  scored.configurations = ConfigurationsOf(setting.rows, setting.capacity_bytes,
                                           options.memory_margin);
  std::vector<double> measured, predicted;
  for (const Configuration& configuration : scored.configurations) {
    if (!IsStated(configuration.measured)) continue;
    ++scored.measured_configurations;
    if (!IsStated(configuration.predicted)) continue;
    ++scored.answered_configurations;
    measured.push_back(configuration.measured);
    predicted.push_back(configuration.predicted);
  }
  scored.ranking = RankingOf(measured, predicted, setting.tie);
  scored.choice =
      ChoiceOf(MeasuredCandidates(scored.configurations), setting.tie);
  if (!setting.failed.empty()) {
    scored.has_trials = TrialsOfSetting(setting, scored.configurations,
                                        options.memory_margin, scored.trials);
  }

  for (size_t scope = 0; scope < kScopes; ++scope) {
    scored.peaks[scope] = PeaksOf(setting, static_cast<MemoryScope>(scope));
    scored.peak_errors[scope] = ErrorsOf(scored.peaks[scope].pairs);
  }
  CountVerdicts(setting, options.memory_margin, scored);
  scored.kept = KeptOf(scored.configurations);
  return scored;
}

SettingScore Summary(const ScoredSetting& scored) {
  SettingScore summary;
  const Setting& setting = *scored.setting;
  summary.workload_id = setting.workload_id;
  summary.source = setting.source;
  summary.platform = setting.platform;
  summary.model = setting.rows.front().run->workload.model.name;
  summary.devices = setting.devices;
  summary.rows = scored.coverage.rows;
  summary.configurations = scored.measured_configurations;
  summary.answered = scored.coverage.answered;
  summary.gmae = scored.errors.gmae;
  const Ranking& ranking = scored.ranking;
  summary.tau_b = ranking.tau_b;
  summary.spearman = ranking.spearman;
  summary.weighted_pair_accuracy = ranking.weighted_pair_accuracy;
  const Choice& choice = scored.choice;
  summary.regret_1 = choice.regret_1.value;
  summary.regret_3 = choice.regret_3.value;
  summary.regret_5 = choice.regret_5.value;
  summary.hit_1 = choice.hit_1.value;
  summary.recall_3 = choice.recall_3.value;
  summary.normalised_regret = choice.normalised_regret.value;
  summary.random_regret_1 = choice.random_regret_1.value;

  if (scored.coverage.answered == 0) {
    summary.undefined_because = Reason(Undefined::kNotAnswered, 0);
    return summary;
  }
  const auto because = [&](const char* metric, Undefined undefined,
                           size_t fewest) {
    if (undefined == Undefined::kNo) return;
    if (!summary.undefined_because.empty()) summary.undefined_because += "; ";
    summary.undefined_because +=
        fmt::format("{}: {}", metric, Reason(undefined, fewest));
  };
  because("regret@1", choice.regret_1.undefined, 3);
  because("regret@3", choice.regret_3.undefined, 5);
  because("spearman", ranking.correlation_undefined, kRankingMinimum);
  because("tau_b", ranking.correlation_undefined, kRankingMinimum);
  because("weighted_pair_accuracy", ranking.pairs_undefined, kRankingMinimum);
  return summary;
}

}  // namespace lmsimbench::score
