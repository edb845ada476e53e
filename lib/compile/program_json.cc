#include <string>

#include "lmsimbench/program.h"
#include "nlohmann/json.hpp"

namespace lmsimbench {
namespace {

using Json = nlohmann::ordered_json;

template <typename Enum>
std::string Text(Enum value) {
  return std::string(Name(value));
}

// Of its shape the figures that describe its computation.
Json JsonOf(const Operator& op) {
  Json json;
  json["kind"] = Text(op.kind);
  json["pass"] = Text(op.pass);
  json["computation"] = Text(op.computation);
  json["precision"] = Text(op.precision);
  switch (op.computation) {
    case Computation::kMatrixMultiplication:
      json["batch"] = op.batch;
      json["m"] = op.m;
      json["n"] = op.n;
      json["k"] = op.k;
      break;
    case Computation::kAttention:
      json["batch"] = op.batch;
      json["query_tokens"] = op.query_tokens;
      json["key_tokens"] = op.key_tokens;
      json["heads"] = op.heads;
      json["kv_heads"] = op.kv_heads;
      json["head_dim"] = op.head_dim;
      json["causal"] = op.causal;
      json["window"] = op.window;
      break;
    case Computation::kElementwise:
      json["rows"] = op.rows;
      json["width"] = op.width;
      break;
  }
  json["flops"] = op.flops;
  json["bytes"] = op.bytes;
  return json;
}

Json JsonOf(const Collective& collective) {
  return {{"kind", Text(collective.kind)},
          {"group", Text(collective.group)},
          {"bytes", collective.bytes}};
}

Json JsonOf(const Step& step) {
  Json json;
  json[step.is_collective ? "collective" : "operator"] = step.id;
  json["joins"] = step.joins;
  json["recomputed"] = step.recomputed;
  json["gradient_parameters"] = step.gradient_parameters;
  json["allocated_bytes"] = step.allocated_bytes;
  json["freed_bytes"] = step.freed_bytes;
  return json;
}

Json JsonOf(const Tensor& tensor) {
  return {{"name", tensor.name},
          {"kind", Text(tensor.kind)},
          {"bytes", tensor.bytes},
          {"first_step", tensor.first_step},
          {"last_step", tensor.last_step}};
}

Json JsonOf(const Stage& stage) {
  return {{"layers", stage.layers},
          {"parameters", stage.parameters},
          {"replicated_parameters", stage.replicated_parameters},
          {"weights_bytes", stage.weights_bytes},
          {"gradients_bytes", stage.gradients_bytes},
          {"optimizer_bytes", stage.optimizer_bytes},
          {"gradient_norm", stage.gradient_norm},
          {"optimizer", stage.optimizer}};
}

template <typename List>
Json JsonList(const List& list) {
  Json json = Json::array();
  for (const auto& entry : list) json.push_back(JsonOf(entry));
  return json;
}

Json JsonOf(const Program& program, const Block& block) {
  Json json;
  json["kind"] = Text(block.kind);
  json["layers"] = block.layers;
  json["parameters"] = block.parameters;
  json["replicated_parameters"] = block.replicated_parameters;
  json["stored_bytes"] = block.stored_bytes;
  json["forward"] = JsonList(ForwardSteps(program, block));
  json["backward"] = JsonList(BackwardSteps(program, block));
  json["tensors"] = JsonList(
      absl::MakeConstSpan(program.tensors)
          .subspan(block.begin_tensor, block.end_tensor - block.begin_tensor));
  return json;
}

Json JsonOf(const Program& program, const Chunk& chunk) {
  Json json;
  json["layers"] = chunk.layers;
  json["parameters"] = chunk.parameters;
  json["replicated_parameters"] = chunk.replicated_parameters;
  json["stored_bytes"] = chunk.stored_bytes;
  Json& runs = json["runs"] = Json::array();
  for (const BlockRun& run : Runs(program, chunk)) {
    runs.push_back({{"block", run.block}, {"count", run.count}});
  }
  return json;
}

}  // namespace

std::string ToJson(const Program& program) {
  Json json;
  json["micro_batches"] = program.micro_batches;
  json["transfer_bytes"] = program.transfer_bytes;
  json["weight_bytes"] = program.weight_bytes;
  json["gradient_bytes"] = program.gradient_bytes;
  json["sequence_parallel"] = program.sequence_parallel;
  json["shared_embedding_parameters"] = program.shared_embedding_parameters;
  json["framework_bytes"] = program.framework_bytes;
  json["state_table"] = Text(program.state_table);
  Json& assumptions = json["assumptions"] = Json::array();
  for (int a = 0; a < kAssumptions; ++a) {
    const auto assumption = static_cast<Assumption>(a);
    if (program.Assumes(assumption)) assumptions.push_back(Text(assumption));
  }
  json["operators"] = JsonList(program.operators);
  json["collectives"] = JsonList(program.collectives);
  Json& blocks = json["blocks"] = Json::array();
  for (const Block& block : program.blocks) {
    blocks.push_back(JsonOf(program, block));
  }
  Json& chunks = json["chunks"] = Json::array();
  for (const Chunk& chunk : program.chunks) {
    chunks.push_back(JsonOf(program, chunk));
  }
  json["chunk_kind"] = program.chunk_kind;
  json["chunk_layers"] = program.chunk_layers;
  json["stages"] = JsonList(program.stages);
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace lmsimbench
