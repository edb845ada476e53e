#include <array>

#include "lib/aggregate/execute_run.h"
#include "lmsimbench/timeline.h"

namespace lmsimbench {
namespace {

// Lists what happens on one rank class.
class ClassTimeline {
 public:
  explicit ClassTimeline(int32_t rank_class, int32_t operator_slots)
      : rank_class_(rank_class), operator_slots_(operator_slots) {}

  void Run(Stream stream, double start_s, double end_s, int32_t slot,
           const Pass& pass) {
    Slice slice;
    slice.rank_class = rank_class_;
    slice.stream = stream;
    slice.start_s = start_s;
    slice.end_s = end_s;
    slice.id = (slot < operator_slots_ ? slot : slot - operator_slots_) / 2;
    slice.pass = pass;
    slice.recomputed = slot % 2 != 0;
    slices_[static_cast<int>(stream)].push_back(slice);
  }

  void CatchUp(double, double) {}
  void WaitForHost(double, double) {}
  void Hide(double) {}

  void Memory(double time_s, const AllocatedMemory& memory) {
    // A change upward takes the place of what was before it at that moment, so
    // that no maximum is lost.
    if (!memory_.empty() && memory_.back().time_s == time_s &&
        memory_.back().bytes <= memory.bytes) {
      memory_.back().bytes = memory.bytes;
    } else {
      memory_.push_back({rank_class_, time_s, memory.bytes});
    }
  }

  void AppendTo(Timeline& timeline) const {
    for (const std::vector<Slice>& stream : slices_) {
      timeline.slices.insert(timeline.slices.end(), stream.begin(),
                             stream.end());
      if (!stream.empty()) {
        timeline.iteration_time_s =
            std::max(timeline.iteration_time_s, stream.back().end_s);
      }
    }
    timeline.memory.insert(timeline.memory.end(), memory_.begin(),
                           memory_.end());
  }

 private:
  int32_t rank_class_;
  int32_t operator_slots_;
  std::array<std::vector<Slice>, kStreams> slices_;
  std::vector<MemorySample> memory_;
};

struct TimelineSink {
  std::vector<ClassTimeline> classes;

  ClassTimeline& Class(int64_t rank_class) { return classes[rank_class]; }
};

}  // namespace

absl::StatusOr<Timeline> Expand(const CostedGraph& costed) {
  const ExecutionGraph& graph = costed.graph;
  const auto operator_slots =
      OperatorSlot(static_cast<int32_t>(graph.program.operators.size()), false);
  TimelineSink sink;
  for (size_t c = 0; c < graph.placement.classes.size(); ++c)
    sink.classes.emplace_back(static_cast<int32_t>(c), operator_slots);
  RunState state;
  absl::Status status = Executor<TimelineSink>(costed, state, sink).Run();
  if (!status.ok()) return status;
  Timeline timeline;
  for (const ClassTimeline& rank_class : sink.classes)
    rank_class.AppendTo(timeline);
  return timeline;
}

}  // namespace lmsimbench
