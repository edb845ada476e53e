#include "lib/score/figures.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "lib/score/statistics.h"

namespace lmsimbench::score {
namespace {

constexpr char kAll[] = "ALL";
constexpr char kMacro[] = "MACRO";

/// What the metrics of a scope's line are called after the subset; allocated
/// memory stands in the line itself.
constexpr const char* kScopeSuffixes[kScopes] = {
    "/memory-unstated", "", "/memory-reserved", "/memory-process"};
static_assert(static_cast<size_t>(MemoryScope::kAllocated) == 1 &&
                  static_cast<size_t>(MemoryScope::kProcess) == 3,
              "the suffixes are in the order of the scopes");

using Settings = std::vector<const ScoredSetting*>;

/// Writes the figures of one line and one group of settings.
class LineWriter {
 public:
  /// With `macro` a figure is the mean over settings, else it is over all rows.
  LineWriter(std::string source, std::string subset, Settings settings,
             bool macro, const ScoreOptions& options,
             std::vector<Figure>& figures)
      : source_(std::move(source)),
        subset_(std::move(subset)),
        settings_(std::move(settings)),
        macro_(macro),
        options_(options),
        figures_(figures) {}

  void Write() {
    if (!macro_) WriteCoverage();
    WriteAccuracy();
    WriteRankingAndChoice();
    WriteTrials();
    WriteMemory();
    WriteVerdicts();
    if (!macro_) WriteFailedCoverage();
  }

 private:
  /// The value of a figure in one setting and the rows it rests on there.
  struct Part {
    double value = kNoNumber;
    int64_t rows = 0;
  };

  void Emit(const std::string& subset, std::string metric, double value,
            int64_t rows, int64_t defined, int64_t excluded) {
    figures_.push_back(
        {source_, subset, std::move(metric), value, rows, defined, excluded});
  }

  /// Mean over the settings where the figure is defined, of those in `among`.
  void EmitMean(const std::string& metric, const Settings& among,
                const std::function<Part(const ScoredSetting&)>& part) {
    std::vector<double> values;
    int64_t rows = 0;
    for (const ScoredSetting* setting : among) {
      const Part found = part(*setting);
      if (!IsStated(found.value)) continue;
      values.push_back(found.value);
      rows += found.rows;
    }
    const auto defined = static_cast<int64_t>(values.size());
    Emit(subset_, metric, Mean(values), rows, defined,
         static_cast<int64_t>(among.size()) - defined);
  }

  Settings Among(const std::function<bool(const ScoredSetting&)>& has) const {
    Settings among;
    for (const ScoredSetting* setting : settings_) {
      if (has(*setting)) among.push_back(setting);
    }
    return among;
  }
  Settings Timed() const {
    return Among([](const ScoredSetting& s) { return s.coverage.rows > 0; });
  }
  bool AnyAnswered() const {
    return std::any_of(
        settings_.begin(), settings_.end(),
        [](const ScoredSetting* s) { return s->coverage.answered > 0; });
  }

  void WriteCoverage();
  void WriteFailedCoverage();
  void EmitCoverage(const std::string& subset, const Coverage& total,
                    int64_t defined, int64_t excluded, bool shares);
  void WriteAccuracy();
  void EmitErrors(const std::string& suffix, const Settings& settings,
                  int64_t excluded, bool calibrated);
  void WriteRankingAndChoice();
  void WriteTrials();
  void WriteMemory();
  void WriteVerdicts();
  void EmitVerdicts(const std::string& subset, const Settings& among,
                    VerdictTable ScoredSetting::*table);
  void WriteKept();

