#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lmsimbench/costed_graph.h"

namespace lmsimbench {

/// One operator or collective on one stream of a rank class. Slices of a stream
/// are disjoint and stand in the order of time; what takes no time has one too,
/// so there are as many as `CountTasks` says.
struct Slice {
  int32_t rank_class = 0;
  Stream stream = Stream::kCompute;
  double start_s = 0;
  double end_s = 0;
  /// Index into `Program::operators` on the compute stream, else into
  /// `ExecutionGraph::collectives`.
  int32_t id = 0;
  /// The pass that it belongs to: of a transfer at the sender the pass whose
  /// output it takes away, at the receiver the one whose input it brings; of a
  /// reduction the backward pass that completed the bucket. -1 for the
  /// micro-batch of what belongs to no pass; the chunk of a gather is stated.
  Pass pass;
  /// Runs a second time, to have its outputs again.
  bool recomputed = false;
};

/// Memory of a rank class from this moment to the next sample's. Several
/// samples of one moment stand in the order of their changes; the highest is
/// among them.
struct MemorySample {
  int32_t rank_class = 0;
  double time_s = 0;
  /// All that is allocated.
  int64_t bytes = 0;
};

/// Everything that happens in one iteration: slices by rank class, stream and
/// time, memory by rank class and time.
struct Timeline {
  std::vector<Slice> slices;
  std::vector<MemorySample> memory;
  double iteration_time_s = 0;
};

/// Expands a graph to single operators and collectives, by a simulation of each
/// of them. INVALID_ARGUMENT if its schedules wait for each other.
absl::StatusOr<Timeline> Expand(const CostedGraph& costed);

/// The timeline in the JSON format that Perfetto opens: rank classes as
/// processes, streams as threads, memory as a counter. Times are microseconds
/// with seven decimals, so that order and disjointness stay.
std::string ToPerfettoJson(const CostedGraph& costed, const Timeline& timeline);

}  // namespace lmsimbench
