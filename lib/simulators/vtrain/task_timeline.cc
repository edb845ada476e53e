#include "lib/simulators/vtrain/task_timeline.h"

#include <algorithm>

namespace lmsimbench::vtrain {
namespace {

enum PassKind { kForward, kRecompute, kBackward, kUpdate };

class Writer {
 public:
  Writer(const Plan& plan, const KernelTable& table,
         const FoldedWorkspace& workspace, const Outputs& outputs,
         TaskTimeline& timeline)
      : plan_(plan), w_(workspace), out_(outputs), t_(timeline) {
    InternKernels(table);
    if (plan.pipeline == 1) {
      BuildPasses(kOnly);
    } else {
      for (const RankKind kind : {kFirst, kMiddle, kLast}) BuildPasses(kind);
    }
  }

  void Write() {
    const auto ranks = static_cast<size_t>(plan_.pipeline);
    t_.ranks.resize(ranks);
    t_.clocks_ns.assign(ranks, 0);
    t_.sent_ns.assign(ranks + 1, 0);
    TimePasses();
    for (size_t r = 0; r < ranks; ++r) {
      const auto count = static_cast<size_t>(out_.ranks[r].task_nodes);
      t_.ranks[r].task.resize(count);
      t_.ranks[r].start_ns.resize(count);
      cursor_ = 0;
      WritePasses(r);
      WriteTail(r);
    }
  }

 private:
  uint32_t Intern(uint8_t name, double duration_ns, double gap_ns) {
    t_.distinct.push_back({name, duration_ns, gap_ns});
    return static_cast<uint32_t>(t_.distinct.size() - 1);
  }

  void InternKernels(const KernelTable& table) {
    t_.distinct.clear();
    t_.variants.clear();
    for (size_t i = 0; i < kLayerPasses; ++i) {
      const auto name = static_cast<uint8_t>(i);
      const bool scaled = i == static_cast<size_t>(LayerPass::kWuLogit) &&
                          table.passes[i].empty() &&
                          plan_.output_update_share > 0;
      const std::vector<Kernel>& kernels =
          scaled ? table[LayerPass::kWuEmbeddings] : table.passes[i];
      const double scale = scaled ? plan_.output_update_share : 1;
      t_.first_task[i] = static_cast<uint32_t>(t_.distinct.size());
      counts_[i] = std::max<size_t>(kernels.size(), 1);
      if (kernels.empty()) Intern(name, 0, 0);
      for (size_t k = 0; k < kernels.size(); ++k) {
        const bool last = k + 1 == kernels.size();
        Intern(name, scale * kernels[k].duration_ns,
               last ? 0 : scale * kernels[k].gap_ns);
      }
    }
    all_reduce_ = Intern(kAllReduceTask, plan_.tensor_all_reduce_ns, 0);
  }

  void Append(uint32_t task, TaskTimeline::Pass& pass) {
    const TaskTimeline::Task& entry = t_.distinct[task];
    pass.task.push_back(task);
    pass.offset_ns.push_back(pass.length_ns);
    pass.length_ns += entry.duration_ns + entry.gap_ns;
  }

  void AppendLayer(LayerPass layer, bool reduces, TaskTimeline::Pass& pass) {
    const auto index = static_cast<size_t>(layer);
    for (size_t k = 0; k < counts_[index]; ++k) {
      Append(t_.first_task[index] + static_cast<uint32_t>(k), pass);
    }
    for (int i = 0; i < 2 && reduces && plan_.tensor > 1; ++i) {
      Append(all_reduce_, pass);
    }
  }

  void BuildPasses(RankKind kind) {
    auto& passes = t_.passes[kind];
    for (TaskTimeline::Pass& pass : passes) {
      pass.task.clear();
      pass.offset_ns.clear();
      pass.length_ns = 0;
    }
    const auto layers = [&](LayerPass layer, bool reduces, PassKind pass) {
      for (int64_t i = 0; i < plan_.layers; ++i) {
        AppendLayer(layer, reduces, passes[pass]);
      }
    };
    const bool embeddings = HasEmbeddings(kind);
    const bool output = HasOutput(kind);
    if (embeddings) {
      AppendLayer(LayerPass::kFwdEmbeddings, false, passes[kForward]);
      AppendLayer(LayerPass::kWuEmbeddings, false, passes[kUpdate]);
    }
    if (output) AppendLayer(LayerPass::kBwdLogit, false, passes[kBackward]);
    layers(LayerPass::kFwdTransformer, true, kForward);
    layers(LayerPass::kBwdTransformer, true, kBackward);
    layers(LayerPass::kWuTransformer, false, kUpdate);
    if (output) {
      AppendLayer(LayerPass::kFwdLogit, false, passes[kForward]);
      AppendLayer(LayerPass::kFwdLoss, false, passes[kForward]);
      AppendLayer(LayerPass::kWuLogit, false, passes[kUpdate]);
    }
    if (embeddings) {
      AppendLayer(LayerPass::kBwdEmbeddings, false, passes[kBackward]);
    }
    if (Recomputes(plan_, kind)) {
      const bool everywhere = plan_.repairs.recompute_everywhere;
      layers(LayerPass::kFwdTransformer, everywhere, kRecompute);
      if (embeddings && !everywhere) {
        AppendLayer(LayerPass::kFwdEmbeddings, false, passes[kRecompute]);
      }
    }
  }

