#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "test/capi/plugins.h"

/// \file
/// A handle of every kind, and a right argument for every type of argument.

namespace capi_test {

/// A handle that a function has made, freed with this.
template <typename T, void (*Free)(T*)>
struct Slot {
  T* handle = nullptr;
  Slot() = default;
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  ~Slot() { Free(handle); }
};

/// A place for what each function writes. What it makes is freed.
struct Slots {
  std::tuple<
      Slot<lmsb_text, lmsb_text_free>, Slot<lmsb_bundle, lmsb_bundle_free>,
      Slot<lmsb_table, lmsb_table_free>,
      Slot<lmsb_workload, lmsb_workload_free>,
      Slot<lmsb_system, lmsb_system_free>, Slot<lmsb_config, lmsb_config_free>,
      Slot<lmsb_prediction, lmsb_prediction_free>,
      Slot<lmsb_cost_model, lmsb_cost_model_free>,
      Slot<lmsb_graph, lmsb_graph_free>,
      Slot<lmsb_timeline, lmsb_timeline_free>,
      Slot<lmsb_simulator, lmsb_simulator_free>,
      Slot<lmsb_workspace, lmsb_workspace_free>,
      Slot<lmsb_measurements, lmsb_measurements_free>,
      Slot<lmsb_answers, lmsb_answers_free>,
      Slot<lmsb_scorecard, lmsb_scorecard_free>>
      made;
  std::array<double, 4096> numbers = {};
  std::array<int32_t, 4096> evidence = {};
  int64_t count = 0;
  size_t size = 0;
  const char* text = nullptr;
  const double* f64 = nullptr;
  const int64_t* i64 = nullptr;
  const uint32_t* strings = nullptr;
  const lmsb_view* view = nullptr;
  const lmsb_column* column = nullptr;

