#include "lib/score/configuration.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lib/score/statistics.h"

namespace lmsimbench::score {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double OrLast(double predicted) {
  return IsStated(predicted) ? predicted : kInfinity;
}

}  // namespace

std::vector<Configuration> ConfigurationsOf(const std::vector<Row>& rows,
                                            double capacity_bytes,
                                            double margin) {
  std::vector<const Row*> order;
  for (const Row& row : rows) order.push_back(&row);
  std::stable_sort(order.begin(), order.end(), [](const Row* a, const Row* b) {
    return a->configuration < b->configuration;
  });

  std::vector<Configuration> configurations;
  for (size_t begin = 0; begin < order.size();) {
    Configuration configuration;
    configuration.number = order[begin]->configuration;
    std::vector<double> measured, predicted;
    size_t end = begin;
    for (; end < order.size() &&
           order[end]->configuration == configuration.number;
         ++end) {
      const Row& row = *order[end];
      if (IsTimed(row)) measured.push_back(row.run->iteration_time_s);
      // A failed run has no time to have, a run without one takes no part.
      if (IsTimeAnswered(row) ||
          (!row.run->ran && IsStated(row.answer->iteration_time_s))) {
        predicted.push_back(row.answer->iteration_time_s);
      }
      configuration.answered_rows += IsTimeAnswered(row);
      // In the order of the enumeration a refusal prevails.
      configuration.judgement = std::max(
          configuration.judgement, Judge(*row.answer, capacity_bytes, margin));
    }
    configuration.timed_rows = static_cast<int64_t>(measured.size());
    configuration.measured = Median(std::move(measured));
    configuration.predicted = Median(std::move(predicted));
    configurations.push_back(configuration);
    begin = end;
  }
  return configurations;
}

std::vector<Candidate> MeasuredCandidates(
    const std::vector<Configuration>& configurations) {
  std::vector<Candidate> candidates;
  for (const Configuration& configuration : configurations) {
    if (!IsStated(configuration.measured)) continue;
    candidates.push_back(
        {configuration.measured, OrLast(configuration.predicted)});
  }
  return candidates;
}

Kept KeptOf(const std::vector<Configuration>& configurations) {
  Kept kept;
  double best = kInfinity;
  int64_t timed = 0;
  for (const Configuration& configuration : configurations) {
    if (configuration.judgement != Judgement::kNone) {
      ++kept.judged;
      kept.kept += configuration.judgement == Judgement::kFits;
    }
    if (!IsStated(configuration.measured)) continue;
    ++timed;
    best = std::min(best, configuration.measured);
  }
  if (timed < 2) return kept;
  for (const Configuration& configuration : configurations) {
    // Where several are best, keeping one of them is enough.
    if (configuration.measured != best ||
        configuration.judgement == Judgement::kNone) {
      continue;
    }
    const double lost = configuration.judgement == Judgement::kFits ? 0 : 1;
    kept.lost_optimum =
        IsStated(kept.lost_optimum) ? std::min(kept.lost_optimum, lost) : lost;
  }
  return kept;
}

bool TrialsOfSetting(const Setting& setting,
                     const std::vector<Configuration>& configurations,
                     double margin, Trials& trials) {
  std::vector<Candidate> candidates;
  double best = kInfinity;
  size_t measured = 0;
  bool judged = false;
  for (const Configuration& configuration : configurations) {
    if (!IsStated(configuration.measured)) continue;
    ++measured;
    best = std::min(best, configuration.measured);
    judged = judged || configuration.judgement != Judgement::kNone;
    if (configuration.judgement == Judgement::kFits) {
      candidates.push_back(
          {configuration.measured, OrLast(configuration.predicted)});
    }
  }
  std::vector<Row> failed;
  for (const Row& row : setting.failed) {
    if (!row.also_ran) failed.push_back(row);
  }
  for (const Configuration& configuration :
       ConfigurationsOf(failed, setting.capacity_bytes, margin)) {
    judged = judged || configuration.judgement != Judgement::kNone;
    if (configuration.judgement == Judgement::kFits) {
      candidates.push_back({kInfinity, OrLast(configuration.predicted)});
    }
  }
  if (measured == 0 || !judged) return false;
  trials = TrialsOf(std::move(candidates), best, measured);
  return true;
}

}  // namespace lmsimbench::score
