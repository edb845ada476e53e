#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "lib/score/ranking.h"
#include "lmsimbench/values.h"

/// \file
/// What it costs to run the configuration that a simulator puts first
/// (section C). Where predictions tie, every figure is the expectation over
/// uniformly random tie breaking, in closed form.

namespace lmsimbench::score {

/// A configuration that may be picked.
struct Candidate {
  /// Measured time; infinite if it did not run.
  double measured = kNoNumber;
  /// Predicted time; infinite if not answered, so that it ranks last.
  double predicted = kNoNumber;
};

/// The first `k` of the candidates by ascending prediction. Ties at the cut
/// leave open which members of the cut group are among them.
class FirstK {
 public:
  /// `candidates` sorted by `SortByPrediction`; k > 0.
  FirstK(absl::Span<const Candidate> candidates, size_t k);

  /// Expected minimum of the measured times among the first k.
  double ExpectedMinimum() const;
  /// Probability that the first k hold a time of at most `limit`.
  double ProbabilityAtMost(double limit) const;
  /// True if tie breaking may leave no configuration that ran among them.
  bool MayHoldNoRunnable() const;

 private:
  /// Least measured time below the cut group; infinite if nothing is.
  double best_below_;
  /// Measured times of the cut group, ascending, of which `taken_` are drawn.
  std::vector<double> cut_;
  size_t taken_;
};

/// Sorts ascending by prediction.
void SortByPrediction(std::vector<Candidate>& candidates);

/// The choice among a setting's measured configurations.
struct Choice {
  struct Value {
    double value = kNoNumber;
    Undefined undefined = Undefined::kNo;
  };
  Value regret_1, regret_3, regret_5;
  Value hit_1, recall_3;
  Value normalised_regret;
  /// Expected regret of a configuration picked at random.
  Value random_regret_1;
};

/// `candidates` are all measured configurations of a setting, in any order. One
/// within the fraction `tie` of the best counts as best.
Choice ChoiceOf(std::vector<Candidate> candidates, double tie);

/// The choice where some configurations of the setting did not run: those that
/// the simulator says fit are tried in its order until one runs.
struct Trials {
  /// Configurations said to fit.
  int64_t candidates = 0;
  /// Expected number of trials to the first that runs; undefined if none does.
  Choice::Value to_first_runnable;
  /// Probability that the first pick fails; 1 if there is nothing to pick.
  double first_pick_fails = kNoNumber;
  /// Regret of the best that runs among the first three.
  Choice::Value regret_after_3;
  /// 1 if the first three may hold none that runs, else 0.
  double nothing_after_3 = kNoNumber;
  /// 1 if nothing is said to fit, else 0.
  double everything_refused = kNoNumber;
};

/// `candidates` are those said to fit, failed ones with infinite time, in any
/// order. `best` is the least time of the `measured` configurations that ran,
/// whatever the simulator said of them.
Trials TrialsOf(std::vector<Candidate> candidates, double best,
                size_t measured);

}  // namespace lmsimbench::score
