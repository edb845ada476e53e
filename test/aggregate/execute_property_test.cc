#include <algorithm>
#include <tuple>

#include "catch2/catch.hpp"
#include "lib/aggregate/execute.h"
#include "test/aggregate/execute_longest_path.h"
#include "test/aggregate/execute_random.h"

namespace lmsimbench {
namespace {

constexpr uint32_t kGraphs = 3000;

auto AsTuple(const Slice& s) {
  return std::make_tuple(s.rank_class, s.stream, s.start_s, s.end_s, s.id,
                         s.pass.micro_batch, s.pass.chunk, s.pass.direction,
                         s.recomputed);
}

std::vector<decltype(AsTuple(Slice()))> Sorted(
    const std::vector<Slice>& slices) {
  std::vector<decltype(AsTuple(Slice()))> sorted;
  for (const Slice& slice : slices) sorted.push_back(AsTuple(slice));
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// The figures of time of a class, from what runs between any two neighbouring
// moments at which something starts or ends.
ExecutedClass FiguresBetweenMoments(const std::vector<Slice>& slices,
                                    int32_t rank_class) {
  std::vector<const Slice*> own;
  std::vector<double> moments = {0};
  ExecutedClass figures;
  for (const Slice& slice : slices) {
    if (slice.rank_class != rank_class) continue;
    own.push_back(&slice);
    moments.push_back(slice.start_s);
    moments.push_back(slice.end_s);
    figures.end_s = std::max(figures.end_s, slice.end_s);
  }
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  for (size_t i = 0; i + 1 < moments.size(); ++i) {
    bool computes = false;
    bool tensor = false;
    bool pipeline = false;
    bool data = false;
    for (const Slice* slice : own) {
      if (slice->start_s > moments[i] || slice->end_s <= moments[i]) continue;
      const Stream stream = slice->stream;
      (stream == Stream::kCompute  ? computes
       : stream == Stream::kTensor ? tensor
       : stream == Stream::kData   ? data
                                   : pipeline) = true;
    }
    const double length = moments[i + 1] - moments[i];
    const bool communicates = tensor || pipeline || data;
    if (computes) figures.compute_s += length;
    if (computes && communicates) figures.overlapped_communication_s += length;
    if (!computes && communicates) {
      figures.exposed_communication_s += length;
      (tensor     ? figures.exposed_tensor_s
       : pipeline ? figures.exposed_pipeline_s
                  : figures.exposed_data_s) += length;
    }
    if (!computes && !communicates) figures.bubble_s += length;
  }
  return figures;
}

TEST_CASE(
    "every task of a random graph starts at the end of its longest path") {
  for (uint32_t seed = 0; seed < kGraphs; ++seed) {
    const CostedGraph costed = hand_made::RandomGraph(seed);
    const absl::StatusOr<Timeline> timeline = Expand(costed);
    INFO("seed " << seed << " " << timeline.status());
    REQUIRE(timeline.ok());
    const LongestPath path = FindLongestPath(costed);
    REQUIRE(Sorted(timeline->slices) == Sorted(path.slices));
  }
}

TEST_CASE("the figures of time of a random graph follow from its slices") {
  ExecuteWorkspace workspace;
  Execution execution;
  for (uint32_t seed = 0; seed < kGraphs; ++seed) {
    INFO("seed " << seed);
    const CostedGraph costed = hand_made::RandomGraph(seed);
    REQUIRE(Execute(costed, workspace, execution).ok());
    const LongestPath path = FindLongestPath(costed);
    double iteration_time_s = 0;
    for (const Slice& slice : path.slices)
      iteration_time_s = std::max(iteration_time_s, slice.end_s);
    REQUIRE(execution.iteration_time_s == iteration_time_s);
    for (size_t c = 0; c < execution.classes.size(); ++c) {
      const ExecutedClass& executed = execution.classes[c];
      const ExecutedClass expected =
          FiguresBetweenMoments(path.slices, static_cast<int32_t>(c));
      REQUIRE(executed.compute_s == expected.compute_s);
      REQUIRE(executed.exposed_communication_s ==
              expected.exposed_communication_s);
      REQUIRE(executed.overlapped_communication_s ==
              expected.overlapped_communication_s);
      REQUIRE(executed.exposed_tensor_s == expected.exposed_tensor_s);
      REQUIRE(executed.exposed_pipeline_s == expected.exposed_pipeline_s);
      REQUIRE(executed.exposed_data_s == expected.exposed_data_s);
      REQUIRE(executed.bubble_s == expected.bubble_s);
      REQUIRE(executed.end_s == expected.end_s);
      REQUIRE(executed.idle_s == iteration_time_s - expected.end_s);
    }
  }
}

TEST_CASE("the peak of a random graph is that of its changes in time") {
  ExecuteWorkspace workspace;
  Execution execution;
  for (uint32_t seed = 0; seed < kGraphs; ++seed) {
    INFO("seed " << seed);
    const CostedGraph costed = hand_made::RandomGraph(seed);
    REQUIRE(Execute(costed, workspace, execution).ok());
    LongestPath path = FindLongestPath(costed);
    for (size_t c = 0; c < execution.classes.size(); ++c) {
      auto& changes = path.memory[c];
      std::stable_sort(
          changes.begin(), changes.end(),
          [](const auto& a, const auto& b) { return a.time_s < b.time_s; });
      const Stage& stage =
          costed.graph.program
              .stages[costed.graph.placement.classes[c].pipeline_rank];
      int64_t bytes = stage.weights_bytes + stage.optimizer_bytes;
      int64_t peak_bytes = bytes;
      double peak_time_s = 0;
      for (const LongestPath::Change& change : changes) {
        bytes += change.bytes;
        if (bytes <= peak_bytes) continue;
        peak_bytes = bytes;
        peak_time_s = change.time_s;
      }
      REQUIRE(execution.classes[c].peak_bytes == peak_bytes);
      REQUIRE(execution.classes[c].peak_time_s == peak_time_s);
    }
  }
}

TEST_CASE("a random graph has as many runs as tasks are counted") {
  ExecuteWorkspace workspace;
  Execution execution;
  for (uint32_t seed = 0; seed < kGraphs; ++seed) {
    INFO("seed " << seed);
    const CostedGraph costed = hand_made::RandomGraph(seed);
    REQUIRE(Execute(costed, workspace, execution).ok());
    REQUIRE(execution.tasks == CountTasks(costed.graph));
    REQUIRE(static_cast<int64_t>(FindLongestPath(costed).slices.size()) ==
            execution.tasks);
  }
}

}  // namespace
}  // namespace lmsimbench
