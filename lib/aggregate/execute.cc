#include "lib/aggregate/execute.h"

#include <algorithm>

#include "lib/aggregate/execute_intervals.h"
#include "lib/aggregate/execute_run.h"

namespace lmsimbench {
namespace {

// Keeps of one rank class what its figures are made of.
class ClassRecord {
 public:
  void Clear(size_t slots) {
    runs_.assign(slots, 0);
    work_.Clear();
    for (BusyTime& busy : busy_) busy.Clear();
    compute_s_ = 0;
    host_s_ = 0;
    slowed_s_ = hidden_s_ = 0;
    sends_[0] = sends_[1] = 0;
    peak_bytes_ = -1;
  }

  void Run(Stream stream, double start_s, double end_s, int32_t slot,
           const Pass&) {
    switch (stream) {
      case Stream::kCompute:
        compute_s_ += end_s - start_s;
        work_.Add(start_s, end_s);
        ++runs_[slot];
        break;
      case Stream::kTensor:
        work_.Add(start_s, end_s);
        Busy(stream).Add(start_s, end_s);
        ++runs_[slot];
        break;
      case Stream::kSendForward:
        ++sends_[0];
        Busy(stream).Add(start_s, end_s);
        break;
      case Stream::kSendBackward:
        ++sends_[1];
        Busy(stream).Add(start_s, end_s);
        break;
      case Stream::kReceiveForward:
      case Stream::kReceiveBackward:
        Busy(stream).Add(start_s, end_s);
        break;
      case Stream::kData:
        Busy(stream).Add(start_s, end_s);
        ++runs_[slot];
        break;
    }
  }

  void CatchUp(double start_s, double end_s) {
    compute_s_ += end_s - start_s;
    slowed_s_ += end_s - start_s;
    work_.Add(start_s, end_s);
  }

  void WaitForHost(double start_s, double end_s) {
    compute_s_ += end_s - start_s;
    host_s_ += end_s - start_s;
    work_.Add(start_s, end_s);
  }

  void Hide(double seconds) { hidden_s_ += seconds; }

  void Memory(double time_s, const AllocatedMemory& memory) {
    if (memory.bytes <= peak_bytes_) return;
    peak_bytes_ = memory.bytes;
    peak_time_s_ = time_s;
    peak_kinds_ = memory.kinds;
  }

  // Fills all figures but what the end of the iteration decides.
  void Figures(const CostedGraph& costed, int64_t rank_class,
               ExecutedClass& out, int64_t& tasks) {
    out = ExecutedClass();
    out.peak_bytes = peak_bytes_;
    out.peak_time_s = peak_time_s_;
    out.peak_kind_bytes = peak_kinds_;
    TimeFigures(out);
    Totals(costed, rank_class, out, tasks);
  }

 private:
  BusyTime& Busy(Stream stream) { return busy_[static_cast<int>(stream)]; }

  // Fills the figures of time, from unions that grow stream by stream.
  void TimeFigures(ExecutedClass& out) {
    out.end_s = work_.end_s();
    for (const BusyTime& busy : busy_)
      out.end_s = std::max(out.end_s, busy.end_s());

    const Intervals& work = work_.Finish();
    const Intervals& data = Busy(Stream::kData).Finish();
    Unite(Busy(Stream::kSendForward).Finish(),
          Busy(Stream::kSendBackward).Finish(), a_);
    Unite(Busy(Stream::kReceiveForward).Finish(),
          Busy(Stream::kReceiveBackward).Finish(), b_);
    Unite(a_, b_, pipeline_);
    Unite(pipeline_, data, a_);
    const double communication_s =
        UnionLength(Busy(Stream::kTensor).Finish(), a_);
    const double work_s = Length(work);
    Unite(work, pipeline_, b_);
    const double with_pipeline_s = Length(b_);
    const double busy_s = UnionLength(b_, data);

    out.compute_s = compute_s_;
    out.host_s = host_s_;
    out.slowed_s = slowed_s_;
    out.exposed_tensor_s = work_s - compute_s_;
    out.exposed_pipeline_s = with_pipeline_s - work_s;
    out.exposed_data_s = busy_s - with_pipeline_s;
    out.exposed_communication_s = busy_s - compute_s_;
    out.overlapped_communication_s =
        communication_s - out.exposed_communication_s + hidden_s_;
    out.bubble_s = out.end_s - busy_s;
  }

