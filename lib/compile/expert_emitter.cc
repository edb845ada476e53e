#include "lib/compile/expert_emitter.h"

#include "lib/core/arithmetic.h"

namespace lmsimbench::compile {
namespace {

constexpr auto kTemporary = TensorKind::kTemporary;
constexpr auto kBuffer = TensorKind::kBuffer;

}  // namespace

ExpertEmitter::ExpertEmitter(const Sizes& sizes,
                             const ExpertOperators& operators,
                             BlockBuilder& builder)
    : StepEmitter(sizes, builder),
      e_(sizes.expert),
      ops_(operators),
      // With tensor parallelism the communication of the shared experts would
      // have to wait for the tokens on their way.
      shared_(sizes, operators.shared, sizes.expert.shared_ffn, builder,
              !(sizes.expert.overlaps && sizes.tp == 1)),
      sent_bytes_(e_.sent * sizes.hidden * sizes.bytes),
      received_bytes_(e_.received * sizes.hidden * sizes.bytes),
      inner_bytes_(e_.received * e_.ffn * sizes.bytes),
      gathered_bytes_(e_.tokens * e_.ep * e_.etp * sizes.hidden * sizes.bytes) {
}

TensorId ExpertEmitter::Forward(ExpertTensors& t) {
  const bool has_shared = e_.shared_ffn > 0;
  t.shared.input = t.input;
  TensorId of_shared = kNoTensor;
  if (has_shared && !e_.overlaps) of_shared = shared_.Forward(t.shared);
  Route(t);
  t.expert_input = Dispatch(t.input, false);
  // What has been sent arrives while the shared experts compute.
  if (has_shared && e_.overlaps) of_shared = shared_.Forward(t.shared);
  if (Sorts(e_)) {
    b_.Compute(ops_.sort.forward);
    b_.Read(t.expert_input);
    t.expert_input = b_.Make("expert input", kTemporary, received_bytes_);
  }
  Up(t);
  Activation(t);
  TensorId given = Down(t);
  if (Sorts(e_)) {
    b_.Compute(ops_.sort.backward);
    b_.Read(given);
    given = b_.Make("expert output", kTemporary, received_bytes_);
  }
  const auto sum = [&](TensorId from, int64_t bytes) {
    b_.Compute(ops_.unpermute.forward);
    b_.Read(from);
    b_.Read(t.scores);
    b_.Read(of_shared);
    return b_.Make("experts' sum", kTemporary, bytes);
  };
  if (e_.gathers) {
    t.combined = given;
    return Combine(sum(given, gathered_bytes_), false);
  }
  t.combined = Combine(given, false);
  const TensorId output = sum(t.combined, stream_bytes());
  GatherTokens();
  return output;
}

void ExpertEmitter::Recompute(ExpertTensors& t) {
  if (!s_.recompute_mlp && !s_.recompute_activation) return;
  if (e_.shared_ffn > 0) shared_.Recompute(t.shared);
  Again([&] {
    if (s_.recompute_mlp) Up(t);
    Activation(t);
  });
}

TensorId ExpertEmitter::Backward(const ExpertTensors& t, TensorId gradient) {
  TensorId inner = gradient;
  if (e_.gathers) {
    inner = Combine(inner, true);
  } else {
    GatherTokens();
  }
  b_.Compute(ops_.unpermute.backward);
  b_.Read(inner);
  b_.Read(t.combined);
  b_.Read(t.scores);
  inner = b_.Make("combined gradient", kTemporary,
                  e_.gathers ? received_bytes_ : sent_bytes_);
  if (!e_.gathers) inner = Combine(inner, true);
  const bool has_shared = e_.shared_ffn > 0;
  TensorId of_shared = kNoTensor;
  if (has_shared && e_.overlaps) {
    of_shared = shared_.Backward(t.shared, gradient);
  }
  inner = RoutedBackward(t, inner);
  inner = Dispatch(inner, true);
  if (has_shared && !e_.overlaps) {
    of_shared = shared_.Backward(t.shared, gradient);
  }
  const TensorId of_router = RouterBackward(t, inner);
  b_.Read(of_shared);
  return of_router;
}

void ExpertEmitter::Route(ExpertTensors& t) {
  b_.Compute(ops_.router.forward);
  b_.Read(t.input);
  b_.Compute(ops_.routing.forward);
  // Scores in 32 bits.
  t.scores =
      b_.Make("expert scores", kTemporary, 4 * s_.region_tokens * e_.experts);
}

TensorId ExpertEmitter::RouterBackward(const ExpertTensors& t,
                                       TensorId gradient) {
  b_.Compute(ops_.routing.backward);
  b_.Read(t.scores);
  b_.Compute(ops_.router.input_gradient);
  b_.Read(gradient);
  const TensorId result = b_.Make("input gradient", kTemporary, stream_bytes());
  b_.Weight([&] {
    b_.Compute(ops_.router.weight_gradient);
    b_.Read(t.input);
    b_.Completes(ops_.router.parameters, ops_.router.replicated_parameters);
  });
  return result;
}

TensorId ExpertEmitter::Dispatch(TensorId tokens, bool backward) {
  if (e_.gathers) {
    if (!backward) {
      if (e_.ep * e_.etp > 1) {
        b_.Communicate({CollectiveKind::kAllGather, Group::kExpertRegion,
                        gathered_bytes_});
        b_.Read(tokens);
        tokens = b_.Make("tokens of all", kBuffer, gathered_bytes_);
      }
      b_.Compute(ops_.permute.forward);
      b_.Read(tokens);
      return b_.Make("expert input", kTemporary, received_bytes_);
    }
    b_.Compute(ops_.permute.backward);
    b_.Read(tokens);
    tokens = b_.Make("gradient of all tokens", kTemporary, gathered_bytes_);
    if (e_.ep * e_.etp > 1) {
      b_.Communicate({CollectiveKind::kReduceScatter, Group::kExpertRegion,
                      gathered_bytes_});
      b_.Read(tokens);
    }
    return tokens;
  }
  if (!backward) {
    b_.Compute(ops_.permute.forward);
    b_.Read(tokens);
    tokens = b_.Make("permuted tokens", kTemporary, sent_bytes_);
    return Combine(tokens, true);
  }
  tokens = Combine(tokens, false);
  b_.Compute(ops_.permute.backward);
  b_.Read(tokens);
  return b_.Make("permuted gradient", kTemporary, stream_bytes());
}

// What experts gave goes back as gradients come to them; the other way round
// the same.
TensorId ExpertEmitter::Combine(TensorId given, bool backward) {
  if (e_.gathers) {
    if (e_.ep * e_.etp == 1) return given;
    if (!backward) {
      b_.Communicate({CollectiveKind::kReduceScatter, Group::kExpertRegion,
                      gathered_bytes_});
      b_.Read(given);
      return b_.Make("combined tokens", kBuffer, stream_bytes());
    }
    b_.Communicate(
        {CollectiveKind::kAllGather, Group::kExpertRegion, gathered_bytes_});
    b_.Read(given);
    return b_.Make("gradient of all", kBuffer, gathered_bytes_);
  }
  const int64_t exchanged =
      CeilDivide(received_bytes_, e_.etp);  // the most that a device gets
  if (backward) {
    if (e_.ep > 1) {
      b_.Communicate({CollectiveKind::kAllToAll, Group::kExpert, exchanged});
      b_.Read(given);
      given = b_.Make("dispatched tokens", kTemporary, exchanged);
    }
    if (e_.etp == 1) return given;
    b_.Communicate(
        {CollectiveKind::kAllGather, Group::kExpertTensor, received_bytes_});
    b_.Read(given);
    return b_.Make("gathered tokens", kTemporary, received_bytes_);
  }
  if (e_.etp > 1) {
    b_.Communicate({CollectiveKind::kReduceScatter, Group::kExpertTensor,
                    received_bytes_});
    b_.Read(given);
    given = b_.Make("scattered tokens", kBuffer, exchanged);
  }
  if (e_.ep == 1) return given;
  b_.Communicate({CollectiveKind::kAllToAll, Group::kExpert, exchanged});
  b_.Read(given);
  return b_.Make("combined tokens", kTemporary, sent_bytes_);
}

void ExpertEmitter::Up(ExpertTensors& t) {
  for (int64_t i = 0; i < ops_.repeats; ++i) {
    b_.Compute(ops_.routed.up.forward);
    b_.Read(t.expert_input);
    if (i > 0) continue;
    t.activation_input = b_.Make("expert activation input", kTemporary,
                                 s_.ffn_inputs * inner_bytes_);
  }
}

void ExpertEmitter::Activation(ExpertTensors& t) {
  for (int64_t i = 0; i < ops_.repeats; ++i) {
    b_.Compute(ops_.routed.activation.forward);
    b_.Read(t.activation_input);
    if (i > 0) continue;
    t.activation_output =
        b_.Make("expert activation output", kTemporary, inner_bytes_);
  }
}

TensorId ExpertEmitter::Down(ExpertTensors& t) {
  TensorId given = kNoTensor;
  for (int64_t i = 0; i < ops_.repeats; ++i) {
    b_.Compute(ops_.routed.down.forward);
    b_.Read(t.activation_output);
    if (i == 0) {
      given = b_.Make("expert output", kTemporary, received_bytes_);
    }
  }
  b_.Read(given);
  return given;
}

TensorId ExpertEmitter::RoutedBackward(const ExpertTensors& t,
                                       TensorId gradient) {
  const MlpOperators& ops = ops_.routed;
  if (Sorts(e_)) {
    b_.Compute(ops_.sort.forward);
    b_.Read(gradient);
    gradient = b_.Make("sorted gradient", kTemporary, received_bytes_);
  }
  // The gradients of a linear layer, and then those of the next one: all
  // experts one after the other.
  const auto linear = [&](const Linear& of, TensorId from, TensorId input,
                          const char* name, int64_t bytes) {
    TensorId result = kNoTensor;
    for (int64_t i = 0; i < ops_.repeats; ++i) {
      b_.Compute(of.input_gradient);
      b_.Read(from);
      if (i == 0) result = b_.Make(name, kTemporary, bytes);
      // All experts' parts of the result are one tensor, complete with the
      // last of them.
      if (b_.splits_backward()) b_.Read(result);
      b_.Weight([&] {
        b_.Compute(of.weight_gradient);
        b_.Read(from);
        b_.Read(input);
        if (!b_.splits_backward()) b_.Read(result);
        b_.CompletesExperts(of.parameters);
      });
    }
    return result;
  };
  TensorId inner = linear(ops.down, gradient, t.activation_output,
                          "expert inner gradient", inner_bytes_);
  for (int64_t i = 0; i < ops_.repeats; ++i) {
    b_.Compute(ops.activation.backward);
    b_.Read(t.activation_input);
    b_.Read(inner);
  }
  inner = b_.Make("expert activation gradient", kTemporary,
                  s_.ffn_inputs * inner_bytes_);
  inner = linear(ops.up, inner, t.expert_input, "expert input gradient",
                 received_bytes_);
  if (!Sorts(e_)) return inner;
  b_.Compute(ops_.sort.backward);
  b_.Read(inner);
  return b_.Make("unsorted gradient", kTemporary, received_bytes_);
}

void ExpertEmitter::GatherTokens() {
  if (s_.tp == 1 || s_.sequence_parallel) return;
  b_.Communicate(
      {CollectiveKind::kAllGather, Group::kTensor, FullBytes(s_.hidden)});
}

}  // namespace lmsimbench::compile