  const std::string source_;
  const std::string subset_;
  const Settings settings_;
  const bool macro_;
  const ScoreOptions& options_;
  std::vector<Figure>& figures_;
};

void LineWriter::EmitCoverage(const std::string& subset, const Coverage& total,
                              int64_t defined, int64_t excluded, bool shares) {
  const std::pair<const char*, int64_t> counts[] = {
      {"answered", total.answered},
      {"refused", total.refused},
      {"failed", total.failed},
      {"timed_out", total.timed_out},
      {"missing", total.missing}};
  const auto rows = static_cast<double>(total.rows);
  Emit(subset, "n", rows, total.rows, defined, excluded);
  for (const auto& [name, count] : counts) {
    Emit(subset, name, static_cast<double>(count), total.rows, defined,
         excluded);
  }
  if (!shares || total.rows == 0) return;
  for (const auto& [name, count] : counts) {
    Emit(subset, std::string(name) + "_share",
         static_cast<double>(count) / rows, total.rows, defined, excluded);
  }
}

void LineWriter::WriteCoverage() {
  if (Among([](const ScoredSetting& s) {
        return !s.setting->rows.empty();
      }).empty()) {
    return;
  }
  Coverage total;
  int64_t defined = 0;
  const Settings timed = Timed();
  for (const ScoredSetting* setting : timed) {
    total.Add(setting->coverage);
    defined += setting->coverage.answered > 0;
  }
  EmitCoverage(subset_, total, defined,
               static_cast<int64_t>(timed.size()) - defined, true);
}

void LineWriter::WriteFailedCoverage() {
  Coverage total;
  int64_t defined = 0, excluded = 0;
  for (const ScoredSetting* setting : settings_) {
    if (setting->failed_coverage.rows == 0) continue;
    total.Add(setting->failed_coverage);
    (setting->failed_coverage.answered > 0 ? defined : excluded) += 1;
  }
  if (total.rows > 0) {
    EmitCoverage("failed-runs", total, defined, excluded, false);
  }
}

void LineWriter::EmitErrors(const std::string& suffix, const Settings& settings,
                            int64_t excluded, bool calibrated) {
  const std::pair<const char*, double Errors::*> metrics[] = {
      {"bias", &Errors::bias},   {"mape", &Errors::mape},
      {"mdape", &Errors::mdape}, {"p90", &Errors::p90},
      {"max", &Errors::max},     {"gmae", &Errors::gmae}};
  Pairs pooled;
  std::vector<const Errors*> within;
  std::vector<double> mean_l;
  for (const ScoredSetting* setting : settings) {
    Pairs pairs = setting->pairs;
    if (calibrated) {
      for (double& p : pairs.predicted) p *= setting->calibration;
    }
    pooled.Append(pairs);
    within.push_back(calibrated ? &setting->calibrated_errors
                                : &setting->errors);
    mean_l.push_back(within.back()->mean_l);
  }
  const auto rows = static_cast<int64_t>(pooled.size());
  const auto defined = static_cast<int64_t>(settings.size());
  const Errors plain = ErrorsOf(pooled);
  const double gmae_macro = std::expm1(Mean(mean_l));
  for (const auto& [name, member] : metrics) {
    double value = plain.*member;
    if (macro_) {
      std::vector<double> values;
      for (const Errors* errors : within) values.push_back(errors->*member);
      // The macro average of a geometric error is geometric too.
      value = member == &Errors::gmae ? gmae_macro : Mean(values);
    }
    Emit(subset_, name + suffix, value, rows, defined, excluded);
  }
  Emit(subset_, "gmae_macro" + suffix, gmae_macro, rows, defined, excluded);
}

void LineWriter::WriteAccuracy() {
  if (!AnyAnswered()) return;
  const auto timed = static_cast<int64_t>(Timed().size());
  const Settings answered =
      Among([](const ScoredSetting& s) { return s.coverage.answered > 0; });
  EmitErrors("", answered, timed - static_cast<int64_t>(answered.size()),
             false);
  const Settings calibrated = Among([](const ScoredSetting& s) {
    return s.coverage.answered > 0 && IsStated(s.calibration);
  });
  EmitErrors("_calibrated", calibrated,
             timed - static_cast<int64_t>(calibrated.size()), true);
}

void LineWriter::WriteRankingAndChoice() {
  if (!AnyAnswered()) return;
  const Settings timed = Timed();
  const auto ranking = [&](const char* metric, double Ranking::*member) {
    EmitMean(metric, timed, [&](const ScoredSetting& s) {
      return Part{s.ranking.*member, s.answered_configurations};
    });
  };
  ranking("tau_b", &Ranking::tau_b);
  ranking("spearman", &Ranking::spearman);
  ranking("weighted_pair_accuracy", &Ranking::weighted_pair_accuracy);

  const auto choice = [&](const char* metric, Choice::Value Choice::*member) {
    EmitMean(metric, timed, [&](const ScoredSetting& s) {
      return Part{(s.choice.*member).value, s.measured_configurations};
    });
  };
  choice("regret@1", &Choice::regret_1);
  Figure median = figures_.back();
  std::vector<double> regrets;
  for (const ScoredSetting* setting : timed) {
    const double regret = setting->choice.regret_1.value;
    if (IsStated(regret)) regrets.push_back(regret);
  }
  median.metric = "regret@1_median";
  median.value = Median(std::move(regrets));
  figures_.push_back(std::move(median));
  choice("regret@3", &Choice::regret_3);
  choice("regret@5", &Choice::regret_5);
  choice("hit@1", &Choice::hit_1);
  choice("recall@3", &Choice::recall_3);
  choice("normalised_regret", &Choice::normalised_regret);
  choice("random_regret@1", &Choice::random_regret_1);
}

void LineWriter::WriteTrials() {
  const Settings among =
      Among([](const ScoredSetting& s) { return !s.setting->failed.empty(); });
  if (among.empty()) return;
  const auto trials = [&](const char* metric,
                          const std::function<double(const Trials&)>& value) {
    EmitMean(metric, among, [&](const ScoredSetting& s) {
      return Part{s.has_trials ? value(s.trials) : kNoNumber,
                  s.trials.candidates};
    });
  };
  trials("trials_to_first_runnable",
         [](const Trials& t) { return t.to_first_runnable.value; });
  trials("first_pick_fails",
         [](const Trials& t) { return t.first_pick_fails; });
  trials("regret_after_3_trials",
         [](const Trials& t) { return t.regret_after_3.value; });
  trials("nothing_after_3_trials",
         [](const Trials& t) { return t.nothing_after_3; });
  trials("everything_refused",
         [](const Trials& t) { return t.everything_refused; });
}

void LineWriter::WriteMemory() {
  for (size_t scope = 0; scope < kScopes; ++scope) {
    Pairs pooled;
    std::vector<double> bias, mape, mean_l;
    int64_t excluded = 0;
    for (const ScoredSetting* setting : settings_) {
      const Peaks& peaks = setting->peaks[scope];
      if (peaks.measured == 0) continue;
      if (peaks.pairs.size() == 0) {
        ++excluded;
        continue;
      }
      pooled.Append(peaks.pairs);
      const Errors& errors = setting->peak_errors[scope];
      bias.push_back(errors.bias);
      mape.push_back(errors.mape);
      mean_l.push_back(errors.mean_l);
    }
    if (pooled.size() == 0) continue;
    const Errors plain = ErrorsOf(pooled);
    const auto rows = static_cast<int64_t>(pooled.size());
    const auto defined = static_cast<int64_t>(bias.size());
    const std::string subset = subset_ + kScopeSuffixes[scope];
    Emit(subset, "mem_bias", macro_ ? Mean(bias) : plain.bias, rows, defined,
         excluded);
    Emit(subset, "mem_mape", macro_ ? Mean(mape) : plain.mape, rows, defined,
         excluded);
    Emit(subset, "mem_gmae", macro_ ? std::expm1(Mean(mean_l)) : plain.gmae,
         rows, defined, excluded);
  }
}

void LineWriter::EmitVerdicts(const std::string& subset, const Settings& among,
                              VerdictTable ScoredSetting::*table) {
  VerdictTable pooled;
  std::vector<VerdictFigures> within;
  for (const ScoredSetting* setting : among) {
    pooled.Add(setting->*table);
    within.push_back(FiguresOf(setting->*table, options_.false_fit_cost,
                               options_.false_refusal_cost));
  }
  const VerdictFigures plain =
      FiguresOf(pooled, options_.false_fit_cost, options_.false_refusal_cost);
  const auto emit = [&](const char* metric, double VerdictFigures::*member,
                        int64_t rows) {
    std::vector<double> values;
    for (const VerdictFigures& figures : within) {
      if (IsStated(figures.*member)) values.push_back(figures.*member);
    }
    const auto defined = static_cast<int64_t>(values.size());
    Emit(subset, metric, macro_ ? Mean(values) : plain.*member, rows, defined,
         static_cast<int64_t>(among.size()) - defined);
  };
  emit("false_fit", &VerdictFigures::false_fit, pooled.failed());
  emit("false_refusal", &VerdictFigures::false_refusal, pooled.ran());
  emit("precision_oom", &VerdictFigures::precision, pooled.judged());
  emit("recall_oom", &VerdictFigures::recall, pooled.failed());
  emit("balanced_accuracy", &VerdictFigures::balanced_accuracy,
       pooled.judged());
  emit("mcc", &VerdictFigures::matthews, pooled.judged());
  emit("cost_score", &VerdictFigures::cost, pooled.judged());
}

void LineWriter::WriteKept() {
  const Settings rows =
      Among([](const ScoredSetting& s) { return !s.setting->rows.empty(); });
  std::vector<double> shares;
  int64_t judged = 0, kept = 0;
  for (const ScoredSetting* setting : rows) {
    if (setting->kept.judged == 0) continue;
    judged += setting->kept.judged;
    kept += setting->kept.kept;
    shares.push_back(static_cast<double>(setting->kept.kept) /
                     static_cast<double>(setting->kept.judged));
  }
  const auto defined = static_cast<int64_t>(shares.size());
  const double plain =
      judged == 0 ? kNoNumber
                  : static_cast<double>(kept) / static_cast<double>(judged);
  Emit(subset_, "kept_of_feasible", macro_ ? Mean(shares) : plain, judged,
       defined, static_cast<int64_t>(rows.size()) - defined);
  EmitMean("lost_optimum", Timed(), [](const ScoredSetting& s) {
    return Part{s.kept.lost_optimum, s.measured_configurations};
  });
}

void LineWriter::WriteVerdicts() {
  const bool judged = std::any_of(
      settings_.begin(), settings_.end(), [](const ScoredSetting* s) {
        return s->verdicts.judged() > 0 || s->unseparated_verdicts.judged() > 0;
      });
  if (!judged) return;
  EmitVerdicts(subset_, Among([](const ScoredSetting& s) {
                 return !s.setting->rows.empty() || s.verdicts.failed() > 0;
               }),
               &ScoredSetting::verdicts);
  WriteKept();

  const auto is_unseparated = [](const Row& row) {
    return row.run->failure_cause_unknown;
  };
  std::vector<std::string> sources;
  for (const ScoredSetting* setting : settings_) {
    const auto& failed = setting->setting->failed;
    if (std::any_of(failed.begin(), failed.end(), is_unseparated)) {
      sources.push_back(setting->setting->source);
    }
  }
  if (sources.empty()) return;
  EmitVerdicts("unseparated-failures", Among([&](const ScoredSetting& s) {
                 return std::find(sources.begin(), sources.end(),
                                  s.setting->source) != sources.end();
               }),
               &ScoredSetting::unseparated_verdicts);
}

}  // namespace

void AppendFigures(const std::string& subset,
                   const std::vector<ScoredSetting>& settings,
                   const ScoreOptions& options, std::vector<Figure>& figures) {
  Settings all;
  for (const ScoredSetting& setting : settings) all.push_back(&setting);
  for (auto begin = all.begin(); begin != all.end();) {
    const std::string& source = (*begin)->setting->source;
    const auto end = std::find_if(begin, all.end(), [&](const auto* setting) {
      return setting->setting->source != source;
    });
    LineWriter(source, subset, Settings(begin, end), false, options, figures)
        .Write();
    begin = end;
  }
  LineWriter(kAll, subset, all, false, options, figures).Write();
  LineWriter(kMacro, subset, all, true, options, figures).Write();
}

}  // namespace lmsimbench::score
