#include "lib/simulators/vtrain/folded_simulation.h"

#include <algorithm>

namespace lmsimbench::vtrain {
namespace {

class Simulation {
 public:
  Simulation(const Plan& plan, const FoldedTable& table,
             const FoldedRanks& folded, FoldedWorkspace& workspace,
             Outputs& outputs)
      : plan_(plan),
        table_(table),
        folded_(folded),
        w_(workspace),
        out_(outputs),
        ranks_(static_cast<size_t>(plan.pipeline)) {}

  void Run() {
    w_.end_ns.resize(ranks_);
    w_.sent_ns.resize(ranks_ + 1);
    w_.forward_start_ns.resize(ranks_);
    w_.recompute_start_ns.resize(ranks_);
    w_.backward_start_ns.resize(ranks_);
    w_.gradients_end_ns.resize(ranks_);
    if (ranks_ == 1) {
      RunOneRank();
    } else {
      RunPasses();
    }
    ReduceGradients();
    FinishRanks();
  }

 private:
  double HopBehind(size_t rank) const {
    return rank + 1 < ranks_ ? plan_.hops_ns[rank] : 0;
  }
  double HopBefore(size_t rank) const {
    return rank > 0 ? plan_.hops_ns[rank - 1] : 0;
  }
  RankKind Kind(size_t rank) const {
    return KindOf(plan_, static_cast<int64_t>(rank));
  }
  const RankPasses& Passes(size_t rank) const {
    return folded_.passes[Kind(rank)];
  }

  // Nothing waits for anything.
  void RunOneRank() {
    const RankPasses& passes = folded_.passes[kOnly];
    const double whole = passes.forward.length_ns + passes.recompute.length_ns +
                         passes.backward.length_ns;
    const auto count = static_cast<double>(plan_.micro_batches);
    w_.forward_start_ns[0] = (count - 1) * whole;
    w_.recompute_start_ns[0] =
        w_.forward_start_ns[0] + passes.forward.length_ns;
    w_.backward_start_ns[0] =
        w_.recompute_start_ns[0] + passes.recompute.length_ns;
    w_.end_ns[0] = count * whole;
  }

  // A forward pass waits for its rank and for the rank before it to have sent;
  // a backward pass for the recomputation behind it and for the rank after it.
  // Ranks are visited from the last to the first, so that what the rank before
  // sent in the step before is still there, and what the rank after has
  // returned in this step is at hand.
  void RunPasses() {
    const double* const forward = folded_.forward_ns.data();
    const double* const recompute = folded_.recompute_ns.data();
    const double* const backward = folded_.backward_ns.data();
    double* const end = w_.end_ns.data();
    // Of rank r at r + 1; the rank before the first has always sent.
    double* const sent = w_.sent_ns.data();
    const auto ranks = static_cast<int64_t>(ranks_);
    const int64_t count = plan_.micro_batches;
    std::fill(w_.end_ns.begin(), w_.end_ns.end(), 0);
    sent[0] = 0;
    for (int64_t k = 0; k < std::min(ranks - 1, count); ++k) {
      for (int64_t r = 0; r < ranks - 1 - k; ++r) {
        const double start = std::max(end[r], sent[r]);
        w_.forward_start_ns[r] = start;
        sent[r + 1] = end[r] = start + forward[r];
      }
    }
    // One rank's part of a step; returns when it has returned.
    const auto visit = [=](int64_t r, double returned) {
      const double done = std::max(end[r], sent[r]) + forward[r];
      sent[r + 1] = done;
      end[r] = std::max(done + recompute[r], returned) + backward[r];
      return end[r];
    };
    int64_t m = 0;
    // Two steps at once, the second two ranks behind: neither waits for the
    // other's sums.
    for (; m + 1 + ranks < count; m += 2) {
      double returned = visit(ranks - 2, visit(ranks - 1, 0));
      double next_returned = 0;
      for (int64_t r = ranks - 3; r >= 0; --r) {
        returned = visit(r, returned);
        next_returned = visit(r + 2, next_returned);
      }
      visit(0, visit(1, next_returned));
    }
    for (; m + 1 < count; ++m) {
      // Ranks from this one on have a forward pass left; it has its last.
      const int64_t first = std::max<int64_t>(0, m + ranks - count);
      double returned = 0;
      for (int64_t r = ranks - 1; r > first; --r) returned = visit(r, returned);
      w_.forward_start_ns[first] = std::max(end[first], sent[first]);
      returned = visit(first, returned);
      for (int64_t r = first - 1; r >= 0; --r) {
        returned = std::max(end[r] + recompute[r], returned) + backward[r];
        end[r] = returned;
      }
    }
    RunLastStep();
  }

