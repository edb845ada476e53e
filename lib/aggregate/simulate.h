#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lib/aggregate/fold.h"
#include "lib/aggregate/steady_state.h"
#include "lib/lower/transfer_way.h"
#include "lmsimbench/costed_graph.h"

/// \file
/// When everything happens: the event loop over passes and transfers.

namespace lmsimbench::aggregate {

/// A stretch of a rank class in which nothing waits for anything but its own
/// tensor collectives.
struct Segment {
  enum class What : uint8_t {
    // In the order of `Direction`.
    kForwardPass,
    kBackwardPass,
    kWeightPass,
    kForwardBlock,
    kBackwardBlock,
    kWeightBlock,
    /// A block's catching up on what it was slowed by, or the place of a
    /// transfer that starts later than its pass ends.
    kDelay,
    kOperator
  };
  double start = 0;
  double end = 0;
  /// End of the transfer behind it that the compute stream waits for; `end`
  /// where there is none.
  double busy_end = 0;
  What what = What::kOperator;
  /// Of a pass into `Folds::passes`, of a block into `Folds::blocks`.
  int32_t index = 0;
};

/// A pass that stands in the segments block by block.
struct BlockwisePass {
  size_t pass = 0;
  /// The segment of its first block.
  size_t segment = 0;
};

/// The data stream of a rank class as long as passes run, as if no other kind
/// of pipeline were waited for: what contention comes from.
struct DataTraffic {
  /// When all that was issued so far has ended; of that, what leaves the node.
  double until = 0;
  double links_until = 0;
  /// What leaves the node, in the order of time, and the first that may not yet
  /// have ended.
  std::vector<Interval> on_links;
  size_t next_on_links = 0;
  /// When the buckets became ready, in the order in which they did.
  std::vector<double> ready;

  /// Adds what is issued at `time`.
  void Issue(double time, double seconds, bool leaves_node) {
    const double start = std::max(time, until);
    until = start + seconds;
    if (!leaves_node) return;
    links_until = until;
    on_links.push_back({start, until});
  }
  /// When what is under way over links at `time`, which never goes back, has
  /// ended; else `time`.
  double Behind(double time) {
    while (next_on_links < on_links.size() &&
           on_links[next_on_links].end <= time) {
      ++next_on_links;
    }
    const bool under_way = next_on_links < on_links.size() &&
                           on_links[next_on_links].start <= time;
    return under_way ? on_links[next_on_links].end : time;
  }
  void Clear() {
    until = links_until = 0;
    on_links.clear();
    next_on_links = 0;
    ready.clear();
  }
};

/// One rank class in time. Where a steady state was left out, this is simulated
/// time, and `pass_start` lacks the passes left out.
struct ClassTimes {
  /// Start of every pass, in the order of the schedule; more behind them counts
  /// for nothing.
  std::vector<double> pass_start;
  /// All that computes, in the order of time: the first `segment_count`.
  std::vector<Segment> segments;
  size_t segment_count = 0;
  /// In the order of the schedule.
  std::vector<BlockwisePass> blockwise;
  /// Time by which blocks beside the data stream last longer than alone.
  double slowed = 0;
  DataTraffic traffic;
  /// Transfers to the next rank and to the previous one, in the order of time:
  /// the first `sent_count`, and behind them one that never starts.
  std::array<std::vector<Interval>, 2> sent;
  std::array<size_t, 2> sent_count = {};
  /// Transfers that were left out with a steady state.
  std::array<size_t, 2> sent_left_out = {};
  /// The data stream.
  std::vector<Interval> data;
  /// The tensor collective outside passes; empty where there is none.
  Interval tensor;
  /// End of the last work of any stream, of the whole iteration.
  double end = 0;

  // While the simulation runs: how far the class has come.
  size_t passes_done = 0;
  std::array<size_t, 2> received_count = {};
  // Where passes are taken chunk by chunk: when what they hand on has arrived,
  // by chunk and direction (`HandedIndex`), and how much of it has been taken
  // from the classes that hand it on, by the pass that takes it.
  std::vector<std::vector<double>> handed;
  std::vector<size_t> handed_count;
  std::vector<size_t> taken_count;
  /// There: time in which the compute stream was held by transfers.
  double held = 0;
  double compute_free = 0;
  double data_free = 0;

