// Parts of the model by themselves, and what follows from its rules for a whole
// evaluation.

#include <catch2/catch.hpp>
#include <cmath>

#include "lib/simulators/calculon/data_parallel.h"
#include "lib/simulators/calculon/layer_report.h"
#include "lib/simulators/calculon/network.h"
#include "test/simulators/calculon_inputs.h"

namespace lmsimbench::calculon {
namespace {

TEST_CASE("an amount gets the first step that it reaches") {
  RateTable table;
  const std::vector<EfficiencyStep> steps = {{128, 0.9}, {16, 0.5}, {0, 0.25}};
  REQUIRE(MakeEngineTable(2, steps, table) == ErrorCode::kNone);
  CHECK(table.Peak() == 2e12);
  CHECK(table.Rate(1e15) == 2e12 * 0.9);
  CHECK(table.Rate(128e9) == 2e12 * 0.9);
  CHECK(table.Rate(127e9) == 2e12 * 0.5);
  CHECK(table.Rate(0) == 2e12 * 0.25);
}

TEST_CASE(
    "an amount below all steps has no rate, and so has every amount of an "
    "empty table") {
  RateTable table;
  REQUIRE(MakeMemoryTable(1, std::vector<EfficiencyStep>{{1, 0.5}}, table) ==
          ErrorCode::kNone);
  CHECK(table.Rate(1e6) == 0.5e9);
  CHECK(std::isnan(table.Rate(1e6 - 1)));
  REQUIRE(MakeMemoryTable(1, {}, table) == ErrorCode::kNone);
  CHECK(std::isnan(table.Rate(1e6)));
  CHECK(std::isnan(RateTable().Rate(0)));
}

TEST_CASE(
    "the steps of a memory are walked in their order, also where they ascend") {
  RateTable table;
  const std::vector<EfficiencyStep> steps = {
      {10, 0.5}, {100, 0.9}, {1, 0.25}, {0, 0.125}};
  REQUIRE(MakeMemoryTable(1, steps, table) == ErrorCode::kNone);
  CHECK(table.Rate(200e6) == 0.5e9);  // 100 MB comes too late
  CHECK(table.Rate(9e6) == 0.25e9);
  CHECK(table.Rate(0) == 0.125e9);
}

TEST_CASE(
    "efficiencies lie above 0 and up to 1, and an engine's thresholds "
    "descend") {
  RateTable table;
  using Steps = std::vector<EfficiencyStep>;
  CHECK(MakeEngineTable(1, Steps{{0, 0}}, table) == ErrorCode::kProcEffRange);
  CHECK(MakeEngineTable(1, Steps{{0, 1.5}}, table) == ErrorCode::kProcEffRange);
  CHECK(MakeEngineTable(1, Steps{{5, 1}, {5, 1}}, table) ==
        ErrorCode::kProcEffOrder);
  CHECK(MakeEngineTable(1, Steps{{5, 1}, {6, 2}}, table) ==
        ErrorCode::kProcEffRange);
  CHECK(MakeMemoryTable(1, Steps{{0, -0.5}}, table) == ErrorCode::kMemEffRange);
}

TEST_CASE("behind a threshold of 0 an engine's table may go on as it likes") {
  RateTable table;
  const std::vector<EfficiencyStep> steps = {{0, 0.5}, {7, 0.9}, {3, 0.1}};
  REQUIRE(MakeEngineTable(1, steps, table) == ErrorCode::kNone);
  CHECK(table.Rate(1e10) == 0.5e12);
}

TEST_CASE("floor division follows Python's floats") {
  CHECK(FloorDivide(7.5, 2) == 3);
  CHECK(FloorDivide(0, 2) == 0);
  CHECK(FloorDivide(1, 0.1) == 9);   // 0.1 is slightly more than a tenth
  CHECK(FloorDivide(6, 0.1) == 59);  // while 6 / 0.1 rounds to 60
  CHECK(FloorDivide(0.3, 0.1) == 2);
  CHECK(FloorDivide(1e300, 3) == std::floor(1e300 / 3));
}

TEST_CASE(
    "a network operation costs one latency and its message scaled and offset") {
  Network network;
  network.bandwidth_bytes_per_s = 100;
  network.efficiency = 0.5;
  network.latency_s = 3;
  network.ops[static_cast<size_t>(NetworkOp::kAllReduce)] = {2, -1};
  // y = 2 x 400 = 800; minus 800 / 4; over 50 bytes/s: 12 s.
  CHECK(NetworkTime(network, NetworkOp::kAllReduce, 400, 4) == 15);
  CHECK(NetworkTime(network, NetworkOp::kP2p, 0, 2) == 3);
}

TEST_CASE(
    "a negative network index counts from the end and names the same tier") {
  Documents documents;
  documents.execution["data_par_overlap"] =
      true;  // tests whether tiers are the same
  documents.execution["pipeline_interleaving"] = 2;
  const Outcome expected = EvaluateDocuments(documents);
  documents.execution["data_par_net"] = -1;
  documents.execution["tensor_par_net"] = -2;
  const Outcome negative = EvaluateDocuments(documents);
  REQUIRE(negative.Name() == "NONE");
  for (const StatisticField& field : StatisticFields()) {
    INFO(std::string(field.name));
    CHECK(negative.statistics.*field.member ==
          expected.statistics.*field.member);
  }
  documents.execution["tensor_par_net"] = -1;  // then tier 1 holds all 8
  documents.system["networks"][1]["size"] = 7;
  CHECK(EvaluateDocuments(documents).Name() == "NET_TOO_SMALL");
}

TEST_CASE("a network that must be filled is checked for divisibility only") {
  Documents documents;  // 2 of 8 are used
  CHECK(EvaluateDocuments(documents).Name() == "NONE");
  documents.system["networks"][0]["size"] = 7;
  CHECK(EvaluateDocuments(documents).Name() == "NET_NOT_FILLED");
  documents.execution["tensor_par_net"] =
      1;  // An unused network is not checked.
  CHECK(EvaluateDocuments(documents).Name() == "NONE");
}

TEST_CASE("in inference nothing is kept, sent or computed backward") {
  Documents documents;
  documents.execution["training"] = false;
  const Outcome outcome = EvaluateDocuments(documents);
  REQUIRE(outcome.Name() == "NONE");
  const Statistics& s = outcome.statistics;
  CHECK(s.bw_time == 0);
  CHECK(s.optim_step_time == 0);
  CHECK(s.dp_comm_link_time == 0);
  CHECK(s.optimizer_space == 0);
  CHECK(s.block_bw_pp_size == 0);
  CHECK(s.optim_offload_bw_req == 0);
  CHECK(std::isnan(s.act_checkpoint_size_with_offload));
  // (p - 1) chunks of 4 blocks, each chunk ending in a latency each way.
  const double chunk = 4 * (s.block_fw_time + s.baseblock_fw_tp_time_exposed) +
                       (s.pp_comm_link_time / 4) + 2e-5;
  CHECK(s.bubble_time == Approx(chunk).epsilon(1e-12));
}

TEST_CASE(
    "parameters are those of the blocks and of a vocabulary of 51200 with "
    "positions") {
  Application app;
  app.hidden = 2;
  app.feedforward = 3;
  app.seq_size = 5;
  app.attn_heads = 7;
  app.attn_size = 11;
  app.num_blocks = 13;
  // 13 x (2x2x3 + 4x2x77 + 2 + 3 + 3x77 + 2 + 8) + (51200 + 5) x 2
  CHECK(ParameterCount(app) == 13 * 874 + 102410);
}

TEST_CASE("the layers of a block depend on attention and overlap") {
  const auto names = [](const char* attention, const char* overlap) {
    Documents documents;
    documents.execution["attention_type"] = attention;
    documents.execution["tensor_par_overlap"] = overlap;
    Application application;
    lmsimbench::calculon::Execution execution;
    System system;
    REQUIRE(ReadApplication(documents.application, application).ok());
    REQUIRE(ReadExecution(documents.execution, execution).ok());
    REQUIRE(ReadSystem(documents.system, system).ok());
    Workspace workspace;
    Statistics statistics;
    REQUIRE(Evaluate(application, system, execution, workspace, statistics) ==
            ErrorCode::kNone);
    std::vector<LayerReport> layers;
    ReportLayers(workspace, layers);
    std::vector<std::string> result;
    for (const LayerReport& layer : layers) result.emplace_back(layer.name);
    return result;
  };
  CHECK(names("multihead", "none").size() == 24);
  CHECK(names("multiquery", "none").size() == 24);
  CHECK(names("multihead", "ring").size() == 17);
  CHECK(names("multiquery", "pipe").size() == 20);
  CHECK(names("multihead", "ring")[2] == "AttnBlock_QKV_AG");
  CHECK(names("multiquery", "ring")[3] == "AttnBlock_KV_Fork");
}

}  // namespace
}  // namespace lmsimbench::calculon
