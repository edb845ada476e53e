#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>

#include "test/capi/plugins.h"

// One faulty plug-in for each fault that the check of simulators tells.

namespace {

using namespace capi_test;
using Catch::Matchers::Contains;

std::string ReportOn(const lmsb_simulator_functions& functions) {
  lmsb_text* text = nullptr;
  const lmsb_code code =
      lmsb_simulator_check(&text, EmbeddedBundle(), &functions);
  REQUIRE(text != nullptr);
  std::string report = lmsb_text_data(text);
  lmsb_text_free(text);
  CHECK(code == (report.empty() ? LMSB_OK : LMSB_FAILED_PRECONDITION));
  return report;
}

// The report on a plug-in whose predictions are spoiled in this way.
std::string ReportAfter(SimulatorPlugin::Spoil spoil) {
  SimulatorPlugin plugin;
  plugin.spoil = std::move(spoil);
  return ReportOn(plugin.functions);
}

// The report where one field is multiplied.
std::string ReportWith(const std::string& field, double factor) {
  return ReportAfter(
      [=](const lmsb_workload*, lmsb_prediction* prediction, lmsb_error*) {
        return Set(prediction, field, factor * Get(prediction, field));
      });
}

// Does something to every prediction and goes on whatever comes of it.
template <typename Change>
SimulatorPlugin::Spoil Every(Change change) {
  return [change](const lmsb_workload*, lmsb_prediction* prediction,
                  lmsb_error*) -> lmsb_code {
    change(prediction);
    return LMSB_OK;
  };
}

size_t LinesOf(const std::string& report) {
  return static_cast<size_t>(std::count(report.begin(), report.end(), '\n'));
}

TEST_CASE("Built-in simulators given away as plug-ins have no fault") {
  // A plug-in may call back into the library: these do nothing else.
  for (const char* name : {"calculon", "naive-bubble", "staged"}) {
    INFO(name);
    CHECK(ReportOn(SimulatorPlugin(name).functions) == "");
  }
}

TEST_CASE("Times that are zero, negative or infinite are told") {
  CHECK_THAT(ReportWith("iteration_time_s", 0), Contains("time of 0"));
  CHECK_THAT(ReportWith("iteration_time_s", -1),
             Contains("answers iteration_time_s = -"));
  const std::string report = ReportAfter(Every([](lmsb_prediction* prediction) {
    Set(prediction, "iteration_time_s",
        std::numeric_limits<double>::infinity());
  }));
  CHECK_THAT(report, Contains("the library refused a field"));
  CHECK_THAT(report, Contains("'iteration_time_s' is set to infinity"));
}

TEST_CASE("Numbers inside of parts and lists are looked at too") {
  const std::string report = ReportAfter(Every([](lmsb_prediction* prediction) {
    Set(prediction, "memory.weights_bytes", -1);
    const std::string ranks = R"([{"compute_s": -2}])";
    lmsb_prediction_set_json(prediction, "ranks", 5, ranks.data(),
                             ranks.size());
  }));
  CHECK_THAT(report, Contains("memory.weights_bytes = -1"));
  CHECK_THAT(report, Contains("ranks[].compute_s = -2"));
}

TEST_CASE("OK without any answer is told") {
  SimulatorPlugin plugin;
  plugin.functions.predict = [](void*, const lmsb_workload*, const lmsb_system*,
                                const lmsb_config*, lmsb_prediction*,
                                lmsb_error*) -> lmsb_code { return LMSB_OK; };
  CHECK_THAT(ReportOn(plugin.functions), Contains("answers neither"));
}

TEST_CASE("A simulator that refuses everything is told so") {
  const std::string report = ReportAfter(
      [](const lmsb_workload*, lmsb_prediction*, lmsb_error* error) {
        SetText(error, "not today");
        return lmsb_code{LMSB_UNIMPLEMENTED};
      });
  CHECK_THAT(report, Contains("answers none of"));
}

TEST_CASE("Times in a wrong unit are told") {
  const auto time = [](double factor) {
    return ReportAfter(Every([=](lmsb_prediction* prediction) {
      const double right = Get(prediction, "iteration_time_s");
      lmsb_prediction_set_json(prediction, "time", 4, "{}", 2);
      lmsb_prediction_set_json(prediction, "ranks", 5, "[]", 2);
      Set(prediction, "iteration_time_s", factor * right);
    }));
  };
  CHECK_THAT(time(1e3), Contains("iteration_time_s looks like milliseconds "
                                 "where seconds are meant"));
  CHECK_THAT(time(1e6), Contains("looks like microseconds"));
  CHECK_THAT(time(1e-3), Contains("as if seconds were divided by 1,000:"));
  CHECK_THAT(time(1e-6), Contains("as if seconds were divided by 1,000,000:"));
}

TEST_CASE("Memory in a wrong unit is told") {
  const auto memory = [](double factor) {
    return ReportAfter(Every([=](lmsb_prediction* prediction) {
      const double right = Get(prediction, "peak_memory_bytes");
      lmsb_prediction_set_json(prediction, "memory", 6, "{}", 2);
      Set(prediction, "verdict", "");
      Set(prediction, "peak_memory_bytes", factor * right);
    }));
  };
  CHECK_THAT(memory(1.0 / (1 << 30)), Contains("looks like GiB"));
  CHECK_THAT(memory(1.0 / (1 << 20)), Contains("looks like MiB"));
  CHECK_THAT(memory(1.0 / (1 << 10)), Contains("looks like KiB"));
  CHECK_THAT(memory(1e3), Contains("peak_memory_bytes is too large"));
}

TEST_CASE("A verdict that contradicts the memory is told") {
  const auto verdict = [](const char* name, double memory, double margin) {
    return ReportAfter(Every([=](lmsb_prediction* prediction) {
      lmsb_prediction_set_json(prediction, "memory", 6, "{}", 2);
      Set(prediction, "verdict", name);
      Set(prediction, "peak_memory_bytes", memory);
      Set(prediction, "memory_margin_bytes", margin);
    }));
  };
  const double missing = std::nan("");
  CHECK_THAT(verdict("fits", 1e12, missing),
             Contains("answers 'fits', though its peak of"));
  CHECK_THAT(verdict("does not fit", 2e9, missing),
             Contains("answers 'does not fit', though its peak of"));
  CHECK_THAT(verdict("fits", 4e9, -1),
             Contains("'fits' with memory_margin_bytes of -1"));
}

TEST_CASE("Parts that do not sum to the whole are told") {
  const std::string time = ReportAfter(Every([](lmsb_prediction* prediction) {
    const double whole = Get(prediction, "iteration_time_s");
    lmsb_prediction_set_json(prediction, "time", 4, "{}", 2);
    Set(prediction, "time.forward_s", 1.5 * whole);
  }));
  CHECK_THAT(time, Contains("parts of time that sum to"));
  const std::string memory = ReportAfter(Every([](lmsb_prediction* prediction) {
    const double whole = Get(prediction, "peak_memory_bytes");
    lmsb_prediction_set_json(prediction, "memory", 6, "{}", 2);
    for (const char* part :
         {"weights_bytes", "gradients_bytes", "optimizer_bytes",
          "activations_bytes", "logits_bytes", "buffers_bytes",
          "framework_bytes"}) {
      // Half of it is nowhere.
      Set(prediction, std::string("memory.") + part, whole / 14);
    }
  }));
  CHECK_THAT(memory, Contains("parts of memory that sum to"));
  const std::string ranks = ReportAfter(Every([](lmsb_prediction* prediction) {
    const std::string of_one =
        R"([{"compute_s": 1e-9, "exposed_communication_s": 0,)"
        R"( "bubble_s": 0, "idle_s": 0}])";
    lmsb_prediction_set_json(prediction, "ranks", 5, of_one.data(),
                             of_one.size());
  }));
  CHECK_THAT(ranks, Contains("idle sum to 1e-09"));
}

TEST_CASE("What is wrong with a refusal is told") {
  struct Fault {
    lmsb_code code;
    const char* text;
    const char* words;
  };
  for (const Fault& fault :
       {Fault{LMSB_FAILED_PRECONDITION, "",
              "predict returns FAILED_PRECONDITION without a text"},
        Fault{-5, "why", "predict returns -5, which is no code"},
        Fault{LMSB_UNKNOWN, "eh?", "predict fails with UNKNOWN: eh?"}}) {
    CHECK_THAT(ReportAfter([&](const lmsb_workload*, lmsb_prediction*,
                               lmsb_error* error) {
                 SetText(error, fault.text);
                 return fault.code;
               }),
               Contains(fault.words));
  }
}

TEST_CASE("An exception of predict is told") {
  CHECK_THAT(ReportAfter([](const lmsb_workload*, lmsb_prediction*,
                            lmsb_error*) -> lmsb_code {
               throw std::runtime_error("no such layer");
             }),
             Contains("predict throws an exception: no such layer, for run"));
}

TEST_CASE("Predictions that change when repeated are told") {
  std::atomic<int> calls{0};
  SimulatorPlugin plugin;
  plugin.functions.thread_safe = 0;
  plugin.spoil = [&](const lmsb_workload*, lmsb_prediction* prediction,
                     lmsb_error*) {
    return Set(prediction, "memory_margin_bytes", ++calls);
  };
  const std::string report = ReportOn(plugin.functions);
  CHECK_THAT(report, Contains("not deterministic"));
  CHECK_THAT(report, Contains("memory_margin_bytes"));
  CHECK(LinesOf(report) == 1);
}

TEST_CASE("A prediction that is left from the question before is told") {
  // The memory of what was asked last, if that was another workload.
  static double left_over = 0;
  static double now = 0;
  static std::string last;
  SimulatorPlugin plugin;
  plugin.functions.thread_safe = 0;
  plugin.spoil = [](const lmsb_workload* workload, lmsb_prediction* prediction,
                    lmsb_error*) {
    lmsb_text* json = nullptr;
    Need(lmsb_workload_to_json(workload, &json));
    const std::string question = lmsb_text_data(json);
    lmsb_text_free(json);
    if (question != last) {
      left_over = now;
      now = Get(prediction, "iteration_time_s");
      last = question;
    }
    lmsb_prediction_set_json(prediction, "time", 4, "{}", 2);
    return left_over > 0 ? Set(prediction, "iteration_time_s", left_over)
                         : lmsb_code{LMSB_OK};
  };
  CHECK_THAT(ReportOn(plugin.functions),
             Contains("depend on what was asked before: iteration_time_s"));
}

TEST_CASE("A simulator that is declared thread_safe and is not is told") {
  std::atomic<int> inside{0};
  SimulatorPlugin plugin;
  plugin.spoil = [&](const lmsb_workload*, lmsb_prediction* prediction,
                     lmsb_error*) {
    ++inside;
    for (int i = 0; i < 100 && inside == 1; ++i) std::this_thread::yield();
    const int others = inside - 1;
    const lmsb_code code = Set(prediction, "memory_margin_bytes", 1 + others);
    --inside;
    return code;
  };
  const std::string report = ReportOn(plugin.functions);
  CHECK_THAT(report, Contains("declared thread_safe and is not"));
  CHECK(LinesOf(report) == 1);
}

TEST_CASE("What is wrong with the struct of a simulator is told") {
  const SimulatorPlugin plugin;
  lmsb_simulator_functions functions = plugin.functions;
  functions.struct_size = sizeof(size_t);
  CHECK_THAT(ReportOn(functions), Contains("struct_size of 8"));
  functions = plugin.functions;
  functions.predict = nullptr;
  CHECK_THAT(ReportOn(functions), Contains("has no predict"));
  functions = plugin.functions;
  functions.name = "";
  CHECK_THAT(ReportOn(functions), Contains("name is empty"));
  functions = plugin.functions;
  functions.thread_safe = -1;
  CHECK_THAT(ReportOn(functions), Contains("thread_safe is -1"));
}

// Checks itself, from inside of what the check called.
lmsb_code CheckAnother(void* user, const lmsb_workload*, const lmsb_system*,
                       const lmsb_config*, lmsb_prediction* prediction,
                       lmsb_error*) {
  auto* const asked = static_cast<bool*>(user);
  if (!*asked) {
    *asked = true;
    lmsb_simulator_functions inner = {};
    inner.struct_size = sizeof(inner);
    inner.user = user;
    inner.name = "inner";
    inner.predict = CheckAnother;
    CHECK(ReportOn(inner) == "");
  }
  return Set(prediction, "verdict", "fits");
}

TEST_CASE("A simulator may call the check that is asking it") {
  bool asked = false;
  lmsb_simulator_functions functions = {};
  functions.struct_size = sizeof(functions);
  functions.user = &asked;
  functions.name = "outer";
  functions.predict = CheckAnother;
  CHECK(ReportOn(functions) == "");
}

}  // namespace
