#include "lib/simulators/vtrain/prediction.h"

#include <algorithm>
#include <cmath>

#include "lib/simulators/vtrain/rank_passes.h"

namespace lmsimbench::vtrain {
namespace {

constexpr double kSeconds = 1e-9;

using EvidenceNs = std::array<double, kEvidences>;

class Filler {
 public:
  Filler(const Plan& plan, const SourcedKernels& kernels,
         const FoldedTable& folded, const Outputs& outputs,
         Prediction& prediction)
      : plan_(plan),
        kernels_(kernels),
        folded_(folded),
        out_(outputs),
        prediction_(prediction),
        count_(static_cast<double>(plan.micro_batches)) {}

  void Fill() {
    prediction_.iteration_time_s = out_.iteration_ns * kSeconds;
    size_t last = 0;
    for (size_t r = 0; r < out_.ranks.size(); ++r) {
      AddRank(r);
      if (out_.ranks[r].end_ns > out_.ranks[last].end_ns) last = r;
    }
    FillTime(last);
    FillEvidence();
  }

 private:
  double HopsNs(size_t rank) const {
    double hops = 0;
    if (rank + 1 < out_.ranks.size()) hops += plan_.hops_ns[rank];
    if (rank > 0) hops += plan_.hops_ns[rank - 1];
    return count_ * hops;
  }

  static void AddTotal(int64_t rank, CollectiveKind kind, Group group,
                       int64_t runs, double ns, Prediction& prediction) {
    if (runs == 0) return;
    CollectiveTotal& total = prediction.collectives.emplace_back();
    total.rank_class = rank;
    total.kind = kind;
    total.group = group;
    total.runs = runs;
    total.seconds = ns * kSeconds;
  }

  void AddRank(size_t r) {
    const RankOutputs& out = out_.ranks[r];
    const double hops = HopsNs(r);
    RankPrediction& rank = prediction_.ranks.emplace_back();
    rank.pipeline_rank = static_cast<int64_t>(r);
    rank.ranks = plan_.tensor * plan_.data;
    // Hops are gaps to vTrain.
    const double compute = out.compute_ns + std::max(0.0, out.gap_ns - hops);
    const double exposed = out.exposed_communication_ns + hops;
    const double idle = std::max(0.0, out_.iteration_ns - out.end_ns);
    rank.compute_s = compute * kSeconds;
    rank.exposed_communication_s = exposed * kSeconds;
    rank.overlapped_communication_s =
        std::max(0.0, out.tensor_communication_ns + out.data_communication_ns -
                          out.exposed_communication_ns) *
        kSeconds;
    rank.idle_s = idle * kSeconds;
    rank.bubble_s =
        std::max(0.0, out_.iteration_ns - compute - exposed - idle) * kSeconds;

    const auto index = static_cast<int64_t>(r);
    if (plan_.tensor_all_reduce_ns > 0) {
      AddTotal(index, CollectiveKind::kAllReduce, Group::kTensor,
               std::llround(out.tensor_communication_ns /
                            plan_.tensor_all_reduce_ns),
               out.tensor_communication_ns, prediction_);
    }
    if (r + 1 < out_.ranks.size()) {
      AddTotal(index, CollectiveKind::kSendReceive, Group::kPipeline,
               plan_.micro_batches, count_ * plan_.hops_ns[r], prediction_);
    }
    if (plan_.data > 1) {
      const RankKind kind = KindOf(plan_, index);
      AddTotal(index, CollectiveKind::kAllReduce, Group::kData,
               plan_.repairs.overlap_gradients
                   ? static_cast<int64_t>(plan_.buckets[kind].size())
                   : 1,
               out.data_communication_ns, prediction_);
    }
  }

