#include "lib/simulators/calculon/mapped_simulator.h"

#include <fmt/core.h>

#include "lib/simulators/calculon/check.h"
#include "lib/simulators/calculon/evaluate.h"
#include "lib/simulators/calculon/explain.h"
#include "lib/simulators/calculon/mapping.h"

namespace lmsimbench::calculon {
namespace {

constexpr double kGibibyte = 1024.0 * 1024 * 1024;

struct State {
  Workspace workspace;
  Statistics statistics{};
  Question question;
  System scratch;
};

void FillTime(const Statistics& statistics, Prediction& prediction) {
  prediction.iteration_time_s = statistics.total_time;
  TimeParts& time = prediction.time;
  time.forward_s = statistics.fw_time;
  time.backward_s = statistics.bw_time;
  time.recompute_s = statistics.recompute_time;
  time.optimizer_s = statistics.optim_step_time;
  time.tensor_communication_s =
      statistics.tp_comm_exposed_time + statistics.recomm_exposed_time;
  time.pipeline_communication_s = statistics.pp_comm_exposed_time;
  time.data_communication_s = statistics.dp_comm_exposed_time;
  time.offload_s =
      statistics.fw_offload_exposed_time + statistics.bw_offload_exposed_time;
  time.bubble_s = statistics.bubble_time;
}

void FillMemory(const Statistics& statistics, double capacity_bytes,
                Prediction& prediction) {
  prediction.peak_memory_bytes = statistics.proc_mem_tier1_cap_req;
  MemoryParts& memory = prediction.memory;
  memory.weights_bytes = statistics.weight_space;
  memory.gradients_bytes = statistics.weight_grad_space;
  memory.optimizer_bytes = statistics.optimizer_space;
  memory.activations_bytes =
      statistics.act_space + statistics.act_checkpoint_size;
  // Gradients of activations live while one block runs backward.
  memory.buffers_bytes = statistics.act_grad_space;

  if (prediction.peak_memory_bytes <= capacity_bytes) {
    prediction.verdict = Verdict::kFits;
  } else {
    prediction.verdict = Verdict::kDoesNotFit;
    prediction.verdict_reason = fmt::format(
        "needs {:.2f} GiB of a device's {:.2f}",
        prediction.peak_memory_bytes / kGibibyte, capacity_bytes / kGibibyte);
  }
}

}  // namespace

absl::Status MappedSimulator::DoPredict(const Workload& workload,
                                        const lmsimbench::System& system,
                                        const ParallelConfig& config,
                                        lmsimbench::Workspace& workspace,
                                        Prediction& prediction) const {
  State& state = workspace.Get<State>();
  const auto description =
      Describe(system, config, state.scratch, prediction.adaptations);
  if (!description.ok()) return description.status();
  absl::Status status =
      MapQuestion(workload, config, description->devices_per_node, adaptations_,
                  state.question, prediction.adaptations);
  if (!status.ok()) return status;

  const Application& application = state.question.application;
  const Execution& execution = state.question.execution;
  const auto& tables = description->system->matrix.tables;
  if (!tables[static_cast<size_t>(execution.datatype)].has_value()) {
    return absl::FailedPreconditionError(
        fmt::format("precision {} is not in the description of {}",
                    std::string(Name(workload.precision)), system.name));
  }
  ErrorCode code = CheckExecution(execution);
  if (code != ErrorCode::kNone) {
    return absl::InvalidArgumentError(ExplainExecution(code, execution));
  }
  code = Evaluate(application, *description->system, execution, state.workspace,
                  state.statistics);
  if (code != ErrorCode::kNone) {
    const std::string why = Explain(code, application, *description->system,
                                    execution, state.statistics);
    // What breaks off within the run is a failure of the model, not a rule that
    // the question breaks.
    return code < ErrorCode::kProcDatatype ? absl::InvalidArgumentError(why)
                                           : absl::InternalError(why);
  }
  FillTime(state.statistics, prediction);
  FillMemory(state.statistics, description->capacity_bytes, prediction);
  return absl::OkStatus();
}

}  // namespace lmsimbench::calculon
