#include <string>

#include "catch2/catch.hpp"
#include "lmsimbench/pipeline.h"
#include "test/core/model_examples.h"
#include "test/pipelines.h"

namespace lmsimbench {
namespace {

constexpr int64_t kParameters = 6'738'415'616;  // see `CountParameters`

Workload Llama() {
  Workload workload;
  workload.model = Llama2_7B();
  workload.seq_len = 4096;
  workload.global_batch = 8;
  workload.precision = Precision::kBf16;
  return workload;
}

ParallelConfig Offloaded(ZeroStage zero) {
  ParallelConfig config;
  config.dp = 8;
  config.micro_batch = 1;
  config.zero = zero;
  config.offload_optimizer = YesNo::kYes;
  return config;
}

// Bytes of an operator for each of `parameters`.
double BytesEach(const Program& program, int32_t op, int64_t parameters) {
  REQUIRE(op >= 0);
  const Operator& of = program.operators[static_cast<size_t>(op)];
  CHECK(of.computation == Computation::kHost);
  CHECK(of.pass == OperatorPass::kOptimizer);
  CHECK(of.rows == parameters);
  return of.bytes / static_cast<double>(parameters);
}

TEST_CASE("an offloaded optimizer leaves weights and gradients on the device") {
  const Program program =
      Compiled(Llama(), Offloaded(ZeroStage::kDistributedOptimizer));
  const Stage& stage = program.stages[0];
  CHECK(stage.weights_bytes == 2 * kParameters);
  CHECK(stage.gradients_bytes == 4 * kParameters);
  CHECK(stage.optimizer_bytes == 0);
  // 32-bit weights and two moments, of a shard.
  CHECK(stage.host_bytes == 12 * kParameters / 8);
  const int64_t shard = kParameters / 8;
  CHECK(BytesEach(program, stage.gradients_to_host, shard) == 4);
  // Gradients read, 12 bytes of state read and written, 16-bit weights written.
  CHECK(BytesEach(program, stage.optimizer, shard) == 4 + 24 + 2);
  CHECK(BytesEach(program, stage.weights_to_device, shard) == 2);
  CHECK(program.operators[stage.gradients_to_host].kind ==
        OperatorKind::kHostCopy);
  CHECK(program.operators[stage.optimizer].kind == OperatorKind::kOptimizer);
}

TEST_CASE("a rank updates on its host what it would update itself") {
  const struct {
    ZeroStage zero;
    int64_t shards;
    int64_t weights;
    int64_t gradients;
  } cases[] = {
      {ZeroStage::kNotStated, 1, 2 * kParameters, 4 * kParameters},
      {ZeroStage::kNone, 1, 2 * kParameters, 4 * kParameters},
      {ZeroStage::kOptimizerState, 8, 2 * kParameters, 2 * kParameters},
      {ZeroStage::kGradients, 8, 2 * kParameters, 2 * kParameters / 8},
      // Shards in the format of the computation, as DeepSpeed keeps them.
      {ZeroStage::kParameters, 8, 2 * kParameters / 8, 2 * kParameters / 8},
  };
  for (const auto& c : cases) {
    CAPTURE(std::string(Name(c.zero)));
    const Program program = Compiled(Llama(), Offloaded(c.zero));
    const Stage& stage = program.stages[0];
    CHECK(stage.weights_bytes == c.weights);
    CHECK(stage.gradients_bytes == c.gradients);
    CHECK(stage.optimizer_bytes == 0);
    CHECK(stage.host_bytes == 12 * kParameters / c.shards);
    CHECK(BytesEach(program, stage.gradients_to_host, kParameters / c.shards) ==
          static_cast<double>(program.gradient_bytes));
    CHECK(BytesEach(program, stage.weights_to_device, kParameters / c.shards) ==
          2);
  }
}

TEST_CASE("weights of 32 bits come back from the state itself") {
  Workload workload = Llama();
  workload.precision = Precision::kFp32;
  const Program program =
      Compiled(workload, Offloaded(ZeroStage::kOptimizerState));
  const Stage& stage = program.stages[0];
  const int64_t shard = kParameters / 8;
  CHECK(stage.weights_bytes == 4 * kParameters);
  CHECK(stage.host_bytes == 12 * shard);
  CHECK(BytesEach(program, stage.optimizer, shard) == 4 + 24);
  CHECK(BytesEach(program, stage.weights_to_device, shard) == 4);
}

TEST_CASE("the host keeps what the optimizer keeps") {
  Workload workload = Llama();
  workload.optimizer = Optimizer::kSgdMomentum;
  Stage stage =
      Compiled(workload, Offloaded(ZeroStage::kOptimizerState)).stages[0];
  CHECK(stage.optimizer_bytes == 0);
  CHECK(stage.host_bytes == 8 * kParameters / 8);
  // fp16 has a 32-bit copy of its gradients on a device, and none on the host.
  workload = Llama();
  workload.precision = Precision::kFp16;
  stage =
      Compiled(workload, Offloaded(ZeroStage::kDistributedOptimizer)).stages[0];
  CHECK(stage.host_bytes == 12 * kParameters / 8);
}

TEST_CASE("an optimizer on the device copies nothing") {
  ParallelConfig config = Offloaded(ZeroStage::kDistributedOptimizer);
  config.offload_optimizer = YesNo::kNo;
  const Program program = Compiled(Llama(), config);
  CHECK(program.stages[0].host_bytes == 0);
  CHECK(program.stages[0].gradients_to_host == -1);
  CHECK(program.stages[0].weights_to_device == -1);
  for (const Operator& op : program.operators) {
    CHECK(op.computation != Computation::kHost);
  }
}

TEST_CASE("program and graph say what goes to the host and comes back") {
  const ParallelConfig config = Offloaded(ZeroStage::kDistributedOptimizer);
  CHECK_THAT(ToText(Compiled(Llama(), config)),
             Catch::Contains("10107623424 bytes of optimizer state in the "
                             "memory of the host"));
  CHECK_THAT(ToText(Lowered(Llama(), config)), Catch::Contains("host copy"));
  CHECK_THAT(ToJson(Compiled(Llama(), config)),
             Catch::Contains("\"host_bytes\":10107623424") ||
                 Catch::Contains("\"host_bytes\": 10107623424"));
}

}  // namespace
}  // namespace lmsimbench
