#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "lib/aggregate/fold.h"
#include "lmsimbench/costed_graph.h"

/// \file
/// When everything happens: the event loop over passes and transfers.

namespace lmsimbench::aggregate {

struct Interval {
  double start = 0;
  double end = 0;
};

/// A stretch of a rank class in which nothing waits for anything but its own
/// tensor collectives.
struct Segment {
  enum class What : uint8_t {
    kForwardPass,
    kBackwardPass,
    kForwardBlock,
    kOperator
  };
  double start = 0;
  double end = 0;
  What what = What::kOperator;
  /// Chunk kind of a pass, or block.
  int32_t index = 0;
};

/// One rank class in time.
struct ClassTimes {
  /// Start of every pass, in the order of the schedule.
  std::vector<double> pass_start;
  /// All that computes, in the order of time.
  std::vector<Segment> segments;
  /// Transfers to the next and to the previous rank, in the order of time;
  /// behind the last one that never starts.
  std::vector<Interval> sent_forward;
  std::vector<Interval> sent_backward;
  /// The data stream, and tensor collectives outside passes.
  std::vector<Interval> data;
  std::vector<Interval> tensor;
  /// The passes whose buckets are reduced, in order.
  std::vector<int32_t> reduced_passes;
  /// End of the last work of any stream.
  double end = 0;

  // While the simulation runs: how far the class has come.
  size_t passes_done = 0;
  size_t sent_forward_count = 0;
  size_t sent_backward_count = 0;
  size_t received_forward_count = 0;
  size_t received_backward_count = 0;
  double compute_free = 0;
  double data_free = 0;
};

/// Operators behind the last pass: gradient norm and optimizer. They are the
/// last segments of every class.
inline constexpr size_t kFinishOperators = 2;

/// What the event loop has to know of the passes of one chunk in one direction.
struct PassPlan {
  double duration = 0;
  int32_t kind = 0;
  bool receives = false;
  bool sends = false;
};

/// The whole iteration, one entry a rank class.
struct IterationTimes {
  std::vector<ClassTimes> classes;
  double iteration_time = 0;
  /// `(class * chunks a rank + chunk) * 2 + direction`.
  std::vector<PassPlan> plans;
};

/// \{ The class that this one sends activations to, and the one it sends
/// gradients to: neighbours in its pipeline, round the ring.
int64_t NextClass(const Placement& placement, int64_t rank_class);
int64_t PreviousClass(const Placement& placement, int64_t rank_class);
/// \}

/// INVALID_ARGUMENT if the schedules wait for each other for ever.
absl::Status Simulate(const CostedGraph& costed, const Folds& folds,
                      IterationTimes& times);

/// What follows the last pass: reductions, gradient norm, optimizer, gathers.
/// Called by `Simulate`.
void SimulateFinish(const CostedGraph& costed, const Folds& folds,
                    IterationTimes& times);

}  // namespace lmsimbench::aggregate
