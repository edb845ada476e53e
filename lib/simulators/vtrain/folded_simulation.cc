#include "lib/simulators/vtrain/folded_simulation.h"

#include <algorithm>
#include <cmath>

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
    w_.forward_end_ns.resize(ranks_ + 1);
    w_.recompute_start_ns.resize(ranks_);
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
    w_.recompute_start_ns[0] = (count - 1) * whole + passes.forward.length_ns;
    w_.forward_end_ns[1] = w_.recompute_start_ns[0];
    w_.end_ns[0] = count * whole;
  }

  // A forward pass of rank r starts when r is free and r - 1 has sent; it and
  // the recomputation behind it take f and c. The backward pass of b behind
  // them also waits for that of r + 1. Times of rank r are kept less s[r], what
  // the backward passes from the last rank to r take together. Then waiting for
  // r + 1 needs no sum:
  //
  //   start      = max(end[r], forward end[r - 1])
  //   forward end[r] = start + f + b
  //   end[r]     = max(end[r + 1], start + f + c + b)
  //
  // and the ranks of one step depend on each other through a maximum only.
  void RunPasses() {
    const double* const forward = folded_.forward_ns.data();
    const double* const whole = folded_.whole_ns.data();
    const double* const returning = folded_.return_ns.data();
    const double* const shift = folded_.shift_ns.data();
    double* const end = w_.end_ns.data();
    // The rank before the first has always sent.
    double* const sent = w_.forward_end_ns.data();
    const auto ranks = static_cast<int64_t>(ranks_);
    for (int64_t r = 0; r < ranks; ++r) end[r] = sent[r] = -shift[r];

    const int64_t count = plan_.micro_batches;
    for (int64_t k = 0; k < std::min(ranks - 1, count); ++k) {
      for (int64_t r = 0; r < ranks - 1 - k; ++r) {
        const double start = std::max(end[r], sent[r]);
        sent[r + 1] = start + forward[r];
        // The clock of r + 1 is shifted by less: its own backward pass.
        end[r] = sent[r + 1] - (shift[r] - shift[r + 1]);
      }
    }
    for (int64_t m = 0; m < count; ++m) {
      // Ranks from this one on have a forward pass left.
      const int64_t first = std::max<int64_t>(0, m + ranks - count);
      if (m + 1 == count) SaveRecomputeStarts();
      double latest = -HUGE_VAL;
      int64_t r = ranks - 1;
      for (; r >= first; --r) {
        const double start = std::max(end[r], sent[r]);
        sent[r + 1] = start + forward[r];
        latest = std::max(latest, start + whole[r]);
        end[r] = latest;
      }
      for (; r >= 0; --r) {
        latest = std::max(latest, end[r] + returning[r]);
        end[r] = latest;
      }
    }
    w_.recompute_start_ns[ranks_ - 1] = sent[ranks_];
    for (size_t r = 0; r < ranks_; ++r) {
      end[r] += shift[r];
      sent[r + 1] += shift[r + 1];
    }
  }

  // Before the last step all ranks but the last have run their last forward
  // pass.
  void SaveRecomputeStarts() {
    for (size_t r = 0; r < ranks_; ++r) {
      w_.recompute_start_ns[r] = w_.end_ns[r] + folded_.shift_ns[r];
    }
  }

  double BackwardStart(size_t rank) const {
    return w_.end_ns[rank] -
           (Passes(rank).backward.length_ns + HopBefore(rank));
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
                ? BackwardStart(r) + Passes(r).last_all_reduce_ns
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
    const double start = BackwardStart(rank);
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
              : w_.forward_end_ns[r + 1] - forward.length_ns - HopBehind(r) +
                    passes.last_forward_ns;
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
  ranks.whole_ns.resize(count);
  ranks.return_ns.resize(count);
  ranks.shift_ns.resize(count + 1);
  ranks.shift_ns[count] = 0;
  for (size_t r = count; r-- > 0;) {
    const RankPasses& passes =
        ranks.passes[KindOf(plan, static_cast<int64_t>(r))];
    const double f =
        passes.forward.length_ns + (r + 1 < count ? plan.hops_ns[r] : 0);
    const double c = passes.recompute.length_ns;
    const double b =
        passes.backward.length_ns + (r > 0 ? plan.hops_ns[r - 1] : 0);
    ranks.forward_ns[r] = f + b;
    ranks.whole_ns[r] = f + c + b;
    ranks.return_ns[r] = c + b;
    ranks.shift_ns[r] = ranks.shift_ns[r + 1] + b;
  }
}

void Simulate(const Plan& plan, const FoldedTable& table,
              const FoldedRanks& ranks, FoldedWorkspace& workspace,
              Outputs& outputs) {
  Simulation(plan, table, ranks, workspace, outputs).Run();
}

}  // namespace lmsimbench::vtrain
