#include "lib/compile/operators.h"

#include <algorithm>
#include <cmath>

namespace lmsimbench::compile {
namespace {

OperatorId Add(Program& program, const Operator& op) {
  program.operators.push_back(op);
  return static_cast<OperatorId>(program.operators.size()) - 1;
}

struct MatrixShape {
  int64_t batch = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
};

OperatorId AddMatrix(const Sizes& sizes, OperatorKind kind, OperatorPass pass,
                     MatrixShape shape, int64_t input_bytes,
                     double output_bytes, Program& program) {
  Operator op;
  op.kind = kind;
  op.pass = pass;
  op.computation = Computation::kMatrixMultiplication;
  op.precision = input_bytes == sizes.matrix_bytes ? sizes.matrix_precision
                                                   : sizes.precision;
  op.batch = shape.batch;
  op.m = shape.m;
  op.n = shape.n;
  op.k = shape.k;
  const auto batch = static_cast<double>(shape.batch);
  const auto m = static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  op.flops = 2 * batch * m * n * k;
  op.bytes = batch * (static_cast<double>(input_bytes) * (m * k + k * n) +
                      output_bytes * m * n);
  return Add(program, op);
}

// y[tokens, out] = x[tokens, in] W. The weight gradient is added to what other
// micro-batches have left, so it is read and written.
Linear AddLinear(const Sizes& sizes, OperatorKind kind, int64_t tokens,
                 int64_t in, int64_t out, Program& program) {
  const auto activation_bytes = static_cast<double>(sizes.bytes);
  const auto gradient_bytes = static_cast<double>(2 * sizes.gradient_bytes);
  Linear linear;
  linear.forward =
      AddMatrix(sizes, kind, OperatorPass::kForward, {1, tokens, out, in},
                sizes.matrix_bytes, activation_bytes, program);
  linear.input_gradient =
      AddMatrix(sizes, kind, OperatorPass::kInputGradient, {1, tokens, in, out},
                sizes.matrix_bytes, activation_bytes, program);
  linear.weight_gradient = AddMatrix(sizes, kind, OperatorPass::kWeightGradient,
                                     {1, out, in, tokens}, sizes.matrix_bytes,
                                     gradient_bytes, program);
  linear.parameters = in * out;
  return linear;
}

OperatorId AddElementwise(const Sizes& sizes, OperatorKind kind,
                          OperatorPass pass, int64_t rows, int64_t width,
                          double bytes_an_element, double flops_an_element,
                          Program& program) {
  Operator op;
  op.kind = kind;
  op.pass = pass;
  op.computation = Computation::kElementwise;
  op.precision = sizes.precision;
  op.rows = rows;
  op.width = width;
  const double elements =
      static_cast<double>(rows) * static_cast<double>(width);
  op.bytes = bytes_an_element * elements;
  op.flops = flops_an_element * elements;
  return Add(program, op);
}

// Bytes of an element: tensors read and written in forward and backward, and
// bytes of a mask.
struct Traffic {
  double forward = 0;
  double backward = 0;
  double mask = 0;
};

Elementwise AddBoth(const Sizes& sizes, OperatorKind kind, int64_t rows,
                    int64_t width, Traffic traffic, double flops,
                    Program& program) {
  const auto bytes = static_cast<double>(sizes.bytes);
  return {
      AddElementwise(sizes, kind, OperatorPass::kForward, rows, width,
                     traffic.forward * bytes + traffic.mask, flops, program),
      AddElementwise(sizes, kind, OperatorPass::kInputGradient, rows, width,
                     traffic.backward * bytes + traffic.mask, 2 * flops,
                     program)};
}

// Keys that the queries of one sequence meet, summed over the queries. A causal
// query at position i has met i keys, half of the sequence on average; within a
// window of w tokens w, but for the first w queries. Without the mask it meets
// as many on the other side.
double Pairs(const Sizes& sizes, int64_t window) {
  const auto seq_len = static_cast<double>(sizes.seq_len);
  const double w = window > 0 ? static_cast<double>(window) : seq_len;
  return (sizes.causal ? 1 : 2) * (seq_len * w - w * w / 2);
}

void AddFusedCore(const Sizes& sizes, int64_t window, AttentionCore& core,
                  Program& program) {
  Operator op;
  op.kind = OperatorKind::kAttention;
  op.pass = OperatorPass::kForward;
  op.computation = Computation::kAttention;
  op.precision = sizes.precision;
  op.batch = sizes.sequences;
  op.query_tokens = sizes.seq_len;
  op.key_tokens = sizes.seq_len;
  op.heads = sizes.heads;
  op.kv_heads = sizes.kv_heads;
  op.head_dim = sizes.head_dim;
  op.causal = sizes.causal;
  op.window = window;
  const auto tokens = static_cast<double>(sizes.tokens);
  const auto bytes = static_cast<double>(sizes.bytes);
  const auto query_width = static_cast<double>(sizes.query_width);
  const auto kv_width = static_cast<double>(sizes.kv_width);
  const auto heads = static_cast<double>(sizes.heads);
  op.flops = 4 * static_cast<double>(sizes.sequences) * query_width *
             Pairs(sizes, window);
  op.bytes = tokens * (bytes * 2 * (query_width + kv_width) + 4 * heads);
  core.fused.forward = Add(program, op);
  // Scores again, and four products where the forward pass has two.
  op.pass = OperatorPass::kInputGradient;
  op.flops *= 2.5;
  op.bytes = tokens * (bytes * 4 * (query_width + kv_width) + 8 * heads);
  core.fused.backward = Add(program, op);
}

void AddUnfusedCore(const Sizes& sizes, AttentionCore& core, Program& program) {
  const int64_t batch = sizes.sequences * sizes.heads;
  const int64_t s = sizes.seq_len;
  const int64_t d = sizes.head_dim;
  const auto matrix = [&](OperatorKind kind, OperatorPass pass,
                          MatrixShape shape) {
    return AddMatrix(sizes, kind, pass, shape, sizes.bytes,
                     static_cast<double>(sizes.bytes), program);
  };
  constexpr auto kScores = OperatorKind::kAttentionScores;
  constexpr auto kValues = OperatorKind::kAttentionValues;
  constexpr auto kForward = OperatorPass::kForward;
  constexpr auto kBackward = OperatorPass::kInputGradient;
  core.scores = matrix(kScores, kForward, {batch, s, s, d});
  core.scores_to_query = matrix(kScores, kBackward, {batch, s, d, s});
  core.scores_to_key = core.scores_to_query;
  core.softmax = AddBoth(sizes, OperatorKind::kSoftmax, batch * s, s, {2, 3, 0},
                         5, program);
  if (sizes.dropout) {
    core.dropout = AddBoth(sizes, OperatorKind::kAttentionDropout, batch * s, s,
                           {2, 2, 1}, 1, program);
  }
  core.values = matrix(kValues, kForward, {batch, s, d, s});
  core.values_to_scores = matrix(kValues, kBackward, {batch, s, s, d});
  core.values_to_value = matrix(kValues, kBackward, {batch, s, d, s});
}

AttentionCore AddCore(const Sizes& sizes, int64_t window, Program& program) {
  AttentionCore core;
  if (sizes.flash) {
    AddFusedCore(sizes, window, core, program);
  } else {
    // An unfused core computes all scores and masks them.
    AddUnfusedCore(sizes, core, program);
  }
  return core;
}

}  // namespace

Elementwise AddNorm(const Sizes& sizes, Program& program) {
  // One kernel reads the input and writes the output; unfused, mean, variance
  // and scaling each pass over it. Backward reads input, gradient and the
  // residual's gradient and writes their sum.
  const Traffic traffic =
      sizes.fused_norm ? Traffic{2, 4, 0} : Traffic{6, 10, 0};
  return AddBoth(sizes, OperatorKind::kNorm, sizes.region_tokens, sizes.hidden,
                 traffic, 5, program);
}

LayerOperators AddLayerOperators(const Sizes& sizes, Program& program) {
  LayerOperators ops;
  ops.norm = AddNorm(sizes, program);
  const int64_t qk_width = sizes.query_width + sizes.kv_width;
  ops.qkv =
      AddLinear(sizes, OperatorKind::kQkvProjection, sizes.tokens, sizes.hidden,
                sizes.query_width + 2 * sizes.kv_width, program);
  if (sizes.qkv_bias) {
    ops.qkv.parameters += sizes.query_width + 2 * sizes.kv_width;
  }
  if (sizes.qk_norm) {
    ops.qk_norm = AddBoth(sizes, OperatorKind::kQkNorm, sizes.tokens, qk_width,
                          {2, 3, 0}, 5, program);
  }
  if (sizes.rotary) {
    ops.rotary = AddBoth(sizes, OperatorKind::kRotary, sizes.tokens, qk_width,
                         {2, 2, 0}, 3, program);
  }
  const bool has_whole = sizes.window == 0 || sizes.window_period > 1;
  if (has_whole) ops.whole = AddCore(sizes, 0, program);
  if (sizes.window > 0) {
    ops.windowed = sizes.flash || !has_whole
                       ? AddCore(sizes, sizes.window, program)
                       : ops.whole;
  }
  ops.output = AddLinear(sizes, OperatorKind::kOutputProjection, sizes.tokens,
                         sizes.query_width, sizes.hidden, program);
  // Reads the output of the block and the stream, writes the stream.
  ops.residual =
      AddBoth(sizes, OperatorKind::kResidual, sizes.region_tokens, sizes.hidden,
              {3, 2, sizes.dropout ? 1.0 : 0.0}, 2, program);
  ops.mlp_up = AddLinear(sizes, OperatorKind::kMlpUp, sizes.tokens,
                         sizes.hidden, sizes.ffn_inputs * sizes.ffn, program);
  const auto inputs = static_cast<double>(sizes.ffn_inputs);
  ops.mlp_activation =
      AddBoth(sizes, OperatorKind::kMlpActivation, sizes.tokens, sizes.ffn,
              {inputs + 1, 2 * inputs + 1, 0}, 8, program);
  ops.mlp_down = AddLinear(sizes, OperatorKind::kMlpDown, sizes.tokens,
                           sizes.ffn, sizes.hidden, program);
  if (sizes.linear_bias) {
    ops.output.parameters += sizes.hidden;
    ops.output.replicated_parameters = sizes.hidden;
    ops.mlp_up.parameters += sizes.ffn_inputs * sizes.ffn;
    ops.mlp_down.parameters += sizes.hidden;
    ops.mlp_down.replicated_parameters = sizes.hidden;
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

OperatorId AddGradientNorm(const Sizes& sizes, int64_t parameters,
                           Program& program) {
  return AddElementwise(sizes, OperatorKind::kGradientNorm,
                        OperatorPass::kOptimizer, parameters, 1,
                        static_cast<double>(sizes.gradient_bytes), 2, program);
}

OperatorId AddOptimizer(const Sizes& sizes, int64_t updated, Program& program) {
  // Gradients are read, optimizer state is read and written, weights written.
  return AddElementwise(
      sizes, OperatorKind::kOptimizer, OperatorPass::kOptimizer, updated, 1,
      static_cast<double>(sizes.gradient_bytes + 2 * sizes.optimizer_bytes +
                          sizes.weight_bytes),
      12, program);
}

}  // namespace lmsimbench::compile
