#include "lib/simulators/vtrain/kernel_simulation.h"

#include <algorithm>
#include <cmath>

namespace lmsimbench::vtrain {
namespace {

using Sum = KernelWorkspace::Sum;

// Python's sum(), which keeps what rounding loses.
void Add(double value, Sum& sum) {
  const double total = sum.value + value;
  sum.lost += std::fabs(sum.value) >= std::fabs(value)
                  ? (sum.value - total) + value
                  : (value - total) + sum.value;
  sum.value = total;
}

double Total(const Sum& sum) { return sum.value + sum.lost; }

class Simulation {
 public:
  Simulation(const Plan& plan, const KernelTable& table,
             KernelWorkspace& workspace, Outputs& outputs,
             std::vector<RankTasks>* tasks)
      : plan_(plan), w_(workspace), out_(outputs), tasks_(tasks) {
    for (size_t i = 0; i < kLayerPasses; ++i) kernels_[i] = &table.passes[i];
    if (plan.output_update_share > 0) {
      repaired_ = table;
      AddOutputUpdate(plan.output_update_share, repaired_);
      kernels_[static_cast<size_t>(LayerPass::kWuLogit)] =
          &repaired_[LayerPass::kWuLogit];
    }
    const auto ranks = static_cast<size_t>(plan.pipeline);
    w_.ranks.assign(ranks, {});
    w_.chains.assign(static_cast<size_t>(plan.micro_batches), 0);
    out_ = Outputs();
    out_.ranks.assign(ranks, {});
    out_.micro_batches = plan.micro_batches;
    if (tasks_ != nullptr) tasks_->assign(ranks, {});
  }

  void Run() {
    const int64_t last = plan_.pipeline - 1;
    for (int64_t k = 0; k < std::min(last, plan_.micro_batches); ++k) {
      for (int64_t rank = 0; rank < last - k; ++rank) Forward(rank, k);
    }
    for (int64_t m = 0; m < plan_.micro_batches; ++m) {
      for (int64_t rank = last; rank >= 0; --rank) {
        const int64_t next = m + last - rank;
        if (next < plan_.micro_batches) Forward(rank, next);
        Recompute(rank);
        Backward(rank, m);
      }
    }
    for (int64_t rank = 0; rank <= last; ++rank) {
      out_.ranks[rank].backward_end_ns = w_.ranks[rank].end;
    }
    ReduceGradients();
    ReduceEmbedding();
    Update();
    for (int64_t rank = 0; rank <= last; ++rank) FinishRank(rank);
    out_.iteration_ns = std::max(0.0, out_.communication_finish_ns);
    for (const RankOutputs& rank : out_.ranks) {
      out_.iteration_ns = std::max(out_.iteration_ns, rank.finish_ns);
    }
  }

 private:
  static constexpr int64_t kUnchained = -1;

  // Notes a task that starts then, and returns its end.
  double Note(int64_t rank, uint8_t name, double start, double duration,
              double gap) {
    RankOutputs& out = out_.ranks[rank];
    const double end = (start + duration) + gap;
    if (name == kAllReduceTask) {
      ++out_.communication_nodes;
      out_.communication_ns += duration;
      out_.communication_finish_ns =
          std::max(out_.communication_finish_ns, end);
      last_communication_end_ = end;
    } else {
      out.finish_ns = std::max(out.finish_ns, end);
      out.compute_ns += duration;
      if (IsForward(static_cast<LayerPass>(name))) {
        out.last_forward_start_ns = start;
      }
    }
    ++out.task_nodes;
    Add(gap, w_.ranks[rank].gap);
    if (tasks_ != nullptr) {
      RankTasks& tasks = (*tasks_)[rank];
      tasks.name.push_back(name);
      tasks.start_ns.push_back(start);
      tasks.duration_ns.push_back(duration);
      tasks.gap_ns.push_back(gap);
    }
    return end;
  }

  // A task behind the last one of its rank and of its micro-batch, not before
  // `earliest`; returns its start.
  double Task(int64_t rank, int64_t chain, uint8_t name, double duration,
              double gap, double earliest) {
    double start = std::max(std::max(0.0, earliest), w_.ranks[rank].end);
    if (chain != kUnchained) start = std::max(start, w_.chains[chain]);
    const double end = Note(rank, name, start, duration, gap);
    w_.ranks[rank].end = end;
    if (chain != kUnchained) w_.chains[chain] = end;
    return start;
  }

