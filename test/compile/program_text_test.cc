#include <algorithm>
#include <string>

#include "catch2/catch.hpp"
#include "test/pipelines.h"
#include "test/texts.h"

namespace lmsimbench {
namespace {

// Four layers on two stages of two tensor-parallel ranks.
Program Small() {
  Workload workload;
  workload.model.hidden = 64;
  workload.model.layers = 4;
  workload.model.heads = workload.model.kv_heads = 4;
  workload.model.head_dim = 16;
  workload.model.ffn = 256;
  workload.model.gated_mlp = YesNo::kNo;
  workload.model.vocab = 256;
  workload.model.dropout = 0;
  workload.seq_len = 128;
  workload.global_batch = 4;
  workload.precision = Precision::kBf16;
  workload.causal = YesNo::kYes;
  workload.attention_impl = AttentionImpl::kFlash;
  ParallelConfig config;
  config.tp = config.pp = 2;
  config.micro_batch = 1;
  config.recompute = Recompute::kSelective;
  config.overlap_tensor = YesNo::kNo;
  return Compiled(workload, config);
}

TEST_CASE("the text of a program names operators with operations and bytes") {
  // QKV on one of two ranks: 128 tokens, 64 inputs, 3 * 64 / 2 outputs.
  // 2 * 128 * 96 * 64 operations; 2 bytes each of 128 x 64 inputs, 64 x 96
  // weights and 128 x 96 outputs are 53248.
  CHECK(Has(ToText(Small()),
            "qkv projection     forward         bf16             0.0016       "
            "0.0532  128 x 96 x 64\n"));
}

TEST_CASE("the text of a program holds all operators and steps and tensors") {
  const Program program = Small();
  const std::string text = ToText(program);
  const auto lines = std::count(text.begin(), text.end(), '\n');
  size_t entries = program.operators.size() + program.collectives.size() +
                   program.steps.size() + program.tensors.size() +
                   program.chunks.size() + program.stages.size();
  // Heads: two of operators, three of collectives, five of each block with its
  // directions and one of its tensors, three of chunks and of stages.
  entries += 2 + 3 + 6 * program.blocks.size() + 3 + 3;
  // What stands before the operators: sizes, states, assumptions, empty line.
  size_t assumed = 0;
  for (int a = 0; a < kAssumptions; ++a) {
    assumed += program.Assumes(static_cast<Assumption>(a));
  }
  entries += 2 + assumed + 1;
  CHECK(static_cast<size_t>(lines) == entries);
  for (const Tensor& tensor : program.tensors) {
    CHECK(Has(text, std::string("\n  ") + tensor.name));
  }
}

TEST_CASE("the text of a block shows streams and joins and lifetimes") {
  const std::string text = ToText(Small());
  // A tensor rank's weights: 64 x 96 of QKV, 32 x 64 of the output, twice
  // 64 x 128 of the MLP; two norms of 2 x 64.
  CHECK(Has(text, "block 2: layers (1 layer), 24832 parameters, "));
  // Selective recomputation runs the attention core again in front of its
  // backward pass; the reduction behind a row-parallel layer stands on the
  // tensor stream, and what follows it joins.
  CHECK(Has(text, "attention, forward"));
  CHECK(Has(text, "  joins  recomputed\n"));
  CHECK(Has(text, "tensor   c0 all_reduce, tensor"));
  // 128 tokens of 64 numbers of 2 bytes, from the first step to the last.
  CHECK(Has(text,
            "layer input              activation           16384  0 - 26\n"));
  // A tensor rank's half of 64 x 256 weights.
  CHECK(Has(text,
            "mlp up, weight gradient                         0          49152  "
            "joins  completes 8192 gradients\n"));
}

TEST_CASE("the text of a program shows where chunks and stages lie") {
  const Program program = Small();
  const std::string text = ToText(program);
  CHECK(Has(text, "chunks; along the network: 0, 1\n"));
  CHECK(Has(text, "states: Megatron bf16: 2 + 4 + 12 bytes a parameter\n"));
  CHECK(Has(text, "assumed: the optimizer is Adam\n"));
  // Two stages that differ: embedding on one, output layer on the other.
  CHECK(Has(text, "\n          0      2 "));
  CHECK(Has(text, "\n          1      2 "));
}

TEST_CASE("stages that hold the same share a line of the text") {
  Program program = Small();
  program.stages.assign(5, program.stages[0]);
  CHECK(Has(ToText(program), "\n        0-4      2 "));
}

TEST_CASE("the JSON of a program holds what the value does") {
  const Program program = Small();
  const auto json = Parsed(ToJson(program));
  CHECK(json["micro_batches"] == 4);
  REQUIRE(json["operators"].size() == program.operators.size());
  for (size_t i = 0; i < program.operators.size(); ++i) {
    CHECK(json["operators"][i]["kind"] ==
          std::string(Name(program.operators[i].kind)));
    CHECK(json["operators"][i]["flops"] == program.operators[i].flops);
  }
  CHECK(json["collectives"].size() == program.collectives.size());
  size_t steps = 0;
  size_t tensors = 0;
  for (const auto& block : json["blocks"]) {
    steps += block["forward"].size() + block["backward"].size();
    tensors += block["tensors"].size();
  }
  CHECK(steps == program.steps.size());
  CHECK(tensors == program.tensors.size());
  CHECK(json["chunks"].size() == program.chunks.size());
  CHECK(json["chunk_kind"].size() == program.chunk_kind.size());
  CHECK(json["stages"].size() == 2);
  CHECK(json["stages"][0]["weights_bytes"] == program.stages[0].weights_bytes);
}

TEST_CASE("the JSON of an operator has the figures of its own shape only") {
  const auto json = Parsed(ToJson(Small()));
  for (const auto& op : json["operators"]) {
    const bool product = op["computation"] == "matrix multiplication";
    CHECK(op.contains("m") == product);
    CHECK(op.contains("heads") == (op["computation"] == "attention"));
    CHECK(op.contains("rows") == (op["computation"] == "elementwise"));
  }
}

}  // namespace
}  // namespace lmsimbench
