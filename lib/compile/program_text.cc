#include <cstddef>
#include <string>

#include "fmt/format.h"
#include "lib/core/operator_text.h"
#include "lmsimbench/fmt.h"
#include "lmsimbench/program.h"

namespace lmsimbench {
namespace {

// What a step runs, by its number: "12 mlp up, forward", "c1 all_gather".
std::string StepName(const Program& program, const Step& step) {
  if (step.is_collective) {
    const Collective& collective = program.collectives[step.id];
    return fmt::format("c{} {}, {}", step.id, collective.kind,
                       collective.group);
  }
  const Operator& op = program.operators[step.id];
  return fmt::format("{} {}, {}", step.id, op.kind, op.pass);
}

void AppendLine(std::string line, std::string& text) {
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + "\n";
}

void AppendOperators(const Program& program, std::string& text) {
  text += "operators\n";
  AppendLine(
      fmt::format("  {:>4}  {:<18} {:<15} {:<9} {:>13} {:>12}  {}", "id",
                  "operator", "pass", "precision", "GFLOP", "MB", "shape"),
      text);
  for (size_t i = 0; i < program.operators.size(); ++i) {
    const Operator& op = program.operators[i];
    AppendLine(
        fmt::format("  {:>4}  {:<18} {:<15} {:<9} {:>13.4f} {:>12.4f}  {}", i,
                    op.kind, op.pass, op.precision, op.flops / 1e9,
                    op.bytes / 1e6, ShapeText(op)),
        text);
  }
}

void AppendCollectives(const Program& program, std::string& text) {
  text +=
      "\ncollectives of the blocks\n" + CollectivesText(program.collectives);
}

void AppendStep(const Program& program, const Block& block, int32_t index,
                std::string& text) {
  const Step& step = program.steps[index];
  std::string marks;
  if (step.joins) marks += "  joins";
  if (step.recomputed) marks += "  recomputed";
  if (step.gradient_parameters > 0) {
    marks += fmt::format("  completes {} gradients{}", step.gradient_parameters,
                         step.of_experts ? " of experts" : "");
  }
  AppendLine(fmt::format("  {:>4}  {:<8} {:<37} {:>14} {:>14}{}",
                         index - block.begin_step,
                         step.is_collective ? "tensor" : "compute",
                         StepName(program, step), step.allocated_bytes,
                         step.freed_bytes, marks),
             text);
}

void AppendBlock(const Program& program, size_t index, std::string& text) {
  const Block& block = program.blocks[index];
  std::string of_experts;
  if (block.expert_parameters > 0) {
    of_experts = fmt::format(", {} of experts", block.expert_parameters);
  }
  const std::string layers = block.kind != BlockKind::kLayers
                                 ? ""
                                 : fmt::format(" ({} layer{})", block.layers,
                                               block.layers == 1 ? "" : "s");
  text += fmt::format(
      "\nblock {}: {}{}, {} parameters, {} of them on every tensor rank{}, "
      "keeps {} bytes a micro-batch\n",
      index, block.kind, layers, block.parameters, block.replicated_parameters,
      of_experts, block.stored_bytes);
  AppendLine(fmt::format("  {:>4}  {:<8} {:<37} {:>14} {:>14}", "step",
                         "stream", "runs", "takes bytes", "gives back"),
             text);
  for (int32_t s = block.begin_step; s < block.end_step; ++s) {
    if (s == block.begin_step && s < block.backward_step) text += "  forward\n";
    if (s == block.backward_step && s < block.weight_step) {
      text += "  backward\n";
    }
    if (s == block.weight_step) text += "  weight gradients\n";
    AppendStep(program, block, s, text);
  }
  if (block.begin_tensor == block.end_tensor) return;
  AppendLine(fmt::format("  {:<24} {:<11} {:>14}  {}", "tensor", "kind",
                         "bytes", "from step to step"),
             text);
  for (int32_t t = block.begin_tensor; t < block.end_tensor; ++t) {
    const Tensor& tensor = program.tensors[t];
    AppendLine(
        fmt::format("  {:<24} {:<11} {:>14}  {} - {}", tensor.name, tensor.kind,
                    tensor.bytes, tensor.first_step, tensor.last_step),
        text);
  }
}

// Chunks along the network, equal neighbours together: "0, 1 x 6, 2".
std::string AlongTheNetwork(const Program& program) {
  std::string text;
  const auto& kinds = program.chunk_kind;
  for (size_t begin = 0, end = 0; begin < kinds.size(); begin = end) {
    end = begin;
    while (end < kinds.size() && kinds[end] == kinds[begin]) ++end;
    if (!text.empty()) text += ", ";
    text += fmt::format("{}", kinds[begin]);
    if (end - begin > 1) text += fmt::format(" x {}", end - begin);
  }
  return text;
}

void AppendChunks(const Program& program, std::string& text) {
  text += fmt::format("\nchunks; along the network: {}\n",
                      AlongTheNetwork(program));
  AppendLine(
      fmt::format("  {:>4} {:>6} {:>14} {:>14} {:>16}  {}", "id", "layers",
                  "parameters", "on every rank", "keeps bytes", "blocks"),
      text);
  for (size_t i = 0; i < program.chunks.size(); ++i) {
    const Chunk& chunk = program.chunks[i];
    std::string blocks;
    for (const BlockRun& run : Runs(program, chunk)) {
      if (!blocks.empty()) blocks += ", ";
      blocks += fmt::format("{} x {}", run.block, run.count);
    }
    AppendLine(
        fmt::format("  {:>4} {:>6} {:>14} {:>14} {:>16}  {}", i, chunk.layers,
                    chunk.parameters, chunk.replicated_parameters,
                    chunk.stored_bytes, blocks),
        text);
  }
}

bool SameStage(const Stage& a, const Stage& b) {
  return a.layers == b.layers && a.parameters == b.parameters &&
         a.replicated_parameters == b.replicated_parameters &&
         a.expert_parameters == b.expert_parameters &&
         a.weights_bytes == b.weights_bytes &&
         a.gradients_bytes == b.gradients_bytes &&
         a.optimizer_bytes == b.optimizer_bytes &&
         a.gradient_norm == b.gradient_norm && a.optimizer == b.optimizer &&
         a.host_bytes == b.host_bytes;
}

// Equal stages that follow each other stand in one line.
void AppendStages(const Program& program, std::string& text) {
  text += "\nstages, bytes of one device\n";
  AppendLine(fmt::format("  {:>9} {:>6} {:>14} {:>14} {:>14} {:>14} {:>14}  {}",
                         "stage", "layers", "parameters", "on every rank",
                         "weights", "gradients", "optimizer", "operators"),
             text);
  const auto& stages = program.stages;
  for (size_t begin = 0, end = 0; begin < stages.size(); begin = end) {
    end = begin;
    while (end < stages.size() && SameStage(stages[begin], stages[end])) ++end;
    const Stage& stage = stages[begin];
    AppendLine(fmt::format(
                   "  {:>9} {:>6} {:>14} {:>14} {:>14} {:>14} {:>14}  {}, {}",
                   end - begin == 1 ? fmt::format("{}", begin)
                                    : fmt::format("{}-{}", begin, end - 1),
                   stage.layers, stage.parameters, stage.replicated_parameters,
                   stage.weights_bytes, stage.gradients_bytes,
                   stage.optimizer_bytes, stage.gradient_norm, stage.optimizer),
               text);
    if (stage.host_bytes == 0) continue;
    AppendLine(
        fmt::format("  {:>9} {} bytes of optimizer state in the memory of the "
                    "host; operators {} to it, {} from it",
                    "", stage.host_bytes, stage.gradients_to_host,
                    stage.weights_to_device),
        text);
  }
}

}  // namespace

std::string ToText(const Program& program) {
  std::string text = fmt::format(
      "{} micro-batches, {} bytes from chunk to chunk, {} bytes a weight, {} a "
      "gradient\n",
      program.micro_batches, program.transfer_bytes, program.weight_bytes,
      program.gradient_bytes);
  text += fmt::format("states: {}\n", program.state_table);
  if (program.sequence_parallel) text += "sequence parallelism\n";
  if (program.shared_embedding_parameters > 0) {
    text += fmt::format(
        "first and last stage both hold {} parameters of the embedding\n",
        program.shared_embedding_parameters);
  }
  if (program.framework_bytes > 0) {
    text += fmt::format("framework and driver keep {} bytes\n",
                        program.framework_bytes);
  }
  for (int a = 0; a < kAssumptions; ++a) {
    const auto assumption = static_cast<Assumption>(a);
    if (program.Assumes(assumption)) {
      text += fmt::format("assumed: {}\n", assumption);
    }
  }
  text += "\n";
  AppendOperators(program, text);
  if (!program.collectives.empty()) AppendCollectives(program, text);
  for (size_t i = 0; i < program.blocks.size(); ++i) {
    AppendBlock(program, i, text);
  }
  AppendChunks(program, text);
  AppendStages(program, text);
  return text;
}

}  // namespace lmsimbench
