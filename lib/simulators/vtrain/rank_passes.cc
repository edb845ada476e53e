#include "lib/simulators/vtrain/rank_passes.h"

namespace lmsimbench::vtrain {
namespace {

// Layers one after the other.
class PassBuilder {
 public:
  void Add(const FoldedPass& layer, int64_t count = 1) {
    const auto times = static_cast<double>(count);
    pass_.length_ns += times * layer.length_ns;
    pass_.compute_ns += times * layer.compute_ns;
    pass_.gap_ns += times * layer.gap_ns;
    pass_.layers += count;
    pass_.tasks += count * layer.tasks;
  }
  // Transformer layers with two all-reduces behind each.
  void AddReduced(const Plan& plan, const FoldedPass& layer, bool reduces) {
    Add(layer, plan.layers);
    if (!reduces || plan.tensor == 1) return;
    pass_.all_reduces = 2 * plan.layers;
    pass_.length_ns +=
        static_cast<double>(pass_.all_reduces) * plan.tensor_all_reduce_ns;
  }
  const RankPass& pass() const { return pass_; }

 private:
  RankPass pass_;
};

double ReducedLayerNs(const Plan& plan, const FoldedPass& layer, bool reduces) {
  return layer.length_ns +
         (reduces && plan.tensor > 1 ? 2 * plan.tensor_all_reduce_ns : 0);
}

}  // namespace

FoldedPass UpdateOfOutput(const Plan& plan, const FoldedTable& table) {
  FoldedPass update = table[LayerPass::kWuLogit];
  if (plan.output_update_share == 0 || update.length_ns != 0) return update;
  update = table[LayerPass::kWuEmbeddings];
  update.compute_ns *= plan.output_update_share;
  update.gap_ns *= plan.output_update_share;
  update.length_ns *= plan.output_update_share;
  return update;
}

RankPasses FoldRank(const Plan& plan, const FoldedTable& table, RankKind kind,
                    const FoldedPass& update_of_output) {
  const FoldedPass& embeddings = table[LayerPass::kFwdEmbeddings];
  const FoldedPass& layer = table[LayerPass::kFwdTransformer];
  const FoldedPass& loss = table[LayerPass::kFwdLoss];
  const auto before_last = static_cast<double>(plan.layers - 1);
  RankPasses passes;

  PassBuilder forward;
  if (HasEmbeddings(kind)) {
    forward.Add(embeddings);
    passes.last_forward_ns = embeddings.last_start_ns;
  }
  if (plan.layers > 0) {
    passes.last_forward_ns = forward.pass().length_ns +
                             before_last * ReducedLayerNs(plan, layer, true) +
                             layer.last_start_ns;
  }
  forward.AddReduced(plan, layer, true);
  if (HasOutput(kind)) {
    forward.Add(table[LayerPass::kFwdLogit]);
    passes.last_forward_ns = forward.pass().length_ns + loss.last_start_ns;
    forward.Add(loss);
  }
  passes.forward = forward.pass();

  if (Recomputes(plan, kind)) {
    const bool everywhere = plan.repairs.recompute_everywhere;
    PassBuilder recompute;
    recompute.AddReduced(plan, layer, everywhere);
    passes.last_recompute_ns =
        before_last * ReducedLayerNs(plan, layer, everywhere) +
        layer.last_start_ns;
    if (!everywhere && HasEmbeddings(kind)) {
      passes.last_recompute_ns =
          recompute.pass().length_ns + embeddings.last_start_ns;
      recompute.Add(embeddings);
    }
    passes.recompute = recompute.pass();
  }

  PassBuilder backward;
  if (HasOutput(kind)) backward.Add(table[LayerPass::kBwdLogit]);
  backward.AddReduced(plan, table[LayerPass::kBwdTransformer], true);
  passes.last_all_reduce_ns = backward.pass().length_ns;
  if (HasEmbeddings(kind)) backward.Add(table[LayerPass::kBwdEmbeddings]);
  passes.backward = backward.pass();

  PassBuilder update;
  if (HasEmbeddings(kind)) update.Add(table[LayerPass::kWuEmbeddings]);
  update.Add(table[LayerPass::kWuTransformer], plan.layers);
  if (HasOutput(kind)) update.Add(update_of_output);
  passes.update = update.pass();
  return passes;
}

double BackwardLayerEnd(const Plan& plan, const FoldedTable& table,
                        RankKind kind, int64_t index, double hop_ns) {
  const int64_t layers = LayersOf(plan, kind);
  double end = HasOutput(kind) ? table[LayerPass::kBwdLogit].length_ns : 0;
  const int64_t transformer_layers =
      index + (HasOutput(kind) ? 0 : 1) -
      (HasEmbeddings(kind) && index + 1 == layers ? 1 : 0);
  end += static_cast<double>(transformer_layers) *
         ReducedLayerNs(plan, table[LayerPass::kBwdTransformer], true);
  if (index + 1 < layers) return end;
  if (HasEmbeddings(kind)) end += table[LayerPass::kBwdEmbeddings].length_ns;
  return end + hop_ns;
}

}  // namespace lmsimbench::vtrain
