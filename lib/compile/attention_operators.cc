#include <algorithm>

#include "lib/compile/add_operator.h"
#include "lib/core/arithmetic.h"

namespace lmsimbench::compile {
namespace {

// Keys that the queries of one sequence meet, summed over the queries. A causal
// query at position i has met i keys, half of the sequence on average; within a
// window of w tokens w, but for the first w queries. Without the mask it meets
// as many on the other side.
double Pairs(const Sizes& sizes, int64_t window) {
  const auto seq_len = static_cast<double>(sizes.seq_len);
  const double w = window > 0 ? static_cast<double>(window) : seq_len;
  return (sizes.causal ? 1 : 2) * (seq_len * w - w * w / 2);
}

// Sizes of the core where context parallelism has exchanged tokens for heads
// and divided the rest of the sequence.
struct CoreShape {
  int64_t query_tokens = 0;
  int64_t key_tokens = 0;
  bool causal = false;
  int64_t window = 0;
  double pairs = 0;
};

Elementwise AddFused(const Sizes& sizes, const CoreShape& shape,
                     Program& program) {
  const int64_t inner = sizes.context.inner;
  Operator op;
  op.kind = OperatorKind::kAttention;
  op.pass = OperatorPass::kForward;
  op.computation = Computation::kAttention;
  op.precision = sizes.precision;
  op.batch = sizes.sequences;
  op.query_tokens = shape.query_tokens;
  op.key_tokens = shape.key_tokens;
  op.heads = sizes.heads / inner;
  op.kv_heads = std::max<int64_t>(1, sizes.kv_heads / inner);
  op.head_dim = sizes.head_dim;
  if (sizes.value_head_dim != sizes.head_dim) {
    op.value_head_dim = sizes.value_head_dim;
  }
  op.causal = shape.causal;
  op.window = shape.window;
  const auto sequences = static_cast<double>(sizes.sequences);
  const auto queries = sequences * static_cast<double>(op.query_tokens);
  const auto keys = sequences * static_cast<double>(op.key_tokens);
  const auto bytes = static_cast<double>(sizes.bytes);
  const auto heads = static_cast<double>(op.heads);
  const auto kv_heads = static_cast<double>(op.kv_heads);
  const auto key_dim = static_cast<double>(sizes.head_dim);
  const auto value_dim = static_cast<double>(sizes.value_head_dim);
  const double width = key_dim + value_dim;
  const double meetings = 2 * sequences * heads * shape.pairs;
  const double moved = bytes * width * (queries * heads + keys * kv_heads);
  op.flops = meetings * width;
  op.bytes = moved + 4 * queries * heads;
  Elementwise fused;
  fused.forward = Add(program, op);
  // Scores again, and four products where the forward pass has two.
  op.pass = OperatorPass::kInputGradient;
  op.flops = meetings * (3 * key_dim + 2 * value_dim);
  op.bytes = 2 * moved + 8 * queries * heads;
  fused.backward = Add(program, op);
  return fused;
}

void AddFusedCore(const Sizes& sizes, int64_t window, AttentionCore& core,
                  Program& program) {
  const ContextSizes& context = sizes.context;
  const auto outer = static_cast<double>(context.outer);
  CoreShape shape;
  shape.query_tokens = sizes.seq_len / context.outer;
  shape.key_tokens = sizes.seq_len;
  shape.causal = sizes.causal;
  shape.window = window;
  shape.pairs = Pairs(sizes, window) / outer;
  if (context.outer == 1 || context.gathers) {
    core.fused = AddFused(sizes, shape, program);
    return;
  }
  // Round the ring every rank has a piece of the beginning of the sequence and
  // one of the end: of its own tokens it meets half, if causal, and of those of
  // any other rank half too, be it all of its queries with the first half of
  // the keys or the second half of its queries with all.
  shape.key_tokens = shape.query_tokens;
  shape.pairs /= outer;
  core.fused = AddFused(sizes, shape, program);
  shape.causal = false;
  if (sizes.causal) shape.key_tokens = CeilDivide(shape.key_tokens, 2);
  core.ring_step = AddFused(sizes, shape, program);
  // Reads what there is and what a step gave, writes their weighted sum.
  core.ring_merge = AddBoth(
      sizes, OperatorKind::kRingMerge, sizes.sequences * shape.query_tokens,
      sizes.attended_width / context.inner, {3, 3, 0}, 3, program);
}

void AddUnfusedCore(const Sizes& sizes, AttentionCore& core, Program& program) {
  const int64_t batch = sizes.sequences * sizes.heads;
  const int64_t s = sizes.seq_len;
  const int64_t d = sizes.head_dim;
  const int64_t v = sizes.value_head_dim;
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
  core.values = matrix(kValues, kForward, {batch, s, v, s});
  core.values_to_scores = matrix(kValues, kBackward, {batch, s, s, v});
  core.values_to_value = matrix(kValues, kBackward, {batch, s, v, s});
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

// Down to the compressed channels, which every tensor-parallel rank has all of,
// and up to its heads.
void AddLatentProjections(const Sizes& sizes, AttentionOperators& ops,
                          Program& program) {
  const LatentSizes& latent = sizes.latent;
  const auto down = [&](int64_t width, int64_t bias) {
    Linear linear =
        AddLinear(sizes, OperatorKind::kLatentDown, sizes.region_tokens,
                  sizes.hidden, width, program);
    if (sizes.qkv_bias) linear.parameters += bias;
    linear.replicated_parameters = linear.parameters;
    return linear;
  };
  const auto norm = [&](int64_t width) {
    return AddBoth(sizes, OperatorKind::kLatentNorm, sizes.region_tokens, width,
                   {2, 3, 0}, 5, program);
  };
  if (latent.q_rank > 0) {
    ops.query_down = down(latent.q_rank, latent.q_rank);
    ops.query_norm = norm(latent.q_rank);
    ops.query_up = AddLinear(sizes, OperatorKind::kLatentUp, sizes.tokens,
                             latent.q_rank, sizes.query_width, program);
  } else {
    ops.query_up = AddLinear(sizes, OperatorKind::kQkvProjection, sizes.tokens,
                             sizes.hidden, sizes.query_width, program);
    if (sizes.qkv_bias) ops.query_up.parameters += sizes.query_width;
  }
  const int64_t compressed = latent.kv_rank + latent.rope;
  ops.key_value_down = down(compressed, compressed);
  ops.key_value_norm = norm(latent.kv_rank);
  ops.key_value_up =
      AddLinear(sizes, OperatorKind::kLatentUp, sizes.tokens, latent.kv_rank,
                sizes.heads * latent.nope + sizes.attended_width, program);
}

}  // namespace

AttentionOperators AddAttentionOperators(const Sizes& sizes, Program& program) {
  AttentionOperators ops;
  const int64_t qk_width = sizes.query_width + sizes.key_width;
  if (sizes.latent.is_used()) {
    AddLatentProjections(sizes, ops, program);
  } else {
    ops.qkv = AddLinear(sizes, OperatorKind::kQkvProjection, sizes.tokens,
                        sizes.hidden, qk_width + sizes.value_width, program);
    if (sizes.qkv_bias) ops.qkv.parameters += qk_width + sizes.value_width;
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
                         sizes.attended_width, sizes.hidden, program);
  if (sizes.linear_bias) {
    ops.output.parameters += sizes.hidden;
    ops.output.replicated_parameters = sizes.hidden;
  }
  return ops;
}

}  // namespace lmsimbench::compile
