#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "lib/core/arithmetic.h"
#include "lib/core/offers.h"
#include "lib/core/rules.h"
#include "lmsimbench/legality.h"

/// \file
/// The nearest legal configuration.
///
/// The four sizes that multiply to the devices are searched through completely,
/// nearest first. Every other field has a neutral value that breaks no rule
/// whatever these sizes are, so a choice of sizes is possible exactly if it is
/// legal with all other fields neutral. Once sizes are chosen, the other fields
/// are mended one by one, and made neutral where that fails.

namespace lmsimbench {
namespace {

using legality::MakeSubject;
using legality::Rule;
using legality::Subject;

// Sizes of data, tensor, pipeline and context parallelism.
struct Sizes {
  int64_t dp, tp, pp, cp;
};

// Takes a value that breaks no rule for one of the fields that are not sizes.
// Returns false for a field that is one.
bool Neutralise(const std::string& field, StagePlacement placement,
                ParallelConfig& config) {
  if (field == "vpp") {
    config.vpp = 1;
  } else if (field == "ep") {
    config.ep = 1;
  } else if (field == "etp") {
    config.etp = kNoCount;
  } else if (field == "micro_batch") {
    config.micro_batch = 1;
  } else if (field == "grad_accumulation") {
    config.grad_accumulation = kNoCount;
  } else if (field == "sequence_parallel") {
    config.sequence_parallel = YesNo::kNo;
  } else if (field == "zero_group") {
    config.zero_group = kNoCount;
  } else if (field == "recompute_layers") {
    config.recompute_layers = kNoCount;
  } else if (field == "recompute_method") {
    config.recompute_method = RecomputeMethod::kNotStated;
  } else if (field == "recompute_modules") {
    config.recompute_modules.clear();
  } else if (field == "schedule") {
    config.schedule = Schedule::k1F1B;
  } else if (field == "context_algorithm") {
    config.context_algorithm = ContextAlgorithm::kNotStated;
  } else if (field == "context_inner") {
    config.context_inner = kNoCount;
  } else if (field == "rank_order") {
    config.rank_order = ParallelConfig().rank_order;
  } else if (field == "stage_layers" || field == "placement") {
    config.stage_layers.clear();
    config.placement = placement;
  } else {
    return false;
  }
  return true;
}

ParallelConfig Neutral(ParallelConfig config, StagePlacement placement) {
  for (const char* field :
       {"vpp", "ep", "etp", "micro_batch", "grad_accumulation",
        "sequence_parallel", "zero_group", "recompute_layers",
        "recompute_method", "recompute_modules", "schedule",
        "context_algorithm", "context_inner", "rank_order", "placement"}) {
    Neutralise(field, placement, config);
  }
  return config;
}

ParallelConfig WithSizes(ParallelConfig config, const Sizes& sizes) {
  config.dp = sizes.dp;
  config.tp = sizes.tp;
  config.pp = sizes.pp;
  config.cp = sizes.cp;
  return config;
}

// Doublings between two sizes.
double Doublings(int64_t from, int64_t to) {
  return std::fabs(std::log2(static_cast<double>(to)) -
                   std::log2(static_cast<double>(std::max<int64_t>(1, from))));
}

// How far the sizes lie from those of the configuration. What the data-parallel
// size does follows from the others.
double Distance(const ParallelConfig& config, const Sizes& sizes) {
  return Doublings(config.tp, sizes.tp) + Doublings(config.pp, sizes.pp) +
         Doublings(config.cp, sizes.cp);
}

// All sizes that multiply to the devices and whose data-parallel size divides
// the batch, nearest first.
std::vector<Sizes> SizesOf(const Workload& workload,
                           const ParallelConfig& config, int64_t devices) {
  std::vector<Sizes> all;
  for (int64_t tp : Divisors(devices)) {
    for (int64_t pp : Divisors(devices / tp)) {
      for (int64_t cp : Divisors(devices / tp / pp)) {
        const int64_t dp = devices / tp / pp / cp;
        if (!legality::Indivisible(workload.global_batch, dp)) {
          all.push_back({dp, tp, pp, cp});
        }
      }
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [&config](const Sizes& a, const Sizes& b) {
                     return Distance(config, a) < Distance(config, b);
                   });
  return all;
}

// Where the devices follow from the configuration, no rule joins two of the
// sizes once the other fields are neutral: each moves to the nearest value that
// is legal beside sizes of 1.
std::vector<Sizes> FreeSizes(const Workload& workload,
                             const ParallelConfig& neutral) {
  const auto nearest = [&](const char* field, int64_t ParallelConfig::*size) {
    ParallelConfig alone = WithSizes(neutral, {1, 1, 1, 1});
    alone.*size = std::clamp<int64_t>(neutral.*size, 1, legality::kLargestSize);
    const Subject subject = MakeSubject(workload, alone, kNoCount);
    if (legality::AllHold(subject)) return alone.*size;
    for (const Offer::Value& value : legality::Candidates(subject, field)) {
      ParallelConfig moved = alone;
      moved.*size = std::get<int64_t>(value);
      if (legality::AllHold(MakeSubject(workload, moved, kNoCount))) {
        return moved.*size;
      }
    }
    return int64_t{1};
  };
  return {
      {nearest("dp", &ParallelConfig::dp), nearest("tp", &ParallelConfig::tp),
       nearest("pp", &ParallelConfig::pp), nearest("cp", &ParallelConfig::cp)}};
}

// Moves one field of the rule, other than the four sizes, to the value that
// leaves the fewest rules broken. False if none leaves fewer than now.
bool MendOneField(const Workload& workload, const Rule& rule, int64_t devices,
                  ParallelConfig& config) {
  const Subject now = MakeSubject(workload, config, devices);
  size_t fewest = legality::CountBroken(now);
  ParallelConfig best;
  bool found = false;
  for (const char* field : rule.fields) {
    if (field == nullptr) break;
    ParallelConfig probe;
    if (!Neutralise(field, StagePlacement::kNotStated, probe)) continue;
    for (Offer::Value& value : legality::Candidates(now, field)) {
      ParallelConfig moved = config;
      Workload untouched;
      if (!TakeOffer({field, std::move(value), false}, devices, untouched,
                     moved)
               .ok()) {
        continue;
      }
      const Subject after = MakeSubject(workload, moved, devices);
      if (!rule.holds(after, nullptr)) continue;
      const size_t broken = legality::CountBroken(after);
      if (broken >= fewest) continue;
      fewest = broken;
      best = std::move(moved);
      found = true;
      if (fewest == 0) break;
    }
    if (fewest == 0) break;
  }
  if (found) config = std::move(best);
  return found;
}

// Makes the fields other than the four sizes legal.
ParallelConfig Mend(const Workload& workload, ParallelConfig config,
                    int64_t devices, StagePlacement placement) {
  // Sizes that are none have no neighbours.
  for (const Rule& rule : legality::SizeRules()) {
    const Subject subject = MakeSubject(workload, config, devices);
    if (rule.fields[0] != nullptr && !rule.holds(subject, nullptr)) {
      Neutralise(rule.fields[0], placement, config);
    }
  }
  std::set<const Rule*> given_up;
  while (true) {
    const Rule* rule =
        legality::FirstBroken(MakeSubject(workload, config, devices));
    if (rule == nullptr) return config;
    if (MendOneField(workload, *rule, devices, config)) continue;
    if (!given_up.insert(rule).second) return Neutral(config, placement);
    for (const char* field : rule->fields) {
      if (field != nullptr) Neutralise(field, placement, config);
    }
  }
}

// The rule that holds nowhere, in the words of the nearest attempt.
std::string WhatStandsInTheWay(const Workload& workload,
                               const ParallelConfig& neutral, int64_t devices) {
  const Subject subject = MakeSubject(workload, neutral, devices);
  const Rule* rule = legality::FirstBroken(subject);
  std::string why;
  if (rule == nullptr) return why;
  rule->holds(subject, &why);
  return fmt::format("{}: {}", rule->name, why);
}

}  // namespace

absl::StatusOr<ParallelConfig> NearestLegal(const Workload& workload,
                                            const ParallelConfig& config,
                                            int64_t devices) {
  if (IsLegal(workload, config, devices)) return config;

  const ParallelConfig one =
      WithSizes(Neutral(config, StagePlacement::kNotStated), {1, 1, 1, 1});
  const bool workload_is_legal =
      legality::AllHold(MakeSubject(workload, one, kNoCount));
  if (!workload_is_legal ||
      (IsStated(devices) &&
       (devices < 1 || devices > legality::kLargestSize))) {
    return absl::NotFoundError(fmt::format(
        "no configuration is legal; {}",
        WhatStandsInTheWay(workload, one,
                           workload_is_legal ? devices : kNoCount)));
  }

  // Where the layout is stated, a stage without layers is the last resort.
  const bool layout_is_stated = !config.stage_layers.empty() ||
                                config.placement != StagePlacement::kNotStated;
  std::vector<StagePlacement> placements = {StagePlacement::kNotStated};
  if (layout_is_stated) {
    placements.insert(placements.begin(), StagePlacement::kRemainderFirst);
  }
  for (StagePlacement placement : placements) {
    const ParallelConfig neutral = Neutral(config, placement);
    const std::vector<Sizes> all = IsStated(devices)
                                       ? SizesOf(workload, config, devices)
                                       : FreeSizes(workload, neutral);
    for (const Sizes& sizes : all) {
      if (!IsLegal(workload, WithSizes(neutral, sizes), devices)) continue;
      return Mend(workload, WithSizes(config, sizes), devices, placement);
    }
  }

  const std::vector<Sizes> nearest = SizesOf(workload, config, devices);
  const Sizes attempt =
      nearest.empty() ? Sizes{devices, 1, 1, 1} : nearest.front();
  return absl::NotFoundError(fmt::format(
      "no configuration of {} devices is legal; the nearest attempt (dp {}, tp "
      "{}, pp {}, cp {}) breaks {}",
      devices, attempt.dp, attempt.tp, attempt.pp, attempt.cp,
      WhatStandsInTheWay(
          workload,
          WithSizes(Neutral(config, StagePlacement::kNotStated), attempt),
          devices)));
}

}  // namespace lmsimbench