  double Layer(int64_t rank, int64_t chain, LayerPass pass, double gap,
               double earliest = 0) {
    const auto name = static_cast<uint8_t>(pass);
    const std::vector<Kernel>& kernels = *kernels_[name];
    ++out_.ranks[rank].layer_nodes;
    if (kernels.empty()) return Task(rank, chain, name, 0, gap, earliest);
    double start = 0;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const bool last = i + 1 == kernels.size();
      const double begin =
          Task(rank, chain, name, kernels[i].duration_ns,
               last ? gap : kernels[i].gap_ns, i == 0 ? earliest : 0);
      if (i == 0) start = begin;
    }
    return start;
  }

  // A transformer layer and its two all-reduces; `gap` behind the last node.
  void TransformerLayer(int64_t rank, int64_t chain, LayerPass pass,
                        bool reduces, double gap) {
    reduces = reduces && plan_.tensor > 1;
    Layer(rank, chain, pass, reduces ? 0 : gap);
    for (int i = 0; i < 2 && reduces; ++i) {
      ++out_.ranks[rank].layer_nodes;
      Add(plan_.tensor_all_reduce_ns, w_.ranks[rank].tensor);
      Task(rank, chain, kAllReduceTask, plan_.tensor_all_reduce_ns,
           i == 1 ? gap : 0, 0);
    }
  }

  double HopBehind(int64_t rank) const {
    return rank + 1 < plan_.pipeline ? plan_.hops_ns[rank] : 0;
  }
  double HopBefore(int64_t rank) const {
    return rank > 0 ? plan_.hops_ns[rank - 1] : 0;
  }

  void Forward(int64_t rank, int64_t k) {
    const RankKind kind = KindOf(plan_, rank);
    const double hop = HopBehind(rank);
    if (HasEmbeddings(kind)) {
      const bool is_last = plan_.layers == 0 && !HasOutput(kind);
      Layer(rank, k, LayerPass::kFwdEmbeddings, is_last ? hop : 0);
    }
    for (int64_t i = 0; i < plan_.layers; ++i) {
      const bool is_last = i + 1 == plan_.layers && !HasOutput(kind);
      TransformerLayer(rank, k, LayerPass::kFwdTransformer, true,
                       is_last ? hop : 0);
    }
    if (HasOutput(kind)) {
      Layer(rank, k, LayerPass::kFwdLogit, 0);
      Layer(rank, k, LayerPass::kFwdLoss, 0);
    }
  }

  void Recompute(int64_t rank) {
    const RankKind kind = KindOf(plan_, rank);
    if (!Recomputes(plan_, kind)) return;
    const bool everywhere = plan_.repairs.recompute_everywhere;
    for (int64_t i = 0; i < plan_.layers; ++i) {
      TransformerLayer(rank, kUnchained, LayerPass::kFwdTransformer, everywhere,
                       0);
    }
    if (!everywhere && HasEmbeddings(kind)) {
      Layer(rank, kUnchained, LayerPass::kFwdEmbeddings, 0);
    }
  }

  void Backward(int64_t rank, int64_t m) {
    const RankKind kind = KindOf(plan_, rank);
    const double hop = HopBefore(rank);
    const double& end = w_.ranks[rank].end;
    w_.layer_ends.clear();
    if (HasOutput(kind)) {
      const bool is_last = plan_.layers == 0 && !HasEmbeddings(kind);
      Layer(rank, m, LayerPass::kBwdLogit, is_last ? hop : 0);
      w_.layer_ends.push_back(end);
    }
    for (int64_t i = 0; i < plan_.layers; ++i) {
      const bool is_last = i + 1 == plan_.layers && !HasEmbeddings(kind);
      TransformerLayer(rank, m, LayerPass::kBwdTransformer, true,
                       is_last ? hop : 0);
      w_.layer_ends.push_back(end);
    }
    if (HasEmbeddings(kind)) {
      Layer(rank, m, LayerPass::kBwdEmbeddings, hop);
      w_.layer_ends.push_back(end);
    }
    if (m + 1 == plan_.micro_batches) ReduceBuckets(rank, kind);
  }