  Slots() = default;
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;
};

/// A handle of every kind. What functions may write to lies in `Slots`, so that
/// several threads can share the handles.
class Handles {
 public:
  Handles() {
    Need(lmsb_bundle_open_embedded(&bundle_));
    Need(lmsb_bundle_view(bundle_, "gemms", 5, &view_));
    column_ = lmsb_view_column_at(view_, 0);
    Need(lmsb_workload_from_json(&workload_, kWorkload.data(),
                                 kWorkload.size()));
    Need(lmsb_workload_to_json(workload_, &text_));
    Need(lmsb_system_find(&system_, bundle_, "a100-sxm4-80g", 13));
    Need(lmsb_config_from_json(&config_, kConfig.data(), kConfig.size()));
    Need(lmsb_prediction_new(&prediction_));
    Need(lmsb_cost_model_built_in(&formulas_[0], bundle_, "roofline", 8));
    Need(lmsb_cost_model_built_in(&formulas_[1], bundle_, "collectives", 11));
    Need(lmsb_cost_model_composite(&cost_model_, "both", 4, formulas_.data(),
                                   formulas_.size()));
    Need(lmsb_graph_new(&graph_, workload_, system_, config_));
    Need(lmsb_timeline_new(&timeline_, graph_, cost_model_));
    Need(lmsb_simulator_built_in(&simulator_, bundle_, "naive-bubble", 12));
    Need(lmsb_workspace_new(&workspace_));
    Need(lmsb_measurements_open(&measurements_, bundle_));
    Need(lmsb_measurements_runs(measurements_, &table_));
    Need(lmsb_answers_ask(&answers_, simulator_, measurements_, nullptr));
    Need(lmsb_score(&scorecard_, measurements_, &answers_, 1, nullptr));
  }
  ~Handles() {
    lmsb_scorecard_free(scorecard_);
    lmsb_answers_free(answers_);
    lmsb_table_free(table_);
    lmsb_measurements_free(measurements_);
    lmsb_workspace_free(workspace_);
    lmsb_simulator_free(simulator_);
    lmsb_timeline_free(timeline_);
    lmsb_graph_free(graph_);
    lmsb_cost_model_free(cost_model_);
    for (lmsb_cost_model* part : formulas_) {
      lmsb_cost_model_free(part);
    }
    lmsb_prediction_free(prediction_);
    lmsb_config_free(config_);
    lmsb_system_free(system_);
    lmsb_text_free(text_);
    lmsb_workload_free(workload_);
    lmsb_bundle_free(bundle_);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  /// A right argument of this type.
  template <typename T>
  T Valid(Slots& slots) const {
    if constexpr (std::is_same_v<T, size_t> || std::is_same_v<T, int32_t> ||
                  std::is_same_v<T, uint32_t> || std::is_same_v<T, int64_t> ||
                  std::is_same_v<T, double>) {
      return 1;
    } else {
      T argument = nullptr;
      Fill(argument, slots);
      return argument;
    }
  }

  /// A live handle that is none of this type.
  template <typename T>
  T OfAnotherKind() const {
    using Handle = std::remove_cv_t<std::remove_pointer_t<T>>;
    void* const other = std::is_same_v<Handle, lmsb_text>
                            ? static_cast<void*>(workspace_)
                            : static_cast<void*>(text_);
    return static_cast<T>(other);
  }

  const lmsb_workload* workload() const { return workload_; }
  const lmsb_system* system() const { return system_; }
  const lmsb_config* config() const { return config_; }
  const lmsb_graph* graph() const { return graph_; }
  const lmsb_simulator* simulator() const { return simulator_; }
  const lmsb_cost_model* cost_model() const { return cost_model_; }
  const lmsb_measurements* measurements() const { return measurements_; }

 private:
  /// \{ One for each type of pointer that the interface has.
  void Fill(const char*& argument, Slots&) const { argument = "x"; }
  void Fill(const void*& argument, Slots&) const { argument = "x"; }
  void Fill(const double*& argument, Slots& slots) const {
    argument = slots.numbers.data();
  }
  void Fill(double*& argument, Slots& slots) const {
    argument = slots.numbers.data();
  }
  void Fill(int32_t*& argument, Slots& slots) const {
    argument = slots.evidence.data();
  }
  void Fill(int64_t*& argument, Slots& slots) const { argument = &slots.count; }
  void Fill(size_t*& argument, Slots& slots) const { argument = &slots.size; }
  void Fill(const char**& argument, Slots& slots) const {
    argument = &slots.text;
  }
  void Fill(const double**& argument, Slots& slots) const {
    argument = &slots.f64;
  }
  void Fill(const int64_t**& argument, Slots& slots) const {
    argument = &slots.i64;
  }
  void Fill(const uint32_t**& argument, Slots& slots) const {
    argument = &slots.strings;
  }
  void Fill(const lmsb_view**& argument, Slots& slots) const {
    argument = &slots.view;
  }
  void Fill(const lmsb_column**& argument, Slots& slots) const {
    argument = &slots.column;
  }
  void Fill(const lmsb_answers* const*& argument, Slots&) const {
    argument = &answers_;
  }
  void Fill(const lmsb_cost_model* const*& argument, Slots&) const {
    argument = formulas_.data();
  }
  void Fill(const lmsb_operator_batch*& argument, Slots&) const {
    argument = lmsb_graph_operator_batch(graph_);
  }
  void Fill(const lmsb_collective_batch*& argument, Slots&) const {
    argument = lmsb_graph_collective_batch(graph_);
  }
  void Fill(const lmsb_cost_model_functions*& argument, Slots&) const {
    argument = &cost_model_plugin_.functions;
  }
  void Fill(const lmsb_simulator_functions*& argument, Slots&) const {
    argument = &simulator_plugin_.functions;
  }
  void Fill(const lmsb_ask_options*& argument, Slots&) const {
    static constexpr lmsb_ask_options kOptions = {
        sizeof(lmsb_ask_options), nullptr, 0, 1, nullptr, nullptr};
    argument = &kOptions;
  }
  void Fill(const lmsb_selection*& argument, Slots&) const {
    static constexpr lmsb_selection kSelection = {sizeof(lmsb_selection),
                                                  nullptr, nullptr, nullptr};
    argument = &kSelection;
  }
  void Fill(const lmsb_score_options*& argument, Slots&) const {
    static constexpr lmsb_score_options kOptions = {sizeof(lmsb_score_options),
                                                    nullptr, 0, 5, 1};
    argument = &kOptions;
  }
  void Fill(const lmsb_answer_columns*& argument, Slots&) const {
    static constexpr lmsb_answer_columns kColumns = {
        sizeof(lmsb_answer_columns),
        0,
        nullptr,
        nullptr,
        nullptr,
        nullptr,
        nullptr};
    argument = &kColumns;
  }
  // There is none outside of a callback.
  void Fill(lmsb_error*&, Slots&) const {}
  void Fill(const lmsb_view*& argument, Slots&) const { argument = view_; }
  void Fill(const lmsb_column*& argument, Slots&) const { argument = column_; }
  // Handles, and places for those that are made.
  template <typename T>
  void Fill(T**& argument, Slots& slots) const {
    argument = &Place<T>(slots);
  }
  template <typename T>
  void Fill(T*& argument, Slots&) const {
    argument = std::get<std::remove_const_t<T>*>(All());
  }
  /// \}

  template <typename T>
  static T*& Place(Slots& slots) {
    return std::apply(
        [](auto&... slot) -> T*& {
          T** place = nullptr;
          (..., [&](auto& candidate) {
            if constexpr (std::is_same_v<decltype(candidate.handle), T*>) {
              place = &candidate.handle;
            }
          }(slot));
          return *place;
        },
        slots.made);
  }

  std::tuple<lmsb_text*, lmsb_bundle*, lmsb_table*, lmsb_workload*,
             lmsb_system*, lmsb_config*, lmsb_prediction*, lmsb_cost_model*,
             lmsb_graph*, lmsb_timeline*, lmsb_simulator*, lmsb_workspace*,
             lmsb_measurements*, lmsb_answers*, lmsb_scorecard*>
  All() const {
    return {text_,      bundle_,     table_,        workload_, system_,
            config_,    prediction_, cost_model_,   graph_,    timeline_,
            simulator_, workspace_,  measurements_, answers_,  scorecard_};
  }

  const std::string kWorkload =
      R"({"model": {"hidden": 512, "layers": 4, "heads": 8, "ffn": 2048,)"
      R"( "vocab": 32000, "gated_mlp": false}, "seq_len": 1024, "global_batch": 8,)"
      R"( "precision": "bf16"})";
  const std::string kConfig =
      R"({"tp": 2, "pp": 2, "dp": 2, "micro_batch": 1})";
  CostModelPlugin cost_model_plugin_;
  SimulatorPlugin simulator_plugin_{"naive-bubble"};
  lmsb_text* text_ = nullptr;
  lmsb_bundle* bundle_ = nullptr;
  const lmsb_view* view_ = nullptr;
  const lmsb_column* column_ = nullptr;
  lmsb_table* table_ = nullptr;
  lmsb_workload* workload_ = nullptr;
  lmsb_system* system_ = nullptr;
  lmsb_config* config_ = nullptr;
  lmsb_prediction* prediction_ = nullptr;
  std::array<lmsb_cost_model*, 2> formulas_ = {};
  lmsb_cost_model* cost_model_ = nullptr;
  lmsb_graph* graph_ = nullptr;
  lmsb_timeline* timeline_ = nullptr;
  lmsb_simulator* simulator_ = nullptr;
  lmsb_workspace* workspace_ = nullptr;
  lmsb_measurements* measurements_ = nullptr;
  lmsb_answers* answers_ = nullptr;
  lmsb_scorecard* scorecard_ = nullptr;
};

/// Handles for all tests of a program: making them takes a while.
inline const Handles& SharedHandles() {
  static const Handles handles;
  return handles;
}

}  // namespace capi_test
