#include "capi/simulator.h"

#include <string>
#include <vector>

#include "capi/bundle.h"
#include "capi/callback.h"
#include "capi/cost_model.h"
#include "capi/make.h"
#include "capi/values.h"
#include "fmt/format.h"
#include "lmsimbench/simulators.h"
#include "lmsimbench/staged.h"

namespace lmsimbench::capi {
namespace {

class CallbackSimulator final : public Simulator {
 public:
  CallbackSimulator(const lmsb_simulator_functions& functions,
                    bool calls_destroy, std::shared_ptr<void> library)
      : Simulator(functions.name),
        functions_(functions),
        calls_destroy_(calls_destroy),
        library_(std::move(library)) {}
  ~CallbackSimulator() override {
    if (!calls_destroy_ || functions_.destroy == nullptr) return;
    CallQuietly([this] { functions_.destroy(functions_.user); });
  }

 private:
  absl::Status DoPredict(const Workload& workload, const System& system,
                         const ParallelConfig& config, Workspace&,
                         Prediction& prediction) const override {
    const lmsb_workload workload_handle(&workload);
    const lmsb_system system_handle(&system);
    const lmsb_config config_handle(&config);
    lmsb_prediction prediction_handle(&prediction);
    return CallBack("predict", [&](lmsb_error* error) {
      return functions_.predict(functions_.user, &workload_handle,
                                &system_handle, &config_handle,
                                &prediction_handle, error);
    });
  }

  const lmsb_simulator_functions functions_;
  const bool calls_destroy_;
  const std::shared_ptr<void> library_;
};

std::string NamesOfBuiltIn() {
  std::string names;
  for (const BuiltInSimulator& simulator : BuiltInSimulators()) {
    names += names.empty() ? "" : ", ";
    names += simulator.name;
  }
  return names;
}

}  // namespace

absl::Status CheckFunctions(const lmsb_simulator_functions* functions) {
  absl::Status status = CheckPointer(functions, "functions");
  if (status.ok()) {
    status = CheckSize(functions->struct_size, sizeof(lmsb_simulator_functions),
                       "functions");
  }
  if (status.ok()) status = CheckName(functions->name);
  if (!status.ok()) return status;
  if (functions->predict == nullptr) {
    return absl::InvalidArgumentError(
        fmt::format("simulator '{}' has no predict", functions->name));
  }
  return absl::OkStatus();
}

std::unique_ptr<const Simulator> WrapSimulator(
    const lmsb_simulator_functions& functions, bool calls_destroy,
    std::shared_ptr<void> library) {
  return std::make_unique<CallbackSimulator>(functions, calls_destroy,
                                             std::move(library));
}

}  // namespace lmsimbench::capi

namespace capi = lmsimbench::capi;

lmsb_code lmsb_simulator_new(lmsb_simulator** out,
                             const lmsb_simulator_functions* functions) {
  return capi::Make(out, [&]() -> absl::StatusOr<lmsb_simulator*> {
    absl::Status status = capi::CheckFunctions(functions);
    if (!status.ok()) return status;
    // The handle first: nothing may fail once the simulator would destroy.
    auto handle =
        std::make_unique<lmsb_simulator>(nullptr, functions->thread_safe == 1);
    handle->simulator = capi::WrapSimulator(*functions, true);
    return handle.release();
  });
}

lmsb_code lmsb_simulator_built_in(lmsb_simulator** out,
                                  const lmsb_bundle* bundle, const char* name,
                                  size_t name_length) {
  return capi::MakeFrom(
      bundle, "bundle", out, [&]() -> absl::StatusOr<lmsb_simulator*> {
        absl::string_view wanted;
        absl::Status status = capi::ReadText(name, name_length, "name", wanted);
        if (!status.ok()) return status;
        if (wanted.empty()) {
          return absl::NotFoundError("the built-in simulators are " +
                                     capi::NamesOfBuiltIn());
        }
        auto simulator =
            lmsimbench::MakeSimulator(std::string(wanted), bundle->bundle);
        if (!simulator.ok()) return simulator.status();
        return new lmsb_simulator(*std::move(simulator), true);
      });
}

lmsb_code lmsb_simulator_staged(lmsb_simulator** out, const char* name,
                                size_t name_length,
                                const lmsb_cost_model* model) {
  return capi::MakeFrom(
      model, "model", out, [&]() -> absl::StatusOr<lmsb_simulator*> {
        absl::string_view text;
        absl::Status status = capi::ReadText(name, name_length, "name", text);
        if (!status.ok()) return status;
        if (text.empty()) return absl::InvalidArgumentError("name is empty");
        return new lmsb_simulator(
            lmsimbench::MakeStaged(std::string(text), model->model),
            model->thread_safe);
      });
}

void lmsb_simulator_free(lmsb_simulator* simulator) {
  capi::Free(simulator, "lmsb_simulator_free");
}

const char* lmsb_simulator_name(const lmsb_simulator* simulator) {
  return capi::IsHandle(simulator) ? simulator->simulator->name().c_str() : "";
}

lmsb_code lmsb_workspace_new(lmsb_workspace** out) {
  return capi::Make(out, []() -> absl::StatusOr<lmsb_workspace*> {
    return new lmsb_workspace();
  });
}

void lmsb_workspace_free(lmsb_workspace* workspace) {
  capi::Free(workspace, "lmsb_workspace_free");
}

lmsb_code lmsb_simulator_predict(const lmsb_simulator* simulator,
                                 const lmsb_workload* workload,
                                 const lmsb_system* system,
                                 const lmsb_config* config,
                                 lmsb_workspace* workspace,
                                 lmsb_prediction* prediction) {
  return capi::Guarded([&]() -> absl::Status {
    absl::Status status = capi::CheckHandle(prediction, "prediction");
    if (!status.ok()) return status;
    if (prediction->changeable() == nullptr) {
      return absl::InvalidArgumentError(
          "prediction is borrowed and may only be read");
    }
    prediction->changeable()->Clear();
    status = capi::CheckHandle(simulator, "simulator");
    if (status.ok()) status = capi::CheckHandle(workload, "workload");
    if (status.ok()) status = capi::CheckHandle(system, "system");
    if (status.ok()) status = capi::CheckHandle(config, "config");
    if (status.ok() && workspace != nullptr) {
      status = capi::CheckHandle(workspace, "workspace");
    }
    if (!status.ok()) return status;
    if (workspace != nullptr) {
      return simulator->simulator->PredictInto(
          *workload->value, *system->value, *config->value,
          workspace->workspace, *prediction->changeable());
    }
    lmsimbench::Workspace own;
    return simulator->simulator->PredictInto(*workload->value, *system->value,
                                             *config->value, own,
                                             *prediction->changeable());
  });
}
