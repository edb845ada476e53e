#include "lib/compile/mlp_emitter.h"

namespace lmsimbench::compile {
namespace {

constexpr auto kTemporary = TensorKind::kTemporary;

}  // namespace

MlpEmitter::MlpEmitter(const Sizes& sizes, const MlpOperators& operators,
                       int64_t ffn, BlockBuilder& builder, bool joins)
    : StepEmitter(sizes, builder),
      ops_(operators),
      inner_bytes_(FullBytes(ffn)),
      joins_(joins) {}

TensorId MlpEmitter::Forward(MlpTensors& t) {
  Up(t);
  Activation(t);
  return RowParallel(ops_.down, t.activation_output, "mlp output", joins_);
}

void MlpEmitter::Recompute(MlpTensors& t) {
  if (s_.recompute_mlp) {
    Again([&] {
      Up(t);
      Activation(t);
    });
  } else if (s_.recompute_activation) {
    Again([&] { Activation(t); });
  }
}

TensorId MlpEmitter::Backward(const MlpTensors& t, TensorId gradient) {
  TensorId inner = RowParallelBackward(ops_.down, t.activation_output, gradient,
                                       inner_bytes_, joins_);
  b_.Compute(ops_.activation.backward, joins_);
  b_.Read(inner);
  b_.Read(t.activation_input);
  inner =
      b_.Make("mlp inner gradient", kTemporary, s_.ffn_inputs * inner_bytes_);
  return ColumnParallelBackward(ops_.up, t.input, inner, s_.hidden, joins_);
}

void MlpEmitter::Up(MlpTensors& t) {
  const TensorId gathered = Gather(t.input, s_.hidden);
  b_.Compute(ops_.up.forward, joins_ && !s_.overlap_tensor);
  b_.Read(gathered);
  t.activation_input =
      b_.Make("activation input", kTemporary, s_.ffn_inputs * inner_bytes_);
}

void MlpEmitter::Activation(MlpTensors& t) {
  b_.Compute(ops_.activation.forward, joins_);
  b_.Read(t.activation_input);
  t.activation_output = b_.Make("activation output", kTemporary, inner_bytes_);
}

}  // namespace lmsimbench::compile
