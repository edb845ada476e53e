#include "lib/simulators/calculon/block.h"

namespace lmsimbench::calculon {
namespace {

// A layer behind a fork: the fork keeps their common input.
constexpr LayerFlags kInputOfFork = kReused | kActivationNotStored;

constexpr LayerFlags If(bool condition, LayerFlags flags) {
  return condition ? flags : 0;
}

}  // namespace

// What both halves of a block are built from.
struct Block::Part {
  const Application& app;
  const Execution& execution;
  const Geometry& geometry;
  const Pricing& pricing;
  const TensorGroup& group;
  bool full;                  // RF
  bool attention_recomputed;  // RA
  bool overlapped;  // rows "o" of the specification instead of rows "n"

  double Tokens() const { return geometry.tokens; }
  double Hidden() const { return static_cast<double>(app.hidden); }
};

void Block::Build(const Application& app, const Execution& e,
                  const Geometry& geometry, const Pricing& pricing,
                  const TensorGroup& group) {
  const bool full = e.activation_recompute == Recompute::kFull;
  const Part part = {
      app,
      e,
      geometry,
      pricing,
      group,
      full,
      full || e.activation_recompute == Recompute::kAttentionOnly,
      e.tensor_par_overlap != TensorOverlap::kNone};
  // Layers on what passes between the divided parts, the same in attention and
  // MLP.
  const double x =
      geometry.split_sequence ? geometry.activation_shard : geometry.activation;
  Fork(pricing, x, 2, fork_);
  LayerNorm(pricing, x, part.Hidden(), layer_norm_);
  DropOut(pricing, x, dropout_);
  ElementWise(pricing, x, residual_);
  if (e.tensor_par == 1) {
    gather_ = Layer();
    reduce_ = Layer();
    gather_communication_ = Communication();
    reduce_communication_ = Communication();
  } else if (!part.overlapped) {
    const CollectiveTimes times =
        TimeCollectives(group, geometry.activation * pricing.element_bytes);
    TensorCommLayer(pricing, group, geometry.activation, false, times, gather_,
                    gather_communication_);
    TensorCommLayer(pricing, group, geometry.activation, true, times, reduce_,
                    reduce_communication_);
  }
  size_ = 0;
  weights_size_ = 0;
  communicating_size_ = 0;
  BuildAttention(part);
  BuildMlp(part);
}

void Block::BuildAttention(const Part& part) {
  const Pricing& pricing = part.pricing;
  const Execution& e = part.execution;
  const bool multihead = e.attention_type == AttentionType::kMultihead;
  const bool gather_redone =
      part.attention_recomputed || e.seq_par_ag_redo;  // CA
  const double m = part.Tokens();
  const double h = part.Hidden();
  const auto s = static_cast<double>(part.app.seq_size);
  const auto d = static_cast<double>(part.app.attn_size);
  const auto heads = static_cast<double>(part.app.attn_heads / e.tensor_par);
  const double all_heads_size = static_cast<double>(part.app.attn_heads) * d;

  const LayerFlags recomputed = If(part.full, kRecomputed);
  const LayerFlags recomputed_attention =
      If(part.attention_recomputed, kRecomputed);
  const LayerFlags recomputed_fork =
      If(gather_redone, kRecomputed | kActivationNotStored);

  Add("AttnBlock_Fork", fork_, recomputed);
  Add("AttnBlock_LayerNorm", layer_norm_, recomputed | kInputOfFork);
  if (!part.overlapped) {
    Add("AttnBlock_F", gather_, If(gather_redone, kRedone),
        &gather_communication_);
    Fork(pricing, part.geometry.activation, 3, heads_fork_);
    Add("AttnBlock_Multihead_Fork", heads_fork_, recomputed_fork);
    Linear(pricing, m, h, heads * d, query_);
    Add("AttnBlock_Query", query_, recomputed | kInputOfFork);
  } else {
    OverlappedLinear(pricing, part.group, m, h,
                     (multihead ? 3 : 1) * all_heads_size, false, gather_redone,
                     query_, query_communication_);
    Add(multihead ? "AttnBlock_QKV_AG" : "AttnBlock_Query_AG", query_,
        recomputed | If(gather_redone, kRedone), &query_communication_);
    if (!multihead) {
      Fork(pricing, part.geometry.activation, 2, heads_fork_);
      Add("AttnBlock_KV_Fork", heads_fork_, recomputed_fork);
    }
  }
  if (!multihead) Linear(pricing, m, h, d, key_);
  if (!multihead || !part.overlapped) {
    const Layer& key = multihead ? query_ : key_;
    Add("AttnBlock_Key", key, recomputed | kInputOfFork);
    Add("AttnBlock_Value", key, recomputed | kInputOfFork);
  }

  const double products = static_cast<double>(e.microbatch_size) * heads;
  const double scores = products * s * s;
  BatchMatMul(pricing, products, s, d, s, scores_);
  SoftMax(pricing, scores, softmax_);
  DropOut(pricing, scores, scores_dropout_);
  ContextOfScores(pricing, products, s, d, scores_, context_);
  Add("AttnBlock_Multihead_Key_Query", scores_,
      recomputed_attention | If(part.attention_recomputed, kOutputNotStored));
  Add("AttnBlock_Multihead_SoftMax", softmax_,
      recomputed_attention | If(part.attention_recomputed, kOutputNotStored));
  Add("AttnBlock_Multihead_DropOut", scores_dropout_,
      recomputed_attention |
          If(part.attention_recomputed, kActivationNotStored));
  Add("AttnBlock_Multihead_Attn", context_, recomputed);

  if (!part.overlapped) {
    ReversedLinear(query_, projection_);
    Add("AttnBlock_MLP", projection_, recomputed);
    Add("AttnBlock_G", reduce_, If(part.full, kRedone) | kActivationNotStored,
        &reduce_communication_);
  } else {
    OverlappedLinear(pricing, part.group, m, all_heads_size, h, true, part.full,
                     projection_, projection_communication_);
    Add("AttnBlock_MLP_RS", projection_, recomputed | If(part.full, kRedone),
        &projection_communication_);
  }
  Add("AttnBlock_DropOut", dropout_, recomputed);
  Add("AttnBlock_Residual", residual_, recomputed | kInputOfFork);
}

void Block::BuildMlp(const Part& part) {
  const Pricing& pricing = part.pricing;
  const Execution& e = part.execution;
  const bool gather_redone = part.full || e.seq_par_ag_redo;  // CM
  const double m = part.Tokens();
  const double h = part.Hidden();
  const auto f = static_cast<double>(part.app.feedforward);
  const auto f_shard = static_cast<double>(part.app.feedforward / e.tensor_par);

  const LayerFlags recomputed = If(part.full, kRecomputed);
  const LayerFlags redone = If(gather_redone, kRedone);

  Add("MlpBlock_Fork", fork_, recomputed);
  Add("MlpBlock_LayerNorm", layer_norm_, recomputed | kInputOfFork);
  if (!part.overlapped) {
    Add("MlpBlock_F", gather_, redone, &gather_communication_);
    Linear(pricing, m, h, f_shard, mlp1_);
    Add("MlpBlock_Mlp1", mlp1_,
        recomputed | If(gather_redone, kActivationNotStored));
  } else {
    OverlappedLinear(pricing, part.group, m, h, f, false, gather_redone, mlp1_,
                     mlp1_communication_);
    Add("MlpBlock_Mlp1_AG", mlp1_, recomputed | redone, &mlp1_communication_);
  }
  GeLU(pricing, f_shard * m, e.fused_activation, gelu_);
  Add("MlpBlock_GeLU", gelu_, recomputed);
  if (!part.overlapped) {
    ReversedLinear(mlp1_, mlp2_);
    Add("MlpBlock_Mlp2", mlp2_, recomputed);
    Add("MlpBlock_G", reduce_, If(part.full, kRedone) | kActivationNotStored,
        &reduce_communication_);
  } else {
    OverlappedLinear(pricing, part.group, m, f, h, true, part.full, mlp2_,
                     mlp2_communication_);
    Add("MlpBlock_Mlp2_RS", mlp2_, recomputed | If(part.full, kRedone),
        &mlp2_communication_);
  }
  Add("MlpBlock_DropOut", dropout_, recomputed);
  Add("MlpBlock_Residual", residual_, recomputed | kInputOfFork);
}

}  // namespace lmsimbench::calculon
