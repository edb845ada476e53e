#include <cstddef>

#include "absl/container/inlined_vector.h"
#include "lib/compile/block_builder.h"
#include "lib/compile/blocks.h"

namespace lmsimbench::compile {
namespace {

constexpr auto kTemporary = TensorKind::kTemporary;
constexpr auto kBuffer = TensorKind::kBuffer;

// What the forward pass of the attention core leaves for the backward pass.
struct CoreTensors {
  TensorId output = kNoTensor;
  TensorId log_sum_exp = kNoTensor;
  TensorId probabilities = kNoTensor;
  TensorId mask = kNoTensor;
  TensorId dropped = kNoTensor;
};

// What the forward pass of a layer leaves for the backward pass.
struct LayerTensors {
  TensorId input = kNoTensor;
  TensorId qkv_input = kNoTensor;
  TensorId qk_norm_input = kNoTensor;
  TensorId query = kNoTensor;
  TensorId key_value = kNoTensor;
  CoreTensors core;
  TensorId attention_mask = kNoTensor;
  TensorId post_norm_input[2] = {kNoTensor, kNoTensor};
  TensorId middle = kNoTensor;
  TensorId mlp_input = kNoTensor;
  TensorId activation_input = kNoTensor;
  TensorId activation_output = kNoTensor;
  TensorId mlp_mask = kNoTensor;
  TensorId output = kNoTensor;
};

// Emits the steps of one transformer layer. Forward and backward share the
// shapes and the collectives, so they share this class.
class LayerEmitter {
 public:
  LayerEmitter(const Sizes& sizes, const LayerOperators& operators,
               BlockBuilder& builder)
      : s_(sizes),
        ops_(operators),
        b_(builder),
        stream_bytes_(sizes.region_tokens * sizes.hidden * sizes.bytes),
        full_bytes_(sizes.tokens * sizes.hidden * sizes.bytes),
        query_bytes_(sizes.tokens * sizes.query_width * sizes.bytes),
        kv_bytes_(2 * sizes.tokens * sizes.kv_width * sizes.bytes),
        ffn_bytes_(sizes.tokens * sizes.ffn * sizes.bytes) {}

  int64_t stream_bytes() const { return stream_bytes_; }

  // The attention core from queries, keys and values.
  CoreTensors Core(const AttentionCore& core, TensorId query,
                   TensorId key_value) {
    CoreTensors t;
    if (s_.flash) {
      b_.Compute(core.fused.forward);
      b_.Read(query);
      b_.Read(key_value);
      t.output = b_.Make("attention output", kTemporary, query_bytes_);
      t.log_sum_exp =
          b_.Make("log-sum-exp", kTemporary, 4 * s_.tokens * s_.heads);
      return t;
    }
    const int64_t scores = s_.tokens * s_.heads * s_.seq_len;
    b_.Compute(core.scores);
    b_.Read(query);
    b_.Read(key_value);
    const TensorId raw = b_.Make("scores", kTemporary, scores * s_.bytes);
    b_.Compute(core.softmax.forward);
    b_.Read(raw);
    t.probabilities = b_.Make("probabilities", kTemporary, scores * s_.bytes);
    TensorId weights = t.probabilities;
    if (s_.dropout) {
      b_.Compute(core.dropout.forward);
      b_.Read(t.probabilities);
      t.mask = b_.Make("probability mask", kTemporary, scores);
      t.dropped =
          b_.Make("dropped probabilities", kTemporary, scores * s_.bytes);
      weights = t.dropped;
    }
    b_.Compute(core.values);
    b_.Read(weights);
    b_.Read(key_value);
    t.output = b_.Make("attention output", kTemporary, query_bytes_);
    return t;
  }

