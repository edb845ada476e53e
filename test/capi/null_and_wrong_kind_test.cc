#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "test/capi/handles.h"

// Every function of the interface, called wrongly in every way that its
// signature allows. A function that is missing in the list fails a test.

namespace {

using namespace capi_test;

template <typename T, typename = void>
struct IsComplete : std::false_type {};
template <typename T>
struct IsComplete<T, std::void_t<decltype(sizeof(T))>> : std::true_type {};

// Pointers to handles: to structs of which the header does not say what they
// hold.
template <typename T>
constexpr bool IsHandlePointer() {
  using Pointee = std::remove_cv_t<std::remove_pointer_t<T>>;
  return std::is_pointer_v<T> && !std::is_void_v<Pointee> &&
         std::is_class_v<Pointee> && !IsComplete<Pointee>::value;
}
// Pointers to structs that begin with their size.
template <typename T>
constexpr bool IsStructPointer() {
  using Pointee = std::remove_cv_t<std::remove_pointer_t<T>>;
  return std::is_pointer_v<T> && std::is_class_v<Pointee> &&
         IsComplete<Pointee>::value;
}

// What a struct that begins with its size held in the interface's first
// version.
template <typename T>
constexpr size_t FirstSize() {
  return sizeof(T);
}
template <>
constexpr size_t FirstSize<lmsb_operator_batch>() {
  return offsetof(lmsb_operator_batch, value_head_dim);
}

// Arguments that may be NULL, by function and place.
const std::set<std::pair<std::string, size_t>> kMayBeNull = {
    {"lmsb_simulator_predict", 4},
    {"lmsb_answers_ask", 3},
    {"lmsb_cost_model_measured", 4},
    {"lmsb_score", 4},
    {"lmsb_sweep_margin", 4}};

// Functions that need more than this test has for a call to be meant well, or
// that take their time.
const std::set<std::string> kNotCalledWell = {"lmsb_cost_model_check",
                                              "lmsb_simulator_check"};

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Calls functions wrongly and keeps what came of it that should not have: the
// macros of Catch may not be used by several threads.
class Caller {
 public:
  explicit Caller(const Handles& handles) : handles_(handles) {}

  const std::vector<std::string>& failures() const { return failures_; }
  // Only functions that change nothing: for several threads at once.
  bool const_only = false;

  template <typename R, typename... Args>
  void CallWrongly(const char* name, R (*function)(Args...)) {
    name_ = name;
    const bool changes = ((IsHandlePointer<Args>() &&
                           !std::is_const_v<std::remove_pointer_t<Args>>) ||
                          ...);
    if (const_only && changes) return;
    Each(function, std::index_sequence_for<Args...>());
    const bool is_free = EndsWith(name_, "_free");
    if (!is_free && kNotCalledWell.count(name_) == 0) {
      Slots slots;
      std::apply(function, std::tuple<Args...>{handles_.Valid<Args>(slots)...});
    }
  }

 private:
  template <typename Function, size_t... I>
  void Each([[maybe_unused]] Function function, std::index_sequence<I...>) {
    (Spoil<I>(function), ...);
  }

  template <size_t I, typename R, typename... Args>
  void Spoil(R (*function)(Args...)) {
    using T = std::tuple_element_t<I, std::tuple<Args...>>;
    const auto with = [&](T value, const char* how) {
      // Of each call: what it makes all the same is freed.
      Slots slots;
      std::tuple<Args...> arguments{handles_.Valid<Args>(slots)...};
      std::get<I>(arguments) = value;
      Call(function, arguments, I, how);
    };
    if constexpr (std::is_pointer_v<T>) with(nullptr, "NULL");
    if constexpr (IsHandlePointer<T>()) {
#ifndef NDEBUG
      // Ends the program, which another test looks at.
      if (EndsWith(name_, "_free")) return;
#endif
      with(handles_.OfAnotherKind<T>(), "a handle of another kind");
    }
    if constexpr (IsStructPointer<T>()) {
      Slots slots;
      auto copy = *handles_.Valid<T>(slots);
      for (const size_t size :
           {size_t{0}, sizeof(size_t), FirstSize<decltype(copy)>() - 1}) {
        copy.struct_size = size;
        // Tells these faults with words of its own.
        if (kNotCalledWell.count(name_) > 0) break;
        with(&copy, "a struct that is too short");
      }
    }
    if constexpr (std::is_same_v<T, size_t>) with(SIZE_MAX, "SIZE_MAX");
    if constexpr (std::is_same_v<T, const char*>) {
      with("\xff", "text that is not UTF-8");
    }
  }

