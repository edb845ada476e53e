#include <string>

#include "catch2/catch.hpp"
#include "lmsimbench/pipeline.h"
#include "test/texts.h"

namespace lmsimbench {
namespace {

Placement SixesOnEights() {
  ParallelConfig config;
  config.tp = 6;
  config.dp = 2;
  config.pp = 2;
  System system;
  system.name = "two levels";
  system.network.resize(2);
  system.network[0].name = "node";
  system.network[0].size = 8;
  system.network[1].name = "cluster";
  return *Place(config, system);
}

}  // namespace

TEST_CASE("the text of a placement shows rank order, groups and classes") {
  // Nodes begin at 0, 8 and 16, tensor groups at 0, 6 (first stage), 12 and 18
  // (second): the first and the last group lie in one node. A data group is two
  // ranks at distance 6, in two nodes for some tensor rank of each class.
  // Stages are 12 apart. A model group (0 to 5 and 12 to 17, or 6 to 11 and 18
  // to 23) has 6 ranks in one node, 4 and 2 in others.
  // All 24 ranks fill three nodes.
  CHECK(ToText(SixesOnEights()) == R"(24 ranks on two levels
rank order tp 6 (stride 1), cp 1 (stride 6), dp 2 (stride 6), pp 2 (stride 12)

group      span  members    nodes  per node      ranks  joined by
tensor        3        6        1         6         12  node
tensor        5        6        2         4         12  cluster
data          1        2        2         1         24  cluster
shard         1        2        2         1         24  cluster
replica       0        1        1         1         24  -
pipeline      1        2        2         1         24  cluster
embedding     1        2        2         1         24  cluster
model         4       12        3         6         24  cluster
world         2       24        3         8         24  cluster

4 rank classes, by the numbers of their spans
kind      stages      ranks  tensor  data  shard  replica  pipeline  embedding  model  world
0              0          6       3     1      1        0         1          1      4      2
0              1          6       5     1      1        0         1          1      4      2
1              0          6       5     1      1        0         1          1      4      2
1              1          6       3     1      1        0         1          1      4      2
)");
}

TEST_CASE("stages whose ranks behave alike share a line of the text") {
  ParallelConfig config;
  config.tp = 8;
  config.pp = 16;
  System system;
  system.network.resize(2);
  system.network[0].size = 8;
  const std::string text = ToText(*Place(config, system));
  CHECK(text.find("0           0-15        128") != std::string::npos);
}

TEST_CASE("the JSON of a placement holds what the value does") {
  const Placement placement = SixesOnEights();
  const auto json = Parsed(ToJson(placement));
  CHECK(json["ranks"] == 24);
  CHECK(json["system"]["name"] == "two levels");
  CHECK(json["rank_order"].size() == 4);
  CHECK(json["shard_ranks"] == 2);
  REQUIRE(json["spans"].size() == placement.spans.size());
  REQUIRE(json["classes"].size() == placement.classes.size());
  CHECK(json["pipeline_kinds"].size() == placement.pipeline_kinds.size());

  // Ranks 0 to 5 are one node's.
  const auto& span = json["spans"][static_cast<size_t>(
      json["classes"][0]["span"]["tensor"].get<int>())];
  CHECK(span["members"] == 6);
  CHECK(span["nodes"] == 1);
  CHECK(span["members_per_node"] == 6);
  CHECK(span["level"] == 0);
  CHECK(span["level_name"] == "node");
}

TEST_CASE("one rank class is written in the singular") {
  ParallelConfig config;
  config.tp = 2;
  System system;
  system.network.resize(1);
  CHECK(Has(ToText(*Place(config, system)),
            "\n1 rank class, by the numbers of their spans\n"));
}

TEST_CASE("a level's name that is no UTF-8 does not stop the JSON") {
  Placement placement = SixesOnEights();
  placement.system.network[0].name = "\xff";
  CHECK(ParseJson(ToJson(placement)).ok());
}

}  // namespace lmsimbench
