#include "lib/aggregate/steady_state.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <random>
#include <string>

#include "lib/aggregate/account.h"
#include "lib/aggregate/fold.h"
#include "lib/aggregate/memory.h"
#include "lib/aggregate/simulate.h"
#include "lmsimbench/fmt.h"
#include "lmsimbench/legality.h"
#include "lmsimbench/pipeline.h"
#include "test/aggregate/random_iteration.h"
#include "test/aggregate/run_stages.h"

namespace lmsimbench {
namespace {

using aggregate::AccountClass;
using aggregate::ClassAccount;
using aggregate::ClassMemory;
using aggregate::IterationTimes;
using aggregate::MeasureMemory;
using aggregate::Simulate;

bool IsSame(const ClassAccount& a, const ClassAccount& b) {
  return a.compute == b.compute && a.exposed_tensor == b.exposed_tensor &&
         a.exposed_pipeline == b.exposed_pipeline &&
         a.exposed_data == b.exposed_data && a.overlapped == b.overlapped &&
         a.bubble == b.bubble && a.idle == b.idle &&
         a.recomputed == b.recomputed && a.delay == b.delay;
}

bool IsSame(const ClassMemory& a, const ClassMemory& b) {
  return a.peak_bytes == b.peak_bytes && a.peak_time == b.peak_time &&
         a.parts.activations_bytes == b.parts.activations_bytes &&
         a.parts.logits_bytes == b.parts.logits_bytes &&
         a.parts.buffers_bytes == b.parts.buffers_bytes;
}

bool StartsTheSame(const IterationTimes& times, const IterationTimes& all) {
  for (size_t c = 0; c < all.classes.size(); ++c) {
    for (size_t i = 0; i < all.plans[c].passes.size(); ++i) {
      if (PassStart(times, c, i) != all.classes[c].pass_start[i]) return false;
    }
  }
  return true;
}

// An iteration simulated with what repeats itself left out, and whole.
struct BothWays {
  aggregate::Folds folds;
  IterationTimes times;
  IterationTimes all;

