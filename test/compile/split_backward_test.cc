#include <algorithm>
#include <random>
#include <string>

#include "catch2/catch.hpp"
#include "lmsimbench/fmt.h"
#include "lmsimbench/layout.h"
#include "lmsimbench/legality.h"
#include "test/aggregate/random_iteration.h"
#include "test/compile/parts.h"
#include "test/pipelines.h"
#include "test/texts.h"

namespace lmsimbench {
namespace {

bool IsOfLinearWeights(const Program& program, const Step& step) {
  if (step.is_collective) return false;
  const Operator& op = program.operators[step.id];
  return op.pass == OperatorPass::kWeightGradient &&
         op.computation == Computation::kMatrixMultiplication;
}

std::vector<int32_t> Computations(const Program& program, const Block& block) {
  std::vector<int32_t> computed;
  for (int32_t s = block.begin_step; s < block.end_step; ++s) {
    const Step& step = program.steps[s];
    if (!step.is_collective) computed.push_back(step.id);
  }
  std::sort(computed.begin(), computed.end());
  return computed;
}

TEST_CASE("weight passes compute the weight gradients of linear layers only") {
  std::mt19937_64 random(5);
  Program split;
  Program whole;
  for (int compared = 0; compared < 300;) {
    RandomIteration made = MakeRandomSplitIteration(random);
    if (!IsLegal(made.workload, made.config, kNoCount)) continue;
    if (!CompileInto(made.workload, made.config, split).ok()) continue;
    ParallelConfig config = made.config;
    // The same chunks without a split. From both ends, embedding and output
    // layer lie on one rank, and parameters that they share lie there once.
    if (IsVShaped(config.schedule)) continue;
    if (config.schedule == Schedule::kDualPipe) continue;
    config.schedule = Schedule::k1F1B;
    CAPTURE(fmt::format("{}", made.config), fmt::format("{}", made.workload));
    REQUIRE(CompileInto(made.workload, config, whole) == absl::OkStatus());
    ++compared;
    REQUIRE(split.blocks.size() == whole.blocks.size());
    bool in_order = true;
    for (size_t b = 0; b < split.blocks.size(); ++b) {
      const Block& block = split.blocks[b];
      for (const Step& step : WeightSteps(split, block)) {
        in_order &= step.is_collective || IsOfLinearWeights(split, step);
        in_order &= !step.recomputed;
      }
      // What a chunked loss computes in its forward pass stays there.
      for (const Step& step : BackwardSteps(split, block)) {
        in_order &= !IsOfLinearWeights(split, step);
      }
      in_order &= block.parameters == whole.blocks[b].parameters;
      in_order &=
          Computations(split, block) == Computations(whole, whole.blocks[b]);
      in_order &= WeightSteps(whole, whole.blocks[b]).empty();
    }
    CHECK(in_order);
  }
}

const Tensor& TensorOf(const Program& program, const Block& block,
                       const std::string& name) {
  for (int32_t i = block.begin_tensor; i < block.end_tensor; ++i) {
    if (program.tensors[i].name == name) return program.tensors[i];
  }
  FAIL("no tensor " << name);
  return program.tensors[0];
}

// The step of a block, counted from its first, that computes a gradient.
int32_t StepOf(const Program& program, const Block& block, OperatorKind kind,
               OperatorPass pass) {
  for (int32_t s = block.begin_step; s < block.end_step; ++s) {
    const Step& step = program.steps[s];
    if (step.is_collective) continue;
    const Operator& op = program.operators[step.id];
    if (op.kind == kind && op.pass == pass) return s - block.begin_step;
  }
  FAIL("no such step");
  return -1;
}

TEST_CASE("inputs and output gradients of linear layers stay for the weights") {
  const Program program =
      Compiled(SmallWorkload(2, 2), Pipeline(2, Schedule::kZeroBubbleH1));
  const Block& block = LastLayers(program);
  constexpr auto kWeights = OperatorPass::kWeightGradient;
  const int32_t weight = block.weight_step - block.begin_step;
  const int32_t qkv =
      StepOf(program, block, OperatorKind::kQkvProjection, kWeights);
  const int32_t down = StepOf(program, block, OperatorKind::kMlpDown, kWeights);
  const int32_t up = StepOf(program, block, OperatorKind::kMlpUp, kWeights);
  CHECK(down >= weight);
  // The order of the backward pass, which begins behind the layer.
  CHECK(down < up);
  CHECK(up < qkv);
  CHECK(TensorOf(program, block, "qkv input").last_step == qkv);
  CHECK(TensorOf(program, block, "qkv gradient").last_step == qkv);
  CHECK(TensorOf(program, block, "activation output").last_step == down);
  CHECK(TensorOf(program, block, "output gradient").last_step == down);
  CHECK(TensorOf(program, block, "mlp inner gradient").last_step == up);
  // What only gradients of inputs read goes with them.
  CHECK(TensorOf(program, block, "activation input").last_step < weight);
  CHECK(TensorOf(program, block, "query").last_step < weight);
  // What is kept between passes counts as activations.
  CHECK(TensorOf(program, block, "qkv gradient").kind ==
        TensorKind::kActivation);
}

TEST_CASE("a weight pass gathers what sequence parallelism has divided") {
  ParallelConfig config = Pipeline(2, Schedule::kZeroBubbleH1);
  config.tp = 2;
  config.sequence_parallel = YesNo::kYes;
  const Program program = Compiled(SmallWorkload(2, 2), config);
  const Block& block = LastLayers(program);
  // Inputs of QKV and MLP, in front of the gradients of their weights; the
  // gradients of outputs have been gathered by the backward pass.
  CHECK(Sent(program, WeightSteps(program, block), CollectiveKind::kAllGather,
             Group::kTensor)
            .size() == 2);
  CHECK(Sent(program, BackwardSteps(program, block), CollectiveKind::kAllGather,
             Group::kTensor)
            .size() == 2);
}

TEST_CASE("what split schedules do not go with is refused by name") {
  const Workload workload = SmallWorkload(8, 8);
  const auto refusal = [&workload](const ParallelConfig& config) {
    const absl::Status status = Compile(workload, config).status();
    CHECK(status.code() == absl::StatusCode::kUnimplemented);
    return std::string(status.message());
  };
  using Catch::Matchers::Contains;
  for (const Schedule schedule :
       {Schedule::kZeroBubbleH1, Schedule::kDualPipeV}) {
    ParallelConfig config = Pipeline(2, schedule);
    config.zero = ZeroStage::kParameters;
    CHECK_THAT(refusal(config),
               Contains("sharded parameters (ZeRO-3) under schedule " +
                        std::string(Name(schedule))));
  }
}

TEST_CASE("the texts of a split program show its weight steps") {
  const Program program =
      Compiled(SmallWorkload(2, 2), Pipeline(2, Schedule::kZeroBubbleH1));
  CHECK(Has(ToText(program), "\n  weight gradients\n"));
  CHECK(Has(ToJson(program), "\"weight\": ["));
  const Program whole = Compiled(SmallWorkload(2, 2), Pipeline(2));
  CHECK(!Has(ToText(whole), "\n  weight gradients\n"));
  CHECK(!Has(ToJson(whole), "\"weight\": ["));
}

}  // namespace
}  // namespace lmsimbench