  // Writes a pass of the rank from `start`; its last task gets the gap `hop`.
  void WritePass(size_t rank, PassKind kind, double start, double hop) {
    const TaskTimeline::Pass& pass =
        t_.passes[KindOf(plan_, static_cast<int64_t>(rank))][kind];
    const size_t count = pass.task.size();
    if (count == 0) return;
    TaskTimeline::Rank& out = t_.ranks[rank];
    uint32_t* const task = out.task.data() + cursor_;
    std::copy(pass.task.begin(), pass.task.end(), task);
    AddTo(start, count, pass.offset_ns.data(), out.start_ns.data() + cursor_);
    if (hop != 0) task[count - 1] = WithGap(pass.task.back(), hop);
    cursor_ += count;
  }

  static void AddTo(double start, size_t count,
                    const double* __restrict offsets,
                    double* __restrict starts) {
    for (size_t i = 0; i < count; ++i) starts[i] = start + offsets[i];
  }

  // The same task with another gap; links are of two kinds at most.
  uint32_t WithGap(uint32_t task, double gap_ns) {
    for (const TaskTimeline::Variant& variant : t_.variants) {
      if (variant.task == task && variant.gap_ns == gap_ns) {
        return variant.with_gap;
      }
    }
    const TaskTimeline::Task entry = t_.distinct[task];
    t_.variants.push_back(
        {task, gap_ns, Intern(entry.name, entry.duration_ns, gap_ns)});
    return t_.variants.back().with_gap;
  }

  void WriteTask(size_t rank, uint32_t task, double start) {
    t_.ranks[rank].task[cursor_] = task;
    t_.ranks[rank].start_ns[cursor_] = start;
    ++cursor_;
  }

  double HopBehind(size_t rank) const {
    return rank + 1 < t_.ranks.size() ? plan_.hops_ns[rank] : 0;
  }
  double HopBefore(size_t rank) const {
    return rank > 0 ? plan_.hops_ns[rank - 1] : 0;
  }
  const std::array<TaskTimeline::Pass, 4>& PassesOf(size_t rank) const {
    return t_.passes[KindOf(plan_, static_cast<int64_t>(rank))];
  }
  double& Start(std::vector<double>& starts, int64_t rank, int64_t m) const {
    return starts[static_cast<size_t>(rank * plan_.micro_batches + m)];
  }

  // When every pass starts, before a task is written: so each rank is written
  // from its first task to its last.
  void TimePasses() {
    const int64_t ranks = plan_.pipeline;
    const int64_t count = plan_.micro_batches;
    t_.forward_start_ns.resize(static_cast<size_t>(ranks * count));
    t_.recompute_start_ns.resize(static_cast<size_t>(ranks * count));
    t_.backward_start_ns.resize(static_cast<size_t>(ranks * count));
    const auto forward = [&](int64_t r, int64_t k) {
      const auto rank = static_cast<size_t>(r);
      double& clock = t_.clocks_ns[rank];
      const double start = std::max(clock, t_.sent_ns[rank]);
      Start(t_.forward_start_ns, r, k) = start;
      clock = start + PassesOf(rank)[kForward].length_ns + HopBehind(rank);
      t_.sent_ns[rank + 1] = clock;
    };
    for (int64_t k = 0; k < std::min(ranks - 1, count); ++k) {
      for (int64_t r = 0; r < ranks - 1 - k; ++r) forward(r, k);
    }
    for (int64_t m = 0; m < count; ++m) {
      double returned = 0;
      for (int64_t r = ranks - 1; r >= 0; --r) {
        const auto rank = static_cast<size_t>(r);
        if (m + ranks - 1 - r < count) forward(r, m + ranks - 1 - r);
        double& clock = t_.clocks_ns[rank];
        Start(t_.recompute_start_ns, r, m) = clock;
        const double start =
            std::max(clock + PassesOf(rank)[kRecompute].length_ns, returned);
        Start(t_.backward_start_ns, r, m) = start;
        clock = start + PassesOf(rank)[kBackward].length_ns + HopBefore(rank);
        returned = clock;
      }
    }
  }

