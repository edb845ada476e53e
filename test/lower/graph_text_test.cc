#include <string>

#include "catch2/catch.hpp"
#include "test/pipelines.h"
#include "test/texts.h"

namespace lmsimbench {
namespace {

struct Asked {
  int64_t pp = 2;
  int64_t vpp = 1;
  int64_t micro_batches = 4;
  Schedule schedule = Schedule::k1F1B;
  bool overlapped = false;
};

// Two replicas of a small transformer, one layer a chunk, distributed
// optimizer.
ExecutionGraph Small(const Asked& asked) {
  Workload workload;
  workload.model.hidden = 64;
  workload.model.layers = asked.pp * asked.vpp;
  workload.model.heads = workload.model.kv_heads = 4;
  workload.model.head_dim = 16;
  workload.model.ffn = 256;
  workload.model.gated_mlp = YesNo::kNo;
  workload.model.vocab = 256;
  workload.model.tied_embeddings = YesNo::kYes;
  workload.seq_len = 128;
  workload.global_batch = 2 * asked.micro_batches;
  workload.precision = Precision::kBf16;
  ParallelConfig config;
  config.pp = asked.pp;
  config.vpp = asked.vpp;
  config.dp = 2;
  config.micro_batch = 1;
  config.zero = ZeroStage::kDistributedOptimizer;
  config.schedule = asked.schedule;
  const YesNo overlap = asked.overlapped ? YesNo::kYes : YesNo::kNo;
  config.overlap_grad_reduce = config.overlap_param_gather =
      config.overlap_p2p = overlap;
  System system;
  system.network.resize(1);
  return Lowered(workload, config, system);
}

TEST_CASE("the text of a schedule divides its phases by bars") {
  // 1F1B on two stages: the first is one micro-batch ahead, the last turns at
  // once.
  const std::string text = ToText(Small({}));
  CHECK(Has(text,
            "schedule         F0.0 | F1.0 B0.0 F2.0 B1.0 F3.0 B2.0 | B3.0\n"));
  CHECK(
      Has(text, "schedule         F0.0 B0.0 F1.0 B1.0 F2.0 B2.0 F3.0 B3.0\n"));
}

TEST_CASE("the text of a split schedule shows weight passes and chains") {
  Asked asked;
  asked.schedule = Schedule::kZeroBubbleH1;
  const std::string text = ToText(Small(asked));
  CHECK(Has(text,
            "schedule         F0.0 | F1.0 B0.0 W0.0 F2.0 B1.0 W1.0 F3.0 B2.0 | "
            "W2.0 B3.0 W3.0\n"));
  CHECK(Has(text,
            "schedule         F0.0 B0.0 F1.0 B1.0 W0.0 F2.0 B2.0 W1.0 F3.0 "
            "B3.0 | W2.0 W3.0\n"));
  CHECK(Has(text, "4 forward, 4 backward and 4 weight passes"));
  asked.schedule = Schedule::kDualPipeV;
  asked.vpp = 2;
  const ExecutionGraph chains = Small(asked);
  CHECK(Has(ToText(chains),
            "schedule         F0.0 F0.1 F1.0 F1.1 | F2.0 B0.1+W0.1 "
            "F2.1+B0.0+W0.0 F3.0+B1.1+W1.1 F3.1+B1.0+W1.0 | B2.1+W2.1 "
            "B2.0+W2.0 B3.1 B3.0 W3.1 W3.0\n"));
  // Activations of one chunk and gradients of the other, on either rank; at the
  // turn nothing is sent.
  CHECK(Has(ToText(chains), "send forward     8 times"));
  CHECK(Has(ToText(chains), "send backward    8 times"));
  CHECK(Has(ToJson(chains), "\"B0.1+\""));
  CHECK(Has(ToJson(chains), "\"turns_back\": true"));
}

TEST_CASE("a schedule that turns once has two phases") {
  Asked asked;
  asked.schedule = Schedule::kGPipe;
  CHECK(Has(ToText(Small(asked)),
            "schedule         F0.0 F1.0 F2.0 F3.0 | B0.0 B1.0 B2.0 B3.0\n"));
}

TEST_CASE("a long phase is shortened in its middle") {
  Asked asked;
  asked.micro_batches = 100;
  asked.schedule = Schedule::kGPipe;
  CHECK(Has(ToText(Small(asked)),
            "schedule         F0.0 F1.0 F2.0 F3.0 F4.0 F5.0 (88 more) F94.0 "
            "F95.0 F96.0 F97.0 F98.0 F99.0 | "));
}

TEST_CASE("the text of a graph shows the streams of a rank") {
  Asked asked;
  asked.pp = 3;
  asked.overlapped = true;
  const std::string text = ToText(Small(asked));
  CHECK(Has(text,
            "beside computation: gradient reduction yes, parameter gathers "
            "yes, sends yes\n"));
  // The stage in the middle has neighbours on both sides and no part of the
  // shared embedding.
  const size_t begin = text.find("pipeline rank 1: rank class 1 (2 ranks)");
  const size_t end = text.find("pipeline rank 2: ");
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  const std::string middle = text.substr(begin, end - begin);
  for (const char* stream : {"send forward     4 times", "send backward    4 ",
                             "receive forward  4 ", "receive backward 4 "}) {
    CHECK(Has(middle, stream));
  }
  CHECK(Has(middle,
            "1 parameter gather from the start; 1 bucket reduction "
            "beside the last backward pass"));
  CHECK(!Has(middle, "shared embedding"));
  CHECK(Has(text.substr(end), "gradients of the shared embedding"));
  // The last stage sends nothing on.
  CHECK(!Has(text.substr(end), "send forward"));
}

TEST_CASE("what follows the last pass stands in the order of its running") {
  // Nothing overlaps: buckets, shared embedding, norm, optimizer, gathers.
  const std::string text = ToText(Small({}));
  const size_t after = text.find("after last pass");
  REQUIRE(after != std::string::npos);
  size_t at = after;
  for (const char* part : {"1 bucket reduction", "all_reduce", "gradient norm",
                           "all_reduce", "optimizer", "1 parameter gather"}) {
    const size_t found = text.find(part, at);
    INFO(part);
    REQUIRE(found != std::string::npos);
    at = found + 1;
  }
  CHECK(at < text.find('\n', after));
}

TEST_CASE("a bucket names the step that completes it") {
  // One bucket a chunk; the way back of the first ends at the embedding.
  CHECK(Has(ToText(Small({})),
            "1 of the way back (embedding, block 0), embedding weight "
            "gradient\n"));
}

TEST_CASE("the JSON of a graph holds all that a graph adds") {
  Asked asked;
  asked.vpp = 2;
  asked.schedule = Schedule::kInterleaved1F1B;
  asked.overlapped = true;
  const ExecutionGraph graph = Small(asked);
  const auto json = Parsed(ToJson(graph));
  CHECK(json["tasks"] == CountTasks(graph));
  CHECK(json["overlaps"]["p2p"] == true);
  CHECK(json["collectives"].size() == graph.collectives.size());
  CHECK(json["buckets"].size() == graph.buckets.size());
  REQUIRE(json["pipeline_ranks"].size() == 2);
  size_t passes = 0;
  for (const auto& rank : json["pipeline_ranks"]) {
    CHECK(rank["chunks"].size() == 2);
    CHECK(rank["passes"][0] == "F0.0");
    passes += rank["passes"].size();
  }
  CHECK(passes == graph.passes.size());
  // There is no sequence parallelism, so nothing replicated is reduced.
  CHECK(json["pipeline_ranks"][0]["replicated_gradients"].is_null());
}

}  // namespace
}  // namespace lmsimbench
