#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "lmsimbench/cost_models.h"
#include "test/cost/fixed_model.h"

namespace lmsimbench {
namespace {

using Catch::Matchers::Contains;

constexpr int64_t kBytes = 100'000'000;

// Full bandwidth, no latency.
CollectiveParameters Ideal(
    CollectiveAlgorithm algorithm = CollectiveAlgorithm::kBest) {
  CollectiveParameters ideal;
  ideal.algorithm = algorithm;
  ideal.node_efficiency = 1;
  ideal.network_efficiency = 1;
  ideal.base_s = 0;
  ideal.node_step_s = 0;
  ideal.network_step_s = 0;
  return ideal;
}

double Seconds(const CollectiveParameters& parameters,
               const SpannedCollective& spanned,
               const System& system = TestSystem()) {
  return CostOf(*MakeCollectiveModel(parameters), system, spanned).seconds;
}

TEST_CASE(
    "A ring all-reduce of 100 MB over 8 devices at 50 GB/s takes 3.5 ms") {
  // 2 * (7/8) * 100 MB / 50 GB/s
  CHECK(Seconds(Ideal(CollectiveAlgorithm::kRing),
                Spanned(CollectiveKind::kAllReduce, kBytes, 8)) ==
        Approx(3.5e-3));
  // and 14 steps of 1 us each, after 5 us.
  CollectiveParameters parameters = Ideal(CollectiveAlgorithm::kRing);
  parameters.base_s = 5e-6;
  parameters.node_step_s = 1e-6;
  CHECK(Seconds(parameters, Spanned(CollectiveKind::kAllReduce, kBytes, 8)) ==
        Approx(3.5e-3 + 5e-6 + 14e-6));
}

TEST_CASE("Gather and scatter take half an all-reduce") {
  for (CollectiveKind kind :
       {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter}) {
    CHECK(Seconds(Ideal(), Spanned(kind, kBytes, 8)) == Approx(1.75e-3));
  }
}

TEST_CASE("A pairwise exchange inside a node sends to seven others") {
  CHECK(Seconds(Ideal(), Spanned(CollectiveKind::kAllToAll, kBytes, 8)) ==
        Approx(1.75e-3));
}

TEST_CASE("A send takes its bytes over the link") {
  CHECK(Seconds(Ideal(), Spanned(CollectiveKind::kSendReceive, kBytes, 2)) ==
        Approx(2e-3));
  CHECK(Seconds(Ideal(), Spanned(CollectiveKind::kSendReceive, kBytes, 1, 2)) ==
        Approx(10e-3));
}

TEST_CASE("Round a ring each sends to the next over a link of its own") {
  // 8 members in each of 4 nodes: the slowest hop leaves a node at 10 GB/s.
  CHECK(Seconds(Ideal(), Spanned(CollectiveKind::kSendReceive, kBytes, 8, 4)) ==
        Approx(10e-3));
  CHECK(Seconds(Ideal(), Spanned(CollectiveKind::kSendReceive, kBytes, 8)) ==
        Approx(2e-3));
}

TEST_CASE("A fabric that joins nodes is as good as inside them") {
  System system = TestSystem();
  system.network[0].link = "NVLink";
  system.network[1] = system.network[0];
  CollectiveParameters parameters = Ideal();
  parameters.node_efficiency = 0.5;
  parameters.network_efficiency = 0.1;
  parameters.network_step_s = 1;
  CHECK(Seconds(parameters, Spanned(CollectiveKind::kSendReceive, kBytes, 1, 2),
                system) == Approx(4e-3));
}

TEST_CASE("A tree moves the whole tensor up and down") {
  CHECK(Seconds(Ideal(CollectiveAlgorithm::kTree),
                Spanned(CollectiveKind::kAllReduce, kBytes, 8)) ==
        Approx(2 * kBytes / 50e9));
  // With one member in each of 16 nodes: 2 * log2(16) steps.
  CollectiveParameters parameters = Ideal(CollectiveAlgorithm::kTree);
  parameters.network_step_s = 1e-3;
  CHECK(Seconds(parameters, Spanned(CollectiveKind::kAllReduce, 8, 1, 16)) ==
        Approx(8e-3).epsilon(1e-4));
}

TEST_CASE("A hierarchical all-reduce adds its parts inside and across nodes") {
  // 8 members in each of 4 nodes: reduce-scatter and all-gather inside at
  // 50 GB/s, all-reduce across at 8 * 10 GB/s.
  const double inside = 2 * 7.0 / 8 * kBytes / 50e9;
  const double across = 2 * 3.0 / 4 * kBytes / 80e9;
  CHECK(Seconds(Ideal(CollectiveAlgorithm::kHierarchical),
                Spanned(CollectiveKind::kAllReduce, kBytes, 8, 4)) ==
        Approx(inside + across));
  CHECK(Seconds(Ideal(CollectiveAlgorithm::kHierarchical),
                Spanned(CollectiveKind::kAllGather, kBytes, 8, 4)) ==
        Approx((inside + across) / 2));
}

TEST_CASE("The best algorithm is the fastest of those that apply") {
  const auto seconds = [](CollectiveAlgorithm algorithm, int64_t bytes) {
    CollectiveParameters parameters;
    parameters.algorithm = algorithm;
    return Seconds(parameters,
                   Spanned(CollectiveKind::kAllReduce, bytes, 8, 64));
  };
  for (int64_t bytes : {int64_t{1024}, kBytes, 100 * kBytes}) {
    const double ring = seconds(CollectiveAlgorithm::kRing, bytes);
    const double tree = seconds(CollectiveAlgorithm::kTree, bytes);
    const double both = seconds(CollectiveAlgorithm::kHierarchical, bytes);
    CHECK(seconds(CollectiveAlgorithm::kBest, bytes) ==
          std::min({ring, tree, both}));
  }
  // Few bytes over many nodes: a tree has fewer steps.
  CHECK(seconds(CollectiveAlgorithm::kTree, 1024) <
        seconds(CollectiveAlgorithm::kRing, 1024));
}

TEST_CASE("An algorithm that does not apply leaves the question open") {
  const auto pairwise =
      MakeCollectiveModel(Ideal(CollectiveAlgorithm::kPairwise));
  CHECK(CostOf(*pairwise, TestSystem(),
               Spanned(CollectiveKind::kAllReduce, kBytes, 8))
            .evidence == Evidence::kNotAnswered);
  CHECK(CostOf(*pairwise, TestSystem(),
               Spanned(CollectiveKind::kAllToAll, kBytes, 8))
            .evidence == Evidence::kAnalytic);
  const auto tree = MakeCollectiveModel(Ideal(CollectiveAlgorithm::kTree));
  CHECK(CostOf(*tree, TestSystem(),
               Spanned(CollectiveKind::kAllGather, kBytes, 8))
            .evidence == Evidence::kNotAnswered);
}

TEST_CASE("Groups that share a node's links get their part of them") {
  // One member in each of 2 nodes of 8 devices: 10 GB/s shared, 80 GB/s alone.
  const SpannedCollective spanned =
      Spanned(CollectiveKind::kAllGather, kBytes, 1, 2);
  CollectiveParameters parameters = Ideal();
  CHECK(Seconds(parameters, spanned) == Approx(kBytes / 2 / 10e9));
  parameters.share_links = false;
  CHECK(Seconds(parameters, spanned) == Approx(kBytes / 2 / 80e9));
  // A group that fills its nodes has all links either way.
  const SpannedCollective full =
      Spanned(CollectiveKind::kAllGather, kBytes, 8, 2);
  const double alone = Seconds(parameters, full);
  parameters.share_links = true;
  CHECK(Seconds(parameters, full) == alone);
}

TEST_CASE("The narrowest level on the way limits a group") {
  System system = TestSystem();
  NetworkLevel spine;
  spine.name = "spine";
  spine.bandwidth = 5e9;
  system.network.push_back(spine);
  SpannedCollective spanned = Spanned(CollectiveKind::kAllGather, kBytes, 1, 2);
  CHECK(Seconds(Ideal(), spanned, system) == Approx(kBytes / 2 / 10e9));
  spanned.span.level = 2;
  CHECK(Seconds(Ideal(), spanned, system) == Approx(kBytes / 2 / 5e9));
  system.network[2].bandwidth = 100e9;
  CHECK(Seconds(Ideal(), spanned, system) == Approx(kBytes / 2 / 10e9));
}

TEST_CASE("A stated latency takes the place of the default step") {
  System system = TestSystem();
  system.network[0].latency_s = 3e-6;
  CollectiveParameters parameters = Ideal(CollectiveAlgorithm::kRing);
  parameters.node_step_s = 1;
  CHECK(Seconds(parameters, Spanned(CollectiveKind::kAllGather, 8, 4),
                system) == Approx(9e-6).epsilon(1e-3));
}

TEST_CASE("A faster link is never slower") {
  for (CollectiveKind kind :
       {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
        CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll,
        CollectiveKind::kBroadcast, CollectiveKind::kSendReceive}) {
    for (int64_t nodes : {1, 2, 5}) {
      for (int64_t per_node : {1, 2, 8}) {
        if (per_node * nodes == 1) continue;
        const SpannedCollective spanned =
            Spanned(kind, kBytes, per_node, nodes);
        for (size_t level : {0, 1}) {
          System system = TestSystem();
          double last = Seconds({}, spanned, system);
          for (int step = 0; step < 8; ++step) {
            system.network[level].bandwidth *= 1.7;
            const double seconds = Seconds({}, spanned, system);
            REQUIRE(seconds <= last);
            last = seconds;
          }
        }
      }
    }
  }
}

TEST_CASE("What the system does not state is named") {
  const auto model = MakeCollectiveModel();
  System system = TestSystem();
  system.network[0].bandwidth = kNoNumber;
  absl::Status status =
      StatusOf(*model, system, Spanned(CollectiveKind::kAllReduce, kBytes, 8));
  CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(status.message()),
             Contains("no bandwidth of network level 0 'node'"));
  // A group with one member in each node does not need it.
  CHECK(StatusOf(*model, system,
                 Spanned(CollectiveKind::kAllReduce, kBytes, 1, 2))
            .ok());
  system.network.resize(1);
  status = StatusOf(*model, system,
                    Spanned(CollectiveKind::kAllReduce, kBytes, 1, 2));
  CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(status.message()), Contains("needs level 1"));
}

