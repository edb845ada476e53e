#include "lib/lower/check_program.h"

#include "fmt/format.h"

namespace lmsimbench::lower {
namespace {

template <typename... Args>
absl::Status Unsound(fmt::format_string<Args...> format, Args&&... args) {
  return absl::InvalidArgumentError(
      "the program is not sound: " +
      fmt::format(format, std::forward<Args>(args)...));
}

// True if the range lies within `size` entries.
bool Within(int64_t begin, int64_t end, size_t size) {
  return begin >= 0 && begin <= end && end <= static_cast<int64_t>(size);
}

bool IsIndex(int64_t index, size_t size) {
  return index >= 0 && index < static_cast<int64_t>(size);
}

absl::Status CheckBlock(const Program& program, size_t index) {
  const Block& block = program.blocks[index];
  if (!Within(block.begin_step, block.backward_step, program.steps.size()) ||
      !Within(block.backward_step, block.weight_step, program.steps.size()) ||
      !Within(block.weight_step, block.end_step, program.steps.size()) ||
      !Within(block.begin_tensor, block.end_tensor, program.tensors.size())) {
    return Unsound("block {} names steps or tensors that are not there", index);
  }
  if (!program.splits_backward && block.weight_step < block.end_step) {
    return Unsound(
        "block {} has {} weight steps, and backward passes are not split",
        index, block.end_step - block.weight_step);
  }
  int64_t gradients = 0;
  int64_t balance = 0;
  for (int32_t i = block.begin_step; i < block.end_step; ++i) {
    const Step& step = program.steps[i];
    if (!IsIndex(step.id, step.is_collective ? program.collectives.size()
                                             : program.operators.size())) {
      return Unsound("step {} of block {} names {} {}, which is not there",
                     i - block.begin_step, index,
                     step.is_collective ? "collective" : "operator", step.id);
    }
    gradients += step.gradient_parameters;
    balance += step.allocated_bytes - step.freed_bytes;
  }
  if (gradients != block.parameters) {
    return Unsound("block {} has {} parameters and completes {} gradients",
                   index, block.parameters, gradients);
  }
  if (balance != 0) {
    return Unsound("block {} takes {} bytes more than it gives back", index,
                   balance);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckProgram(const Program& program, int64_t pp) {
  for (size_t i = 0; i < program.blocks.size(); ++i) {
    absl::Status status = CheckBlock(program, i);
    if (!status.ok()) return status;
  }
  for (const BlockRun& run : program.runs) {
    if (!IsIndex(run.block, program.blocks.size()) || run.count < 1) {
      return Unsound("a run repeats block {} {} times", run.block, run.count);
    }
  }
  for (size_t i = 0; i < program.chunks.size(); ++i) {
    if (!Within(program.chunks[i].begin_run, program.chunks[i].end_run,
                program.runs.size())) {
      return Unsound("chunk {} names runs that are not there", i);
    }
  }
  for (const int32_t kind : program.chunk_kind) {
    if (!IsIndex(kind, program.chunks.size())) {
      return Unsound("chunk kind {} is not there", kind);
    }
  }
  const auto chunks = static_cast<int64_t>(program.chunk_kind.size());
  if (chunks == 0 || pp < 1 || chunks % pp != 0) {
    return Unsound("{} chunks do not divide over {} pipeline ranks", chunks,
                   pp);
  }
  if (static_cast<int64_t>(program.stages.size()) != pp) {
    return Unsound("{} stages for {} pipeline ranks", program.stages.size(),
                   pp);
  }
  for (const Stage& stage : program.stages) {
    if (!IsIndex(stage.gradient_norm, program.operators.size()) ||
        !IsIndex(stage.optimizer, program.operators.size())) {
      return Unsound("a stage names operators {} and {}", stage.gradient_norm,
                     stage.optimizer);
    }
    for (const int32_t copy :
         {stage.gradients_to_host, stage.weights_to_device}) {
      if (copy < 0 || IsIndex(copy, program.operators.size())) continue;
      return Unsound("a stage copies to or from the host by operator {}", copy);
    }
  }
  if (program.micro_batches < 1) {
    return Unsound("{} micro-batches", program.micro_batches);
  }
  return absl::OkStatus();
}

}  // namespace lmsimbench::lower
