#include "lib/compile/operators.h"

#include "lib/compile/add_operator.h"
#include "lib/core/arithmetic.h"

namespace lmsimbench::compile {

Elementwise AddNorm(const Sizes& sizes, Program& program) {
  // One kernel reads the input and writes the output; unfused, mean, variance
  // and scaling each pass over it. Backward reads input, gradient and the
  // residual's gradient and writes their sum.
  const Traffic traffic =
      sizes.fused_norm ? Traffic{2, 4, 0} : Traffic{6, 10, 0};
  return AddBoth(sizes, OperatorKind::kNorm, sizes.region_tokens, sizes.hidden,
                 traffic, 5, program);
}

namespace {

MlpOperators AddMlpOperators(const Sizes& sizes, Program& program) {
  MlpOperators ops;
  ops.up = AddLinear(sizes, OperatorKind::kMlpUp, sizes.tokens, sizes.hidden,
                     sizes.ffn_inputs * sizes.ffn, program);
  ops.activation = AddActivation(sizes, OperatorKind::kMlpActivation,
                                 sizes.tokens, sizes.ffn, program);
  ops.down = AddLinear(sizes, OperatorKind::kMlpDown, sizes.tokens, sizes.ffn,
                       sizes.hidden, program);
  if (sizes.linear_bias) {
    ops.up.parameters += sizes.ffn_inputs * sizes.ffn;
    ops.down.parameters += sizes.hidden;
    ops.down.replicated_parameters = sizes.hidden;
  }
  return ops;
}

}  // namespace

Elementwise AddActivation(const Sizes& sizes, OperatorKind kind, int64_t tokens,
                          int64_t width, Program& program) {
  const auto inputs = static_cast<double>(sizes.ffn_inputs);
  return AddBoth(sizes, kind, tokens, width, {inputs + 1, 2 * inputs + 1, 0}, 8,
                 program);
}

LayerOperators AddLayerOperators(const Sizes& sizes, Program& program) {
  LayerOperators ops;
  ops.norm = AddNorm(sizes, program);
  ops.attention = AddAttentionOperators(sizes, program);
  // Reads the output of the block and the stream, writes the stream.
  ops.residual =
      AddBoth(sizes, OperatorKind::kResidual, sizes.region_tokens, sizes.hidden,
              {3, 2, sizes.dropout ? 1.0 : 0.0}, 2, program);
  if (sizes.ffn > 0) ops.mlp = AddMlpOperators(sizes, program);
  if (sizes.expert.experts > 0) {
    ops.experts = AddExpertOperators(sizes, program);
  }
  return ops;
}

EmbeddingOperators AddEmbeddingOperators(const Sizes& sizes, Program& program) {
  EmbeddingOperators ops;
  const auto bytes = static_cast<double>(sizes.bytes);
  const auto gradient = static_cast<double>(2 * sizes.gradient_bytes);
  ops.embedding = {
      AddElementwise(sizes, OperatorKind::kEmbedding, OperatorPass::kForward,
                     sizes.tokens, sizes.hidden, 2 * bytes, 0, program),
      AddElementwise(sizes, OperatorKind::kEmbedding,
                     OperatorPass::kWeightGradient, sizes.tokens, sizes.hidden,
                     bytes + gradient, 1, program)};
  if (sizes.positions > 0) {
    ops.positions = {
        AddElementwise(sizes, OperatorKind::kPositionEmbedding,
                       OperatorPass::kForward, sizes.region_tokens,
                       sizes.hidden, 3 * bytes, 1, program),
        AddElementwise(sizes, OperatorKind::kPositionEmbedding,
                       OperatorPass::kWeightGradient, sizes.region_tokens,
                       sizes.hidden, bytes + gradient, 1, program)};
  }
  if (sizes.dropout) {
    ops.dropout =
        AddBoth(sizes, OperatorKind::kEmbeddingDropout, sizes.region_tokens,
                sizes.hidden, {2, 2, 1}, 1, program);
  }
  return ops;
}

HeadOperators AddHeadOperators(const Sizes& sizes, int64_t tokens,
                               Program& program) {
  HeadOperators ops;
  // The output layer stays in 16 bits under 8-bit training.
  Sizes wide = sizes;
  wide.matrix_bytes = sizes.bytes;
  wide.matrix_precision = sizes.precision;
  ops.output = AddLinear(wide, OperatorKind::kOutputLayer, tokens, sizes.hidden,
                         sizes.vocab, program);
  // Fused: logits read once, gradients written once. Plain: cast to 32 bits,
  // maximum, exponentials, sum; gradient in 32 bits and cast back.
  const auto bytes = static_cast<double>(sizes.bytes);
  const double forward = sizes.fused_loss ? bytes : bytes + 4 * 5;
  const double backward = sizes.fused_loss ? 2 * bytes : bytes + 4 * 3;
  ops.loss = {
      AddElementwise(sizes, OperatorKind::kCrossEntropy, OperatorPass::kForward,
                     tokens, sizes.vocab, forward, 5, program),
      AddElementwise(sizes, OperatorKind::kCrossEntropy,
                     OperatorPass::kInputGradient, tokens, sizes.vocab,
                     backward, 2, program)};
  return ops;
}

MultiTokenOperators AddMultiTokenOperators(const Sizes& sizes,
                                           Program& program) {
  MultiTokenOperators ops;
  ops.projection =
      AddLinear(sizes, OperatorKind::kMultiTokenProjection, sizes.tokens,
                2 * sizes.hidden, CeilDivide(sizes.hidden, sizes.tp), program);
  return ops;
}

OperatorId AddGradientNorm(const Sizes& sizes, int64_t parameters,
                           Program& program) {
  return AddElementwise(
      sizes, OperatorKind::kGradientNorm, OperatorPass::kOptimizer, parameters,
      1, static_cast<double>(sizes.kept_gradient_bytes), 2, program);
}

OperatorId AddOptimizer(const Sizes& sizes, int64_t updated, Program& program) {
  // Gradients are read, optimizer state is read and written, weights written.
  // Shards of weights are their own 32-bit copy.
  const int64_t weight_bytes =
      sizes.shards_weights ? 2 * sizes.kept_weight_bytes : sizes.weight_bytes;
  return AddElementwise(
      sizes, OperatorKind::kOptimizer, OperatorPass::kOptimizer, updated, 1,
      static_cast<double>(sizes.kept_gradient_bytes +
                          2 * sizes.optimizer_bytes + weight_bytes),
      12, program);
}

OperatorId AddHostCopy(const Sizes& sizes, int64_t updated, int64_t bytes,
                       Program& program) {
  const OperatorId id =
      AddElementwise(sizes, OperatorKind::kHostCopy, OperatorPass::kOptimizer,
                     updated, 1, static_cast<double>(bytes), 0, program);
  program.operators[id].computation = Computation::kHost;
  return id;
}

OperatorId AddHostOptimizer(const Sizes& sizes, int64_t updated,
                            Program& program) {
  // Gradients are read, state is read and written, weights written where their
  // format is not that of the state.
  const int64_t weight_bytes = sizes.weight_bytes < 4 ? sizes.weight_bytes : 0;
  const OperatorId id = AddElementwise(
      sizes, OperatorKind::kOptimizer, OperatorPass::kOptimizer, updated, 1,
      static_cast<double>(sizes.kept_gradient_bytes + 2 * sizes.host_bytes +
                          weight_bytes),
      12, program);
  program.operators[id].computation = Computation::kHost;
  return id;
}

}  // namespace lmsimbench::compile
