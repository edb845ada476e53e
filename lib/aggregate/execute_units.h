#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lib/aggregate/execute_block.h"
#include "lmsimbench/costed_graph.h"

namespace lmsimbench {

/// What a pass through units keeps while it runs: its repeated blocks in order.
struct UnitState {
  std::vector<int32_t> blocks;
};

/// Runs a pass whose blocks gather their parameters, event by event.
template <typename Out>
class UnitRunner {
 public:
  UnitRunner(const CostedGraph& costed, const FlatSteps& flat,
             int64_t rank_class, const Pass& pass, AllocatedMemory& memory,
             PendingCollective* pending, UnitState& state, double exposed,
             Out& out)
      : costed_(costed),
        graph_(costed.graph),
        flat_(flat),
        rank_class_(rank_class),
        pass_(pass),
        backward_(pass.direction == Direction::kBackward),
        memory_(memory),
        runner_(costed.contention, exposed, pass, memory, pending, out),
        blocks_(state.blocks),
        out_(out) {}

  /// Runs a pass through a chunk from `start_s`; returns its end.
  double Run(const Chunk& chunk, double start_s) {
    ListBlocks(chunk);
    if (blocks_.empty()) return start_s;
    data_free_s_ = start_s;
    int64_t staying_bytes = 0;
    for (int32_t block : blocks_) {
      const Unit& unit = graph_.units[block];
      if (!unit.stays) continue;
      Gather(unit, start_s);
      staying_bytes +=
          unit.weights_bytes + (backward_ ? unit.gradients_bytes : 0);
    }
    Hold(start_s, staying_bytes);
    double gathered_s = Issue(0, start_s);
    double time_s = start_s;
    // Gradients whose reduction may still run.
    int64_t reducing_bytes = 0;
    for (size_t i = 0; i < blocks_.size(); ++i) {
      const double block_s = std::max(time_s, gathered_s);
      if (graph_.overlaps.param_gather) gathered_s = Issue(i + 1, block_s);
      const int64_t weights_bytes = Passing(i).weights_bytes;
      const int64_t gradients_bytes =
          backward_ ? Passing(i).gradients_bytes : 0;
      Hold(block_s, gradients_bytes);
      time_s = RunBlock(blocks_[i], block_s);
      Release(time_s, weights_bytes + reducing_bytes);
      reducing_bytes = gradients_bytes;
      if (backward_) {
        Reduce(graph_.units[blocks_[i]], time_s);
        if (!graph_.overlaps.grad_reduce || !graph_.overlaps.param_gather) {
          time_s = std::max(time_s, data_free_s_);
          Release(time_s, reducing_bytes);
          reducing_bytes = 0;
        }
      }
      if (!graph_.overlaps.param_gather) gathered_s = Issue(i + 1, time_s);
    }
    time_s = std::max(time_s, data_free_s_);
    Release(time_s, reducing_bytes + staying_bytes);
    return time_s;
  }

 private:
  void ListBlocks(const Chunk& chunk) {
    blocks_.clear();
    for (const BlockRun& run : Runs(graph_.program, chunk))
      blocks_.insert(blocks_.end(), run.count, run.block);
    if (backward_) std::reverse(blocks_.begin(), blocks_.end());
  }

  // What comes and goes with a block of the pass: nothing behind the last one,
  // and nothing of a unit that stays.
  Unit Passing(size_t i) const {
    if (i >= blocks_.size() || graph_.units[blocks_[i]].stays) return Unit();
    return graph_.units[blocks_[i]];
  }

  // Issues the gather of the block at this place; returns when it has ended.
  double Issue(size_t i, double issue_s) {
    const Unit unit = Passing(i);
    Hold(issue_s, unit.weights_bytes);
    Gather(unit, issue_s);
    return data_free_s_;
  }

  void Gather(const Unit& unit, double issue_s) {
    if (backward_ && !unit.is_gathered_again) return;
    Communicate(unit.gather, issue_s);
    Communicate(unit.gather_experts, issue_s);
  }

  void Reduce(const Unit& unit, double issue_s) {
    Communicate(unit.reduce, issue_s);
    Communicate(unit.reduce_replicas, issue_s);
    Communicate(unit.reduce_experts, issue_s);
  }

  void Communicate(int32_t collective, double issue_s) {
    if (collective < 0) return;
    const double start_s = std::max(data_free_s_, issue_s);
    data_free_s_ =
        start_s + CollectiveSeconds(costed_, collective, rank_class_);
    if (LeavesNode(costed_, collective, rank_class_))
      links_free_s_ = data_free_s_;
    out_.Run(Stream::kData, start_s, data_free_s_,
             CollectiveSlot(graph_, collective, false), pass_);
  }

  double RunBlock(int32_t index, double start_s) {
    const Block& block = graph_.program.blocks[index];
    return runner_.template Run<false>(
        flat_.Of(rank_class_,
                 backward_ ? block.backward_step : block.begin_step),
        flat_.Of(rank_class_, backward_ ? block.end_step : block.backward_step),
        start_s, {data_free_s_, links_free_s_}, nullptr);
  }

  void Hold(double time_s, int64_t bytes) {
    if (bytes == 0) return;
    memory_.bytes += bytes;
    memory_.kinds[static_cast<size_t>(TensorKind::kBuffer)] += bytes;
    out_.Memory(time_s, memory_);
  }
  void Release(double time_s, int64_t bytes) { Hold(time_s, -bytes); }

  const CostedGraph& costed_;
  const ExecutionGraph& graph_;
  const FlatSteps& flat_;
  const int64_t rank_class_;
  const Pass& pass_;
  const bool backward_;
  AllocatedMemory& memory_;
  BlockRunner<Out> runner_;
  std::vector<int32_t>& blocks_;
  Out& out_;
  double data_free_s_ = 0;
  double links_free_s_ = 0;
};

}  // namespace lmsimbench