  absl::Span<const Segment> computing() const {
    return {segments.data(), segment_count};
  }
};

/// Operators behind the last pass of a pipeline rank: gradient norm, optimizer,
/// and the copies to and from the host where it runs there. They are the last
/// segments of every class.
inline size_t FinishOperators(const Stage& stage) {
  return size_t{2} + (stage.gradients_to_host >= 0 ? 1 : 0) +
         (stage.weights_to_device >= 0 ? 1 : 0);
}
inline constexpr size_t kMostFinishOperators = 4;

/// What the event loop has to know of the passes of one chunk in one direction.
struct PassPlan {
  double duration = 0;
  /// Into `Folds::passes`, of the first variant and of that of the class.
  int32_t first_variant = 0;
  int32_t folded = 0;
  bool receives = false;
  bool sends = false;
  /// Micro-batch 0 goes block by block, as parameters are gathered.
  bool gathers = false;
  /// Gradients are complete behind it, in the last micro-batch or in each, and
  /// reduced beside what follows.
  bool reduces = false;
  lower::Way output_way = lower::Way::kNone;
};

/// Where passes are taken chunk by chunk: the class, and its list of what it
/// hands on, from which the input of a pass comes.
struct PassSource {
  size_t rank_class = 0;
  size_t list = 0;
};

/// What the event loop has to know of a rank class.
struct ClassPlan {
  absl::Span<const Pass> passes;
  /// How many of them are to be run by now.
  size_t run_until = 0;
  /// Where its plans begin in `IterationTimes::pass_plans`.
  size_t begin_plan = 0;
  /// The classes that send to it along the ring, forward and backward.
  std::array<size_t, 2> sender = {};
  /// Seconds of a transfer to the next and to the previous rank.
  std::array<double, 2> send_seconds = {};
  /// Whether it leaves the node.
  std::array<bool, 2> send_leaves = {};
};

/// The whole iteration, one entry a rank class.
struct IterationTimes {
  std::vector<ClassTimes> classes;
  double iteration_time = 0;
  SteadyState steady;
  /// One entry a pipeline rank, where the steady state is looked for.
  std::vector<RepeatedPasses> repeated;
  std::vector<ClassPlan> plans;
  /// `(class * chunks a rank + chunk) * kDirections + direction`.
  std::vector<PassPlan> pass_plans;
  /// The same, where passes are taken chunk by chunk.
  std::vector<PassSource> pass_sources;
};

/// \{ The class that this one sends activations to, and the one it sends
/// gradients to: neighbours in its pipeline, round the ring.
int64_t NextClass(const Placement& placement, int64_t rank_class);
int64_t PreviousClass(const Placement& placement, int64_t rank_class);
/// \}

/// True if what goes over a link need not be taken in the order in which it is
/// sent, because passes form chains: each chunk takes its own.
inline bool TakesByChunk(const ExecutionGraph& graph) {
  return graph.turns_back || graph.overlaps.experts;
}

/// Where a pass hands on its output, in `ClassTimes::handed`.
inline size_t HandedIndex(int32_t chunk, size_t direction) {
  return static_cast<size_t>(chunk) * 2 + direction;
}

/// Fills the plans of all classes. Called by `Simulate`.
void MakePlans(const CostedGraph& costed, const Folds& folds,
               IterationTimes& times);

/// INVALID_ARGUMENT if the schedules wait for each other for ever. Without
/// `may_leave_out` all passes are simulated, however much they repeat
/// themselves; the iteration is the same.
absl::Status Simulate(const CostedGraph& costed, const Folds& folds,
                      IterationTimes& times, bool may_leave_out = true);

/// What follows the last pass: reductions, gradient norm, optimizer, gathers.
/// Called by `Simulate`.
void SimulateFinish(const CostedGraph& costed, const Folds& folds,
                    IterationTimes& times);

}  // namespace lmsimbench::aggregate
