#include "lib/score/choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/score/statistics.h"

namespace lmsimbench::score {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A regret or recall over the first k says little unless so many more
/// configurations than k are there.
constexpr size_t kSpareConfigurations = 2;

double Regret(double time, double best) { return time / best - 1; }

}  // namespace

void SortByPrediction(std::vector<Candidate>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) {
                     return a.predicted < b.predicted;
                   });
}

FirstK::FirstK(absl::Span<const Candidate> candidates, size_t k)
    : best_below_(kInfinity) {
  k = std::min(k, candidates.size());
  size_t begin = k, end = k;
  if (k > 0) {
    const double cut = candidates[k - 1].predicted;
    begin = k - 1;
    while (begin > 0 && candidates[begin - 1].predicted == cut) --begin;
    while (end < candidates.size() && candidates[end].predicted == cut) ++end;
  }
  for (size_t i = 0; i < begin; ++i) {
    best_below_ = std::min(best_below_, candidates[i].measured);
  }
  for (size_t i = begin; i < end; ++i) cut_.push_back(candidates[i].measured);
  std::sort(cut_.begin(), cut_.end());
  taken_ = k - begin;
}

double FirstK::ExpectedMinimum() const {
  // The least of r drawn from g is the j-th (from 0) with probability
  // C(g-1-j, r-1) / C(g, r), which is r / g for j = 0; the quotient of
  // neighbours is (g-r-j) / (g-1-j).
  const size_t g = cut_.size();
  if (g == 0) return best_below_;
  const size_t r = taken_;
  double probability = static_cast<double>(r) / static_cast<double>(g);
  double expectation = 0;
  for (size_t j = 0; j + r <= g; ++j) {
    expectation += probability * std::min(best_below_, cut_[j]);
    if (j + r < g) {
      probability *=
          static_cast<double>(g - r - j) / static_cast<double>(g - 1 - j);
    }
  }
  return expectation;
}

double FirstK::ProbabilityAtMost(double limit) const {
  if (best_below_ <= limit) return 1;
  const auto g = cut_.size();
  const auto within = static_cast<size_t>(
      std::upper_bound(cut_.begin(), cut_.end(), limit) - cut_.begin());
  // 1 - C(g - within, r) / C(g, r), factor by factor.
  double none = 1;
  for (size_t i = 0; i < taken_; ++i) {
    if (within + i >= g) return 1;
    none *= static_cast<double>(g - within - i) / static_cast<double>(g - i);
  }
  return 1 - none;
}

bool FirstK::MayHoldNoRunnable() const {
  if (std::isfinite(best_below_)) return false;
  const auto failed = std::count_if(cut_.begin(), cut_.end(), [](double time) {
    return !std::isfinite(time);
  });
  return static_cast<size_t>(failed) >= taken_;
}

Choice ChoiceOf(std::vector<Candidate> candidates, double tie) {
  Choice choice;
  const bool answered = std::any_of(
      candidates.begin(), candidates.end(),
      [](const Candidate& c) { return std::isfinite(c.predicted); });
  if (!answered) {
    for (Choice::Value* value :
         {&choice.regret_1, &choice.regret_3, &choice.regret_5, &choice.hit_1,
          &choice.recall_3, &choice.normalised_regret,
          &choice.random_regret_1}) {
      value->undefined = Undefined::kNotAnswered;
    }
    return choice;
  }
  SortByPrediction(candidates);
  double best = kInfinity, sum = 0;
  for (const Candidate& candidate : candidates) {
    best = std::min(best, candidate.measured);
    sum += candidate.measured;
  }
  const auto n = candidates.size();

  const auto over_first = [&](size_t k, Choice::Value& regret,
                              Choice::Value* recall) {
    if (n < k + kSpareConfigurations) {
      regret.undefined = Undefined::kTooFew;
      if (recall != nullptr) recall->undefined = Undefined::kTooFew;
      return;
    }
    const FirstK first(candidates, k);
    regret.value = Regret(first.ExpectedMinimum(), best);
    if (recall != nullptr) {
      recall->value = first.ProbabilityAtMost(best * (1 + tie));
    }
  };
  over_first(1, choice.regret_1, &choice.hit_1);
  over_first(3, choice.regret_3, &choice.recall_3);
  over_first(5, choice.regret_5, nullptr);

  if (n < 1 + kSpareConfigurations) {
    choice.random_regret_1.undefined = Undefined::kTooFew;
    choice.normalised_regret.undefined = Undefined::kTooFew;
    return choice;
  }
  const double random = Regret(sum / static_cast<double>(n), best);
  choice.random_regret_1.value = random;
  if (random > 0) {
    choice.normalised_regret.value = choice.regret_1.value / random;
  } else {
    choice.normalised_regret.undefined = Undefined::kNoSpread;
  }
  return choice;
}

Trials TrialsOf(std::vector<Candidate> candidates, double best,
                size_t measured) {
  constexpr size_t kTrials = 3;
  Trials trials;
  trials.candidates = static_cast<int64_t>(candidates.size());
  trials.everything_refused = candidates.empty() ? 1 : 0;
  SortByPrediction(candidates);

  trials.to_first_runnable.undefined = Undefined::kNoRunnable;
  trials.first_pick_fails = 1;
  for (size_t begin = 0; begin < candidates.size();) {
    size_t end = begin;
    double runnable = 0;
    while (end < candidates.size() &&
           candidates[end].predicted == candidates[begin].predicted) {
      runnable += std::isfinite(candidates[end].measured);
      ++end;
    }
    const auto group = static_cast<double>(end - begin);
    if (begin == 0) trials.first_pick_fails = 1 - runnable / group;
    if (runnable > 0) {
      trials.to_first_runnable.value =
          static_cast<double>(begin) + (group + 1) / (runnable + 1);
      trials.to_first_runnable.undefined = Undefined::kNo;
      break;
    }
    begin = end;
  }

  const FirstK first(candidates, kTrials);
  const bool may_hold_none = first.MayHoldNoRunnable();
  trials.nothing_after_3 = may_hold_none ? 1 : 0;
  if (measured < kTrials + kSpareConfigurations) {
    trials.regret_after_3.undefined = Undefined::kTooFew;
  } else if (may_hold_none) {
    trials.regret_after_3.undefined = Undefined::kNoRunnable;
  } else {
    trials.regret_after_3.value = Regret(first.ExpectedMinimum(), best);
  }
  return trials;
}

}  // namespace lmsimbench::score