  void Totals(const CostedGraph& costed, int64_t rank_class, ExecutedClass& out,
              int64_t& tasks) {
    const ExecutionGraph& graph = costed.graph;
    const auto operators = static_cast<int32_t>(graph.program.operators.size());
    for (int32_t id = 0; id < operators; ++id) {
      const Operator& op = graph.program.operators[id];
      const Cost& cost = costed.operators[id];
      const int64_t again = runs_[OperatorSlot(id, true)];
      const int64_t runs = runs_[OperatorSlot(id, false)] + again;
      const double seconds = static_cast<double>(runs) * cost.seconds;
      OperatorSum& sum = out.operators[static_cast<size_t>(op.kind)]
                                      [static_cast<size_t>(op.pass)];
      sum.runs += runs;
      sum.seconds += seconds;
      sum.recomputed_s += static_cast<double>(again) * cost.seconds;
      out.evidence_s[static_cast<size_t>(cost.evidence)] += seconds;
      tasks += runs;
    }
    const auto collectives = static_cast<int32_t>(graph.collectives.size());
    for (int32_t id = 0; id < collectives; ++id) {
      const int64_t runs = runs_[CollectiveSlot(graph, id, false)] +
                           runs_[CollectiveSlot(graph, id, true)];
      AddCollective(costed, id, rank_class, runs, out);
      tasks += runs;
    }
    for (Stream stream : {Stream::kSendForward, Stream::kSendBackward}) {
      const int64_t runs = sends_[stream == Stream::kSendBackward];
      if (runs == 0) continue;
      AddCollective(costed, graph.transfer,
                    LinkClass(graph.placement, rank_class, stream), runs, out);
      tasks += 2 * runs;
    }
  }

  // Runs of a collective at the cost that `rank_class` has for it.
  static void AddCollective(const CostedGraph& costed, int32_t id,
                            int64_t rank_class, int64_t runs,
                            ExecutedClass& out) {
    if (runs == 0) return;
    const Collective& collective = costed.graph.collectives[id];
    const Cost& cost = costed.collectives[SpannedIndex(costed, id, rank_class)];
    CollectiveSum& sum = out.collectives[static_cast<size_t>(collective.kind)]
                                        [static_cast<size_t>(collective.group)];
    const double seconds = static_cast<double>(runs) * cost.seconds;
    sum.runs += runs;
    sum.seconds += seconds;
    out.evidence_s[static_cast<size_t>(cost.evidence)] += seconds;
  }

  // Runs of each slot; transfers are counted apart, by direction.
  std::vector<int64_t> runs_;
  int64_t sends_[2] = {0, 0};
  double compute_s_ = 0;
  double host_s_ = 0;
  double slowed_s_ = 0;
  double hidden_s_ = 0;
  // When the compute or the tensor stream ran: they hardly ever pause, so this
  // is short. All streams but that of computations, each for itself.
  BusyTime work_;
  std::array<BusyTime, kStreams> busy_;
  int64_t peak_bytes_ = -1;
  double peak_time_s_ = 0;
  std::array<int64_t, kTensorKinds> peak_kinds_ = {};
  Intervals a_;
  Intervals b_;
  Intervals pipeline_;
};

struct RecordSink {
  std::vector<ClassRecord> records;

  ClassRecord& Class(int64_t rank_class) { return records[rank_class]; }
};

}  // namespace

struct ExecutionState {
  RunState run;
  RecordSink sink;
};

ExecuteWorkspace::ExecuteWorkspace()
    : state_(std::make_unique<ExecutionState>()) {}
ExecuteWorkspace::~ExecuteWorkspace() = default;
ExecuteWorkspace::ExecuteWorkspace(ExecuteWorkspace&&) noexcept = default;
ExecuteWorkspace& ExecuteWorkspace::operator=(ExecuteWorkspace&&) noexcept =
    default;

absl::Status Execute(const CostedGraph& costed, ExecuteWorkspace& workspace,
                     Execution& out) {
  ExecutionState& state = workspace.state();
  const size_t classes = costed.graph.placement.classes.size();
  auto& records = state.sink.records;
  if (records.size() < classes) records.resize(classes);
  for (size_t c = 0; c < classes; ++c) records[c].Clear(Slots(costed.graph));
  absl::Status status =
      Executor<RecordSink>(costed, state.run, state.sink).Run();
  if (!status.ok()) return status;

  out.classes.resize(classes);
  out.tasks = 0;
  out.iteration_time_s = 0;
  for (size_t c = 0; c < classes; ++c) {
    records[c].Figures(costed, c, out.classes[c], out.tasks);
    out.iteration_time_s = std::max(out.iteration_time_s, out.classes[c].end_s);
  }
  for (ExecutedClass& executed : out.classes)
    executed.idle_s = out.iteration_time_s - executed.end_s;
  return absl::OkStatus();
}

}  // namespace lmsimbench