  template <typename R, typename... Args, typename Tuple>
  void Call(R (*function)(Args...), const Tuple& arguments, size_t place,
            const char* how) {
    if constexpr (std::is_void_v<R>) {
      std::apply(function, arguments);
    } else {
      const R result = std::apply(function, arguments);
      if (!IsRight(result, place, how)) {
        failures_.push_back(name_ + ", argument " + std::to_string(place) +
                            ": " + how);
      }
    }
  }

  template <typename R>
  bool IsRight(const R& result, size_t place, const std::string& how) const {
    const bool may_be_null =
        how == "NULL" && kMayBeNull.count({name_, place}) > 0;
    if (may_be_null) return true;
    if constexpr (std::is_same_v<R, int32_t>) {
      if (name_ == "lmsb_column_type") return result == -1;
      if (how == "SIZE_MAX" && result == LMSB_OUT_OF_RANGE) return true;
      return result == LMSB_INVALID_ARGUMENT && *lmsb_last_error() != '\0';
    } else if constexpr (std::is_same_v<R, const char*>) {
      // The place for the length may be NULL.
      if (name_ == "lmsb_column_string" && place == 2) return true;
      return result == nullptr || *result == '\0';
    } else if constexpr (std::is_pointer_v<R>) {
      return result == nullptr;
    } else {
      return !(result > 0);  // 0 or missing
    }
  }

