#include "lib/compile/add_operator.h"

namespace lmsimbench::compile {
namespace {

// Moves rows of `width` channels to other places.
Elementwise AddMove(const Sizes& sizes, OperatorKind kind, int64_t rows,
                    Program& program) {
  return AddBoth(sizes, kind, rows, sizes.hidden, {2, 2, 0}, 0, program);
}

MlpOperators AddRouted(const Sizes& sizes, int64_t experts, double tokens,
                       Program& program) {
  const ExpertSizes& expert = sizes.expert;
  MlpOperators ops;
  ops.up =
      AddGroupedLinear(sizes, OperatorKind::kExpertUp, experts, tokens,
                       sizes.hidden, sizes.ffn_inputs * expert.ffn, program);
  ops.activation =
      AddActivation(sizes, OperatorKind::kExpertActivation,
                    static_cast<int64_t>(tokens), expert.ffn, program);
  ops.down = AddGroupedLinear(sizes, OperatorKind::kExpertDown, experts, tokens,
                              expert.ffn, sizes.hidden, program);
  if (sizes.linear_bias) {
    ops.up.parameters += experts * sizes.ffn_inputs * expert.ffn;
    ops.down.parameters += experts * sizes.hidden;
  }
  return ops;
}

MlpOperators AddShared(const Sizes& sizes, Program& program) {
  const int64_t width = sizes.expert.shared_ffn;
  MlpOperators ops;
  ops.up = AddLinear(sizes, OperatorKind::kSharedExpertUp, sizes.tokens,
                     sizes.hidden, sizes.ffn_inputs * width, program);
  ops.activation = AddActivation(sizes, OperatorKind::kSharedExpertActivation,
                                 sizes.tokens, width, program);
  ops.down = AddLinear(sizes, OperatorKind::kSharedExpertDown, sizes.tokens,
                       width, sizes.hidden, program);
  if (sizes.linear_bias) {
    const int64_t bias = sizes.expert.shared_experts * sizes.hidden;
    ops.up.parameters += sizes.ffn_inputs * width;
    ops.down.parameters += bias;
    ops.down.replicated_parameters = bias;
  }
  return ops;
}

}  // namespace

ExpertOperators AddExpertOperators(const Sizes& sizes, Program& program) {
  const ExpertSizes& expert = sizes.expert;
  ExpertOperators ops;
  // Scores stay in the precision of the activations.
  Sizes wide = sizes;
  wide.matrix_bytes = sizes.bytes;
  wide.matrix_precision = sizes.precision;
  ops.router = AddLinear(wide, OperatorKind::kRouter, sizes.region_tokens,
                         sizes.hidden, expert.experts, program);
  if (sizes.linear_bias) ops.router.parameters += expert.experts;
  ops.router.replicated_parameters = ops.router.parameters;
  // Softmax and the choice of the largest, in 32 bits.
  ops.routing = AddBoth(sizes, OperatorKind::kRouting, sizes.region_tokens,
                        expert.experts, {4, 4, 0}, 8, program);
  ops.permute =
      AddMove(sizes, OperatorKind::kPermute,
              expert.gathers ? expert.received : expert.sent, program);
  if (Sorts(expert)) {
    ops.sort = AddMove(sizes, OperatorKind::kPermute, expert.received, program);
  }
  // Reads what the experts of a token gave (and the shared expert), writes
  // their sum; backward also reads what they gave, for the weights.
  const double sum =
      (1 + (expert.shared_ffn > 0 ? 1 : 0)) / static_cast<double>(expert.top_k);
  ops.unpermute = AddBoth(sizes, OperatorKind::kUnpermute,
                          expert.gathers ? expert.received : expert.sent,
                          sizes.hidden, {1 + sum, 2 + sum, 0}, 2, program);
  const auto received = static_cast<double>(expert.received);
  ops.repeats = expert.grouped ? 1 : expert.local;
  const auto repeats = static_cast<double>(ops.repeats);
  ops.routed = AddRouted(sizes, expert.grouped ? expert.local : 1,
                         received / repeats, program);
  if (expert.shared_ffn > 0) ops.shared = AddShared(sizes, program);
  return ops;
}

}  // namespace lmsimbench::compile