  // Beside the last backward pass.
  void ReduceBuckets(int64_t rank, RankKind kind) {
    RankOutputs& out = out_.ranks[rank];
    for (const Bucket& bucket : plan_.buckets[kind]) {
      double& end = w_.ranks[rank].gradients_end;
      const double start = std::max(end, w_.layer_ends[bucket.after_layer]);
      if (std::isnan(out.gradients_start_ns)) out.gradients_start_ns = start;
      ++out.layer_nodes;
      out.data_communication_ns += bucket.duration_ns;
      end = Note(rank, kAllReduceTask, start, bucket.duration_ns, 0);
    }
  }

  void ReduceGradients() {
    if (plan_.data == 1 || plan_.repairs.overlap_gradients) return;
    const double first_rank_end = w_.ranks[0].end;
    for (int64_t rank = 0; rank < plan_.pipeline; ++rank) {
      RankOutputs& out = out_.ranks[rank];
      const double duration = plan_.data_all_reduce_ns[KindOf(plan_, rank)];
      ++out.layer_nodes;
      out.data_communication_ns = duration;
      out.gradients_start_ns = Task(rank, kUnchained, kAllReduceTask, duration,
                                    0, plan_.pipeline > 1 ? first_rank_end : 0);
    }
  }

  void ReduceEmbedding() {
    if (plan_.embedding_all_reduce_ns == 0) return;
    const int64_t ends[] = {0, plan_.pipeline - 1};
    double start = 0;
    for (const int64_t rank : ends) {
      const auto& state = w_.ranks[rank];
      start = std::max(start, std::max(state.end, state.gradients_end));
    }
    for (const int64_t rank : ends) {
      RankOutputs& out = out_.ranks[rank];
      ++out.layer_nodes;
      out.data_communication_ns += plan_.embedding_all_reduce_ns;
      if (std::isnan(out.gradients_start_ns)) out.gradients_start_ns = start;
      w_.ranks[rank].gradients_end =
          Note(rank, kAllReduceTask, start, plan_.embedding_all_reduce_ns, 0);
    }
  }

  void Update() {
    // The last communication ever noted counts too; it ends no later than its
    // rank's last task unless a gap is shorter than minus a duration.
    double barrier = std::max(0.0, last_communication_end_);
    for (const auto& rank : w_.ranks) {
      barrier = std::max(barrier, std::max(rank.end, rank.gradients_end));
    }
    for (int64_t rank = 0; rank < plan_.pipeline; ++rank) {
      const RankKind kind = KindOf(plan_, rank);
      RankOutputs& out = out_.ranks[rank];
      double first = kNoNumber;
      const auto update = [&](LayerPass pass) {
        const double start = Layer(rank, kUnchained, pass, 0, barrier);
        if (std::isnan(first)) first = start;
      };
      if (HasEmbeddings(kind)) update(LayerPass::kWuEmbeddings);
      for (int64_t i = 0; i < plan_.layers; ++i) {
        update(LayerPass::kWuTransformer);
      }
      if (HasOutput(kind)) update(LayerPass::kWuLogit);
      out.update_start_ns = first;
    }
  }

  void FinishRank(int64_t rank) {
    RankOutputs& out = out_.ranks[rank];
    const KernelWorkspace::Rank& state = w_.ranks[rank];
    out.end_ns = state.end;
    out.gap_ns = Total(state.gap);
    out.tensor_communication_ns = Total(state.tensor);
    const double gradients = ExposedGradientsNs(out, state);
    out.exposed_communication_ns = out.tensor_communication_ns + gradients;
    out.idle_ns = out.end_ns - (out.compute_ns + out.tensor_communication_ns +
                                gradients + out.gap_ns);
  }

  // What of the reductions of gradients lies behind the last backward pass.
  double ExposedGradientsNs(const RankOutputs& out,
                            const KernelWorkspace::Rank& state) const {
    if (!plan_.repairs.overlap_gradients) return out.data_communication_ns;
    const double behind = state.gradients_end - out.backward_end_ns;
    return std::min(out.data_communication_ns, std::max(0.0, behind));
  }

  const Plan& plan_;
  KernelTable repaired_;
  std::array<const std::vector<Kernel>*, kLayerPasses> kernels_ = {};
  KernelWorkspace& w_;
  Outputs& out_;
  std::vector<RankTasks>* tasks_;
  double last_communication_end_ = 0;
};

}  // namespace

void SimulateKernels(const Plan& plan, const KernelTable& table,
                     KernelWorkspace& workspace, Outputs& outputs,
                     std::vector<RankTasks>* tasks) {
  Simulation(plan, table, workspace, outputs, tasks).Run();
}

}  // namespace lmsimbench::vtrain
