#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>

#include "lmsimbench/c.h"

/// \file
/// Plug-ins for tests: built-in models and simulators given away through
/// callbacks, with something done to their answers. Uses the C interface alone.

namespace capi_test {

/// Ends the test program where nothing can be tested any more.
inline void Need(lmsb_code code) {
  if (code != LMSB_OK) throw std::runtime_error(lmsb_last_error());
}

inline const lmsb_bundle* EmbeddedBundle() {
  static lmsb_bundle* const bundle = [] {
    lmsb_bundle* opened = nullptr;
    Need(lmsb_bundle_open_embedded(&opened));
    return opened;
  }();
  return bundle;
}

inline void SetText(lmsb_error* error, const std::string& text) {
  lmsb_error_set(error, text.data(), text.size());
}

/// What is done to the answers of a cost model before they are given back.
template <typename Batch>
using SpoilCosts = std::function<lmsb_code(
    const Batch& batch, double* seconds, int32_t* evidence, lmsb_error* error)>;

/// A built-in cost model as a plug-in.
class CostModelPlugin {
 public:
  explicit CostModelPlugin(const std::string& built_in) {
    Need(lmsb_cost_model_built_in(&model_, EmbeddedBundle(), built_in.data(),
                                  built_in.size()));
    functions.struct_size = sizeof(functions);
    functions.user = this;
    functions.name = "mine";
    functions.thread_safe = 1;
    functions.operator_costs = Operators;
    functions.collective_costs = Collectives;
  }
  /// The formulas, which are fast.
  CostModelPlugin() : CostModelPlugin("roofline") {
    const std::string name = "collectives";
    Need(lmsb_cost_model_built_in(&collectives_, EmbeddedBundle(), name.data(),
                                  name.size()));
  }
  ~CostModelPlugin() {
    lmsb_cost_model_free(model_);
    lmsb_cost_model_free(collectives_);
  }
  CostModelPlugin(const CostModelPlugin&) = delete;
  CostModelPlugin& operator=(const CostModelPlugin&) = delete;

  lmsb_cost_model_functions functions = {};
  SpoilCosts<lmsb_operator_batch> spoil_operators;
  SpoilCosts<lmsb_collective_batch> spoil_collectives;

 private:
  static lmsb_code Operators(void* user, const lmsb_system* system,
                             const lmsb_operator_batch* batch, double* seconds,
                             int32_t* evidence, lmsb_error* error) {
    const auto* const self = static_cast<CostModelPlugin*>(user);
    const lmsb_code code = lmsb_cost_model_operators(self->model_, system,
                                                     batch, seconds, evidence);
    if (code != LMSB_OK) SetText(error, lmsb_last_error());
    if (code != LMSB_OK || !self->spoil_operators) return code;
    return self->spoil_operators(*batch, seconds, evidence, error);
  }
  static lmsb_code Collectives(void* user, const lmsb_system* system,
                               const lmsb_collective_batch* batch,
                               double* seconds, int32_t* evidence,
                               lmsb_error* error) {
    const auto* const self = static_cast<CostModelPlugin*>(user);
    const lmsb_cost_model* const model =
        self->collectives_ != nullptr ? self->collectives_ : self->model_;
    const lmsb_code code =
        lmsb_cost_model_collectives(model, system, batch, seconds, evidence);
    if (code != LMSB_OK) SetText(error, lmsb_last_error());
    if (code != LMSB_OK || !self->spoil_collectives) return code;
    return self->spoil_collectives(*batch, seconds, evidence, error);
  }

  lmsb_cost_model* model_ = nullptr;
  lmsb_cost_model* collectives_ = nullptr;
};

/// A built-in simulator as a plug-in.
class SimulatorPlugin {
 public:
  /// What is done to its predictions before they are given back.
  using Spoil =
      std::function<lmsb_code(const lmsb_workload* workload,
                              lmsb_prediction* prediction, lmsb_error* error)>;

  explicit SimulatorPlugin(const std::string& built_in = "calculon") {
    Need(lmsb_simulator_built_in(&simulator_, EmbeddedBundle(), built_in.data(),
                                 built_in.size()));
    functions.struct_size = sizeof(functions);
    functions.user = this;
    functions.name = "mine";
    functions.thread_safe = 1;
    functions.predict = Predict;
  }
  ~SimulatorPlugin() { lmsb_simulator_free(simulator_); }
  SimulatorPlugin(const SimulatorPlugin&) = delete;
  SimulatorPlugin& operator=(const SimulatorPlugin&) = delete;

  lmsb_simulator_functions functions = {};
  Spoil spoil;

 private:
  static lmsb_code Predict(void* user, const lmsb_workload* workload,
                           const lmsb_system* system, const lmsb_config* config,
                           lmsb_prediction* prediction, lmsb_error* error) {
    const auto* const self = static_cast<SimulatorPlugin*>(user);
    const lmsb_code code = lmsb_simulator_predict(
        self->simulator_, workload, system, config, nullptr, prediction);
    if (code != LMSB_OK) SetText(error, lmsb_last_error());
    if (code != LMSB_OK || !self->spoil) return code;
    return self->spoil(workload, prediction, error);
  }

  lmsb_simulator* simulator_ = nullptr;
};

/// \{ Fields of a prediction.
inline double Get(const lmsb_prediction* prediction, const std::string& field) {
  double value = 0;
  Need(lmsb_prediction_f64(prediction, field.data(), field.size(), &value));
  return value;
}
inline lmsb_code Set(lmsb_prediction* prediction, const std::string& field,
                     double value) {
  return lmsb_prediction_set_f64(prediction, field.data(), field.size(), value);
}
inline lmsb_code Set(lmsb_prediction* prediction, const std::string& field,
                     const std::string& value) {
  return lmsb_prediction_set_text(prediction, field.data(), field.size(),
                                  value.data(), value.size());
}
/// \}

}  // namespace capi_test
