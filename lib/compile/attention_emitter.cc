#include "lib/compile/attention_emitter.h"

#include <algorithm>

namespace lmsimbench::compile {
namespace {

constexpr auto kTemporary = TensorKind::kTemporary;

}  // namespace

AttentionEmitter::AttentionEmitter(const Sizes& sizes,
                                   const AttentionOperators& operators,
                                   BlockBuilder& builder)
    : StepEmitter(sizes, builder),
      ops_(operators),
      query_bytes_(FullBytes(sizes.query_width)),
      attended_bytes_(FullBytes(sizes.attended_width)),
      key_bytes_(FullBytes(sizes.key_width)),
      value_bytes_(FullBytes(sizes.value_width)),
      // Fewer heads of keys and values than ranks are copied.
      core_kv_bytes_(
          (key_bytes_ + value_bytes_) *
          std::max<int64_t>(1, sizes.context.inner / sizes.kv_heads)) {}

TensorId AttentionEmitter::Forward(const AttentionCore& core,
                                   AttentionTensors& t) {
  if (s_.latent.is_used()) {
    LatentProjections(t);
  } else {
    Projections(t);
  }
  if (s_.qk_norm) {
    b_.Compute(ops_.qk_norm.forward);
    t.qk_norm_input =
        b_.Make("qk norm input", kTemporary, query_bytes_ + key_bytes_);
  }
  if (s_.rotary) b_.Compute(ops_.rotary.forward);
  t.core = Core(core, t.query, t.key_value);
  return RowParallel(ops_.output, t.core.attended, "projected");
}

TensorId AttentionEmitter::OutputBackward(const AttentionTensors& t,
                                          TensorId gradient) {
  return RowParallelBackward(ops_.output, t.core.attended, gradient,
                             attended_bytes_);
}

TensorId AttentionEmitter::InputBackward(const AttentionCore& core,
                                         const AttentionTensors& t,
                                         TensorId gradient) {
  const TensorId inner = CoreBackward(core, t.core, gradient);
  if (s_.rotary) b_.Compute(ops_.rotary.backward);
  if (s_.qk_norm) {
    b_.Compute(ops_.qk_norm.backward);
    b_.Read(t.qk_norm_input);
    // One norm of queries and one of keys, over the channels of a head.
    const int64_t parameters =
        2 * s_.head_dim * (s_.norm_parameters / s_.hidden);
    b_.Completes(parameters, parameters);
  }
  return s_.latent.is_used() ? LatentBackward(t, inner)
                             : ProjectionsBackward(t, inner);
}

void AttentionEmitter::Projections(AttentionTensors& t) {
  const TensorId gathered = Gather(t.input, s_.hidden);
  b_.Compute(ops_.qkv.forward, !s_.overlap_tensor);
  b_.Read(gathered);
  t.query = b_.Make("query", kTemporary, query_bytes_);
  t.key_value = b_.Make("key, value", kTemporary, key_bytes_ + value_bytes_);
}

TensorId AttentionEmitter::ProjectionsBackward(const AttentionTensors& t,
                                               TensorId gradient) {
  return ColumnParallelBackward(ops_.qkv, t.input, gradient, s_.hidden);
}

// Every rank compresses the part of the sequence that lies between the regions,
// so that the compressed channels, which are fewer, are gathered.
void AttentionEmitter::LatentProjections(AttentionTensors& t) {
  const LatentSizes& latent = s_.latent;
  TensorId up_input = t.input;
  int64_t up_width = s_.hidden;
  if (latent.q_rank > 0) {
    up_width = latent.q_rank;
    b_.Compute(ops_.query_down.forward);
    b_.Read(t.input);
    t.latent.query_latent =
        b_.Make("query latent", kTemporary, StreamBytes(latent.q_rank));
    up_input = t.latent.query_normed =
        Norm(ops_.query_norm, "query up input", t.latent.query_latent,
             latent.q_rank);
  }
  const TensorId query_input = Gather(up_input, up_width);
  b_.Compute(ops_.query_up.forward, !s_.overlap_tensor);
  b_.Read(query_input);
  t.query = b_.Make("query", kTemporary, query_bytes_);

  const int64_t compressed = latent.kv_rank + latent.rope;
  b_.Compute(ops_.key_value_down.forward);
  b_.Read(t.input);
  t.latent.key_value_latent =
      b_.Make("key, value latent", kTemporary, StreamBytes(compressed));
  t.latent.key_value_normed = Norm(ops_.key_value_norm, "key, value up input",
                                   t.latent.key_value_latent, latent.kv_rank);
  const TensorId key_value_input =
      Gather(t.latent.key_value_normed, compressed);
  b_.Compute(ops_.key_value_up.forward, !s_.overlap_tensor);
  b_.Read(key_value_input);
  t.key_value = b_.Make("key, value", kTemporary, key_bytes_ + value_bytes_);
}

TensorId AttentionEmitter::LatentBackward(const AttentionTensors& t,
                                          TensorId gradient) {
  const LatentSizes& latent = s_.latent;
  const int64_t compressed = latent.kv_rank + latent.rope;
  const auto down_backward = [&](const Linear& down, TensorId from,
                                 TensorId& sum) {
    b_.Compute(down.input_gradient);
    b_.Read(from);
    b_.Read(sum);
    sum = b_.Make("input gradient", kTemporary, stream_bytes());
    b_.Weight([&] {
      b_.Compute(down.weight_gradient);
      b_.Read(from);
      b_.Read(t.input);
      b_.Completes(down.parameters, down.replicated_parameters);
    });
  };
  TensorId sum = kNoTensor;
  TensorId inner = ColumnParallelBackward(
      ops_.key_value_up, t.latent.key_value_normed, gradient, compressed);
  inner = NormBackward(ops_.key_value_norm, t.latent.key_value_latent, inner,
                       kNoTensor, latent.kv_rank);
  down_backward(ops_.key_value_down, inner, sum);
  if (latent.q_rank == 0) {
    const TensorId of_query =
        ColumnParallelBackward(ops_.query_up, t.input, gradient, s_.hidden);
    b_.Read(sum);
    return of_query;
  }
  inner = ColumnParallelBackward(ops_.query_up, t.latent.query_normed, gradient,
                                 latent.q_rank);
  inner = NormBackward(ops_.query_norm, t.latent.query_latent, inner, kNoTensor,
                       latent.q_rank);
  down_backward(ops_.query_down, inner, sum);
  return sum;
}

}  // namespace lmsimbench::compile
