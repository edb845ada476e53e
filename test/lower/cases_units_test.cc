#include <algorithm>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "lmsimbench/fmt.h"
#include "nlohmann/json.hpp"
#include "test/pipelines.h"

namespace lmsimbench {
namespace {

using Catch::Matchers::Contains;

ParallelConfig Sharded(int64_t dp) {
  ParallelConfig config = Pipeline(1);
  config.dp = dp;
  config.zero = ZeroStage::kParameters;
  return config;
}

// Bytes that the units of all ranks communicate for one micro-batch.
struct Traffic {
  int64_t gather_forward = 0;
  int64_t gather_backward = 0;
  int64_t reduce_scatter = 0;
  int64_t all_reduce = 0;
  int64_t of_experts = 0;
};
Traffic UnitTraffic(const ExecutionGraph& graph) {
  const Program& program = graph.program;
  Traffic traffic;
  const auto bytes = [&](int32_t id) {
    return id < 0 ? 0 : graph.collectives[id].bytes;
  };
  for (const int32_t kind : program.chunk_kind) {
    for (const BlockRun& run : Runs(program, program.chunks[kind])) {
      const Unit& unit = graph.units[run.block];
      const int64_t gather = bytes(unit.gather) + bytes(unit.gather_experts);
      traffic.gather_forward += run.count * gather;
      traffic.gather_backward +=
          unit.is_gathered_again ? run.count * gather : 0;
      traffic.reduce_scatter +=
          run.count * (bytes(unit.reduce) + bytes(unit.reduce_experts));
      traffic.all_reduce += run.count * bytes(unit.reduce_replicas);
      traffic.of_experts += run.count * bytes(unit.gather_experts);
    }
  }
  return traffic;
}

int64_t BlockBytes(const ExecutionGraph& graph, BlockKind kind) {
  int64_t bytes = 0;
  for (size_t b = 0; b < graph.units.size(); ++b) {
    if (graph.program.blocks[b].kind == kind) {
      bytes += graph.units[b].weights_bytes;
    }
  }
  return bytes;
}

// What a ring moves for each rank, without the factor (n - 1) / n: an
// all-reduce counts twice.
TEST_CASE("sharded parameters move half as much again as whole gradients") {
  Workload workload = SmallWorkload(6, 8);
  workload.precision = Precision::kBf16;
  workload.gradient_precision = Precision::kBf16;
  ParallelConfig config = Sharded(4);
  // The head is not found still there under GPipe.
  config.schedule = Schedule::kGPipe;
  const ExecutionGraph graph = Lowered(workload, config);
  const int64_t p = graph.program.stages[0].parameters;
  const Traffic traffic = UnitTraffic(graph);
  CHECK(traffic.gather_forward == 2 * p);
  CHECK(traffic.gather_backward == 2 * p);
  CHECK(traffic.reduce_scatter == 2 * p);
  CHECK(traffic.all_reduce == 0);

  config.zero = ZeroStage::kNone;
  const ExecutionGraph whole = Lowered(workload, config);
  REQUIRE(whole.buckets.size() == 1);
  const Collective& reduce = whole.collectives[whole.buckets[0].reduce];
  REQUIRE(reduce.kind == CollectiveKind::kAllReduce);
  CHECK(2 * (traffic.gather_forward + traffic.gather_backward +
             traffic.reduce_scatter) ==
        3 * (2 * reduce.bytes));
}

TEST_CASE("gradients are reduced as they are stated to be") {
  Workload workload = SmallWorkload(2, 4);
  for (const auto& [precision, gradients, bytes] :
       {std::tuple(Precision::kBf16, Precision::kNotStated, 2),
        std::tuple(Precision::kBf16, Precision::kFp32, 4),
        std::tuple(Precision::kFp16, Precision::kNotStated, 2),
        std::tuple(Precision::kFp32, Precision::kNotStated, 4),
        std::tuple(Precision::kFp32, Precision::kBf16, 2)}) {
    CAPTURE(Name(precision), Name(gradients));
    workload.precision = precision;
    workload.gradient_precision = gradients;
    const ExecutionGraph graph = Lowered(workload, Sharded(4));
    CHECK(UnitTraffic(graph).reduce_scatter ==
          bytes * graph.program.stages[0].parameters);
  }
}

TEST_CASE("a backward pass that follows at once finds the head still there") {
  const Workload workload = SmallWorkload(8, 8);
  const struct {
    int64_t pp;
    int64_t vpp;
    Schedule schedule;
    bool finds;
  } cases[] = {
      {1, 1, Schedule::kNotStated, true},
      {1, 1, Schedule::kGPipe, false},
      {4, 1, Schedule::k1F1B, true},
      {4, 1, Schedule::kGPipe, false},
      {2, 2, Schedule::kInterleaved1F1B, true},
  };
  for (const auto& c : cases) {
    ParallelConfig config = Pipeline(c.pp, c.schedule, c.vpp);
    config.dp = 2;
    config.zero = ZeroStage::kParameters;
    CAPTURE(c.pp, c.vpp, Name(c.schedule));
    const ExecutionGraph graph = Lowered(workload, config);
    const Traffic traffic = UnitTraffic(graph);
    CHECK(traffic.gather_forward - traffic.gather_backward ==
          (c.finds ? BlockBytes(graph, BlockKind::kHead) : 0));
  }
}

TEST_CASE(
    "a head that has no weights of its own keeps those of the embedding") {
  Workload workload = SmallWorkload(4, 4);
  workload.model.tied_embeddings = YesNo::kYes;
  const ExecutionGraph graph = Lowered(workload, Sharded(2));
  int stays = 0;
  for (size_t b = 0; b < graph.units.size(); ++b) {
    if (!graph.units[b].stays) continue;
    ++stays;
    CHECK(graph.program.blocks[b].kind == BlockKind::kEmbedding);
    CHECK(!graph.units[b].is_gathered_again);
  }
  CHECK(stays == 1);
  // Either end of a pipeline has its own.
  ParallelConfig config = Pipeline(2);
  config.dp = 2;
  config.zero = ZeroStage::kParameters;
  for (const Unit& unit : Lowered(workload, config).units) CHECK(!unit.stays);
}

TEST_CASE(
    "hybrid sharding reduces within the group, then across the replicas") {
  const Workload workload = SmallWorkload(4, 16);
  ParallelConfig config = Sharded(8);
  config.zero_group = 4;
  const ExecutionGraph graph = Lowered(workload, config);
  for (const Unit& unit : graph.units) {
    REQUIRE(unit.gather >= 0);
    REQUIRE(unit.reduce >= 0);
    REQUIRE(unit.reduce_replicas >= 0);
    CHECK(graph.collectives[unit.gather].group == Group::kShard);
    CHECK(graph.collectives[unit.reduce].group == Group::kShard);
    const Collective& replicas = graph.collectives[unit.reduce_replicas];
    CHECK(replicas.kind == CollectiveKind::kAllReduce);
    CHECK(replicas.group == Group::kReplica);
    CHECK(replicas.bytes == unit.gradients_bytes / 4);
  }
  for (const Unit& unit : Lowered(workload, Sharded(8)).units) {
    CHECK(unit.reduce_replicas == -1);
  }
}

TEST_CASE("experts are gathered from the ranks that hold the same ones") {
  Workload workload = SmallWorkload(4, 8);
  workload.model.experts = 8;
  workload.model.top_k = 2;
  workload.model.expert_ffn = 256;
  ParallelConfig config = Sharded(8);
  for (const int64_t ep : {1, 2, 8}) {
    config.ep = ep;
    CAPTURE(ep);
    const ExecutionGraph graph = Lowered(workload, config);
    // Of all experts of the model one in ep, over 8 / ep ranks.
    const int64_t of_device = graph.program.stages[0].expert_parameters;
    CHECK(of_device == 4 * 8 / ep * 3 * 512 * 256);
    CHECK(UnitTraffic(graph).of_experts == (ep == 8 ? 0 : 2 * of_device));
    for (const Unit& unit : graph.units) {
      if (unit.gather_experts < 0) continue;
      CHECK(graph.collectives[unit.gather_experts].group == Group::kExpertData);
      CHECK(graph.collectives[unit.reduce_experts].group == Group::kExpertData);
    }
  }
}

TEST_CASE("one rank alone shares its parameters with nobody") {
  const ExecutionGraph graph = Lowered(SmallWorkload(4, 4), Sharded(1));
  CHECK(graph.units.empty());
  CHECK(graph.buckets.empty());
}

TEST_CASE("units run ahead and beside unless told not to") {
  const Workload workload = SmallWorkload(2, 4);
  ParallelConfig config = Sharded(2);
  for (const YesNo gather : {YesNo::kNotStated, YesNo::kNo, YesNo::kYes}) {
    for (const YesNo reduce : {YesNo::kNotStated, YesNo::kNo, YesNo::kYes}) {
      config.overlap_param_gather = gather;
      config.overlap_grad_reduce = reduce;
      const ExecutionGraph graph = Lowered(workload, config);
      CHECK(graph.overlaps.param_gather == (gather != YesNo::kNo));
      CHECK(graph.overlaps.grad_reduce == (reduce != YesNo::kNo));
      const bool chosen =
          gather == YesNo::kNotStated || reduce == YesNo::kNotStated;
      CHECK(graph.program.Assumes(Assumption::kUnitsAhead) == chosen);
    }
  }
}

TEST_CASE("units are told as text and as JSON") {
  ParallelConfig config = Sharded(8);
  config.zero_group = 4;
  const ExecutionGraph graph = Lowered(SmallWorkload(4, 8), config);
  const std::string text = ToText(graph);
  CHECK_THAT(text, Contains("units, one a block") &&
                       Contains("there still in the backward pass") &&
                       Contains("6 units gathered for the forward and 5 for "
                                "the backward passes of a micro-batch"));
  const auto json = nlohmann::json::parse(ToJson(graph));
  REQUIRE(json["units"].size() == graph.units.size());
  CHECK(json["units"][0]["weights_bytes"] == graph.units[0].weights_bytes);
  CHECK(json["buckets"].empty());
}

}  // namespace
}  // namespace lmsimbench