  void WritePasses(size_t rank) {
    const auto r = static_cast<int64_t>(rank);
    const int64_t count = plan_.micro_batches;
    int64_t next = 0;
    const auto forward = [&] {
      WritePass(rank, kForward, Start(t_.forward_start_ns, r, next),
                HopBehind(rank));
      ++next;
    };
    while (next < std::min(plan_.pipeline - 1 - r, count)) forward();
    for (int64_t m = 0; m < count; ++m) {
      if (next < count) forward();
      WritePass(rank, kRecompute, Start(t_.recompute_start_ns, r, m), 0);
      WritePass(rank, kBackward, Start(t_.backward_start_ns, r, m),
                HopBefore(rank));
    }
    if (plan_.repairs.overlap_gradients) {
      WriteBuckets(rank, Start(t_.backward_start_ns, r, count - 1),
                   HopBefore(rank));
    }
  }

  void WriteBuckets(size_t rank, double start, double hop) {
    const RankKind kind = KindOf(plan_, static_cast<int64_t>(rank));
    const TaskTimeline::Pass& pass = t_.passes[kind][kBackward];
    // Starts of layers are where the one before them ends.
    double end = 0;
    size_t at = 0;
    int64_t layer = 0;
    const int64_t layers = LayersOf(plan_, kind);
    for (const Bucket& bucket : plan_.buckets[kind]) {
      for (; layer <= bucket.after_layer; ++layer) at = LayerEnd(pass, at);
      const bool is_last = bucket.after_layer + 1 == layers;
      const double ready =
          start + (is_last ? pass.length_ns + hop : pass.offset_ns[at]);
      end = std::max(end, ready);
      WriteTask(rank, Intern(kAllReduceTask, bucket.duration_ns, 0), end);
      end += bucket.duration_ns;
    }
  }

  // Index of the task behind the layer whose first task this is.
  size_t LayerEnd(const TaskTimeline::Pass& pass, size_t at) const {
    const uint8_t name = t_.distinct[pass.task[at]].name;
    at += counts_[name];
    while (at < pass.task.size() && pass.task[at] == all_reduce_) ++at;
    return at;
  }

  void WriteTail(size_t r) {
    const RankOutputs& out = out_.ranks[r];
    const RankKind kind = KindOf(plan_, static_cast<int64_t>(r));
    if (plan_.data > 1 && !plan_.repairs.overlap_gradients) {
      WriteTask(r, Intern(kAllReduceTask, plan_.data_all_reduce_ns[kind], 0),
                out.gradients_start_ns);
    }
    if (plan_.embedding_all_reduce_ns != 0 &&
        (r == 0 || r + 1 == t_.ranks.size())) {
      WriteTask(r, Intern(kAllReduceTask, plan_.embedding_all_reduce_ns, 0),
                w_.gradients_end_ns[r] - plan_.embedding_all_reduce_ns);
    }
    WritePass(r, kUpdate, out.update_start_ns, 0);
  }

  const Plan& plan_;
  const FoldedWorkspace& w_;
  const Outputs& out_;
  TaskTimeline& t_;
  std::array<size_t, kLayerPasses> counts_ = {};
  uint32_t all_reduce_ = 0;
  size_t cursor_ = 0;
};

}  // namespace

void WriteTasks(const Plan& plan, const KernelTable& table,
                const FoldedWorkspace& workspace, const Outputs& outputs,
                TaskTimeline& timeline) {
  Writer(plan, table, workspace, outputs, timeline).Write();
}

void SpellTasks(const TaskTimeline& timeline, std::vector<RankTasks>& tasks) {
  tasks.assign(timeline.ranks.size(), {});
  for (size_t r = 0; r < tasks.size(); ++r) {
    const TaskTimeline::Rank& rank = timeline.ranks[r];
    tasks[r].start_ns = rank.start_ns;
    for (const uint32_t task : rank.task) {
      const TaskTimeline::Task& entry = timeline.distinct[task];
      tasks[r].name.push_back(entry.name);
      tasks[r].duration_ns.push_back(entry.duration_ns);
      tasks[r].gap_ns.push_back(entry.gap_ns);
    }
  }
}

}  // namespace lmsimbench::vtrain
