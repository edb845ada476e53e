#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "catch2/catch.hpp"
#include "test/pipelines.h"

namespace lmsimbench {
namespace {

NetworkLevel Level(const std::string& name, int64_t size) {
  NetworkLevel level;
  level.name = name;
  level.size = size;
  return level;
}

// Nodes of 8 devices, as many as there are.
System Nodes() {
  System system;
  system.name = "cluster of eights";
  system.network = {Level("node", 8), Level("cluster", kNoCount)};
  return system;
}

ParallelConfig Config(int64_t tp, int64_t dp, int64_t pp) {
  ParallelConfig config;
  config.tp = tp;
  config.dp = dp;
  config.pp = pp;
  return config;
}

Span SpanOf(const Placement& placement, Group group, int64_t rank) {
  const RankClass& rank_class = placement.classes[ClassOf(placement, rank)];
  return placement.spans[rank_class.span[static_cast<size_t>(group)]];
}

bool Is(const Span& span, int64_t members, int64_t nodes,
        int64_t members_per_node, int32_t level) {
  return span == Span{members, nodes, members_per_node, level};
}

void CheckRefused(const absl::StatusOr<Placement>& placement,
                  absl::StatusCode code,
                  const std::vector<std::string>& words) {
  REQUIRE(placement.status().code() == code);
  for (const std::string& word : words) {
    INFO(word << " in: " << placement.status().ToString());
    CHECK(absl::StrContains(placement.status().message(), word));
  }
}

}  // namespace

TEST_CASE("tensor ranks are neighbours, stages lie farthest apart by default") {
  const Placement placement = Placed(Config(8, 4, 2), Nodes());
  CHECK(Ranks(placement) == 64);
  CHECK(placement.tp_stride == 1);
  CHECK(placement.dp_stride == 8);
  CHECK(placement.pp_stride == 32);
  // 45 = 5 + 8 * 1 + 32 * 1.
  const Coordinates c = CoordinatesOf(placement, 45);
  CHECK(c.tp == 5);
  CHECK(c.cp == 0);
  CHECK(c.dp == 1);
  CHECK(c.pp == 1);
  CHECK(RankOf(placement, c) == 45);
}

TEST_CASE("an empty rank order is the default one") {
  ParallelConfig config = Config(8, 4, 2);
  config.rank_order = "";
  CHECK(Placed(config, Nodes()).pp_stride == 32);
}

TEST_CASE("strides follow from the rank order, in which experts take no rank") {
  ParallelConfig config = Config(2, 3, 4);
  config.cp = 5;
  config.ep = 3;
  config.rank_order = "pp-ep-dp-tp-cp";
  const Placement placement = Placed(config, Nodes());
  CHECK(placement.pp_stride == 1);
  CHECK(placement.dp_stride == 4);
  CHECK(placement.tp_stride == 12);
  CHECK(placement.cp_stride == 24);
}

TEST_CASE("a rank order that does not name each parallelism once is refused") {
  for (const char* order :
       {"tp-cp-dp-pp", "tp-cp-ep-dp-pp-tp", "tp", "-", "tp-cp-ep-dp-dp",
        "tp,cp,ep,dp,pp", "TP-cp-ep-dp-pp", "tp-cp-ep-dp-pp-",
        "sp-cp-ep-dp-pp"}) {
    ParallelConfig config = Config(2, 2, 2);
    config.rank_order = order;
    CheckRefused(Place(config, Nodes()), absl::StatusCode::kInvalidArgument,
                 {order, "tp, cp, ep, dp, pp"});
  }
}

TEST_CASE("a size below 1 is refused by name") {
  CheckRefused(Place(Config(2, 0, 2), Nodes()),
               absl::StatusCode::kInvalidArgument, {"dp", "0"});
  CheckRefused(Place(Config(-1, 2, 2), Nodes()),
               absl::StatusCode::kInvalidArgument, {"tp", "-1"});
}

TEST_CASE("more ranks than can be counted are refused") {
  const int64_t huge = int64_t{1} << 40;
  CheckRefused(Place(Config(huge, huge, huge), Nodes()),
               absl::StatusCode::kInvalidArgument, {"ranks"});
}

TEST_CASE("8 ranks on a system of 128 devices are refused, on a part placed") {
  System system = Nodes();
  system.devices = 128;
  const ParallelConfig config = Config(2, 2, 2);
  CheckRefused(Place(config, system), absl::StatusCode::kInvalidArgument,
               {"8", "128", "SubTopology"});

  const absl::StatusOr<System> part = SubTopology(system, 8);
  REQUIRE(part.ok());
  CHECK(part->devices == 8);
  CHECK(part->network == system.network);
  CHECK(Ranks(Placed(config, *part)) == 8);
}

TEST_CASE("more ranks than devices are refused") {
  System system = Nodes();
  system.devices = 4;
  CheckRefused(Place(Config(2, 2, 2), system),
               absl::StatusCode::kInvalidArgument, {"8", "4"});
}

TEST_CASE("a part is at least one device and at most what the system states") {
  System system = Nodes();
  system.devices = 128;
  CHECK(SubTopology(system, 128).ok());
  CHECK(SubTopology(system, 1).ok());
  for (int64_t devices : {int64_t{129}, int64_t{0}, int64_t{-1}}) {
    const absl::Status status = SubTopology(system, devices).status();
    CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    CHECK(absl::StrContains(status.message(), std::to_string(devices)));
  }
  // A system that states no number has as many as one wants.
  CHECK(SubTopology(Nodes(), 4096)->devices == 4096);
}

TEST_CASE("one device needs no network, two do") {
  System system;
  system.name = "lonely";
  const Placement placement = Placed(Config(1, 1, 1), system);
  REQUIRE(placement.spans.size() == 1);
  CHECK(placement.spans[0] == Span());
  CHECK(placement.classes.size() == 1);
  CheckRefused(Place(Config(2, 1, 1), system),
               absl::StatusCode::kFailedPrecondition,
               {"2 devices", "lonely", "network"});
}

TEST_CASE("ranks beyond the outermost level are refused by its name") {
  System system;
  system.network = {Level("node", 8), Level("pod", 4)};
  CHECK(Place(Config(8, 4, 1), system).ok());
  CheckRefused(Place(Config(8, 5, 1), system),
               absl::StatusCode::kFailedPrecondition, {"pod", "32", "40"});
}

TEST_CASE("a level of no stated size joins all there are") {
  System system;
  system.network = {Level("node", kNoCount)};
  const Placement placement = Placed(Config(8, 16, 8), system);
  CHECK(Is(SpanOf(placement, Group::kModel, 0), 64, 1, 64, 0));
  CHECK(Is(SpanOf(placement, Group::kData, 0), 16, 1, 16, 0));
}

TEST_CASE("a level of size 0 is refused by name") {
  System system;
  system.network = {Level("node", 8), Level("pod", 0)};
  CheckRefused(Place(Config(8, 1, 1), system),
               absl::StatusCode::kInvalidArgument, {"pod", "0"});
}

TEST_CASE("spans of 64 devices in nodes of 8") {
  const Placement placement = Placed(Config(4, 4, 4), Nodes());
  // Ranks tp + 4 dp + 16 pp: a tensor group is half a node, a data group holds
  // 2 ranks in each of 2 nodes, stages are 2 nodes apart.
  CHECK(Is(SpanOf(placement, Group::kTensor, 0), 4, 1, 4, 0));
  CHECK(Is(SpanOf(placement, Group::kData, 0), 4, 2, 2, 1));
  CHECK(Is(SpanOf(placement, Group::kShard, 0), 4, 2, 2, 1));
  CHECK(Is(SpanOf(placement, Group::kReplica, 0), 1, 1, 1, 0));
  CHECK(Is(SpanOf(placement, Group::kPipeline, 0), 2, 2, 1, 1));
  CHECK(Is(SpanOf(placement, Group::kEmbedding, 0), 2, 2, 1, 1));
  CHECK(Is(SpanOf(placement, Group::kModel, 0), 16, 4, 4, 1));
  REQUIRE(placement.classes.size() == 4);
  for (const RankClass& rank_class : placement.classes) {
    CHECK(rank_class.ranks == 16);
  }
}

TEST_CASE("16384 ranks in nodes of 8 have one class a stage") {
  const Placement placement = Placed(Config(8, 128, 16), Nodes());
  CHECK(placement.classes.size() == 16);
  CHECK(placement.pipeline_kinds.size() == 1);
  CHECK(placement.classes[3].ranks == 1024);
  CHECK(Is(SpanOf(placement, Group::kTensor, 0), 8, 1, 8, 0));
  CHECK(Is(SpanOf(placement, Group::kData, 0), 128, 128, 1, 1));
  CHECK(Is(SpanOf(placement, Group::kModel, 0), 128, 16, 8, 1));
  CHECK(SpanOf(placement, Group::kWorld, 0).members == Ranks(placement));
}

TEST_CASE("tensor groups of 6 lie in one node of 8 or in two") {
  const Placement placement = Placed(Config(6, 4, 1), Nodes());
  // They begin at 0, 6, 12 and 18; nodes at 0, 8 and 16.
  CHECK(Is(SpanOf(placement, Group::kTensor, 0), 6, 1, 6, 0));
  CHECK(Is(SpanOf(placement, Group::kTensor, 6), 6, 2, 4, 1));
  CHECK(Is(SpanOf(placement, Group::kTensor, 12), 6, 2, 4, 1));
  CHECK(Is(SpanOf(placement, Group::kTensor, 18), 6, 1, 6, 0));
  CHECK(placement.pipeline_kinds == std::vector<int32_t>{0, 1, 1, 0});
  REQUIRE(placement.classes.size() == 2);
  CHECK(placement.classes[0].ranks == 12);
  CHECK(placement.classes[1].ranks == 12);
}

TEST_CASE("the slowest of the tensor ranks' groups stands for the class") {
  // Ranks tp + 3 dp of 3 * 2 in nodes of 4: data groups {0, 3}, {1, 4}, {2, 5},
  // the first within a node.
  System system;
  system.network = {Level("node", 4), Level("cluster", kNoCount)};
  const Placement placement = Placed(Config(3, 2, 1), system);
  CHECK(Is(SpanOf(placement, Group::kData, 0), 2, 2, 1, 1));
}

TEST_CASE(
    "shards lie in parts of the data-parallel group where that is asked") {
  ParallelConfig config = Config(1, 32, 1);
  config.zero = ZeroStage::kDistributedOptimizer;
  config.zero_group = 8;
  Placement placement = Placed(config, Nodes());
  CHECK(placement.shard_ranks == 8);
  CHECK(Is(SpanOf(placement, Group::kShard, 0), 8, 1, 8, 0));
  CHECK(Is(SpanOf(placement, Group::kReplica, 0), 4, 4, 1, 1));
  CHECK(GroupMembers(placement, Group::kShard, 13) ==
        std::vector<int64_t>{8, 9, 10, 11, 12, 13, 14, 15});
  CHECK(GroupMembers(placement, Group::kReplica, 13) ==
        std::vector<int64_t>{5, 13, 21, 29});

  config.zero_group = 64;
  CHECK(Placed(config, Nodes()).shard_ranks == 32);
  config.zero_group = 8;
  config.zero = ZeroStage::kNone;
  CHECK(Placed(config, Nodes()).shard_ranks == 32);
}

TEST_CASE("a shard group that does not divide the replicas is refused") {
  ParallelConfig config = Config(1, 6, 1);
  config.zero = ZeroStage::kOptimizerState;
  config.zero_group = 4;
  CheckRefused(Place(config, Nodes()), absl::StatusCode::kInvalidArgument,
               {"zero_group 4", "dp 6"});
  config.zero_group = 0;
  CheckRefused(Place(config, Nodes()), absl::StatusCode::kInvalidArgument,
               {"zero_group is 0"});
  // 4 divides the 12 ranks that hold the same parameters: two rows of the 2
  // that vary fastest.
  config.zero_group = 4;
  config.cp = 2;
  CHECK(GroupMembers(Placed(config, Nodes()), Group::kShard, 6) ==
        std::vector<int64_t>{4, 5, 6, 7});
  // Of 4 that vary fastest 6 are neither a part nor a multiple.
  config.zero_group = 6;
  config.cp = 4;
  CheckRefused(Place(config, Nodes()), absl::StatusCode::kUnimplemented,
               {"zero_group 6", "cp 4"});
}

TEST_CASE("experts divide the ranks of a stage anew, consecutive ones first") {
  // 16 ranks a stage as tp 2 * cp 2 * dp 4, and as etp 1 * ep 8 * 2.
  ParallelConfig config = Config(2, 4, 2);
  config.cp = 2;
  config.ep = 8;
  config.etp = 1;
  const Placement placement = Placed(config, Nodes());
  using Ranks = std::vector<int64_t>;
  CHECK(GroupMembers(placement, Group::kExpert, 3) ==
        Ranks{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(GroupMembers(placement, Group::kExpertTensor, 3) == Ranks{3});
  CHECK(GroupMembers(placement, Group::kExpertData, 3) == Ranks{3, 11});
  CHECK(GroupMembers(placement, Group::kExpertData, 20) == Ranks{20, 28});
  CHECK(GroupMembers(placement, Group::kContext, 3) == Ranks{1, 3});
  CHECK(GroupMembers(placement, Group::kData, 3) ==
        Ranks{1, 3, 5, 7, 9, 11, 13, 15});
  CHECK(Is(SpanOf(placement, Group::kExpert, 0), 8, 1, 8, 0));
  CHECK(Is(SpanOf(placement, Group::kExpertData, 0), 2, 2, 1, 1));
}

TEST_CASE("tensor ranks of experts are neighbours, as those of other layers") {
  ParallelConfig config = Config(4, 8, 1);
  config.ep = 4;
  config.etp = 2;
  const Placement placement = Placed(config, Nodes());
  using Ranks = std::vector<int64_t>;
  CHECK(GroupMembers(placement, Group::kExpertTensor, 5) == Ranks{4, 5});
  CHECK(GroupMembers(placement, Group::kExpert, 5) == Ranks{1, 3, 5, 7});
  CHECK(GroupMembers(placement, Group::kExpertRegion, 5) ==
        Ranks{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(GroupMembers(placement, Group::kExpertData, 5) == Ranks{5, 13, 21, 29});
}

TEST_CASE("TP 1 with EP > 1: every rank is in one expert group, none twice") {
  ParallelConfig config = Config(1, 8, 2);
  config.ep = 4;
  config.etp = 1;
  const Placement placement = Placed(config, Nodes());
  for (const Group group : {Group::kExpert, Group::kExpertTensor,
                            Group::kExpertRegion, Group::kExpertData}) {
    std::map<std::vector<int64_t>, int64_t> groups;
    for (int64_t rank = 0; rank < Ranks(placement); ++rank) {
      ++groups[GroupMembers(placement, group, rank)];
    }
    int64_t ranks = 0;
    for (const auto& [members, found_by] : groups) {
      CHECK(static_cast<int64_t>(members.size()) == found_by);
      ranks += found_by;
    }
    CHECK(ranks == 16);
    const size_t size = group == Group::kExpertTensor ? 1
                        : group == Group::kExpertData ? 2
                                                      : 4;
    CHECK(groups.size() == 16 / size);
  }
}

TEST_CASE("experts on other stages than all else are refused") {
  // Stages are inside data parallelism: 2 ranks apart, and 4 of experts.
  ParallelConfig config = Config(2, 4, 2);
  config.ep = 4;
  config.etp = 1;
  config.rank_order = "tp-cp-ep-pp-dp";
  CheckRefused(Place(config, Nodes()), absl::StatusCode::kInvalidArgument,
               {"tp-cp-ep-pp-dp", "pp last"});
  config.ep = 2;
  CHECK(Placed(config, Nodes()).ep_stride == 1);
  config.rank_order = "tp-cp-ep-dp-pp";
  config.ep = 5;
  CheckRefused(Place(config, Nodes()), absl::StatusCode::kInvalidArgument,
               {"ep 5", "8 ranks"});
}

TEST_CASE("hybrid context parallelism has neighbours and a ring across them") {
  ParallelConfig config = Config(2, 1, 1);
  config.cp = 8;
  config.context_algorithm = ContextAlgorithm::kHybrid;
  Placement placement = Placed(config, Nodes());
  using Ranks = std::vector<int64_t>;
  // The largest divisor of 8 whose square is no more than 8 is 2.
  CHECK(placement.context_inner == 2);
  CHECK(GroupMembers(placement, Group::kContextInner, 5) == Ranks{5, 7});
  CHECK(GroupMembers(placement, Group::kContextOuter, 5) == Ranks{1, 5, 9, 13});
  config.context_inner = 4;
  placement = Placed(config, Nodes());
  CHECK(GroupMembers(placement, Group::kContextInner, 5) == Ranks{1, 3, 5, 7});
  CHECK(GroupMembers(placement, Group::kContextOuter, 5) == Ranks{5, 13});
}

TEST_CASE(
    "a second placement of the same size allocates nothing in the value") {
  const ParallelConfig configs[] = {Config(6, 5, 4), Config(6, 5, 4),
                                    Config(8, 4, 3), Config(2, 2, 2)};
  Placement placement;
  REQUIRE(PlaceInto(configs[0], Nodes(), placement).ok());
  const Span* spans = placement.spans.data();
  const RankClass* classes = placement.classes.data();
  const int32_t* kinds = placement.pipeline_kinds.data();
  const NetworkLevel* network = placement.system.network.data();
  const char* name = placement.system.name.data();
  for (const ParallelConfig& config : configs) {
    REQUIRE(PlaceInto(config, Nodes(), placement).ok());
    CHECK(placement.spans.data() == spans);
    CHECK(placement.classes.data() == classes);
    CHECK(placement.pipeline_kinds.data() == kinds);
    CHECK(placement.system.network.data() == network);
    CHECK(placement.system.name.data() == name);
  }
}

TEST_CASE("a used placement holds nothing of the one before") {
  Placement used = Placed(Config(6, 5, 4), Nodes());
  REQUIRE(PlaceInto(Config(2, 2, 2), Nodes(), used).ok());
  CHECK(ToJson(used) == ToJson(Placed(Config(2, 2, 2), Nodes())));
}

}  // namespace lmsimbench