  LayerTensors Forward(const AttentionCore& core, TensorId input) {
    LayerTensors t;
    t.input = input;
    t.qkv_input = Norm("qkv input", t.input);
    const TensorId qkv_gathered = GatherInto(t.qkv_input);
    b_.Compute(ops_.qkv.forward, !s_.overlap_tensor);
    b_.Read(qkv_gathered);
    t.query = b_.Make("query", kTemporary, query_bytes_);
    t.key_value = b_.Make("key, value", kTemporary, kv_bytes_);
    if (s_.qk_norm) {
      b_.Compute(ops_.qk_norm.forward);
      t.qk_norm_input =
          b_.Make("qk norm input", kTemporary, query_bytes_ + kv_bytes_ / 2);
    }
    if (s_.rotary) b_.Compute(ops_.rotary.forward);
    t.core = Core(core, t.query, t.key_value);
    TensorId branch = RowParallel(ops_.output, t.core.output, "projected");
    branch = PostNorm(t, 0, branch);
    t.middle =
        Residual("middle of the layer", branch, t.input, t.attention_mask);

    t.mlp_input = Norm("mlp input", t.middle);
    const TensorId mlp_gathered = GatherInto(t.mlp_input);
    MlpUp(t, mlp_gathered);
    Activation(t);
    branch = RowParallel(ops_.mlp_down, t.activation_output, "mlp output");
    branch = PostNorm(t, 1, branch);
    t.output = Residual("layer output", branch, t.middle, t.mlp_mask);
    return t;
  }

  // Runs again what selective recomputation has not kept, as the backward pass
  // comes to it.
  void Backward(const AttentionCore& core, LayerTensors t, TensorId gradient,
                bool whole_layer_is_there, TensorId& input_gradient) {
    const bool again = !whole_layer_is_there;
    TensorId branch = ResidualBackward(t.mlp_mask, gradient);
    branch = PostNormBackward(t, 1, branch);
    if (again && s_.recompute_norm) t.mlp_input = NormAgain(t.middle);
    if (again && s_.recompute_mlp) {
      b_.SetRecomputed(true);
      const TensorId gathered = GatherInto(t.mlp_input);
      MlpUp(t, gathered);
      Activation(t);
      b_.SetRecomputed(false);
    } else if (again && s_.recompute_activation) {
      b_.SetRecomputed(true);
      Activation(t);
      b_.SetRecomputed(false);
    }
    TensorId inner = RowParallelBackward(ops_.mlp_down, t.activation_output,
                                         branch, ffn_bytes_);
    b_.Compute(ops_.mlp_activation.backward);
    b_.Read(inner);
    b_.Read(t.activation_input);
    inner =
        b_.Make("mlp inner gradient", kTemporary, s_.ffn_inputs * ffn_bytes_);
    TensorId outer = ColumnParallelBackward(ops_.mlp_up, t.mlp_input, inner);
    gradient = NormBackward(t.middle, outer, gradient);

    branch = ResidualBackward(t.attention_mask, gradient);
    branch = PostNormBackward(t, 0, branch);
    inner =
        RowParallelBackward(ops_.output, t.core.output, branch, query_bytes_);
    if (again && s_.recompute_norm) t.qkv_input = NormAgain(t.input);
    if (again && s_.recompute_attention) {
      b_.SetRecomputed(true);
      t.core = Core(core, t.query, t.key_value);
      b_.SetRecomputed(false);
    }
    inner = CoreBackward(core, t, inner);
    if (s_.rotary) b_.Compute(ops_.rotary.backward);
    if (s_.qk_norm) {
      b_.Compute(ops_.qk_norm.backward);
      b_.Read(t.qk_norm_input);
      // One norm of queries and one of keys, over the channels of a head.
      const int64_t parameters =
          2 * s_.head_dim * (s_.norm_parameters / s_.hidden);
      b_.Completes(parameters, parameters);
    }
    outer = ColumnParallelBackward(ops_.qkv, t.qkv_input, inner);
    input_gradient = NormBackward(t.input, outer, gradient);
  }

 private:
  TensorId Norm(const char* name, TensorId input) {
    b_.Compute(ops_.norm.forward);
    b_.Read(input);
    return b_.Make(name, kTemporary, stream_bytes_);
  }
  TensorId NormAgain(TensorId input) {
    b_.SetRecomputed(true);
    const TensorId output = Norm("norm output again", input);
    b_.SetRecomputed(false);
    return output;
  }

  // The whole sequence of an activation that is sharded along it.
  TensorId GatherInto(TensorId shard) {
    if (!s_.sequence_parallel) return shard;
    b_.Communicate(GatherActivations(s_));
    b_.Read(shard);
    return b_.Make("gathered", kBuffer, full_bytes_);
  }