  // Only the last rank has a forward pass left.
  void RunLastStep() {
    const size_t last = ranks_ - 1;
    w_.forward_start_ns[last] = std::max(w_.end_ns[last], w_.sent_ns[last]);
    w_.end_ns[last] = w_.forward_start_ns[last] + folded_.forward_ns[last];
    double returned = 0;
    for (size_t r = ranks_; r-- > 0;) {
      w_.recompute_start_ns[r] = w_.end_ns[r];
      w_.backward_start_ns[r] =
          std::max(w_.end_ns[r] + folded_.recompute_ns[r], returned);
      returned = w_.backward_start_ns[r] + folded_.backward_ns[r];
      w_.end_ns[r] = returned;
    }
  }

  void ReduceGradients() {
    out_.ranks.resize(ranks_);
    out_.communication_finish_ns = 0;
    for (size_t r = 0; r < ranks_; ++r) {
      RankOutputs& out = out_.ranks[r];
      const RankKind kind = Kind(r);
      out.backward_end_ns = w_.end_ns[r];
      out.gradients_start_ns = kNoNumber;
      out.data_communication_ns = 0;
      out.layer_nodes = 0;
      w_.gradients_end_ns[r] = w_.end_ns[r];
      if (plan_.tensor > 1 && plan_.layers > 0) {
        const double reduced =
            HasEmbeddings(kind)
                ? w_.backward_start_ns[r] + Passes(r).last_all_reduce_ns
                : w_.end_ns[r];
        out_.communication_finish_ns =
            std::max(out_.communication_finish_ns, reduced);
      }
      if (plan_.data == 1) continue;
      if (plan_.repairs.overlap_gradients) {
        ReduceBuckets(r, kind, out);
        continue;
      }
      out.gradients_start_ns = std::max(w_.end_ns[r], w_.end_ns[0]);
      out.data_communication_ns = plan_.data_all_reduce_ns[kind];
      out.layer_nodes = 1;
      FinishGradients(r, out.gradients_start_ns + out.data_communication_ns);
    }
    ReduceEmbedding();
  }

  void FinishGradients(size_t rank, double end) {
    w_.gradients_end_ns[rank] = std::max(w_.gradients_end_ns[rank], end);
    out_.communication_finish_ns = std::max(out_.communication_finish_ns, end);
  }

  void ReduceBuckets(size_t rank, RankKind kind, RankOutputs& out) {
    const double start = w_.backward_start_ns[rank];
    const double hop = HopBefore(rank);
    double end = 0;
    for (const Bucket& bucket : plan_.buckets[kind]) {
      const double ready = start + BackwardLayerEnd(plan_, table_, kind,
                                                    bucket.after_layer, hop);
      end = std::max(end, ready);
      if (out.layer_nodes == 0) out.gradients_start_ns = end;
      end += bucket.duration_ns;
      out.data_communication_ns += bucket.duration_ns;
      ++out.layer_nodes;
    }
    if (out.layer_nodes > 0) FinishGradients(rank, end);
  }

  void ReduceEmbedding() {
    if (plan_.embedding_all_reduce_ns == 0) return;
    const double start =
        std::max(w_.gradients_end_ns.front(), w_.gradients_end_ns.back());
    for (const size_t rank : {size_t{0}, ranks_ - 1}) {
      RankOutputs& out = out_.ranks[rank];
      if (out.layer_nodes == 0) out.gradients_start_ns = start;
      ++out.layer_nodes;
      out.data_communication_ns += plan_.embedding_all_reduce_ns;
      FinishGradients(rank, start + plan_.embedding_all_reduce_ns);
    }
  }

