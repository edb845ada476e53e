#include <catch2/catch.hpp>
#include <random>

#include "lib/core/arithmetic.h"
#include "lib/core/rules.h"
#include "lmsimbench/fmt.h"
#include "lmsimbench/legality.h"

namespace lmsimbench {
namespace {

// Random questions: mostly plausible, often slightly wrong, sometimes absurd.
class RandomQuestions {
 public:
  explicit RandomQuestions(uint32_t seed) : generator_(seed) {}

  template <typename T>
  T OneOf(std::initializer_list<T> values) {
    return values.begin()[Below(static_cast<int64_t>(values.size()))];
  }
  int64_t Below(int64_t bound) {
    return std::uniform_int_distribution<int64_t>(0, bound - 1)(generator_);
  }
  bool Seldom() { return Below(6) == 0; }

  template <typename Enum>
  Enum Any() {
    return static_cast<Enum>(
        Below(static_cast<int64_t>(std::size(EnumNames<Enum>::kNames))));
  }

  Workload NextWorkload(bool small) {
    Workload workload;
    ModelSpec& model = workload.model;
    model.heads = OneOf<int64_t>({-1, 2, 4, 6, 12, 16, 32, 64, 96, 7});
    model.kv_heads = model.heads > 0 && !Seldom()
                         ? model.heads / Pick(Divisors(model.heads))
                         : OneOf<int64_t>({-1, -1, 4, 5});
    model.hidden = model.heads > 0 ? model.heads * 64 : 4096;
    model.layers =
        small ? 1 + Below(6) : OneOf<int64_t>({-1, 8, 28, 30, 61, 80, 126});
    model.ffn = OneOf<int64_t>({-1, 4096, 11008, 14336});
    if (Below(2) == 0) {
      model.experts = OneOf<int64_t>({-1, 4, 8, 60, 128});
      model.top_k = OneOf<int64_t>({-1, 1, 2, 4});
      model.expert_ffn = OneOf<int64_t>({-1, 768, 1408, 2048});
      model.shared_experts = OneOf<int64_t>({0, 1, 2});
    }
    workload.seq_len = OneOf<int64_t>({-1, 1000, 2048, 4096, 8192, 12288});
    workload.global_batch =
        small ? 1 + Below(8) : OneOf<int64_t>({-1, 1, 8, 30, 32, 256, 1536});
    return workload;
  }

  int64_t NextDevices(bool small) {
    if (small) return 1 + Below(12);
    return OneOf<int64_t>({-1, 1, 2, 8, 12, 16, 64, 96, 128, 1472, 2048, 13});
  }

  ParallelConfig NextConfig(const Workload& workload, int64_t devices) {
    ParallelConfig config;
    if (IsStated(devices) && !Seldom()) {
      config.tp = Pick(Divisors(devices));
      config.pp = Pick(Divisors(devices / config.tp));
      config.cp =
          Seldom() ? Pick(Divisors(devices / config.tp / config.pp)) : 1;
      config.dp = devices / config.tp / config.pp / config.cp;
    } else {
      config.dp = 1 + Below(16);
      config.tp = 1 + Below(12);
      config.pp = 1 + Below(12);
      config.cp = 1 + Below(4);
    }
    config.vpp = OneOf<int64_t>({-1, 1, 1, 1, 2, 3, 4});
    config.ep = OneOf<int64_t>({-1, 1, 1, 2, 4, 8, 3});
    config.etp = OneOf<int64_t>({-1, -1, 1, 2, 4, 3});
    config.micro_batch = OneOf<int64_t>({-1, 1, 1, 2, 3, 4});
    if (Seldom()) config.grad_accumulation = 1 + Below(32);
    config.sequence_parallel = OneOf({YesNo::kYes, YesNo::kNo});
    config.zero = Any<ZeroStage>();
    if (Seldom()) config.zero_group = 1 + Below(8);
    config.recompute = Any<Recompute>();
    if (Seldom()) config.recompute_layers = Below(40);
    if (Seldom()) config.recompute_method = Any<RecomputeMethod>();
    config.recompute_modules =
        OneOf<std::string>({"", "", "", "norm", "norm-mlp", "mpl", "-"});
    config.schedule = Any<Schedule>();
    config.context_algorithm = Any<ContextAlgorithm>();
    config.placement = Any<StagePlacement>();
    if (Seldom()) config.rank_order = "tp-dp-pp";
    if (Seldom() && workload.model.layers > 0) {
      config.stage_layers.assign(static_cast<size_t>(1 + Below(6)),
                                 workload.model.layers / (1 + Below(4)));
    }
    if (Seldom()) {
      const int64_t odd = OneOf<int64_t>({0, -1, -5, 1000, int64_t{1} << 40});
      switch (Below(4)) {
        case 0:
          config.tp = odd;
          break;
        case 1:
          config.micro_batch = odd;
          break;
        case 2:
          config.dp = odd;
          break;
        case 3:
          config.stage_layers.assign(2, odd);
      }
    }
    return config;
  }

