#include <cmath>

#include "lmsimbench/framework.h"

namespace lmsimbench {
namespace {

int64_t Scaled(int64_t bytes, double factor) {
  return std::llround(static_cast<double>(bytes) * factor);
}

// Steps take and give back what the block's tensors say.
void KeepTensors(const FrameworkParameters& parameters, Block& block,
                 Program& program) {
  const int32_t backward = block.backward_step - block.begin_step;
  Step* const steps = program.steps.data() + block.begin_step;
  for (int32_t i = block.begin_tensor; i < block.end_tensor; ++i) {
    Tensor& tensor = program.tensors[static_cast<size_t>(i)];
    const double factor =
        tensor.kind == TensorKind::kLogits       ? parameters.logits_factor
        : tensor.kind == TensorKind::kActivation ? parameters.activations_factor
                                                 : 1;
    const int64_t more = Scaled(tensor.bytes, factor) - tensor.bytes;
    tensor.bytes += more;
    steps[tensor.first_step].allocated_bytes += more;
    steps[tensor.last_step].freed_bytes += more;
    if (tensor.first_step < backward && tensor.last_step >= backward) {
      block.stored_bytes += more;
    }
  }
}

}  // namespace

void KeepInside(const FrameworkParameters& parameters, Program& program) {
  program.framework_bytes = std::llround(parameters.reserved_bytes);
  for (Stage& stage : program.stages) {
    stage.gradients_bytes =
        Scaled(stage.gradients_bytes, parameters.gradients_factor);
  }
  if (parameters.activations_factor == 1 && parameters.logits_factor == 1) {
    return;
  }
  for (Block& block : program.blocks) KeepTensors(parameters, block, program);
  for (Chunk& chunk : program.chunks) {
    chunk.stored_bytes = 0;
    for (const BlockRun& run : Runs(program, chunk)) {
      chunk.stored_bytes +=
          run.count *
          program.blocks[static_cast<size_t>(run.block)].stored_bytes;
    }
  }
}

}  // namespace lmsimbench