  const Handles& handles_;
  std::string name_;
  std::vector<std::string> failures_;
};

// Every function of the interface.
void CallAllWrongly(Caller& caller, std::set<std::string>* names = nullptr) {
#define F(function)                           \
  caller.CallWrongly(#function, &(function)); \
  if (names != nullptr) names->insert(#function);
  // clang-format off
    F(lmsb_abi_version)
    F(lmsb_answers_ask)
    F(lmsb_answers_free)
    F(lmsb_answers_new)
    F(lmsb_answers_put)
    F(lmsb_answers_read_csv)
    F(lmsb_answers_table)
    F(lmsb_bundle_fingerprint)
    F(lmsb_bundle_free)
    F(lmsb_bundle_open_embedded)
    F(lmsb_bundle_open_file)
    F(lmsb_bundle_open_memory)
    F(lmsb_bundle_view)
    F(lmsb_bundle_view_at)
    F(lmsb_bundle_view_count)
    F(lmsb_code_name)
    F(lmsb_column_f64)
    F(lmsb_column_i64)
    F(lmsb_column_name)
    F(lmsb_column_string)
    F(lmsb_column_strings)
    F(lmsb_column_type)
    F(lmsb_config_check)
    F(lmsb_config_copy)
    F(lmsb_config_count)
    F(lmsb_config_f64)
    F(lmsb_config_find)
    F(lmsb_config_free)
    F(lmsb_config_from_json)
    F(lmsb_config_i64)
    F(lmsb_config_nearest_legal)
    F(lmsb_config_new)
    F(lmsb_config_set_f64)
    F(lmsb_config_set_i64)
    F(lmsb_config_set_json)
    F(lmsb_config_set_text)
    F(lmsb_config_text)
    F(lmsb_config_to_json)
    F(lmsb_cost_model_built_in)
    F(lmsb_cost_model_check)
    F(lmsb_cost_model_collectives)
    F(lmsb_cost_model_composite)
    F(lmsb_cost_model_free)
    F(lmsb_cost_model_measured)
    F(lmsb_cost_model_name)
    F(lmsb_cost_model_new)
    F(lmsb_cost_model_operators)
    F(lmsb_enumerator_name)
    F(lmsb_error_set)
    F(lmsb_graph_collective_batch)
    F(lmsb_graph_collectives)
    F(lmsb_graph_free)
    F(lmsb_graph_new)
    F(lmsb_graph_operator_batch)
    F(lmsb_graph_operators)
    F(lmsb_graph_rank_classes)
    F(lmsb_graph_tasks)
    F(lmsb_graph_to_json)
    F(lmsb_host_table)
    F(lmsb_last_error)
    F(lmsb_measurements_find)
    F(lmsb_measurements_free)
    F(lmsb_measurements_open)
    F(lmsb_measurements_record)
    F(lmsb_measurements_run_config)
    F(lmsb_measurements_run_count)
    F(lmsb_measurements_run_system)
    F(lmsb_measurements_run_workload)
    F(lmsb_measurements_runs)
    F(lmsb_measurements_settings)
    F(lmsb_prediction_count)
    F(lmsb_prediction_f64)
    F(lmsb_prediction_free)
    F(lmsb_prediction_i64)
    F(lmsb_prediction_new)
    F(lmsb_prediction_set_f64)
    F(lmsb_prediction_set_i64)
    F(lmsb_prediction_set_json)
    F(lmsb_prediction_set_text)
    F(lmsb_prediction_text)
    F(lmsb_prediction_to_json)
    F(lmsb_score)
    F(lmsb_scorecard_calibration)
    F(lmsb_scorecard_figure)
    F(lmsb_scorecard_figures)
    F(lmsb_scorecard_free)
    F(lmsb_scorecard_settings)
    F(lmsb_scorecard_to_json)
    F(lmsb_scorecard_to_text)
    F(lmsb_simulator_built_in)
    F(lmsb_simulator_check)
    F(lmsb_simulator_free)
    F(lmsb_simulator_load)
    F(lmsb_simulator_name)
    F(lmsb_simulator_new)
    F(lmsb_simulator_predict)
    F(lmsb_simulator_staged)
    F(lmsb_sweep_margin)
    F(lmsb_system_copy)
    F(lmsb_system_count)
    F(lmsb_system_f64)
    F(lmsb_system_find)
    F(lmsb_system_free)
    F(lmsb_system_from_json)
    F(lmsb_system_i64)
    F(lmsb_system_new)
    F(lmsb_system_set_f64)
    F(lmsb_system_set_i64)
    F(lmsb_system_set_json)
    F(lmsb_system_set_text)
    F(lmsb_system_text)
    F(lmsb_system_to_json)
    F(lmsb_table_free)
    F(lmsb_table_view)
    F(lmsb_text_data)
    F(lmsb_text_free)
    F(lmsb_text_length)
    F(lmsb_timeline_free)
    F(lmsb_timeline_iteration_time_s)
    F(lmsb_timeline_memory)
    F(lmsb_timeline_new)
    F(lmsb_timeline_slices)
    F(lmsb_timeline_to_perfetto)
    F(lmsb_version)
    F(lmsb_view_column)
    F(lmsb_view_column_at)
    F(lmsb_view_column_count)
    F(lmsb_view_name)
    F(lmsb_view_rows)
    F(lmsb_workload_copy)
    F(lmsb_workload_count)
    F(lmsb_workload_f64)
    F(lmsb_workload_free)
    F(lmsb_workload_from_json)
    F(lmsb_workload_i64)
    F(lmsb_workload_new)
    F(lmsb_workload_set_f64)
    F(lmsb_workload_set_i64)
    F(lmsb_workload_set_json)
    F(lmsb_workload_set_model)
    F(lmsb_workload_set_text)
    F(lmsb_workload_text)
    F(lmsb_workload_to_json)
    F(lmsb_workspace_free)
    F(lmsb_workspace_new)
  // clang-format on
#undef F
}

TEST_CASE("Every function refuses each wrong argument") {
  const Handles& handles = SharedHandles();
  Caller caller(handles);
  std::set<std::string> called;
  CallAllWrongly(caller, &called);
  for (const std::string& failure : caller.failures()) FAIL_CHECK(failure);
  std::set<std::string> exported;
  std::ifstream symbols(LMSIMBENCH_SYMBOLS);
  for (std::string name; symbols >> name;) exported.insert(name);
  CHECK(called == exported);
}

TEST_CASE(
    "Functions that change nothing may be called by two threads at once") {
  const Handles& handles = SharedHandles();
  constexpr size_t kThreads = 2;
  std::vector<Caller> callers(kThreads, Caller(handles));
  std::vector<std::thread> threads;
  for (Caller& caller : callers) {
    caller.const_only = true;
    threads.emplace_back([&caller] { CallAllWrongly(caller); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Caller& caller : callers) {
    for (const std::string& failure : caller.failures()) FAIL_CHECK(failure);
  }
}

}  // namespace
