#include <cmath>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "lmsimbench/pipeline.h"
#include "test/cost/fixed_model.h"

namespace lmsimbench {
namespace {

using Catch::Matchers::Contains;

// Three classes. Tensor-parallel groups of the first and last lie in one node,
// those of the second span two; all have the same data-parallel span; nobody
// has a replica.
ExecutionGraph TinyGraph() {
  ExecutionGraph graph;
  graph.program.operators = {Matmul(64, 64, 64), Matmul(128, 64, 64)};
  graph.collectives = {
      {CollectiveKind::kAllReduce, Group::kTensor, 1000},
      {CollectiveKind::kAllReduce, Group::kReplica, 2000},
      {CollectiveKind::kAllGather, Group::kData, 3000},
      {CollectiveKind::kReduceScatter, Group::kTensor, 4000},
  };
  // One chunk that nothing runs through.
  graph.chunks.resize(1);
  graph.schedule_begin = {0, 0};
  Placement& placement = graph.placement;
  placement.system = TestSystem();
  placement.spans = {
      Spanned(CollectiveKind::kAllReduce, 0, 4, 2).span,
      Spanned(CollectiveKind::kAllReduce, 0, 8, 1).span,
      Spanned(CollectiveKind::kAllReduce, 0, 2, 1).span,
      Span{},
  };
  placement.classes.resize(3);
  for (RankClass& rank_class : placement.classes) {
    rank_class.span.fill(3);
    rank_class.span[static_cast<int>(Group::kTensor)] = 1;
    rank_class.span[static_cast<int>(Group::kData)] = 2;
  }
  placement.classes[1].span[static_cast<int>(Group::kTensor)] = 0;
  return graph;
}

// A cost that depends on what is asked, and is no multiple of 2^-40.
FixedModel Distinct() {
  FixedModel model({0, Evidence::kAnalytic});
  model.of_operator = [](const Operator& op) {
    return Cost{1e-9 * static_cast<double>(op.m) / 3, Evidence::kAnalytic};
  };
  model.of_collective = [](const SpannedCollective& spanned) {
    return Cost{1e-9 * static_cast<double>(spanned.collective.bytes) *
                    static_cast<double>(100 * spanned.span.nodes +
                                        spanned.span.members),
                Evidence::kMeasured};
  };
  return model;
}

double Rounded(double seconds) {
  return std::nearbyint(std::ldexp(seconds, 40)) / std::ldexp(1, 40);
}

TEST_CASE("Every class finds the cost of its own span") {
  const auto costed = CostGraph(TinyGraph(), Distinct());
  REQUIRE(costed.ok());
  // Two spans of the tensor groups, one of each other.
  CHECK(costed->spanned.size() == 6);
  CHECK(costed->collective_begin == std::vector<int32_t>{0, 2, 3, 4});
  // 1 us a thousand bytes, times 108 in one node and 208 in two.
  CHECK(CollectiveSeconds(*costed, 0, 0) == Rounded(108e-6));
  CHECK(CollectiveSeconds(*costed, 0, 1) == Rounded(208e-6));
  CHECK(CollectiveSeconds(*costed, 0, 2) == Rounded(108e-6));
  CHECK(CollectiveSeconds(*costed, 3, 1) == Rounded(4 * 208e-6));
  CHECK(CollectiveSeconds(*costed, 2, 1) == Rounded(3 * 102e-6));
  CHECK(CollectiveSeconds(*costed, -1, 1) == 0);
  CHECK(costed->spanned[SpannedIndex(*costed, 0, 1)].span.nodes == 2);
}

TEST_CASE("Seconds are rounded to the nearest multiple of 2^-40") {
  const auto costed = CostGraph(TinyGraph(), Distinct());
  REQUIRE(costed.ok());
  for (const std::vector<Cost>* costs :
       {&costed->operators, &costed->collectives}) {
    for (const Cost& cost : *costs) {
      const double ticks = std::ldexp(cost.seconds, 40);
      CHECK(ticks == std::floor(ticks));
    }
  }
  CHECK(std::abs(costed->operators[1].seconds - 128e-9 / 3) <=
        std::ldexp(1, -41));
}

TEST_CASE("A group of one costs nothing and is not asked about") {
  FixedModel model = Distinct();
  const auto costed = CostGraph(TinyGraph(), model);
  REQUIRE(costed.ok());
  const Cost& replica = costed->collectives[costed->collective_begin[1]];
  CHECK(replica.seconds == 0);
  CHECK(replica.evidence == Evidence::kAnalytic);
  CHECK(model.asked == 2 + 5);
}

TEST_CASE("What no model answers is refused by name") {
  FixedModel model = Distinct();
  model.of_operator = [](const Operator& op) {
    return op.m == 128 ? Cost{} : Cost{1e-6, Evidence::kAnalytic};
  };
  absl::Status status = CostGraph(TinyGraph(), model).status();
  CHECK(status.code() == absl::StatusCode::kUnimplemented);
  CHECK_THAT(std::string(status.message()),
             Contains("'fixed'") && Contains("128 x 64 x 64"));

  model = Distinct();
  model.of_collective = [](const SpannedCollective& spanned) {
    return spanned.span.nodes == 2 ? Cost{} : Cost{1e-6, Evidence::kAnalytic};
  };
  status = CostGraph(TinyGraph(), model).status();
  CHECK(status.code() == absl::StatusCode::kUnimplemented);
  CHECK_THAT(
      std::string(status.message()),
      Contains("all_reduce of 1000 bytes over 8 tensor ranks in 2 nodes"));
}

TEST_CASE("A failing model stops the stage with its own code") {
  FixedModel model = Distinct();
  model.status = absl::FailedPreconditionError("no bandwidth");
  CHECK(CostGraph(TinyGraph(), model).status().code() ==
        absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("A graph that was used before holds nothing of the other") {
  CostedGraph costed;
  REQUIRE(CostGraphInto(TinyGraph(), Distinct(), costed).ok());
  ExecutionGraph small = TinyGraph();
  small.program.operators.resize(1);
  small.collectives.resize(1);
  small.placement.classes.resize(1);
  REQUIRE(CostGraphInto(small, Distinct(), costed).ok());
  CHECK(costed.operators.size() == 1);
  CHECK(costed.spanned.size() == 1);
  CHECK(costed.collectives.size() == 1);
  CHECK(costed.collective_begin.size() == 1);
  CHECK(costed.span_ordinal.size() == kGroups);
}

TEST_CASE("A second graph of the same size takes no new memory") {
  CostedGraph costed;
  const ExecutionGraph graph = TinyGraph();
  const FixedModel model = Distinct();
  REQUIRE(CostGraphInto(graph, model, costed).ok());
  const auto memory = [&costed]() {
    return std::vector<const void*>{costed.operators.data(),
                                    costed.spanned.data(),
                                    costed.collectives.data(),
                                    costed.collective_begin.data(),
                                    costed.span_ordinal.data(),
                                    costed.graph.collectives.data(),
                                    costed.graph.program.operators.data(),
                                    costed.graph.placement.classes.data()};
  };
  const std::vector<const void*> before = memory();
  REQUIRE(CostGraphInto(graph, model, costed).ok());
  CHECK(memory() == before);
}

TEST_CASE("The dump shows every cost with its evidence and rates") {
  const auto costed = CostGraph(TinyGraph(), Distinct());
  REQUIRE(costed.ok());
  const std::string text = ToText(*costed);
  CHECK_THAT(text, Contains("mlp up, forward, bf16, 128 x 64 x 64"));
  CHECK_THAT(text, Contains("208.000") && Contains("measured"));
  const std::string json = ToJson(*costed);
  CHECK_THAT(json, Contains("\"evidence\": \"analytic\"") &&
                       Contains("\"flops_per_s\"") &&
                       Contains("\"members_per_node\": 4"));
}

}  // namespace
}  // namespace lmsimbench