  // A row-parallel linear layer and the reduction of what it computes.
  TensorId RowParallel(const Linear& linear, TensorId input, const char* name) {
    b_.Compute(linear.forward);
    b_.Read(input);
    TensorId output = b_.Make(name, kTemporary, full_bytes_);
    if (s_.tp == 1) return output;
    b_.Communicate(ReduceActivations(s_));
    b_.Read(output);
    if (s_.sequence_parallel) {
      output = b_.Make("scattered", kBuffer, stream_bytes_);
    }
    return output;
  }

  TensorId PostNorm(LayerTensors& t, int which, TensorId branch) {
    if (s_.norms_per_layer != 4) return branch;
    t.post_norm_input[which] = branch;
    return Norm("post norm output", branch);
  }

  TensorId Residual(const char* name, TensorId branch, TensorId stream,
                    TensorId& mask) {
    b_.Compute(ops_.residual.forward);
    b_.Read(branch);
    b_.Read(stream);
    if (s_.dropout) {
      mask = b_.Make("dropout mask", kTemporary, s_.region_tokens * s_.hidden);
    }
    return b_.Make(name, kTemporary, stream_bytes_);
  }

  void MlpUp(LayerTensors& t, TensorId input) {
    b_.Compute(ops_.mlp_up.forward, !s_.overlap_tensor);
    b_.Read(input);
    t.activation_input =
        b_.Make("activation input", kTemporary, s_.ffn_inputs * ffn_bytes_);
  }
  void Activation(LayerTensors& t) {
    b_.Compute(ops_.mlp_activation.forward);
    b_.Read(t.activation_input);
    t.activation_output = b_.Make("activation output", kTemporary, ffn_bytes_);
  }

  // Gradient of the branch that was added to the stream.
  TensorId ResidualBackward(TensorId mask, TensorId gradient) {
    if (!s_.dropout && !s_.linear_bias) return gradient;
    b_.Compute(ops_.residual.backward);
    b_.Read(gradient);
    b_.Read(mask);
    return b_.Make("branch gradient", kTemporary, stream_bytes_);
  }

  TensorId PostNormBackward(const LayerTensors& t, int which,
                            TensorId gradient) {
    if (s_.norms_per_layer != 4) return gradient;
    return NormBackward(t.post_norm_input[which], gradient, kNoTensor);
  }

  TensorId RowParallelBackward(const Linear& linear, TensorId input,
                               TensorId gradient, int64_t input_bytes) {
    const TensorId whole = GatherInto(gradient);
    b_.Compute(linear.input_gradient);
    b_.Read(whole);
    const TensorId result = b_.Make("inner gradient", kTemporary, input_bytes);
    b_.Compute(linear.weight_gradient);
    b_.Read(whole);
    b_.Read(input);
    b_.Completes(linear.parameters, linear.replicated_parameters);
    return result;
  }

  // Where collectives overlap, the input is gathered beside its gradient and
  // the gradient is reduced beside that of the weights. The stream keeps its
  // order, and the step behind the weight gradient joins both.
  TensorId ColumnParallelBackward(const Linear& linear, TensorId input,
                                  TensorId gradient) {
    const TensorId whole_input = GatherInto(input);
    b_.Compute(linear.input_gradient, !s_.overlap_tensor);
    b_.Read(gradient);
    TensorId result = b_.Make("input gradient", kTemporary, full_bytes_);
    if (s_.tp > 1) {
      b_.Communicate(ReduceActivations(s_));
      b_.Read(result);
      if (s_.sequence_parallel) {
        result = b_.Make("scattered gradient", kBuffer, stream_bytes_);
      }
    }
    b_.Compute(linear.weight_gradient, !s_.overlap_tensor);
    b_.Read(whole_input);
    b_.Read(gradient);
    b_.Completes(linear.parameters, linear.replicated_parameters);
    return result;
  }

  // `residual`: gradient of the stream that the result is added to.
  TensorId NormBackward(TensorId input, TensorId gradient, TensorId residual) {
    b_.Compute(ops_.norm.backward);
    b_.Read(input);
    b_.Read(gradient);
    b_.Read(residual);
    b_.Completes(s_.norm_parameters, s_.norm_parameters);
    return b_.Make("stream gradient", kTemporary, stream_bytes_);
  }

