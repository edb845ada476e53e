#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "lmsimbench/costed_graph.h"
#include "lmsimbench/evidence.h"
#include "lmsimbench/operator.h"
#include "lmsimbench/program.h"

/// \file
/// The operator-level executor: runs every operator, collective and transfer of
/// an iteration one by one, as the head comment of execution_graph.h says. It
/// is the reference of the folded simulation and the source of timelines.
///
/// Where that comment leaves a choice:
/// - A pass takes its input by micro-batch and chunk, not by the place in the
///   queue.
/// - `reduce` and `reduce_replicas` are two reductions: each starts in all
/// kinds
///   of pipeline together. Gathers wait for no other class.
/// - Without `overlaps.grad_reduce` buckets are ready when the compute stream
/// is
///   free of the last pass and, without `overlaps.p2p`, of its transfer.
/// - Buckets of one pass are reduced in their order in the list.
/// - Where there is no `gradient_norm` collective, no class waits for the
/// others.
/// - Nothing waits for the last transfers that a class sends; they count in
/// when
///   it ends.
/// - Changes of memory at one moment come in the order in which their steps
/// were
///   issued, the taking of a step before its giving back.

namespace lmsimbench {

/// All runs of one kind of operator.
struct OperatorSum {
  int64_t runs = 0;
  double seconds = 0;
  /// Part of `seconds` in which something was computed a second time.
  double recomputed_s = 0;
};

/// All runs of one kind of collective over one kind of group.
struct CollectiveSum {
  int64_t runs = 0;
  double seconds = 0;
};

/// What a rank class did. C is the union of its computations, M that of all
/// intervals on its other streams: a transfer occupies the sender and the
/// receiver. What takes no time counts as a run and has no length.
struct ExecutedClass {
  double compute_s = 0;                   ///< |C|
  double host_s = 0;                      ///< of that, waiting for the host
  double slowed_s = 0;                    ///< of that, lost to contention
  double exposed_communication_s = 0;     ///< |M without C|
  double overlapped_communication_s = 0;  ///< |M and C|
  double bubble_s = 0;                    ///< end_s - |C or M|
  double idle_s = 0;                      ///< iteration time - end_s
  /// When its last task ended, a receive included.
  double end_s = 0;

  /// \{ Parts of the exposed communication, by the first of these that was
  /// active: the tensor stream, sending or receiving, the data stream.
  double exposed_tensor_s = 0;
  double exposed_pipeline_s = 0;
  double exposed_data_s = 0;
  /// \}

  /// Most that was allocated at once, and the first moment at which it was:
  /// the start of a step, or 0 where no step takes anything.
  int64_t peak_bytes = 0;
  double peak_time_s = 0;
  /// Of the peak, what tensors held; the rest are weights, gradients, optimizer
  /// state and the framework's part.
  std::array<int64_t, kTensorKinds> peak_kind_bytes = {};

  std::array<std::array<OperatorSum, kOperatorPasses>, kOperatorKinds>
      operators = {};
  /// A transfer counts at its sender.
  std::array<std::array<CollectiveSum, kGroups>, kCollectiveKinds> collectives =
      {};
  /// Seconds of all these runs by what they rest on.
  std::array<double, kEvidences> evidence_s = {};
};

/// One iteration, executed.
struct Execution {
  double iteration_time_s = 0;
  /// One for each class of the placement.
  std::vector<ExecutedClass> classes;
  /// Tasks that were run, transfers counted at both ends.
  int64_t tasks = 0;
};

struct ExecutionState;

/// Memory that repeated executions reuse. One a thread.
class ExecuteWorkspace {
 public:
  ExecuteWorkspace();
  ~ExecuteWorkspace();
  ExecuteWorkspace(ExecuteWorkspace&&) noexcept;
  ExecuteWorkspace& operator=(ExecuteWorkspace&&) noexcept;

  ExecutionState& state() { return *state_; }

 private:
  std::unique_ptr<ExecutionState> state_;
};

/// Executes an iteration. `out` keeps what it has allocated. INVALID_ARGUMENT
/// if the schedules wait for each other for ever, naming the pipeline ranks and
/// the passes at which they stand, or if a pass or a tensor's lifetime lies
/// outside the program.
absl::Status Execute(const CostedGraph& costed, ExecuteWorkspace& workspace,
                     Execution& out);

}  // namespace lmsimbench
