#include <string>

#include "catch2/catch.hpp"
#include "lmsimbench/pipeline.h"
#include "test/core/model_examples.h"

namespace lmsimbench {
namespace {

using Catch::Matchers::Contains;

struct Question {
  Workload workload;
  ParallelConfig config;
};

Question Dense() {
  Question q;
  q.workload.model = Llama2_7B();
  q.workload.seq_len = 4096;
  q.workload.global_batch = 64;
  q.config.dp = 2;
  q.config.micro_batch = 1;
  return q;
}

void CheckRefused(const Question& q, const char* named) {
  const absl::Status status = Compile(q.workload, q.config).status();
  CAPTURE(named, status);
  CHECK(status.code() == absl::StatusCode::kUnimplemented);
  CHECK_THAT(std::string(status.message()), Contains(named));
}

TEST_CASE("compressed keys and values without latent attention are refused") {
  Question q = Dense();
  q.workload.model.kv_lora_rank = 512;
  const absl::Status status = Compile(q.workload, q.config).status();
  CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(status.message()),
             Contains("kv_lora_rank 512 is stated"));
}

TEST_CASE("ways to divide that are not modelled are refused by name") {
  Question q = Dense();
  q.config.zero = ZeroStage::kParameters;
  q.workload.model.mtp_layers = 1;
  CheckRefused(q, "sharded parameters (ZeRO-3) with multi-token prediction");
  q = Dense();
  q.workload.model.layers = 32;
  q.config.pp = 4;
  q.config.zero = ZeroStage::kParameters;
  q.config.schedule = Schedule::kZeroBubbleH1;
  CheckRefused(q, "sharded parameters (ZeRO-3) under schedule zb-h1");
  q = Dense();
  q.workload.model = Qwen3_30B_A3B();
  q.config.zero = ZeroStage::kDistributedOptimizer;
  q.config.dp = 4;
  q.config.zero_group = 2;
  CheckRefused(q, "optimizer state of experts over a part (zero_group 2)");
}

TEST_CASE("context parallelism that is not modelled is refused by name") {
  Question q = Dense();
  q.config.cp = 2;
  q.workload.attention_impl = AttentionImpl::kUnfused;
  CheckRefused(q, "attention that is not fused over context-parallel ranks");
  q = Dense();
  q.config.cp = 2;
  q.workload.model.sliding_window = 1024;
  CheckRefused(q, "a window of 1024 tokens round a ring");
  q.config.context_algorithm = ContextAlgorithm::kUlysses;
  CHECK(Compile(q.workload, q.config).status() == absl::OkStatus());
  q = Dense();
  q.config.cp = 4;
  q.config.context_algorithm = ContextAlgorithm::kUlysses;
  q.workload.model.heads = 24;
  q.workload.model.kv_heads = 6;
  q.workload.model.head_dim = 128;
  CheckRefused(q,
               "4 context-parallel ranks that exchange heads with 6 key and "
               "value heads");
}

TEST_CASE("weights and activations in the host's memory are refused by name") {
  Question q = Dense();
  q.config.offload_weights = YesNo::kYes;
  CheckRefused(q, "offloaded weights");
  q = Dense();
  q.config.offload_activations = YesNo::kYes;
  CheckRefused(q, "offloaded activations");
}

TEST_CASE("operators that the framework chooses to recompute are refused") {
  Question q = Dense();
  q.config.recompute = Recompute::kOperators;
  CheckRefused(q, "recomputation of operators");
}

TEST_CASE("a figure that is needed and not stated is named") {
  const auto check = [](const Question& q, const char* named) {
    const absl::Status status = Compile(q.workload, q.config).status();
    CAPTURE(named, status);
    CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
    CHECK_THAT(std::string(status.message()), Contains(named));
  };
  Question q = Dense();
  q.workload.model.ffn = kNoCount;
  check(q, "ffn");
  q = Dense();
  q.workload.model.gated_mlp = YesNo::kNotStated;
  check(q, "gated_mlp");
  q = Dense();
  q.config.micro_batch = kNoCount;
  check(q, "micro_batch");
  q = Dense();
  q.workload.loss_impl = LossImpl::kChunked;
  check(q, "loss_chunk");
}

TEST_CASE("gradients in formats that nobody accumulates in are refused") {
  Question q = Dense();
  q.workload.gradient_precision = Precision::kFp8;
  CheckRefused(q, "gradients in fp8");
}

TEST_CASE("a detail without what it is a detail of is refused") {
  const auto check = [](const Question& q, const char* message) {
    const absl::Status status = Compile(q.workload, q.config).status();
    CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
    CHECK(std::string(status.message()) == message);
  };
  Question q = Dense();
  for (const RecomputeMethod method :
       {RecomputeMethod::kNotStated, RecomputeMethod::kUniform,
        RecomputeMethod::kBlock}) {
    q.config.recompute = Recompute::kLayers;
    q.config.recompute_method = method;
    check(q,
          "recomputation of layers needs recompute_layers, which is not "
          "stated");
  }
  q = Dense();
  q.config.recompute_layers = 4;
  check(q, "recompute_layers is stated, and recompute is not");
  q = Dense();
  q.config.recompute_method = RecomputeMethod::kBlock;
  check(q, "recompute_method is stated, and recompute is not");
  q = Dense();
  q.config.recompute_modules = "mlp";
  check(q, "recompute_modules is stated, and recompute is not");
  q = Dense();
  q.config.zero_group = 2;
  check(q, "zero_group is stated, and zero is not");
}

TEST_CASE("sizes that whole numbers do not hold are out of range") {
  // hidden * ffn alone is 2^62.
  Question q = Dense();
  q.workload.model.hidden = q.workload.model.ffn = 2147483647;
  q.workload.model.head_dim = 128;
  const absl::Status status = Compile(q.workload, q.config).status();
  CHECK(status.code() == absl::StatusCode::kOutOfRange);
  CHECK_THAT(std::string(status.message()), Contains("2147483647"));
  // A million tokens are in range where attention is fused.
  q = Dense();
  q.workload.seq_len = 1 << 20;
  q.workload.attention_impl = AttentionImpl::kFlash;
  CHECK(Compile(q.workload, q.config).status() == absl::OkStatus());
}

TEST_CASE("an illegal configuration is refused with the rule") {
  Question q = Dense();
  q.config.tp = 5;
  const absl::Status status = Compile(q.workload, q.config).status();
  CHECK(status.code() == absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(status.message()), Contains("5"));
}

}  // namespace
}  // namespace lmsimbench