  TensorId CoreBackward(const AttentionCore& core, const LayerTensors& t,
                        TensorId gradient) {
    if (s_.flash) {
      b_.Compute(core.fused.backward);
      b_.Read(gradient);
      b_.Read(t.query);
      b_.Read(t.key_value);
      b_.Read(t.core.output);
      b_.Read(t.core.log_sum_exp);
      return b_.Make("qkv gradient", kTemporary, query_bytes_ + kv_bytes_);
    }
    const int64_t scores = s_.tokens * s_.heads * s_.seq_len;
    b_.Compute(core.values_to_scores);
    b_.Read(gradient);
    b_.Read(t.key_value);
    TensorId inner =
        b_.Make("probability gradient", kTemporary, scores * s_.bytes);
    b_.Compute(core.values_to_value);
    b_.Read(gradient);
    b_.Read(s_.dropout ? t.core.dropped : t.core.probabilities);
    const TensorId value = b_.Make("value gradient", kTemporary, kv_bytes_ / 2);
    // The two below work in place.
    if (s_.dropout) {
      b_.Compute(core.dropout.backward);
      b_.Read(t.core.mask);
      b_.Read(inner);
    }
    b_.Compute(core.softmax.backward);
    b_.Read(t.core.probabilities);
    b_.Read(inner);
    b_.Compute(core.scores_to_query);
    b_.Read(inner);
    b_.Read(t.key_value);
    const TensorId query = b_.Make("query gradient", kTemporary, query_bytes_);
    b_.Compute(core.scores_to_key);
    b_.Read(inner);
    b_.Read(t.query);
    b_.Read(value);
    b_.Read(query);
    return b_.Make("qkv gradient", kTemporary, query_bytes_ + kv_bytes_);
  }

  const Sizes& s_;
  const LayerOperators& ops_;
  BlockBuilder& b_;
  const int64_t stream_bytes_;
  const int64_t full_bytes_;
  const int64_t query_bytes_;
  const int64_t kv_bytes_;
  const int64_t ffn_bytes_;
};

}  // namespace

bool IsWindowed(const Sizes& sizes, int64_t layer) {
  if (sizes.window == 0) return false;
  return sizes.window_period == 1 || (layer + 1) % sizes.window_period != 0;
}

Collective GatherActivations(const Sizes& sizes) {
  return {CollectiveKind::kAllGather, Group::kTensor,
          sizes.tokens * sizes.hidden * sizes.bytes};
}

Collective ReduceActivations(const Sizes& sizes) {
  return {sizes.sequence_parallel ? CollectiveKind::kReduceScatter
                                  : CollectiveKind::kAllReduce,
          Group::kTensor, sizes.tokens * sizes.hidden * sizes.bytes};
}

int32_t AddLayerBlock(const Sizes& sizes, const LayerOperators& operators,
                      int64_t first_layer, int32_t layers, bool recomputed,
                      Program& program) {
  BlockBuilder builder(BlockKind::kLayers, layers, program);
  LayerEmitter emitter(sizes, operators, builder);
  const auto core = [&](int32_t layer) -> const AttentionCore& {
    return IsWindowed(sizes, first_layer + layer) ? operators.windowed
                                                  : operators.whole;
  };
  absl::InlinedVector<LayerTensors, 16> kept(static_cast<size_t>(layers));

  const TensorId input =
      builder.Arrives("layer input", kTemporary, emitter.stream_bytes());
  TensorId stream = input;
  for (int32_t layer = 0; layer < layers; ++layer) {
    kept[layer] = emitter.Forward(core(layer), stream);
    stream = kept[layer].output;
  }

  builder.BeginBackward();
  TensorId gradient =
      builder.Arrives("output gradient", kTemporary, emitter.stream_bytes());
  if (recomputed) {
    builder.SetRecomputed(true);
    stream = input;
    for (int32_t layer = 0; layer < layers; ++layer) {
      kept[layer] = emitter.Forward(core(layer), stream);
      stream = kept[layer].output;
    }
    builder.SetRecomputed(false);
  }
  for (int32_t layer = layers - 1; layer >= 0; --layer) {
    emitter.Backward(core(layer), kept[layer], gradient, recomputed, gradient);
  }
  return builder.Finish();
}

}  // namespace lmsimbench::compile
