#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "test/capi/handles.h"

// What callbacks may do to the library: answer nonsense or nothing, fail,
// throw, take long, and call back.

namespace {

using namespace capi_test;
using Catch::Matchers::Contains;

// A cost model of the tests' plug-in.
class Model {
 public:
  explicit Model(const CostModelPlugin& plugin) {
    Need(lmsb_cost_model_new(&model, &plugin.functions));
  }
  ~Model() { lmsb_cost_model_free(model); }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  lmsb_cost_model* model = nullptr;
};

class Simulator {
 public:
  explicit Simulator(const lmsb_simulator_functions& functions) {
    Need(lmsb_simulator_new(&simulator, &functions));
    Need(lmsb_prediction_new(&prediction));
  }
  ~Simulator() {
    lmsb_prediction_free(prediction);
    lmsb_simulator_free(simulator);
  }
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  lmsb_code Predict(const Handles& handles) const {
    return lmsb_simulator_predict(simulator, handles.workload(),
                                  handles.system(), handles.config(), nullptr,
                                  prediction);
  }

  lmsb_simulator* simulator = nullptr;
  lmsb_prediction* prediction = nullptr;
};

// The code of costing a graph with a model, and its message.
struct Costed {
  lmsb_code code;
  std::string message;
};
Costed CostWith(const CostModelPlugin& plugin, const Handles& handles) {
  const Model model(plugin);
  lmsb_timeline* timeline = nullptr;
  const lmsb_code code =
      lmsb_timeline_new(&timeline, handles.graph(), model.model);
  CHECK((timeline == nullptr) == (code != LMSB_OK));
  lmsb_timeline_free(timeline);
  return {code, code == LMSB_OK ? "" : lmsb_last_error()};
}

TEST_CASE("Costs that are NaN are an error that names model and operator") {
  const Handles& handles = SharedHandles();
  CostModelPlugin plugin;
  plugin.spoil_operators = [](const lmsb_operator_batch&, double* seconds,
                              int32_t*, lmsb_error*) -> lmsb_code {
    seconds[0] = std::nan("");
    return LMSB_OK;
  };
  const Costed costed = CostWith(plugin, handles);
  CHECK(costed.code == LMSB_INTERNAL);
  CHECK_THAT(costed.message, Contains("'mine' answers nan seconds"));
}

TEST_CASE("Evidence that is none is an error") {
  const Handles& handles = SharedHandles();
  CostModelPlugin plugin;
  plugin.spoil_operators = [](const lmsb_operator_batch&, double*,
                              int32_t* evidence, lmsb_error*) -> lmsb_code {
    evidence[0] = -7;
    return LMSB_OK;
  };
  const Costed costed = CostWith(plugin, handles);
  CHECK(costed.code == LMSB_INTERNAL);
  CHECK_THAT(costed.message, Contains("invalid"));
}

TEST_CASE("A cost model that answers nothing leaves the first question open") {
  const Handles& handles = SharedHandles();
  CostModelPlugin plugin;
  plugin.functions.operator_costs = nullptr;
  const Costed costed = CostWith(plugin, handles);
  CHECK(costed.code == LMSB_UNIMPLEMENTED);
  CHECK_THAT(costed.message, Contains("mine"));
}

TEST_CASE("The text of a callback's error arrives in the caller's message") {
  const Handles& handles = SharedHandles();
  CostModelPlugin plugin;
  plugin.spoil_collectives = [](const lmsb_collective_batch&, double*, int32_t*,
                                lmsb_error* error) -> lmsb_code {
    SetText(error, "no such cable");
    return LMSB_UNAVAILABLE;
  };
  Costed costed = CostWith(plugin, handles);
  CHECK(costed.code == LMSB_UNAVAILABLE);
  CHECK_THAT(costed.message, Contains("no such cable"));
  plugin.spoil_collectives = [](const lmsb_collective_batch&, double*, int32_t*,
                                lmsb_error*) -> lmsb_code {
    return LMSB_UNAVAILABLE;
  };
  costed = CostWith(plugin, handles);
  CHECK(costed.code == LMSB_UNAVAILABLE);
  CHECK_THAT(costed.message,
             Contains("collective_costs returned UNAVAILABLE without a text"));
  plugin.spoil_collectives = [](const lmsb_collective_batch&, double*, int32_t*,
                                lmsb_error*) -> lmsb_code { return 4711; };
  costed = CostWith(plugin, handles);
  CHECK(costed.code == LMSB_INTERNAL);
  CHECK_THAT(costed.message, Contains("4711, which is no code"));
}

TEST_CASE("An exception of a callback becomes an error") {
  const Handles& handles = SharedHandles();
  CostModelPlugin plugin;
  plugin.spoil_operators = [](const lmsb_operator_batch&, double*, int32_t*,
                              lmsb_error*) -> lmsb_code {
    throw std::runtime_error("out of ideas");
  };
  const Costed costed = CostWith(plugin, handles);
  CHECK(costed.code == LMSB_INTERNAL);
  CHECK_THAT(costed.message, Contains("out of ideas"));
  SimulatorPlugin thrower;
  thrower.spoil = [](const lmsb_workload*, lmsb_prediction*,
                     lmsb_error*) -> lmsb_code { throw 1; };
  const Simulator simulator(thrower.functions);
  CHECK(simulator.Predict(handles) == LMSB_INTERNAL);
  CHECK_THAT(lmsb_last_error(), Contains("predict threw an exception"));
}

TEST_CASE("A simulator that answers nothing, or nonsense, has failed") {
  const Handles& handles = SharedHandles();
  SimulatorPlugin plugin;
  plugin.functions.predict = [](void*, const lmsb_workload*, const lmsb_system*,
                                const lmsb_config*, lmsb_prediction*,
                                lmsb_error*) -> lmsb_code { return LMSB_OK; };
  const Simulator nothing(plugin.functions);
  CHECK(nothing.Predict(handles) == LMSB_INTERNAL);
  CHECK_THAT(lmsb_last_error(), Contains("without time, memory or verdict"));
  plugin.functions.predict = [](void*, const lmsb_workload*, const lmsb_system*,
                                const lmsb_config*, lmsb_prediction* prediction,
                                lmsb_error*) -> lmsb_code {
    return Set(prediction, "iteration_time_s", -1.0);
  };
  const Simulator negative(plugin.functions);
  CHECK(negative.Predict(handles) == LMSB_INTERNAL);
  CHECK(std::isnan(Get(negative.prediction, "iteration_time_s")));
}

TEST_CASE("The arguments of a callback may only be read") {
  const Handles& handles = SharedHandles();
  SimulatorPlugin plugin;
  plugin.functions.predict = [](void*, const lmsb_workload* workload,
                                const lmsb_system*, const lmsb_config*,
                                lmsb_prediction*, lmsb_error*) -> lmsb_code {
    return lmsb_workload_set_i64(const_cast<lmsb_workload*>(workload),
                                 "seq_len", 7, 1);
  };
  const Simulator simulator(plugin.functions);
  CHECK(simulator.Predict(handles) == LMSB_INVALID_ARGUMENT);
}

// Asks the simulator that is asking it, once.
struct Recursive {
  static lmsb_code Predict(void* user, const lmsb_workload* workload,
                           const lmsb_system* system, const lmsb_config* config,
                           lmsb_prediction* prediction, lmsb_error*) {
    auto* const self = static_cast<Recursive*>(user);
    if (self->depth++ == 0) {
      lmsb_prediction* inner = nullptr;
      Need(lmsb_prediction_new(&inner));
      Need(lmsb_simulator_predict(self->simulator, workload, system, config,
                                  nullptr, inner));
      self->inner_time = Get(inner, "iteration_time_s");
      lmsb_prediction_free(inner);
      lmsb_answers* answers = nullptr;
      Need(lmsb_answers_ask(&answers, self->built_in, self->measurements,
                            nullptr));
      lmsb_answers_free(answers);
    }
    return Set(prediction, "iteration_time_s", 2.0);
  }
  int depth = 0;
  double inner_time = 0;
  const lmsb_simulator* simulator = nullptr;
  const lmsb_simulator* built_in = nullptr;
  const lmsb_measurements* measurements = nullptr;
};

TEST_CASE("A simulator may call the library, even what is calling it") {
  const Handles& handles = SharedHandles();
  Recursive recursive;
  recursive.built_in = handles.simulator();
  recursive.measurements = handles.measurements();
  lmsb_simulator_functions functions = {};
  functions.struct_size = sizeof(functions);
  functions.user = &recursive;
  functions.name = "recursive";
  functions.predict = Recursive::Predict;
  const Simulator simulator(functions);
  recursive.simulator = simulator.simulator;
  CHECK(simulator.Predict(handles) == LMSB_OK);
  CHECK(recursive.depth == 2);
  CHECK(recursive.inner_time == 2);
}

TEST_CASE("A cost model may ask the model that is asking it") {
  const Handles& handles = SharedHandles();
  CostModelPlugin plugin;
  const Model model(plugin);
  int depth = 0;
  plugin.spoil_operators = [&](const lmsb_operator_batch& batch, double*,
                               int32_t*, lmsb_error*) -> lmsb_code {
    if (depth++ > 0) return LMSB_OK;
    std::vector<double> seconds(batch.count);
    std::vector<int32_t> evidence(batch.count);
    return lmsb_cost_model_operators(model.model, handles.system(), &batch,
                                     seconds.data(), evidence.data());
  };
  // The struct has been copied, what `user` points to has not.
  const lmsb_operator_batch* const batch =
      lmsb_graph_operator_batch(handles.graph());
  std::vector<double> seconds(batch->count);
  std::vector<int32_t> evidence(batch->count);
  CHECK(lmsb_cost_model_operators(model.model, handles.system(), batch,
                                  seconds.data(), evidence.data()) == LMSB_OK);
  CHECK(depth == 2);
}

// Its first question is answered only after everything was cancelled.
struct Slow {
  static lmsb_code Predict(void* user, const lmsb_workload*, const lmsb_system*,
                           const lmsb_config*, lmsb_prediction* prediction,
                           lmsb_error*) {
    auto* const self = static_cast<Slow*>(user);
    if (self->calls++ == 0) {
      while (!self->cancelled) std::this_thread::yield();
    }
    return Set(prediction, "iteration_time_s", 1.0);
  }
  static int32_t Cancel(void* user, size_t, size_t total) {
    auto* const self = static_cast<Slow*>(user);
    self->total = total;
    self->cancelled = true;
    return 1;
  }
  std::atomic<size_t> calls{0};
  std::atomic<bool> cancelled{false};
  std::atomic<size_t> total{0};
};

TEST_CASE("While one question takes long the others can be cancelled") {
  const Handles& handles = SharedHandles();
  Slow slow;
  lmsb_simulator_functions functions = {};
  functions.struct_size = sizeof(functions);
  functions.user = &slow;
  functions.name = "slow";
  functions.thread_safe = 1;
  functions.predict = Slow::Predict;
  const Simulator simulator(functions);
  lmsb_ask_options options = {};
  options.struct_size = sizeof(options);
  options.threads = 2;
  options.progress = Slow::Cancel;
  options.progress_user = &slow;
  lmsb_answers* answers = nullptr;
  CHECK(lmsb_answers_ask(&answers, simulator.simulator, handles.measurements(),
                         &options) == LMSB_CANCELLED);
  CHECK(answers == nullptr);
  CHECK(slow.calls < slow.total);
}

TEST_CASE("A progress that throws cancels") {
  const Handles& handles = SharedHandles();
  lmsb_ask_options options = {};
  options.struct_size = sizeof(options);
  options.threads = 2;
  options.progress = [](void*, size_t, size_t) -> int32_t {
    throw std::runtime_error("no");
  };
  lmsb_answers* answers = nullptr;
  CHECK(lmsb_answers_ask(&answers, handles.simulator(), handles.measurements(),
                         &options) == LMSB_CANCELLED);
}

TEST_CASE(
    "Two threads ask one model and one simulator, with results of their own") {
  const Handles& handles = SharedHandles();
  CostModelPlugin plugin("default");
  const Model model(plugin);
  const SimulatorPlugin calculon;
  const Simulator shared(calculon.functions);
  const lmsb_operator_batch* const batch =
      lmsb_graph_operator_batch(handles.graph());
  constexpr size_t kThreads = 2;
  std::vector<std::vector<double>> seconds(kThreads);
  std::vector<double> times(kThreads);
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      seconds[t].resize(batch->count);
      std::vector<int32_t> evidence(batch->count);
      lmsb_prediction* prediction = nullptr;
      bool ok = lmsb_prediction_new(&prediction) == LMSB_OK;
      for (int round = 0; round < 10; ++round) {
        ok = ok && lmsb_cost_model_operators(model.model, handles.system(),
                                             batch, seconds[t].data(),
                                             evidence.data()) == LMSB_OK;
        ok = ok && lmsb_simulator_predict(shared.simulator, handles.workload(),
                                          handles.system(), handles.config(),
                                          nullptr, prediction) == LMSB_OK;
      }
      if (ok) times[t] = Get(prediction, "iteration_time_s");
      lmsb_prediction_free(prediction);
      failures += ok ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  CHECK(seconds[0] == seconds[1]);
  CHECK(times[0] == times[1]);
}

TEST_CASE("Each thread has the message of its own latest failure") {
  lmsb_config* config = nullptr;
  CHECK(lmsb_config_from_json(&config, "{", 1) == LMSB_INVALID_ARGUMENT);
  const std::string mine = lmsb_last_error();
  std::string at_first;
  std::string theirs;
  std::thread([&] {
    at_first = lmsb_last_error();
    lmsb_bundle_open_embedded(nullptr);
    theirs = lmsb_last_error();
  }).join();
  CHECK(at_first == "");
  CHECK(theirs == "out is NULL");
  CHECK(lmsb_last_error() == mine);
}

TEST_CASE("A call that succeeds and the freeing of NULL leave the message") {
  lmsb_bundle_open_embedded(nullptr);
  lmsb_config* config = nullptr;
  Need(lmsb_config_new(&config));
  lmsb_config_free(config);
  lmsb_config_free(nullptr);
  CHECK(std::string(lmsb_last_error()) == "out is NULL");
}

TEST_CASE("A batch of the interface's first version is answered as ever") {
  const Handles& handles = SharedHandles();
  const lmsb_operator_batch batch = *lmsb_graph_operator_batch(handles.graph());
  const auto ask = [&](const lmsb_operator_batch& of) {
    std::vector<double> seconds(of.count);
    std::vector<int32_t> evidence(of.count);
    Need(lmsb_cost_model_operators(handles.cost_model(), handles.system(), &of,
                                   seconds.data(), evidence.data()));
    return seconds;
  };
  for (const size_t size : {offsetof(lmsb_operator_batch, value_head_dim),
                            sizeof(lmsb_operator_batch) - 1}) {
    lmsb_operator_batch first = batch;
    first.struct_size = size;
    // Must not be read.
    first.value_head_dim = {reinterpret_cast<const int64_t*>(1), 8};
    CHECK(ask(first) == ask(batch));
  }
}

TEST_CASE("Absurd counts inside of structs are refused") {
  const Handles& handles = SharedHandles();
  lmsb_operator_batch batch = *lmsb_graph_operator_batch(handles.graph());
  batch.count = SIZE_MAX;
  double seconds = 0;
  int32_t evidence = 0;
  CHECK(lmsb_cost_model_operators(handles.cost_model(), handles.system(),
                                  &batch, &seconds,
                                  &evidence) == LMSB_INVALID_ARGUMENT);
  lmsb_answers* answers = nullptr;
  Need(lmsb_answers_new(&answers, "x", 1, handles.measurements()));
  lmsb_answer_columns columns = {};
  columns.struct_size = sizeof(columns);
  columns.count = SIZE_MAX;
  const char* const some[] = {"nanotron-playbook-0001"};
  columns.records = some;
  CHECK(lmsb_answers_put(answers, &columns) == LMSB_INVALID_ARGUMENT);
  columns.records = nullptr;
  columns.count = 1;
  CHECK(lmsb_answers_put(answers, &columns) == LMSB_INVALID_ARGUMENT);
  const char* const bad[] = {"\xff"};
  columns.records = bad;
  CHECK(lmsb_answers_put(answers, &columns) == LMSB_INVALID_ARGUMENT);
  lmsb_answers_free(answers);
  lmsb_ask_options options = {};
  options.struct_size = sizeof(options);
  for (const int32_t threads : {0, -1, INT32_MAX}) {
    options.threads = threads;
    CHECK(lmsb_answers_ask(&answers, handles.simulator(),
                           handles.measurements(),
                           &options) == LMSB_INVALID_ARGUMENT);
  }
}

TEST_CASE("Answers about other measurements are not scored") {
  const Handles& handles = SharedHandles();
  const std::string path = LMSIMBENCH_SMALL_BUNDLE;
  lmsb_bundle* bundle = nullptr;
  Need(lmsb_bundle_open_file(&bundle, path.data(), path.size()));
  lmsb_measurements* other = nullptr;
  Need(lmsb_measurements_open(&other, bundle));
  lmsb_answers* answers = nullptr;
  Need(lmsb_answers_new(&answers, "x", 1, other));
  lmsb_scorecard* card = nullptr;
  CHECK(lmsb_score(&card, handles.measurements(), &answers, 1, nullptr) ==
        LMSB_INVALID_ARGUMENT);
  CHECK(card == nullptr);
  CHECK(std::string(lmsb_last_error()).find("of the measurements") !=
        std::string::npos);
  lmsb_answers_free(answers);
  lmsb_measurements_free(other);
  lmsb_bundle_free(bundle);
}

TEST_CASE("Columns of the wrong type are refused, NULL places too") {
  const lmsb_view* view = nullptr;
  Need(lmsb_bundle_view(EmbeddedBundle(), "gemms", 5, &view));
  for (size_t i = 0; i < lmsb_view_column_count(view); ++i) {
    const lmsb_column* const column = lmsb_view_column_at(view, i);
    size_t count = 0;
    const double* f64 = nullptr;
    const int64_t* i64 = nullptr;
    const uint32_t* strings = nullptr;
    CHECK(lmsb_column_f64(column, nullptr, &count) == LMSB_INVALID_ARGUMENT);
    CHECK(lmsb_column_f64(column, &f64, nullptr) == LMSB_INVALID_ARGUMENT);
    CHECK(lmsb_column_i64(column, nullptr, &count) == LMSB_INVALID_ARGUMENT);
    CHECK(lmsb_column_i64(column, &i64, nullptr) == LMSB_INVALID_ARGUMENT);
    CHECK(lmsb_column_strings(column, nullptr, &count) ==
          LMSB_INVALID_ARGUMENT);
    CHECK(lmsb_column_strings(column, &strings, nullptr) ==
          LMSB_INVALID_ARGUMENT);
  }
}

}  // namespace
