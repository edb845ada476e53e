#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "lib/aggregate/execute_steps.h"
#include "lmsimbench/execution_graph.h"

namespace lmsimbench {

/// What is allocated on a device at a moment.
struct AllocatedMemory {
  int64_t bytes = 0;
  /// Of that, what tensors hold.
  std::array<int64_t, kTensorKinds> kinds = {};
};

/// A collective whose memory is still to be accounted: the tensor stream may be
/// behind the compute stream or ahead of it.
struct PendingCollective {
  const FlatStep* step = nullptr;
  double start_s = 0;
  double end_s = 0;
  bool has_started = false;
};

/// What runs beside a block on the data stream, issued before it starts: until
/// when, and until when something that leaves the node.
struct DataBeside {
  double until_s = 0;
  double links_until_s = 0;
};

/// Runs the steps of one block in one direction.
///
/// `Out` takes what happens on one device, a stream's tasks and all changes of
/// memory in the order of time:
///   void Run(Stream, double start_s, double end_s, int32_t slot, const Pass&);
///   void CatchUp(double start_s, double end_s);  // on contention
///   void WaitForHost(double start_s, double end_s);
///   void Hide(double seconds);  // behind another pass
///   void Memory(double time_s, const AllocatedMemory&);
/// Of changes of memory at one moment those of the step that was issued first
/// come first, and of a step that takes no time the start before the end.
template <typename Out>
class BlockRunner {
 public:
  /// `pending` has room for the collectives of the longest block.
  /// Of the communication of experts the share `exposed` is not hidden behind
  /// another pass.
  BlockRunner(const Contention& contention, double exposed, const Pass& pass,
              AllocatedMemory& memory, PendingCollective* pending, Out& out)
      : contention_(contention),
        exposed_(exposed),
        pass_(pass),
        memory_(memory),
        pending_(pending),
        out_(out) {}

  /// Runs steps [begin, end) from `start_s`; returns when all have ended, what
  /// contention costs is made up for, and the host has started them. Where
  /// `kEnds`, the end of each step goes to `ends`.
  template <bool kEnds>
  double Run(const FlatStep* begin, const FlatStep* end, double start_s,
             const DataBeside& beside, double* ends) {
    // Computation beside communication, and communication over links.
    double contended_s = 0;
    double on_links_s = 0;
    double compute_s = start_s;
    double tensor_s = start_s;
    // When the host has started the steps so far.
    double host_s = start_s;
    next_ = last_ = pending_;
    for (const FlatStep* step = begin; step != end; ++step) {
      host_s += step->host_s;
      if (step->is_collective) {
        const double step_s = std::max(compute_s, tensor_s);
        const double seconds = step->is_of_experts
                                   ? WholeTicks(step->seconds * exposed_)
                                   : step->seconds;
        if (seconds < step->seconds) out_.Hide(step->seconds - seconds);
        tensor_s = step_s + seconds;
        if (step->leaves_node) on_links_s += seconds;
        out_.Run(Stream::kTensor, step_s, tensor_s, step->slot, pass_);
        *last_++ = {step, step_s, tensor_s, false};
        if constexpr (kEnds) *ends++ = tensor_s;
      } else {
        const double step_s =
            step->joins ? std::max(compute_s, tensor_s) : compute_s;
        compute_s = step_s + step->seconds;
        contended_s += std::max(
            0.0,
            std::min(compute_s, std::max(tensor_s, beside.until_s)) - step_s);
        out_.Run(Stream::kCompute, step_s, compute_s, step->slot, pass_);
        AccountCollectives(step_s);
        Take(*step, step_s);
        AccountCollectives(compute_s);
        GiveBack(*step, compute_s);
        if constexpr (kEnds) *ends++ = compute_s;
      }
    }
    AccountCollectives(tensor_s);
    double ended_s = std::max(compute_s, tensor_s);
    double lost_s = WholeTicks(contention_.compute * contended_s);
    if (contention_.links) {
      lost_s +=
          std::min(on_links_s, std::max(0.0, beside.links_until_s - start_s));
    }
    if (lost_s > 0) {
      out_.CatchUp(ended_s, ended_s + lost_s);
      ended_s += lost_s;
    }
    if (host_s <= ended_s) return ended_s;
    out_.WaitForHost(ended_s, host_s);
    return host_s;
  }

 private:
  // The memory of collectives that started or ended up to this moment.
  void AccountCollectives(double until_s) {
    for (; next_ != last_; ++next_) {
      if (!next_->has_started) {
        if (next_->start_s > until_s) return;
        Take(*next_->step, next_->start_s);
        next_->has_started = true;
      }
      if (next_->end_s > until_s) return;
      GiveBack(*next_->step, next_->end_s);
    }
  }

  void Take(const FlatStep& step, double time_s) {
    if (step.allocated_bytes == 0) return;
    memory_.bytes += step.allocated_bytes;
    for (int kind = 0; kind < kTensorKinds; ++kind)
      memory_.kinds[kind] += step.allocated[kind];
    out_.Memory(time_s, memory_);
  }

  void GiveBack(const FlatStep& step, double time_s) {
    if (step.freed_bytes == 0) return;
    memory_.bytes -= step.freed_bytes;
    for (int kind = 0; kind < kTensorKinds; ++kind)
      memory_.kinds[kind] -= step.freed[kind];
    out_.Memory(time_s, memory_);
  }

  const Contention& contention_;
  const double exposed_;
  const Pass& pass_;
  AllocatedMemory& memory_;
  PendingCollective* pending_;
  PendingCollective* next_ = nullptr;
  PendingCollective* last_ = nullptr;
  Out& out_;
};

}  // namespace lmsimbench