TEST_CASE("Links of a node that states none go with its memory") {
  CollectiveParameters parameters = Ideal(CollectiveAlgorithm::kRing);
  parameters.unstated_bandwidth = 25e9;
  System system = TestSystem();
  for (NetworkLevel& level : system.network) level.bandwidth = kNoNumber;
  system.accelerator.memory_bandwidth = 1600e9;
  const auto seconds = [&](int64_t members) {
    return Seconds(parameters,
                   Spanned(CollectiveKind::kAllReduce, kBytes, members),
                   system);
  };
  CHECK(seconds(8) == Approx(2 * 7.0 / 8 * kBytes / 25e9));
  parameters.unstated_node_share = 1.0 / 8;
  CHECK(seconds(8) == Approx(2 * 7.0 / 8 * kBytes / 200e9));
  // What is stated counts, and a device that says nothing of its memory.
  system.network.front().bandwidth = 50e9;
  CHECK(seconds(8) == Approx(2 * 7.0 / 8 * kBytes / 50e9));
  system.network.front().bandwidth = kNoNumber;
  system.accelerator.memory_bandwidth = kNoNumber;
  CHECK(seconds(8) == Approx(2 * 7.0 / 8 * kBytes / 25e9));
}

TEST_CASE("Fitted parameters hold for their own network") {
  CollectiveParameters half = Ideal();
  half.node_efficiency = 0.5;
  const auto model = MakeCollectiveModel(Ideal(), {{TestSystem(), half}});
  const SpannedCollective spanned =
      Spanned(CollectiveKind::kAllGather, kBytes, 8);
  CHECK(CostOf(*model, TestSystem(), spanned).seconds == Approx(3.5e-3));
  System faster = TestSystem();
  faster.network[0].bandwidth *= 2;
  CHECK(CostOf(*model, faster, spanned).seconds == Approx(0.875e-3));
}

}  // namespace
}  // namespace lmsimbench
