#include "lmsimbench/timeline.h"

#include <cmath>
#include <map>
#include <utility>

#include "catch2/catch.hpp"
#include "lib/aggregate/execute.h"
#include "lmsimbench/pipeline.h"
#include "nlohmann/json.hpp"
#include "test/aggregate/execute_graphs.h"
#include "test/aggregate/execute_random.h"
#include "test/pipelines.h"

namespace lmsimbench {
namespace {

// A real program: 4 layers over 2 stages of 2 chunks, sequence-parallel over 2
// devices, 2 replicas, everything overlapped.
CostedGraph Transformer(ZeroStage zero = ZeroStage::kDistributedOptimizer) {
  Workload workload;
  workload.model.hidden = 512;
  workload.model.layers = 4;
  workload.model.heads = workload.model.kv_heads = 8;
  workload.model.head_dim = 64;
  workload.model.ffn = 2048;
  workload.model.gated_mlp = YesNo::kNo;
  workload.model.vocab = 1024;
  workload.seq_len = 256;
  workload.global_batch = 8;
  workload.precision = Precision::kBf16;
  ParallelConfig config;
  config.tp = config.pp = config.dp = config.vpp = 2;
  config.micro_batch = 1;
  config.sequence_parallel = YesNo::kYes;
  config.recompute = Recompute::kSelective;
  config.zero = zero;
  config.schedule = Schedule::kInterleaved1F1B;
  config.overlap_grad_reduce = YesNo::kYes;
  config.overlap_param_gather = YesNo::kYes;
  config.overlap_p2p = YesNo::kYes;
  FixedModel model({});
  model.of_operator = [](const Operator& op) {
    return Cost{1e-6 + op.flops / 1e14, Evidence::kMeasured};
  };
  model.of_collective = [](const SpannedCollective& c) {
    return Cost{1e-5 + static_cast<double>(c.collective.bytes) / 1e11,
                Evidence::kAnalytic};
  };
  return Costed(Lowered(workload, config), model);
}

Timeline Expanded(const CostedGraph& costed) {
  absl::StatusOr<Timeline> timeline = Expand(costed);
  INFO(timeline.status());
  REQUIRE(timeline.ok());
  return *std::move(timeline);
}

std::vector<CostedGraph> Graphs() {
  std::vector<CostedGraph> graphs = {hand_made::TwoStages(), Transformer(),
                                     Transformer(ZeroStage::kParameters)};
  for (uint32_t seed = 0; seed < 300; ++seed)
    graphs.push_back(hand_made::RandomGraph(seed));
  return graphs;
}

TEST_CASE("slices of a stream are disjoint and stand in the order of time") {
  for (const CostedGraph& costed : Graphs()) {
    std::map<std::pair<int32_t, Stream>, double> end_s;
    for (const Slice& slice : Expanded(costed).slices) {
      double& last = end_s[{slice.rank_class, slice.stream}];
      REQUIRE(slice.start_s >= last);
      REQUIRE(slice.end_s >= slice.start_s);
      last = slice.end_s;
    }
  }
}

TEST_CASE("the slices of a class sum to its figures") {
  for (const CostedGraph& costed : Graphs()) {
    ExecuteWorkspace workspace;
    Execution execution;
    REQUIRE(Execute(costed, workspace, execution).ok());
    const Timeline timeline = Expanded(costed);
    REQUIRE(timeline.iteration_time_s == execution.iteration_time_s);
    REQUIRE(static_cast<int64_t>(timeline.slices.size()) ==
            CountTasks(costed.graph));
    std::vector<double> compute_s(execution.classes.size());
    std::vector<double> communication_s(execution.classes.size());
    for (const Slice& slice : timeline.slices) {
      const double length = slice.end_s - slice.start_s;
      // A transfer counts at its sender.
      if (slice.stream == Stream::kCompute) {
        compute_s[slice.rank_class] += length;
      } else if (slice.stream != Stream::kReceiveForward &&
                 slice.stream != Stream::kReceiveBackward) {
        communication_s[slice.rank_class] += length;
      }
    }
    for (size_t c = 0; c < execution.classes.size(); ++c) {
      const ExecutedClass& executed = execution.classes[c];
      double operators_s = 0;
      for (const auto& passes : executed.operators) {
        for (const OperatorSum& sum : passes) operators_s += sum.seconds;
      }
      double collectives_s = 0;
      for (const auto& groups : executed.collectives) {
        for (const CollectiveSum& sum : groups) collectives_s += sum.seconds;
      }
      REQUIRE(compute_s[c] == executed.compute_s);
      REQUIRE(operators_s == executed.compute_s);
      REQUIRE(communication_s[c] == collectives_s);
    }
  }
}

TEST_CASE("the counter of memory moves forward in time and reaches the peak") {
  for (const CostedGraph& costed : Graphs()) {
    ExecuteWorkspace workspace;
    Execution execution;
    REQUIRE(Execute(costed, workspace, execution).ok());
    std::vector<MemorySample> peaks(execution.classes.size());
    std::vector<double> last_s(execution.classes.size());
    std::vector<bool> has_sample(execution.classes.size());
    for (const MemorySample& sample : Expanded(costed).memory) {
      const int32_t c = sample.rank_class;
      REQUIRE(sample.time_s >= last_s[c]);
      last_s[c] = sample.time_s;
      if (!has_sample[c] || sample.bytes > peaks[c].bytes) peaks[c] = sample;
      has_sample[c] = true;
    }
    for (size_t c = 0; c < peaks.size(); ++c) {
      REQUIRE(peaks[c].bytes == execution.classes[c].peak_bytes);
      REQUIRE(peaks[c].time_s == execution.classes[c].peak_time_s);
    }
  }
}

TEST_CASE("the tensors of a program account for its peak") {
  const CostedGraph costed = Transformer();
  ExecuteWorkspace workspace;
  Execution execution;
  REQUIRE(Execute(costed, workspace, execution).ok());
  for (size_t c = 0; c < execution.classes.size(); ++c) {
    const Stage& stage =
        costed.graph.program
            .stages[costed.graph.placement.classes[c].pipeline_rank];
    int64_t bytes =
        stage.weights_bytes + stage.gradients_bytes + stage.optimizer_bytes;
    for (int64_t kind : execution.classes[c].peak_kind_bytes) {
      CHECK(kind >= 0);
      bytes += kind;
    }
    CHECK(bytes == execution.classes[c].peak_bytes);
  }
}

TEST_CASE("schedules that wait for each other have no timeline") {
  CostedGraph costed = hand_made::TwoStages();
  std::swap(costed.graph.passes[0], costed.graph.passes[2]);
  CHECK(Expand(costed).status().code() == absl::StatusCode::kInvalidArgument);
}

nlohmann::json Trace(const CostedGraph& costed, const Timeline& timeline) {
  nlohmann::json trace =
      nlohmann::json::parse(ToPerfettoJson(costed, timeline), nullptr, false);
  REQUIRE(!trace.is_discarded());
  return trace;
}

TEST_CASE("a trace has a process a rank class and a thread a stream") {
  CostedGraph costed = hand_made::TwoStages();
  costed.graph.placement.classes[0].ranks = 4;
  const nlohmann::json trace = Trace(costed, Expanded(costed));
  std::map<int, std::string> processes;
  std::map<std::pair<int, int>, std::string> threads;
  for (const nlohmann::json& event : trace["traceEvents"]) {
    if (event["ph"] != "M") continue;
    if (event["name"] == "process_name")
      processes[event["pid"]] = event["args"]["name"];
    if (event["name"] == "thread_name")
      threads[{event["pid"], event["tid"]}] = event["args"]["name"];
  }
  CHECK(processes ==
        std::map<int, std::string>{{0, "pipeline rank 0 (4 ranks)"},
                                   {1, "pipeline rank 1 (1 rank)"}});
  CHECK(threads.size() == 2 * kStreams);
  CHECK(threads[{1, 3}] == "send backward");
}

TEST_CASE("a trace shows slices in microseconds with what they run") {
  const CostedGraph costed = hand_made::TwoStages();
  const nlohmann::json trace = Trace(costed, Expanded(costed));
  // B0 of rank 1, 2.25-4.25 s, and its way back, 4.25-4.5 s.
  bool has_pass = false;
  int transfers = 0;
  for (const nlohmann::json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    if (event["pid"] == 1 && event["tid"] == 0 && event["ts"] == 2.25e6) {
      has_pass = true;
      CHECK(event["dur"] == 2e6);
      CHECK(event["name"] == "mlp up");
      CHECK(event["args"]["micro_batch"] == 0);
      CHECK(event["args"]["direction"] == "backward");
      CHECK(event["args"]["shape"] ==
            Describe(costed.graph.program.operators[1]));
    }
    if (event["ts"] == 4.25e6 && event["dur"] == 0.25e6) ++transfers;
  }
  CHECK(has_pass);
  CHECK(transfers == 2);
}

TEST_CASE("slices of a trace stay in order and disjoint, its memory complete") {
  for (const CostedGraph& costed : Graphs()) {
    const Timeline timeline = Expanded(costed);
    const nlohmann::json trace = Trace(costed, timeline);
    // In tenths of a picosecond, the last digit of a time.
    const auto ticks = [](const nlohmann::json& microseconds) {
      return std::llround(microseconds.get<double>() * 1e7);
    };
    std::map<std::pair<int, int>, int64_t> ends;
    size_t slices = 0;
    size_t samples = 0;
    for (const nlohmann::json& event : trace["traceEvents"]) {
      if (event["ph"] == "C") {
        REQUIRE(event["args"]["bytes"] == timeline.memory[samples].bytes);
        ++samples;
      }
      if (event["ph"] != "X") continue;
      ++slices;
      int64_t& end = ends[{event["pid"], event["tid"]}];
      REQUIRE(ticks(event["ts"]) >= end);
      REQUIRE(ticks(event["dur"]) >= 0);
      end = ticks(event["ts"]) + ticks(event["dur"]);
    }
    REQUIRE(slices == timeline.slices.size());
    REQUIRE(samples == timeline.memory.size());
  }
}

}  // namespace
}  // namespace lmsimbench
