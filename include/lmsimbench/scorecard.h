#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lmsimbench/measurements.h"
#include "lmsimbench/values.h"

namespace lmsimbench {

/// One figure of a scorecard, as `spec/metrics.md` of the project defines it.
struct Figure {
  /// A source, "ALL" (rows of all sources together) or "MACRO" (the mean over
  /// settings of the figure within a setting).
  std::string source;
  /// Which rows: "headline"; a kind of flagged rows ("FLAG-LOWMFU", "SUSPECT",
  /// "INCONSISTENT", "CHECK", "FLAG", "A-ci"); one of these with
  /// "/memory-process", "/memory-reserved" or "/memory-unstated" where the
  /// measured peak is not what the allocator gave out; "failed-runs";
  /// "unseparated-failures".
  std::string subset;
  /// "n", "gmae", "regret@1"… Errors and shares are fractions, not percent.
  std::string metric;
  /// NaN: undefined.
  double value = kNoNumber;
  /// Rows that the value rests on; configurations where the figure is about
  /// these (ranking, choice, trials, what is kept).
  int64_t rows = 0;
  /// Settings in which the figure is defined, and the others of the line.
  int64_t settings_defined = 0;
  int64_t settings_excluded = 0;
};

/// The figures of one setting, headline rows only. Undefined: NaN.
struct SettingScore {
  std::string workload_id;
  std::string source;
  std::string platform;
  std::string model;
  int64_t devices = kNoCount;
  /// Rows with an iteration time, and the distinct configurations among them.
  int64_t rows = 0;
  int64_t configurations = 0;
  int64_t answered = 0;
  double gmae = kNoNumber;
  double tau_b = kNoNumber;
  double spearman = kNoNumber;
  double weighted_pair_accuracy = kNoNumber;
  double regret_1 = kNoNumber;
  double regret_3 = kNoNumber;
  double regret_5 = kNoNumber;
  double hit_1 = kNoNumber;
  double recall_3 = kNoNumber;
  double normalised_regret = kNoNumber;
  /// Expected regret of a configuration picked at random.
  double random_regret_1 = kNoNumber;
  /// "metric: reason" of each undefined figure, joined by "; ", or what they
  /// have in common.
  std::string undefined_because;
};

/// The factor that removes a simulator's bias on one platform.
struct Calibration {
  std::string platform;
  /// exp(median ln(measured / predicted)) over `rows` answered headline rows of
  /// the split `fit`.
  double factor = kNoNumber;
  int64_t rows = 0;
};

/// Everything about one simulator.
struct SimulatorScore {
  std::string simulator;
  /// On the rows that it answered.
  std::vector<Figure> figures;
  /// On the shared set; empty where only one simulator is scored.
  std::vector<Figure> shared_figures;
  /// Every setting with a headline row that has an iteration time.
  std::vector<SettingScore> settings;
  std::vector<Calibration> calibration;

  /// The figure, or null.
  const Figure* Find(const std::string& source, const std::string& subset,
                     const std::string& metric, bool shared = false) const;
  /// Its value; NaN where it is undefined or not there.
  double Value(const std::string& source, const std::string& subset,
               const std::string& metric, bool shared = false) const;
};

/// Simulators scored on one selection of runs.
struct Scorecard {
  Selection selection;
  /// Which data: the bundle's fingerprint.
  std::string fingerprint;
  double memory_margin = 0;
  double false_fit_cost = 5;
  double false_refusal_cost = 1;
  /// Headline rows with an iteration time, and those of them that every
  /// simulator answered: the shared set.
  int64_t headline_rows = 0;
  int64_t shared_rows = 0;
  std::vector<SimulatorScore> simulators;
};

}  // namespace lmsimbench
