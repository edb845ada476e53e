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

// The figures of a shape that describe its computation.
struct Figure {
  const char* name;
  int64_t Operator::*value;
};
constexpr Figure kMatrix[] = {{"batch", &Operator::batch},
                              {"m", &Operator::m},
                              {"n", &Operator::n},
                              {"k", &Operator::k}};
constexpr Figure kAttention[] = {{"batch", &Operator::batch},
                                 {"query_tokens", &Operator::query_tokens},
                                 {"key_tokens", &Operator::key_tokens},
                                 {"heads", &Operator::heads},
                                 {"kv_heads", &Operator::kv_heads},
                                 {"head_dim", &Operator::head_dim},
                                 {"window", &Operator::window}};
constexpr Figure kElementwise[] = {{"rows", &Operator::rows},
                                   {"width", &Operator::width}};

absl::Span<const Figure> FiguresOf(Computation computation) {
  switch (computation) {
    case Computation::kMatrixMultiplication:
      return kMatrix;
    case Computation::kAttention:
      return kAttention;
    case Computation::kElementwise:
    case Computation::kHost:
      return kElementwise;
  }
  return {};
}

Json JsonOf(const Operator& op) {
  Json json = {{"kind", Text(op.kind)},
               {"pass", Text(op.pass)},
               {"computation", Text(op.computation)},
               {"precision", Text(op.precision)}};
  for (const Figure& figure : FiguresOf(op.computation)) {
    json[figure.name] = op.*figure.value;
  }
  if (op.computation == Computation::kAttention) json["causal"] = op.causal;
  if (IsStated(op.value_head_dim)) json["value_head_dim"] = op.value_head_dim;
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
  return {{step.is_collective ? "collective" : "operator", step.id},
          {"joins", step.joins},
          {"recomputed", step.recomputed},
          {"of_experts", step.of_experts},
          {"gradient_parameters", step.gradient_parameters},
          {"allocated_bytes", step.allocated_bytes},
          {"freed_bytes", step.freed_bytes}};
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
          {"expert_parameters", stage.expert_parameters},
          {"weights_bytes", stage.weights_bytes},
          {"gradients_bytes", stage.gradients_bytes},
          {"optimizer_bytes", stage.optimizer_bytes},
          {"gradient_norm", stage.gradient_norm},
          {"optimizer", stage.optimizer},
          {"gradients_to_host", stage.gradients_to_host},
          {"weights_to_device", stage.weights_to_device},
          {"host_bytes", stage.host_bytes}};
}

Json JsonOf(const BlockRun& run) {
  return {{"block", run.block}, {"count", run.count}};
}

template <typename List>
Json JsonList(const List& list) {
  Json json = Json::array();
  for (const auto& entry : list) json.push_back(JsonOf(entry));
  return json;
}

Json JsonOf(const Program& program, const Block& block) {
  const auto tensors =
      absl::MakeConstSpan(program.tensors)
          .subspan(block.begin_tensor, block.end_tensor - block.begin_tensor);
  Json json = {{"kind", Text(block.kind)},
               {"layers", block.layers},
               {"parameters", block.parameters},
               {"replicated_parameters", block.replicated_parameters},
               {"expert_parameters", block.expert_parameters},
               {"stored_bytes", block.stored_bytes},
               {"forward", JsonList(ForwardSteps(program, block))},
               {"backward", JsonList(BackwardSteps(program, block))}};
  if (program.splits_backward) {
    json["weight"] = JsonList(WeightSteps(program, block));
  }
  json["tensors"] = JsonList(tensors);
  return json;
}

Json JsonOf(const Program& program, const Chunk& chunk) {
  return {{"layers", chunk.layers},
          {"parameters", chunk.parameters},
          {"replicated_parameters", chunk.replicated_parameters},
          {"expert_parameters", chunk.expert_parameters},
          {"stored_bytes", chunk.stored_bytes},
          {"runs", JsonList(Runs(program, chunk))}};
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
