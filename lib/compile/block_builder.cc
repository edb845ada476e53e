#include "lib/compile/block_builder.h"

#include <algorithm>

namespace lmsimbench::compile {

BlockBuilder::BlockBuilder(BlockKind kind, int32_t layers, Program& program)
    : program_(program) {
  block_.kind = kind;
  block_.layers = layers;
  block_.begin_step = static_cast<int32_t>(program.steps.size());
  block_.begin_tensor = static_cast<int32_t>(program.tensors.size());
}

void BlockBuilder::BeginBackward() {
  block_.backward_step = static_cast<int32_t>(program_.steps.size());
}

void BlockBuilder::Compute(int32_t op, bool joins) {
  Step step;
  step.id = op;
  step.joins = joins;
  step.recomputed = recomputed_;
  Add(step);
}

void BlockBuilder::Communicate(const Collective& collective) {
  if (collective.bytes == 0) return;
  const auto& all = program_.collectives;
  const auto known = std::find(all.begin(), all.end(), collective);
  Step step;
  step.id = static_cast<int32_t>(known - all.begin());
  step.is_collective = true;
  step.recomputed = recomputed_;
  if (known == all.end()) program_.collectives.push_back(collective);
  Add(step);
}

void BlockBuilder::Completes(int64_t parameters, int64_t replicated) {
  LatestStep().gradient_parameters += parameters;
  block_.parameters += parameters;
  block_.replicated_parameters += replicated;
}

void BlockBuilder::CompletesExperts(int64_t parameters) {
  Completes(parameters, 0);
  LatestStep().of_experts = true;
  block_.expert_parameters += parameters;
}

TensorId BlockBuilder::AddTensor(const char* name, TensorKind kind,
                                 int64_t bytes, int32_t step) {
  Tensor tensor;
  tensor.name = name;
  tensor.kind = kind;
  tensor.bytes = bytes;
  tensor.first_step = step;
  tensor.last_step = step;
  program_.tensors.push_back(tensor);
  return static_cast<TensorId>(program_.tensors.size()) - 1;
}

TensorId BlockBuilder::Make(const char* name, TensorKind kind, int64_t bytes) {
  return AddTensor(name, kind, bytes, NextStep() - 1);
}

TensorId BlockBuilder::Arrives(const char* name, TensorKind kind,
                               int64_t bytes) {
  return AddTensor(name, kind, bytes, NextStep());
}

void BlockBuilder::Read(TensorId tensor) {
  if (tensor == kNoTensor) return;
  // A step of the backward pass may come behind one of the weight pass here.
  int32_t& last_step = program_.tensors[tensor].last_step;
  last_step = std::max(last_step, NextStep() - 1);
}

int32_t BlockBuilder::Finish() {
  block_.weight_step = static_cast<int32_t>(program_.steps.size());
  program_.steps.insert(program_.steps.end(), weight_steps_.begin(),
                        weight_steps_.end());
  block_.end_step = static_cast<int32_t>(program_.steps.size());
  block_.end_tensor = static_cast<int32_t>(program_.tensors.size());
  const int32_t backward = block_.backward_step - block_.begin_step;
  const int32_t weight = block_.weight_step - block_.begin_step;
  const auto renumber = [weight](int32_t& step) {
    if (step >= kFirstWeightStep) step += weight - kFirstWeightStep;
  };
  Step* const steps = program_.steps.data() + block_.begin_step;
  for (int32_t i = block_.begin_tensor; i < block_.end_tensor; ++i) {
    Tensor& tensor = program_.tensors[i];
    renumber(tensor.first_step);
    renumber(tensor.last_step);
    const bool kept =
        tensor.first_step < backward && tensor.last_step >= backward;
    const bool kept_for_weights =
        tensor.first_step < weight && tensor.last_step >= weight;
    if ((kept || kept_for_weights) && tensor.kind == TensorKind::kTemporary) {
      tensor.kind = TensorKind::kActivation;
    }
    if (kept) block_.stored_bytes += tensor.bytes;
    steps[tensor.first_step].allocated_bytes += tensor.bytes;
    steps[tensor.last_step].freed_bytes += tensor.bytes;
  }
  program_.blocks.push_back(block_);
  return static_cast<int32_t>(program_.blocks.size()) - 1;
}

}  // namespace lmsimbench::compile
