#include "lib/compile/layer_emitter.h"

#include "lib/compile/blocks.h"

namespace lmsimbench::compile {
namespace {

constexpr auto kTemporary = TensorKind::kTemporary;

}  // namespace

LayerEmitter::LayerEmitter(const Sizes& sizes, const LayerOperators& operators,
                           BlockBuilder& builder)
    : StepEmitter(sizes, builder),
      ops_(operators),
      attention_(sizes, operators.attention, builder),
      mlp_(sizes, operators.mlp, sizes.ffn, builder),
      experts_(sizes, operators.experts, builder) {}

LayerTensors LayerEmitter::Forward(int64_t layer, TensorId input) {
  LayerTensors t;
  t.input = input;
  t.attention.input = Norm(ops_.norm, "qkv input", t.input, s_.hidden);
  TensorId branch = attention_.Forward(CoreOf(layer), t.attention);
  branch = PostNorm(t, 0, branch);
  t.middle = Residual("middle of the layer", branch, t.input, t.attention_mask);

  t.mlp_input = Norm(ops_.norm, "mlp input", t.middle, s_.hidden);
  if (IsSparse(s_, layer)) {
    t.experts.input = t.mlp_input;
    branch = experts_.Forward(t.experts);
  } else {
    t.mlp.input = t.mlp_input;
    branch = mlp_.Forward(t.mlp);
  }
  branch = PostNorm(t, 1, branch);
  t.output = Residual("layer output", branch, t.middle, t.mlp_mask);
  return t;
}

TensorId LayerEmitter::Backward(int64_t layer, LayerTensors t,
                                TensorId gradient, bool whole_layer_is_there) {
  const bool again = !whole_layer_is_there;
  TensorId branch = ResidualBackward(t.mlp_mask, gradient);
  branch = PostNormBackward(t, 1, branch);
  const TensorId outer = MlpBackward(layer, t, branch, again);
  gradient = NormBackward(ops_.norm, t.middle, outer, gradient, s_.hidden);

  branch = ResidualBackward(t.attention_mask, gradient);
  branch = PostNormBackward(t, 0, branch);
  TensorId inner = attention_.OutputBackward(t.attention, branch);
  if (again && s_.recompute_norm) t.attention.input = NormAgain(t.input);
  const AttentionCore& core = CoreOf(layer);
  if (again && s_.recompute_attention) {
    Again([&] {
      t.attention.core =
          attention_.Core(core, t.attention.query, t.attention.key_value);
    });
  }
  inner = attention_.InputBackward(core, t.attention, inner);
  return NormBackward(ops_.norm, t.input, inner, gradient, s_.hidden);
}

TensorId LayerEmitter::MlpBackward(int64_t layer, LayerTensors& t,
                                   TensorId gradient, bool again) {
  if (again && s_.recompute_norm) {
    t.mlp_input = t.mlp.input = t.experts.input = t.experts.shared.input =
        NormAgain(t.middle);
  }
  if (IsSparse(s_, layer)) {
    if (again) experts_.Recompute(t.experts);
    return experts_.Backward(t.experts, gradient);
  }
  if (again) mlp_.Recompute(t.mlp);
  return mlp_.Backward(t.mlp, gradient);
}

const AttentionCore& LayerEmitter::CoreOf(int64_t layer) const {
  return IsWindowed(s_, layer) ? ops_.attention.windowed : ops_.attention.whole;
}

TensorId LayerEmitter::NormAgain(TensorId input) {
  TensorId output = kNoTensor;
  Again(
      [&] { output = Norm(ops_.norm, "norm output again", input, s_.hidden); });
  return output;
}

TensorId LayerEmitter::PostNorm(LayerTensors& t, int which, TensorId branch) {
  if (s_.norms_per_layer != 4) return branch;
  t.post_norm_input[which] = branch;
  return Norm(ops_.norm, "post norm output", branch, s_.hidden);
}

TensorId LayerEmitter::PostNormBackward(const LayerTensors& t, int which,
                                        TensorId gradient) {
  if (s_.norms_per_layer != 4) return gradient;
  return NormBackward(ops_.norm, t.post_norm_input[which], gradient, kNoTensor,
                      s_.hidden);
}

TensorId LayerEmitter::Residual(const char* name, TensorId branch,
                                TensorId stream, TensorId& mask) {
  b_.Compute(ops_.residual.forward);
  b_.Read(branch);
  b_.Read(stream);
  if (s_.dropout) {
    mask = b_.Make("dropout mask", kTemporary, s_.region_tokens * s_.hidden);
  }
  return b_.Make(name, kTemporary, stream_bytes());
}

TensorId LayerEmitter::ResidualBackward(TensorId mask, TensorId gradient) {
  if (!s_.dropout && !s_.linear_bias) return gradient;
  b_.Compute(ops_.residual.backward);
  b_.Read(gradient);
  b_.Read(mask);
  return b_.Make("branch gradient", kTemporary, stream_bytes());
}

}  // namespace lmsimbench::compile