  void Run(const CostedGraph& costed) {
    Fold(costed, folds);
    REQUIRE(Simulate(costed, folds, times) == absl::OkStatus());
    REQUIRE(Simulate(costed, folds, all, false) == absl::OkStatus());
    REQUIRE(all.steady.repeats == 0);
  }
  void CheckSame(const CostedGraph& costed) const {
    CHECK(times.iteration_time == all.iteration_time);
    CHECK(StartsTheSame(times, all));
    for (size_t c = 0; c < all.classes.size(); ++c) {
      CAPTURE(c);
      const auto rank_class = static_cast<int64_t>(c);
      CHECK(times.classes[c].end == all.classes[c].end);
      CHECK(IsSame(AccountClass(costed, folds, times, rank_class),
                   AccountClass(costed, folds, all, rank_class)));
      CHECK(IsSame(MeasureMemory(costed, folds, times, rank_class),
                   MeasureMemory(costed, folds, all, rank_class)));
    }
  }
  // Of all passes of a rank.
  double ShareLeftOut() const {
    return static_cast<double>(times.steady.end_left_out() -
                               times.steady.end_pass) /
           static_cast<double>(all.plans[0].passes.size());
  }
};

// Four ranks with 200 micro-batches, whose costs are odd numbers of ticks.
void RunDeepStages(Stages& stages) {
  Workload workload;
  workload.model.name = "deep";
  workload.model.layers = 8;
  workload.model.hidden = 96;
  workload.model.heads = 12;
  workload.model.kv_heads = 12;
  workload.model.ffn = 384;
  workload.model.vocab = 1000;
  workload.model.gated_mlp = YesNo::kNo;
  workload.model.dropout = 0;
  workload.seq_len = 96;
  workload.precision = Precision::kBf16;
  workload.attention_impl = AttentionImpl::kFlash;
  workload.global_batch = 200;
  ParallelConfig config;
  config.pp = 4;
  config.micro_batch = 1;
  System system;
  system.name = "one node";
  system.accelerator.memory_bytes = 80e9;
  system.network.push_back({"node", 8, "", 1e11, 1e-6});
  RunStages(workload, config, system, RandomCostModel(2031), stages);
  for (auto* costs : {&stages.costed.operators, &stages.costed.collectives}) {
    for (Cost& cost : *costs) cost.seconds += 0x1p-40;
  }
}

void Scale(double factor, CostedGraph& costed) {
  for (auto* costs : {&costed.operators, &costed.collectives}) {
    for (Cost& cost : *costs) cost.seconds *= factor;
  }
}

TEST_CASE("an iteration too long for exact sums is simulated whole") {
  Stages stages;
  RunDeepStages(stages);
  BothWays both;
  both.Run(stages.costed);
  CHECK(both.times.steady.repeats > 100);
  both.CheckSame(stages.costed);
  // Whole factors leave whole ticks.
  const double most = std::floor(8000 / both.all.iteration_time);
  Scale(most, stages.costed);
  both.Run(stages.costed);
  CHECK(both.times.steady.repeats > 100);
  both.CheckSame(stages.costed);
  Scale(3, stages.costed);
  both.Run(stages.costed);
  CHECK(both.all.iteration_time > 8192);
  CHECK(both.times.steady.repeats == 0);
  both.CheckSame(stages.costed);
}

TEST_CASE("costs that are not whole ticks are simulated whole") {
  for (const bool of_operators : {true, false}) {
    Stages stages;
    RunDeepStages(stages);
    auto& costs =
        of_operators ? stages.costed.operators : stages.costed.collectives;
    REQUIRE(!costs.empty());
    costs.back().seconds += 0x1p-41;
    BothWays both;
    both.Run(stages.costed);
    CHECK(both.times.steady.repeats == 0);
    both.CheckSame(stages.costed);
  }
}

// What an iteration is one of, as far as that decides whether it may come to a
// steady state.
std::string KindOf(const ParallelConfig& config) {
  const bool split = config.schedule >= Schedule::kZeroBubbleH1;
  std::string kind =
      split || config.schedule == Schedule::kGPipe
          ? std::string(Name(config.schedule))
          : fmt::format("1F1B of {}", config.vpp > 1 ? "chunks" : "stages");
  if (config.zero == ZeroStage::kGradients) kind += ", reducing always";
  if (config.zero == ZeroStage::kParameters) kind += ", sharded";
  return kind;
}

struct Tally {
  int cases = 0;
  int left_out = 0;
  double share = 0;
};

// Link speeds from where computation hides every transfer to where transfers
// are all that counts, and gathers that end anywhere in the iteration.
TEST_CASE("what is left out of a steady state changes nothing") {
  constexpr int kCases = 24'000;
  constexpr double kSlowLinks[] = {1, 3, 10, 30, 100};
  constexpr double kSlowData[] = {1, 1, 10, 300};
  std::mt19937_64 random(2031);
  Stages stages;
  BothWays both;
  std::map<std::string, Tally> tallies;
  Tally sum;
  for (int tried = 0; sum.cases < kCases; ++tried) {
    REQUIRE(tried < 20 * kCases);
    const RandomIteration made = MakeRandomDeepIteration(random);
    const uint64_t seed = random();
    if (!IsLegal(made.workload, made.config, kNoCount)) continue;
    if (!CompileInto(made.workload, made.config, stages.program).ok()) continue;
    if (!PlaceInto(made.config, made.system, stages.placement).ok()) continue;
    if (!LowerInto(stages.program, stages.placement, made.config, stages.graph)
             .ok()) {
      continue;
    }
    CAPTURE(tried, fmt::format("{}", made.config),
            fmt::format("{}", made.workload));
    for (uint64_t draw = 0; draw < 3; ++draw) {
      const RandomCostModel model(seed + draw, draw == 0,
                                  kSlowLinks[(seed + draw) % 5],
                                  kSlowData[seed % 4], draw != 1);
      REQUIRE(CostGraphInto(stages.graph, model, stages.costed) ==
              absl::OkStatus());
      both.Run(stages.costed);
      both.CheckSame(stages.costed);
      for (Tally* tally : {&tallies[KindOf(made.config)], &sum}) {
        ++tally->cases;
        if (both.times.steady.repeats > 0) ++tally->left_out;
        tally->share += both.ShareLeftOut();
      }
    }
  }
  for (const auto& [kind, tally] : tallies) {
    UNSCOPED_INFO(fmt::format("{}: left out in {} of {}, {:.2f} of the passes",
                              kind, tally.left_out, tally.cases,
                              tally.share / tally.cases));
  }
  // Most of them, but nothing where gradients are reduced behind every pass, or
  // where passes do not alternate, or not along a ring.
  CHECK(sum.left_out > kCases / 2);
  CHECK(sum.share / kCases > 0.4);
  for (const auto& [kind, tally] : tallies) {
    CAPTURE(kind);
    const bool has_none = kind.find("gpipe") == 0 || kind.find("zb-v") == 0 ||
                          kind.find("dual") == 0 ||
                          kind.find("always") != std::string::npos;
    if (has_none) {
      CHECK(tally.left_out == 0);
    } else {
      CHECK(tally.left_out > 2 * tally.cases / 5);
    }
  }
}

}  // namespace
}  // namespace lmsimbench
