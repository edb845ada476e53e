#include <algorithm>

#include "lib/compile/attention_emitter.h"

namespace lmsimbench::compile {
namespace {

constexpr auto kTemporary = TensorKind::kTemporary;
constexpr auto kBuffer = TensorKind::kBuffer;

}  // namespace

Group AttentionEmitter::ExchangeGroup() const {
  return s_.context.outer == 1 ? Group::kContext : Group::kContextInner;
}
Group AttentionEmitter::RingGroup() const {
  return s_.context.inner == 1 ? Group::kContext : Group::kContextOuter;
}

void AttentionEmitter::Exchange(int64_t bytes) {
  b_.Communicate({CollectiveKind::kAllToAll, ExchangeGroup(), bytes});
}

TensorId AttentionEmitter::GatherKeysAndValues(TensorId key_value) {
  const int64_t bytes = s_.context.outer * core_kv_bytes_;
  b_.Communicate({CollectiveKind::kAllGather, RingGroup(), bytes});
  b_.Read(key_value);
  return b_.Make("gathered keys, values", kBuffer, bytes);
}

CoreTensors AttentionEmitter::Core(const AttentionCore& core, TensorId query,
                                   TensorId key_value) {
  CoreTensors t;
  t.query = query;
  t.key_value = key_value;
  if (!s_.flash) {
    Unfused(core, t);
    t.attended = t.output;
    return t;
  }
  const ContextSizes& context = s_.context;
  if (context.inner > 1) {
    Exchange(query_bytes_);
    b_.Read(query);
    t.query = b_.Make("query of heads", kTemporary, query_bytes_);
    // Of keys and values each its own, with the copies.
    const int64_t copies = core_kv_bytes_ / (key_bytes_ + value_bytes_);
    Exchange(copies * key_bytes_);
    b_.Read(key_value);
    t.key_value = b_.Make("key, value of heads", kTemporary, core_kv_bytes_);
    Exchange(copies * value_bytes_);
    b_.Read(key_value);
  }
  if (context.outer > 1 && !context.gathers) {
    Ring(core, t);
  } else {
    TensorId met = t.key_value;
    if (context.outer > 1) met = GatherKeysAndValues(t.key_value);
    b_.Compute(core.fused.forward);
    b_.Read(t.query);
    b_.Read(met);
    t.output = b_.Make("attention output", kTemporary, attended_bytes_);
    t.log_sum_exp =
        b_.Make("log-sum-exp", kTemporary, 4 * s_.tokens * s_.heads);
  }
  t.attended = t.output;
  if (context.inner > 1) {
    Exchange(attended_bytes_);
    b_.Read(t.output);
    t.attended = b_.Make("attended", kTemporary, attended_bytes_);
  }
  return t;
}

// While the core meets the keys and values that are there, those of the
// neighbour arrive. A merge joins both: it adds what a step gave to the output.
void AttentionEmitter::Ring(const AttentionCore& core, CoreTensors& t) {
  // What stands in front has to have arrived before the ring starts.
  if (s_.context.inner > 1 || s_.overlap_tensor) {
    b_.Compute(core.ring_merge.forward);
  }
  TensorId met = t.key_value;
  for (int64_t step = 0; step < s_.context.outer; ++step) {
    TensorId next = kNoTensor;
    if (step + 1 < s_.context.outer) {
      b_.Communicate(
          {CollectiveKind::kSendReceive, RingGroup(), core_kv_bytes_});
      b_.Read(met);
      next = b_.Make("next keys, values", kBuffer, core_kv_bytes_);
    }
    b_.Compute(step == 0 ? core.fused.forward : core.ring_step.forward, false);
    b_.Read(t.query);
    b_.Read(met);
    const TensorId part =
        b_.Make("output of a step", kTemporary, attended_bytes_);
    b_.Compute(core.ring_merge.forward);
    b_.Read(part);
    if (step == 0) {
      t.output = b_.Make("attention output", kTemporary, attended_bytes_);
      t.log_sum_exp =
          b_.Make("log-sum-exp", kTemporary, 4 * s_.tokens * s_.heads);
    }
    // The rank sends on what it has received.
    b_.Read(next);
    met = next;
  }
}

void AttentionEmitter::Unfused(const AttentionCore& core, CoreTensors& t) {
  const int64_t scores = s_.tokens * s_.heads * s_.seq_len;
  b_.Compute(core.scores);
  b_.Read(t.query);
  b_.Read(t.key_value);
  const TensorId raw = b_.Make("scores", kTemporary, scores * s_.bytes);
  b_.Compute(core.softmax.forward);
  b_.Read(raw);
  t.probabilities = b_.Make("probabilities", kTemporary, scores * s_.bytes);
  TensorId weights = t.probabilities;
  if (s_.dropout) {
    b_.Compute(core.dropout.forward);
    b_.Read(t.probabilities);
    t.mask = b_.Make("probability mask", kTemporary, scores);
    t.dropped = b_.Make("dropped probabilities", kTemporary, scores * s_.bytes);
    weights = t.dropped;
  }
  b_.Compute(core.values);
  b_.Read(weights);
  b_.Read(t.key_value);
  t.output = b_.Make("attention output", kTemporary, attended_bytes_);
}

TensorId AttentionEmitter::CoreBackward(const AttentionCore& core,
                                        const CoreTensors& t,
                                        TensorId gradient) {
  if (!s_.flash) return UnfusedBackward(core, t, gradient);
  const ContextSizes& context = s_.context;
  if (context.inner > 1) {
    Exchange(attended_bytes_);
    b_.Read(gradient);
    gradient = b_.Make("output gradient of heads", kTemporary, attended_bytes_);
  }
  TensorId inner = context.outer > 1 && !context.gathers
                       ? RingBackward(core, t, gradient)
                       : FusedBackward(core, t, gradient);
  if (context.inner == 1) return inner;
  const int64_t copies = core_kv_bytes_ / (key_bytes_ + value_bytes_);
  Exchange(query_bytes_);
  b_.Read(inner);
  const TensorId result = b_.Make("qkv gradient", kTemporary,
                                  query_bytes_ + key_bytes_ + value_bytes_);
  Exchange(copies * key_bytes_);
  Exchange(copies * value_bytes_);
  b_.Read(inner);
  return result;
}

TensorId AttentionEmitter::FusedBackward(const AttentionCore& core,
                                         const CoreTensors& t,
                                         TensorId gradient) {
  const bool gathers = s_.context.outer > 1;
  const TensorId met = gathers ? GatherKeysAndValues(t.key_value) : t.key_value;
  b_.Compute(core.fused.backward);
  b_.Read(gradient);
  b_.Read(t.query);
  b_.Read(met);
  b_.Read(t.output);
  b_.Read(t.log_sum_exp);
  if (!gathers) {
    return b_.Make("qkv gradient", kTemporary, query_bytes_ + core_kv_bytes_);
  }
  const int64_t bytes = s_.context.outer * core_kv_bytes_;
  const TensorId of_all =
      b_.Make("gradient of all keys, values", kTemporary, bytes);
  const TensorId result =
      b_.Make("qkv gradient", kTemporary, query_bytes_ + core_kv_bytes_);
  b_.Communicate({CollectiveKind::kReduceScatter, RingGroup(), bytes});
  b_.Read(of_all);
  b_.Read(result);
  return result;
}

// Keys and values go round again, and their gradients with them: one step
// behind, and so one step longer.
TensorId AttentionEmitter::RingBackward(const AttentionCore& core,
                                        const CoreTensors& t,
                                        TensorId gradient) {
  const int64_t steps = s_.context.outer;
  if (s_.context.inner > 1) b_.Compute(core.ring_merge.backward);
  TensorId met = t.key_value;
  TensorId result = kNoTensor;
  TensorId gradient_on_its_way = kNoTensor;
  for (int64_t step = 0; step < steps; ++step) {
    const bool sends = step + 1 < steps;
    const bool sends_gradient = step > 0;
    TensorId next = kNoTensor;
    b_.Communicate(
        {CollectiveKind::kSendReceive, RingGroup(),
         ((sends ? 1 : 0) + (sends_gradient ? 1 : 0)) * core_kv_bytes_});
    b_.Read(met);
    b_.Read(gradient_on_its_way);
    if (sends) next = b_.Make("next keys, values", kBuffer, core_kv_bytes_);
    TensorId arrived = kNoTensor;
    if (sends_gradient) {
      arrived = b_.Make("next gradient", kBuffer, core_kv_bytes_);
    }
    b_.Compute(step == 0 ? core.fused.backward : core.ring_step.backward,
               false);
    b_.Read(gradient);
    b_.Read(t.query);
    b_.Read(met);
    b_.Read(t.output);
    b_.Read(t.log_sum_exp);
    const TensorId part = b_.Make("gradient of a step", kTemporary,
                                  query_bytes_ + core_kv_bytes_);
    if (step == 0) {
      result =
          b_.Make("qkv gradient", kTemporary, query_bytes_ + core_kv_bytes_);
    }
    b_.Compute(core.ring_merge.backward);
    b_.Read(part);
    b_.Read(result);
    b_.Read(next);
    b_.Read(arrived);
    if (sends) {
      gradient_on_its_way =
          b_.Make("gradient on its way", kBuffer, core_kv_bytes_);
    }
    met = next;
  }
  return result;
}

TensorId AttentionEmitter::UnfusedBackward(const AttentionCore& core,
                                           const CoreTensors& t,
                                           TensorId gradient) {
  const int64_t scores = s_.tokens * s_.heads * s_.seq_len;
  b_.Compute(core.values_to_scores);
  b_.Read(gradient);
  b_.Read(t.key_value);
  const TensorId inner =
      b_.Make("probability gradient", kTemporary, scores * s_.bytes);
  b_.Compute(core.values_to_value);
  b_.Read(gradient);
  b_.Read(s_.dropout ? t.dropped : t.probabilities);
  const TensorId value = b_.Make("value gradient", kTemporary, value_bytes_);
  // The two below work in place.
  if (s_.dropout) {
    b_.Compute(core.dropout.backward);
    b_.Read(t.mask);
    b_.Read(inner);
  }
  b_.Compute(core.softmax.backward);
  b_.Read(t.probabilities);
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
  return b_.Make("qkv gradient", kTemporary,
                 query_bytes_ + key_bytes_ + value_bytes_);
}

}  // namespace lmsimbench::compile
