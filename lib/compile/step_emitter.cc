#include "lib/compile/step_emitter.h"

#include "lib/compile/blocks.h"

namespace lmsimbench::compile {
namespace {

constexpr auto kTemporary = TensorKind::kTemporary;
constexpr auto kBuffer = TensorKind::kBuffer;

}  // namespace

TensorId StepEmitter::Norm(const Elementwise& norm, const char* name,
                           TensorId input, int64_t width) {
  b_.Compute(norm.forward);
  b_.Read(input);
  return b_.Make(name, kTemporary, StreamBytes(width));
}

TensorId StepEmitter::NormBackward(const Elementwise& norm, TensorId input,
                                   TensorId gradient, TensorId residual,
                                   int64_t width) {
  b_.Compute(norm.backward);
  b_.Read(input);
  b_.Read(gradient);
  b_.Read(residual);
  const int64_t parameters = width * (s_.norm_parameters / s_.hidden);
  b_.Completes(parameters, parameters);
  return b_.Make("stream gradient", kTemporary, StreamBytes(width));
}

TensorId StepEmitter::Gather(TensorId shard, int64_t width) {
  if (!s_.sequence_parallel) return shard;
  b_.Communicate(GatherActivations(s_, width));
  b_.Read(shard);
  return b_.Make("gathered", kBuffer, FullBytes(width));
}

TensorId StepEmitter::Reduce(TensorId partial, int64_t width,
                             const char* name) {
  if (s_.tp == 1) return partial;
  b_.Communicate(ReduceActivations(s_, width));
  b_.Read(partial);
  if (!s_.sequence_parallel) return partial;
  return b_.Make(name, kBuffer, StreamBytes(width));
}

TensorId StepEmitter::RowParallel(const Linear& linear, TensorId input,
                                  const char* name, bool joins) {
  b_.Compute(linear.forward, joins);
  b_.Read(input);
  const TensorId output = b_.Make(name, kTemporary, FullBytes(s_.hidden));
  return Reduce(output, s_.hidden, "scattered");
}

TensorId StepEmitter::RowParallelBackward(const Linear& linear, TensorId input,
                                          TensorId gradient,
                                          int64_t input_bytes, bool joins) {
  const TensorId whole = Gather(gradient, s_.hidden);
  b_.Compute(linear.input_gradient, joins);
  b_.Read(whole);
  const TensorId result = b_.Make("inner gradient", kTemporary, input_bytes);
  b_.Weight([&] {
    b_.Compute(linear.weight_gradient, joins);
    b_.Read(whole);
    b_.Read(input);
    b_.Completes(linear.parameters, linear.replicated_parameters);
  });
  return result;
}

TensorId StepEmitter::ColumnParallelBackward(const Linear& linear,
                                             TensorId input, TensorId gradient,
                                             int64_t width, bool joins) {
  const bool splits = b_.splits_backward();
  TensorId whole_input = kNoTensor;
  if (!splits) {
    joins = joins && !s_.overlap_tensor;
    whole_input = Gather(input, width);
  }
  b_.Compute(linear.input_gradient, joins);
  b_.Read(gradient);
  TensorId result = b_.Make("input gradient", kTemporary, FullBytes(width));
  result = Reduce(result, width, "scattered gradient");
  b_.Weight([&] {
    if (splits) whole_input = Gather(input, width);
    b_.Compute(linear.weight_gradient, joins || splits);
    b_.Read(whole_input);
    b_.Read(gradient);
    b_.Completes(linear.parameters, linear.replicated_parameters);
  });
  return result;
}

}  // namespace lmsimbench::compile