  void FillTime(size_t r) {
    const RankOutputs& out = out_.ranks[r];
    const RankPasses passes =
        FoldRank(plan_, folded_, KindOf(plan_, static_cast<int64_t>(r)),
                 UpdateOfOutput(plan_, folded_));
    const auto computing = [this](const RankPass& pass) {
      return count_ * (pass.compute_ns + pass.gap_ns) * kSeconds;
    };
    TimeParts& time = prediction_.time;
    time.forward_s = computing(passes.forward);
    time.backward_s = computing(passes.backward);
    time.recompute_s = computing(passes.recompute);
    time.optimizer_s = passes.update.length_ns * kSeconds;
    time.tensor_communication_s = out.tensor_communication_ns * kSeconds;
    time.pipeline_communication_s = HopsNs(r) * kSeconds;
    time.data_communication_s =
        (out.exposed_communication_ns - out.tensor_communication_ns) * kSeconds;
    time.bubble_s = std::max(
        0.0, prediction_.iteration_time_s -
                 (time.forward_s + time.backward_s + time.recompute_s +
                  time.optimizer_s + time.tensor_communication_s +
                  time.pipeline_communication_s + time.data_communication_s));
  }

  // Shares of the time of the rank that computes and communicates longest.
  void FillEvidence() {
    size_t busiest = 0;
    const auto work = [this](size_t r) {
      const RankOutputs& out = out_.ranks[r];
      return out.compute_ns + out.gap_ns + out.tensor_communication_ns +
             out.data_communication_ns;
    };
    for (size_t r = 1; r < out_.ranks.size(); ++r) {
      if (work(r) > work(busiest)) busiest = r;
    }
    const RankOutputs& out = out_.ranks[busiest];
    const RankKind kind = KindOf(plan_, static_cast<int64_t>(busiest));
    EvidenceNs sums = {};
    const auto add = [&](LayerPass pass, double times) {
      const auto& evidence = kernels_.evidence_ns[static_cast<size_t>(pass)];
      for (size_t e = 0; e < kEvidences; ++e) sums[e] += times * evidence[e];
    };
    const auto layers = static_cast<double>(plan_.layers);
    const double recomputes = Recomputes(plan_, kind) ? 1 : 0;
    add(LayerPass::kFwdTransformer, count_ * layers * (1 + recomputes));
    add(LayerPass::kBwdTransformer, count_ * layers);
    add(LayerPass::kWuTransformer, layers);
    if (HasEmbeddings(kind)) {
      add(LayerPass::kFwdEmbeddings, count_);
      add(LayerPass::kBwdEmbeddings, count_);
      add(LayerPass::kWuEmbeddings, 1);
    }
    if (HasOutput(kind)) {
      add(LayerPass::kFwdLogit, count_);
      add(LayerPass::kFwdLoss, count_);
      add(LayerPass::kBwdLogit, count_);
    }
    const auto at = [&sums](Evidence evidence) -> double& {
      return sums[static_cast<size_t>(evidence)];
    };
    at(plan_.tensor_evidence) += out.tensor_communication_ns;
    at(plan_.data_evidence) += out.data_communication_ns;
    at(plan_.hop_evidence) += HopsNs(busiest);
    double total = 0;
    for (const double sum : sums) total += sum;
    if (!(total > 0)) return;
    EvidenceShares& shares = prediction_.evidence;
    shares.measured = at(Evidence::kMeasured) / total;
    shares.interpolated = at(Evidence::kInterpolated) / total;
    shares.extrapolated = at(Evidence::kExtrapolated) / total;
    shares.analytic = at(Evidence::kAnalytic) / total;
  }

  const Plan& plan_;
  const SourcedKernels& kernels_;
  const FoldedTable& folded_;
  const Outputs& out_;
  Prediction& prediction_;
  const double count_;
};

}  // namespace

void FillPrediction(const Plan& plan, const SourcedKernels& kernels,
                    const FoldedTable& folded, const Outputs& outputs,
                    Prediction& prediction) {
  Filler(plan, kernels, folded, outputs, prediction).Fill();
}

}  // namespace lmsimbench::vtrain