  void FinishRanks() {
    const auto count = static_cast<double>(plan_.micro_batches);
    double barrier = 0;
    for (const double end : w_.gradients_end_ns) {
      barrier = std::max(barrier, end);
    }
    out_.iteration_ns = out_.communication_finish_ns;
    out_.communication_ns = 0;
    out_.communication_nodes = 0;
    out_.micro_batches = plan_.micro_batches;
    for (size_t r = 0; r < ranks_; ++r) {
      RankOutputs& out = out_.ranks[r];
      const RankPasses& passes = Passes(r);
      const RankPass& forward = passes.forward;
      const RankPass& recompute = passes.recompute;
      const RankPass& backward = passes.backward;
      const int64_t all_reduces =
          plan_.micro_batches *
          (forward.all_reduces + recompute.all_reduces + backward.all_reduces);
      // Those of gradients have been counted.
      const int64_t communications = all_reduces + out.layer_nodes;
      out.layer_nodes =
          communications + passes.update.layers +
          plan_.micro_batches *
              (forward.layers + recompute.layers + backward.layers);
      out.task_nodes = communications + passes.update.tasks +
                       plan_.micro_batches *
                           (forward.tasks + recompute.tasks + backward.tasks);
      out.compute_ns = count * (forward.compute_ns + recompute.compute_ns +
                                backward.compute_ns) +
                       passes.update.compute_ns;
      out.gap_ns = count * (forward.gap_ns + recompute.gap_ns +
                            backward.gap_ns + HopBehind(r) + HopBefore(r)) +
                   passes.update.gap_ns;
      out.tensor_communication_ns =
          static_cast<double>(all_reduces) * plan_.tensor_all_reduce_ns;
      out.update_start_ns = barrier;
      out.end_ns = barrier + passes.update.length_ns;
      out.finish_ns = out.end_ns;
      out.last_forward_start_ns =
          recompute.layers > 0
              ? w_.recompute_start_ns[r] + passes.last_recompute_ns
              : w_.forward_start_ns[r] + passes.last_forward_ns;
      FinishCommunication(r, out);
      out_.communication_nodes += communications;
      out_.communication_ns +=
          out.tensor_communication_ns + out.data_communication_ns;
      out_.iteration_ns = std::max(out_.iteration_ns, out.end_ns);
    }
  }

  void FinishCommunication(size_t rank, RankOutputs& out) const {
    double gradients = out.data_communication_ns;
    if (plan_.repairs.overlap_gradients) {
      // What of it lies behind the last backward pass.
      gradients =
          std::min(gradients, w_.gradients_end_ns[rank] - out.backward_end_ns);
    }
    out.exposed_communication_ns = out.tensor_communication_ns + gradients;
    out.idle_ns = out.end_ns - (out.compute_ns + out.tensor_communication_ns +
                                gradients + out.gap_ns);
  }

  const Plan& plan_;
  const FoldedTable& table_;
  const FoldedRanks& folded_;
  FoldedWorkspace& w_;
  Outputs& out_;
  const size_t ranks_;
};

}  // namespace

void FoldRanks(const Plan& plan, const FoldedTable& table, FoldedRanks& ranks) {
  const FoldedPass update = UpdateOfOutput(plan, table);
  const auto fold = [&](RankKind kind) {
    ranks.passes[kind] = FoldRank(plan, table, kind, update);
  };
  if (plan.pipeline == 1) return fold(kOnly);
  fold(kFirst);
  fold(kLast);
  if (plan.pipeline > 2) fold(kMiddle);

  const auto count = static_cast<size_t>(plan.pipeline);
  ranks.forward_ns.resize(count);
  ranks.recompute_ns.resize(count);
  ranks.backward_ns.resize(count);
  for (size_t r = 0; r < count; ++r) {
    const RankPasses& passes =
        ranks.passes[KindOf(plan, static_cast<int64_t>(r))];
    ranks.forward_ns[r] =
        passes.forward.length_ns + (r + 1 < count ? plan.hops_ns[r] : 0);
    ranks.recompute_ns[r] = passes.recompute.length_ns;
    ranks.backward_ns[r] =
        passes.backward.length_ns + (r > 0 ? plan.hops_ns[r - 1] : 0);
  }
}

void Simulate(const Plan& plan, const FoldedTable& table,
              const FoldedRanks& ranks, FoldedWorkspace& workspace,
              Outputs& outputs) {
  Simulation(plan, table, ranks, workspace, outputs).Run();
}

}  // namespace lmsimbench::vtrain