 private:
  int64_t Pick(const std::vector<int64_t>& values) {
    return values[static_cast<size_t>(
        Below(static_cast<int64_t>(values.size())))];
  }

  std::mt19937 generator_;
};

// By the rule itself: finding violations would look for new offers.
bool Holds(const std::string& name, const Workload& workload,
           const ParallelConfig& config, int64_t devices) {
  for (absl::Span<const legality::Rule> table :
       {legality::WorkloadRules(), legality::SizeRules(),
        legality::DivisionRules(), legality::TensorRules(),
        legality::ExpertRules(), legality::PipelineRules(),
        legality::StateRules()}) {
    for (const legality::Rule& rule : table) {
      if (name == rule.name) {
        return rule.holds(legality::MakeSubject(workload, config, devices),
                          nullptr);
      }
    }
  }
  return false;
}

TEST_CASE(
    "what is offered mends the rule, and what is nearest is legal, for "
    "10,000 configurations") {
  RandomQuestions random(7);
  int legal = 0;
  int offers = 0;
  int found = 0;
  int not_found = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Workload workload = random.NextWorkload(false);
    const int64_t devices = random.NextDevices(false);
    const ParallelConfig config = random.NextConfig(workload, devices);
    INFO(i << ": "
           << fmt::format("{} | {} | {} devices", workload, config, devices));

    const auto violations = FindViolations(workload, config, devices);
    REQUIRE(violations.empty() == IsLegal(workload, config, devices));
    for (const Violation& violation : violations) {
      for (const Offer& offer : violation.offers) {
        Workload with_offer = workload;
        ParallelConfig changed = config;
        INFO(violation.message);
        REQUIRE(TakeOffer(offer, devices, with_offer, changed).ok());
        REQUIRE(Holds(violation.rule, with_offer, changed, devices));
        ++offers;
      }
    }

    const auto nearest = NearestLegal(workload, config, devices);
    if (violations.empty()) {
      ++legal;
      REQUIRE(nearest.ok());
      REQUIRE(*nearest == config);
    } else if (nearest.ok()) {
      ++found;
      INFO(fmt::format("nearest: {}", *nearest));
      REQUIRE(IsLegal(workload, *nearest, devices));
    } else {
      ++not_found;
      REQUIRE(absl::IsNotFound(nearest.status()));
    }
  }
  // The questions are not all of one kind.
  CHECK(legal > 100);
  CHECK(found > 1000);
  CHECK(not_found > 100);
  CHECK(offers > 10'000);
}

// Tries every configuration of a small space.
bool AnyIsLegal(const Workload& workload, int64_t devices) {
  for (int64_t tp : Divisors(devices)) {
    for (int64_t pp : Divisors(devices / tp)) {
      for (int64_t cp : Divisors(devices / tp / pp)) {
        ParallelConfig config;
        config.dp = devices / tp / pp / cp;
        config.tp = tp;
        config.pp = pp;
        config.cp = cp;
        for (int64_t ep : {-1, 1, 2, 4}) {
          for (int64_t etp : {-1, 1, 2}) {
            for (int64_t micro_batch : {-1, 1, 2}) {
              for (int64_t vpp : {-1, 1, 2}) {
                for (int schedule = 0; schedule < 9; ++schedule) {
                  for (int placement = 0; placement < 5; ++placement) {
                    for (int algorithm = 0; algorithm < 5; ++algorithm) {
                      config.ep = ep;
                      config.etp = etp;
                      config.micro_batch = micro_batch;
                      config.vpp = vpp;
                      config.schedule = static_cast<Schedule>(schedule);
                      config.placement = static_cast<StagePlacement>(placement);
                      config.context_algorithm =
                          static_cast<ContextAlgorithm>(algorithm);
                      if (IsLegal(workload, config, devices)) return true;
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
  }
  return false;
}

TEST_CASE("where nothing is found, an exhaustive search finds nothing") {
  RandomQuestions random(11);
  int not_found = 0;
  for (int i = 0; i < 3000 && not_found < 30; ++i) {
    const Workload workload = random.NextWorkload(true);
    const int64_t devices = random.NextDevices(true);
    const ParallelConfig config = random.NextConfig(workload, devices);
    if (NearestLegal(workload, config, devices).ok()) continue;
    ++not_found;
    INFO(i << ": " << fmt::format("{} | {} devices", workload, devices));
    REQUIRE_FALSE(AnyIsLegal(workload, devices));
  }
  CHECK(not_found >= 30);
}

}  // namespace
}  // namespace lmsimbench
