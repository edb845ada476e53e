#include "lmsimbench/fmt.h"

#include <catch2/catch.hpp>

#include "lmsimbench/parallel_config.h"
#include "lmsimbench/prediction.h"
#include "lmsimbench/system.h"
#include "lmsimbench/workload.h"
#include "test/core/model_examples.h"
#include "test/core/random_values.h"

namespace lmsimbench {
namespace {

TEST_CASE("a configuration is one line of what differs from the default") {
  ParallelConfig config;
  CHECK(fmt::format("{}", config) == "default");
  config.dp = 4;
  config.tp = 8;
  config.pp = 2;
  config.micro_batch = 1;
  config.zero = ZeroStage::kDistributedOptimizer;
  config.recompute = Recompute::kSelective;
  CHECK(fmt::format("{}", config) ==
        "dp 4, tp 8, pp 2, micro-batch 1, zero distopt, recompute selective");
}

TEST_CASE(
    "facts read by their name, lists in brackets, what is missing as "
    "missing") {
  ParallelConfig config;
  config.vpp = kNoCount;
  config.sequence_parallel = YesNo::kYes;
  config.stage_layers = {8, 8, 7, 7};
  config.overlap_p2p = YesNo::kNo;
  CHECK(fmt::format("{}", config) ==
        "vpp not stated, sequence-parallel, stage-layers [8,8,7,7], no "
        "overlap-p2p");
}

TEST_CASE("a value within a value stands in parentheses") {
  Workload workload;
  workload.model = Llama2_7B();
  workload.seq_len = 4096;
  workload.precision = Precision::kBf16;
  CHECK(
      fmt::format("{}", workload) ==
      "model (name llama-2-7b, hidden 4096, layers 32, heads 32, kv-heads 32, "
      "ffn 11008, gated-mlp, vocab 32000, no tied-embeddings, norm rmsnorm), "
      "seq-len 4096, precision bf16");
  System system;
  system.name = "pair";
  system.accelerator.bf16_flops = 1e15;
  system.network.resize(1);
  system.network[0].size = 2;
  CHECK(fmt::format("{}", system) ==
        "name pair, accelerator (bf16-flops 1000000000000000), network [(size "
        "2)]");
}

TEST_CASE("a prediction shows the parts that were answered") {
  Prediction prediction;
  prediction.iteration_time_s = 1.5;
  prediction.memory.weights_bytes = 0;
  prediction.verdict = Verdict::kDoesNotFit;
  CHECK(fmt::format("{}", prediction) ==
        "iteration-time-s 1.5, memory (weights-bytes 0), verdict does not fit");
}

TEST_CASE("enumerations read as in JSON and may be padded") {
  CHECK(fmt::format("{}", Precision::kFp8CurrentScaling) == "fp8-cs");
  CHECK(fmt::format("[{:>6}]", Schedule::k1F1B) == "[  1f1b]");
  CHECK(fmt::format("{}", static_cast<Schedule>(99)) == "invalid");
  CHECK(fmt::format("{} {} {}", YesNo::kYes, YesNo::kNo, YesNo::kNotStated) ==
        "yes no not stated");
}

TEST_CASE("two values that differ read differently") {
  RandomValues random(4);
  for (int i = 0; i < 2000; ++i) {
    ParallelConfig a;
    ParallelConfig b;
    random.Fill(a);
    random.Fill(b);
    CHECK((a == b) == (fmt::format("{}", a) == fmt::format("{}", b)));
    CHECK(fmt::format("{}", a).find('\n') == fmt::format("{}", a).npos);
  }
}

}  // namespace
}  // namespace lmsimbench
