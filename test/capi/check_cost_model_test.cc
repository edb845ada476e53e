#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <thread>

#include "test/capi/plugins.h"

// One faulty plug-in for each fault that the check of cost models tells.

namespace {

using namespace capi_test;
using Catch::Matchers::Contains;

// The report on a plug-in, after what is true of every check.
std::string ReportOn(const lmsb_cost_model_functions& functions) {
  lmsb_text* text = nullptr;
  const lmsb_code code =
      lmsb_cost_model_check(&text, EmbeddedBundle(), &functions);
  REQUIRE(text != nullptr);
  std::string report = lmsb_text_data(text);
  lmsb_text_free(text);
  CHECK(code == (report.empty() ? LMSB_OK : LMSB_FAILED_PRECONDITION));
  if (!report.empty()) {
    CHECK(report.back() == '\n');
    const std::string first = report.substr(0, report.find_first_of("(\n"));
    CHECK_THAT(lmsb_last_error(), Contains(first.substr(0, 40)));
  }
  return report;
}

std::string ReportOn(const CostModelPlugin& plugin) {
  return ReportOn(plugin.functions);
}

// Does something to every answer to a question about operators.
template <typename Change>
SpoilCosts<lmsb_operator_batch> EveryAnswer(Change change) {
  return [change](const lmsb_operator_batch& batch, double* seconds,
                  int32_t* evidence, lmsb_error*) -> lmsb_code {
    for (size_t i = 0; i < batch.count; ++i) {
      if (evidence[i] != LMSB_EVIDENCE_NOT_ANSWERED) {
        change(seconds[i], evidence[i]);
      }
    }
    return LMSB_OK;
  };
}

// Seconds that change by what has no business to change them.
SpoilCosts<lmsb_operator_batch> Lengthen(
    std::function<double(const lmsb_operator_batch&, size_t)> by) {
  return [by](const lmsb_operator_batch& batch, double* seconds, int32_t*,
              lmsb_error*) -> lmsb_code {
    for (size_t i = 0; i < batch.count; ++i) seconds[i] *= 1 + by(batch, i);
    return LMSB_OK;
  };
}

size_t LinesOf(const std::string& report) {
  return static_cast<size_t>(std::count(report.begin(), report.end(), '\n'));
}

TEST_CASE("Built-in cost models given away as plug-ins have no fault") {
  for (const char* name :
       {"default", "staged", "roofline", "collectives", "tables"}) {
    INFO(name);
    CHECK(ReportOn(CostModelPlugin(name)) == "");
  }
  CHECK(ReportOn(CostModelPlugin()) == "");
}

TEST_CASE("The check asks about every kind, pass, precision and span") {
  std::set<int> kinds;
  std::set<int> passes;
  std::set<int> precisions;
  std::set<int> collectives;
  std::set<int> groups;
  int64_t most_nodes = 0;
  CostModelPlugin plugin;
  plugin.functions.thread_safe = 0;
  plugin.spoil_operators = [&](const lmsb_operator_batch& batch, double*,
                               int32_t*, lmsb_error*) -> lmsb_code {
    for (size_t i = 0; i < batch.count; ++i) {
      kinds.insert(LMSB_U8(batch.kind, i));
      passes.insert(LMSB_U8(batch.pass, i));
      precisions.insert(LMSB_U8(batch.precision, i));
    }
    return LMSB_OK;
  };
  plugin.spoil_collectives = [&](const lmsb_collective_batch& batch, double*,
                                 int32_t*, lmsb_error*) -> lmsb_code {
    for (size_t i = 0; i < batch.count; ++i) {
      collectives.insert(LMSB_U8(batch.kind, i));
      groups.insert(LMSB_U8(batch.group, i));
      most_nodes = std::max(most_nodes, LMSB_I64(batch.nodes, i));
    }
    return LMSB_OK;
  };
  CHECK(ReportOn(plugin) == "");
  CHECK(kinds.size() >= 19);
  CHECK(passes.size() == 4);
  CHECK(precisions.size() >= 4);
  CHECK(collectives.size() == 6);
  CHECK(groups.size() >= 5);
  CHECK(most_nodes > 1);
}

TEST_CASE("NaN, negative and infinite seconds are told") {
  struct Fault {
    double seconds;
    const char* words;
  };
  const double inf = std::numeric_limits<double>::infinity();
  for (const Fault& fault : {Fault{std::nan(""), "answers NaN seconds"},
                             Fault{-1e-3, "-0.001 seconds, which is negative"},
                             Fault{inf, "answers infinite seconds"}}) {
    CostModelPlugin plugin;
    plugin.spoil_operators = EveryAnswer(
        [&](double& seconds, int32_t&) { seconds = fault.seconds; });
    const std::string report = ReportOn(plugin);
    CHECK_THAT(report, Contains("operator_costs"));
    CHECK_THAT(report, Contains(fault.words));
    CHECK_THAT(report, Contains("more like it"));
    CHECK(LinesOf(report) == 1);
  }
}

TEST_CASE("A fault in the costs of collectives is told as one of those") {
  CostModelPlugin plugin;
  plugin.spoil_collectives = [](const lmsb_collective_batch&, double* seconds,
                                int32_t*, lmsb_error*) -> lmsb_code {
    seconds[0] = -1;
    return LMSB_OK;
  };
  const std::string report = ReportOn(plugin);
  CHECK_THAT(report, Contains("collective_costs answers -1 seconds"));
  CHECK_THAT(report, Contains("bytes over"));
  CHECK_THAT(report, !Contains("operator_costs"));
}

TEST_CASE("Evidence that is none, and seconds without evidence, are told") {
  CostModelPlugin none;
  none.spoil_operators =
      EveryAnswer([](double&, int32_t& evidence) { evidence = 5; });
  CHECK_THAT(ReportOn(none), Contains("gives evidence 5, which is none"));
  CostModelPlugin forgotten;
  forgotten.spoil_operators =
      EveryAnswer([](double&, int32_t& evidence) { evidence = 0; });
  CHECK_THAT(ReportOn(forgotten), Contains("seconds without evidence"));
}

TEST_CASE("A model that answers nothing at all is told so") {
  CostModelPlugin plugin;
  plugin.functions.collective_costs = nullptr;
  plugin.spoil_operators = EveryAnswer([](double& seconds, int32_t& evidence) {
    seconds = std::nan("");
    evidence = 0;
  });
  CHECK_THAT(ReportOn(plugin), Contains("answers none of"));
}

TEST_CASE("A batch whose tail is not answered is a short write") {
  CostModelPlugin plugin;
  plugin.spoil_operators = [](const lmsb_operator_batch& batch, double* seconds,
                              int32_t* evidence, lmsb_error*) -> lmsb_code {
    seconds[batch.count - 1] = std::nan("");
    evidence[batch.count - 1] = LMSB_EVIDENCE_NOT_ANSWERED;
    return LMSB_OK;
  };
  const std::string report = ReportOn(plugin);
  CHECK_THAT(report, Contains("leaves the last 1 of"));
  CHECK_THAT(report, Contains("a short write"));
  CHECK(LinesOf(report) == 1);
}

TEST_CASE("Writing outside of the arrays is told") {
  CostModelPlugin behind;
  behind.spoil_operators = [](const lmsb_operator_batch& batch, double*,
                              int32_t* evidence, lmsb_error*) -> lmsb_code {
    evidence[batch.count] = LMSB_EVIDENCE_ANALYTIC;
    return LMSB_OK;
  };
  CHECK_THAT(ReportOn(behind), Contains("writes behind the end"));
  CostModelPlugin in_front;
  in_front.spoil_operators = [](const lmsb_operator_batch&, double* seconds,
                                int32_t*, lmsb_error*) -> lmsb_code {
    *(seconds - 1) = 0;
    return LMSB_OK;
  };
  CHECK_THAT(ReportOn(in_front), Contains("writes in front of"));
}

TEST_CASE("Changing the questions is told") {
  CostModelPlugin plugin;
  plugin.spoil_operators = [](const lmsb_operator_batch& batch, double*,
                              int32_t*, lmsb_error*) -> lmsb_code {
    *const_cast<int64_t*>(batch.rows.first) = 12345;
    return LMSB_OK;
  };
  CHECK_THAT(ReportOn(plugin), Contains("changes the questions"));
}

TEST_CASE("What is wrong with the struct of a cost model is told") {
  CostModelPlugin plugin;
  const auto report_after = [&](auto change) {
    lmsb_cost_model_functions functions = plugin.functions;
    change(functions);
    return ReportOn(functions);
  };
  CHECK_THAT(report_after([](auto& f) { f.struct_size = 8; }),
             Contains("struct_size of 8"));
  CHECK_THAT(report_after([](auto& f) { f.struct_size = SIZE_MAX; }),
             Contains("struct_size is 18446744073709551615"));
  CHECK_THAT(report_after([](auto& f) { f.thread_safe = 2; }),
             Contains("thread_safe is 2"));
  CHECK_THAT(report_after([](auto& f) { f.reserved = 7; }),
             Contains("reserved is 7"));
  CHECK_THAT(report_after([](auto& f) { f.name = nullptr; }),
             Contains("name is NULL"));
  CHECK_THAT(report_after([](auto& f) { f.name = "\xff"; }),
             Contains("name is not UTF-8"));
  CHECK_THAT(report_after([](auto& f) {
               f.operator_costs = nullptr;
               f.collective_costs = nullptr;
             }),
             Contains("neither operator_costs nor collective_costs"));
}

TEST_CASE("What is wrong with an error is told") {
  struct Fault {
    lmsb_code code;
    std::string text;
    const char* words;
  };
  for (const Fault& fault :
       {Fault{LMSB_UNIMPLEMENTED, "", "returns UNIMPLEMENTED without a text"},
        Fault{99, "why", "returns 99, which is no code"},
        Fault{LMSB_UNIMPLEMENTED, "\xc0", "not UTF-8"},
        Fault{LMSB_INTERNAL, "a slip\nin two lines",
              "fails with INTERNAL: a slip in two lines, which is no "
              "refusal"}}) {
    CostModelPlugin plugin;
    plugin.spoil_operators = [&](const lmsb_operator_batch&, double*, int32_t*,
                                 lmsb_error* error) {
      SetText(error, fault.text);
      return fault.code;
    };
    CHECK_THAT(ReportOn(plugin), Contains(fault.words));
  }
}

TEST_CASE("Exceptions are told, with their words where they have some") {
  CostModelPlugin with_words;
  with_words.spoil_operators = [](const lmsb_operator_batch&, double*, int32_t*,
                                  lmsb_error*) -> lmsb_code {
    throw std::out_of_range("vector::at");
  };
  CHECK_THAT(ReportOn(with_words),
             Contains("operator_costs throws an exception: vector::at, for"));
  CostModelPlugin of_no_class;
  of_no_class.spoil_operators = [](const lmsb_operator_batch&, double*,
                                   int32_t*,
                                   lmsb_error*) -> lmsb_code { throw 3; };
  CHECK_THAT(ReportOn(of_no_class),
             Contains("operator_costs throws an exception, for"));
}

TEST_CASE("Answers that change when the question is repeated are told") {
  std::atomic<int> calls{0};
  CostModelPlugin plugin;
  plugin.functions.thread_safe = 0;
  plugin.spoil_operators = Lengthen(
      [&](const lmsb_operator_batch&, size_t) { return 1e-9 * ++calls; });
  const std::string report = ReportOn(plugin);
  CHECK_THAT(report, Contains("is not deterministic"));
  CHECK(LinesOf(report) == 1);
}

TEST_CASE("Answers that depend on the place in the batch are told") {
  CostModelPlugin plugin;
  plugin.spoil_operators = Lengthen([](const lmsb_operator_batch&, size_t i) {
    return 1e-9 * static_cast<double>(i);
  });
  CHECK_THAT(ReportOn(plugin), Contains("asked in the reverse order"));
}

TEST_CASE("Answers that depend on the size of the batch are told") {
  CostModelPlugin plugin;
  plugin.spoil_operators =
      Lengthen([](const lmsb_operator_batch& batch, size_t) {
        return 1e-9 * static_cast<double>(batch.count);
      });
  CHECK_THAT(ReportOn(plugin), Contains("the question alone"));
  CostModelPlugin refuses;
  refuses.spoil_operators = [](const lmsb_operator_batch& batch, double*,
                               int32_t*, lmsb_error* error) -> lmsb_code {
    if (batch.count <= 7) return LMSB_OK;
    SetText(error, "at most 7");
    return LMSB_UNIMPLEMENTED;
  };
  CHECK_THAT(ReportOn(refuses), Contains("at most 7"));
  CHECK_THAT(ReportOn(refuses), Contains("though it answers each alone"));
}

TEST_CASE("A model that takes the stride of columns for granted is told") {
  CostModelPlugin plugin;
  // Reads the rows as if they lay where the library's first version put them.
  plugin.spoil_operators =
      Lengthen([](const lmsb_operator_batch& batch, size_t) {
        return batch.rows.stride == sizeof(int64_t) ? 0.5 : 0;
      });
  CHECK_THAT(ReportOn(plugin), Contains("with every column packed"));
}

TEST_CASE("A model that refuses longer structs than its own is told") {
  CostModelPlugin plugin;
  plugin.spoil_operators = [](const lmsb_operator_batch& batch, double*,
                              int32_t*, lmsb_error* error) -> lmsb_code {
    if (batch.struct_size == sizeof(batch)) return LMSB_OK;
    SetText(error, "what is this?");
    return LMSB_INVALID_ARGUMENT;
  };
  CHECK_THAT(ReportOn(plugin),
             Contains("asked in a batch struct of a later version"));
}

TEST_CASE("A model that is declared thread_safe and is not is told") {
  std::atomic<int> inside{0};
  CostModelPlugin plugin;
  plugin.spoil_operators = [&](const lmsb_operator_batch& batch,
                               double* seconds, int32_t*,
                               lmsb_error*) -> lmsb_code {
    // Stands for scratch memory that two calls share.
    ++inside;
    for (int i = 0; i < 100 && inside == 1; ++i) std::this_thread::yield();
    const int others = inside - 1;
    for (size_t i = 0; i < batch.count; ++i) seconds[i] *= 1 + others;
    --inside;
    return LMSB_OK;
  };
  const std::string report = ReportOn(plugin);
  CHECK_THAT(report, Contains("is declared thread_safe and is not"));
  CHECK(LinesOf(report) == 1);
  SECTION("Undeclared, it is asked by one thread and has no fault") {
    plugin.functions.thread_safe = 0;
    CHECK(ReportOn(plugin) == "");
  }
}

TEST_CASE("Answers in a wrong unit are told") {
  struct Fault {
    double factor;
    const char* words;
  };
  for (const Fault& fault :
       {Fault{1e3, "look like milliseconds where seconds are meant"},
        Fault{1e6, "look like microseconds where seconds are meant"},
        Fault{1e9, "look like nanoseconds where seconds are meant"},
        Fault{1e-3, "as if seconds were divided by 1,000:"},
        Fault{1e-6, "as if seconds were divided by 1,000,000:"}}) {
    INFO(fault.factor);
    CostModelPlugin plugin;
    plugin.functions.thread_safe = 0;
    plugin.spoil_operators = EveryAnswer(
        [&](double& seconds, int32_t&) { seconds *= fault.factor; });
    const std::string report = ReportOn(plugin);
    CHECK_THAT(report, Contains(fault.words));
    CHECK_THAT(report, Contains("questions of the kind attention"));
    CHECK_THAT(report, !Contains("questions of the kind collective"));
    if (fault.factor < 1) {
      CHECK_THAT(report, Contains("at the published peaks of"));
    }
  }
}

TEST_CASE("A model that is off by a factor of 20 is merely a bad model") {
  CostModelPlugin plugin("default");
  plugin.functions.thread_safe = 0;
  for (const double factor : {20.0, 1 / 20.0}) {
    plugin.spoil_operators =
        EveryAnswer([&](double& seconds, int32_t&) { seconds *= factor; });
    CHECK(ReportOn(plugin) == "");
  }
}

TEST_CASE("The check of a cost model does not call destroy") {
  static int destroyed = 0;
  CostModelPlugin plugin;
  plugin.functions.destroy = [](void*) { ++destroyed; };
  ReportOn(plugin);
  CHECK(destroyed == 0);
}

TEST_CASE("Without a bundle or a plug-in nothing is checked") {
  CostModelPlugin plugin;
  lmsb_text* text = nullptr;
  CHECK(lmsb_cost_model_check(nullptr, EmbeddedBundle(), &plugin.functions) ==
        LMSB_INVALID_ARGUMENT);
  CHECK(lmsb_cost_model_check(&text, nullptr, &plugin.functions) ==
        LMSB_INVALID_ARGUMENT);
  CHECK(lmsb_cost_model_check(&text, EmbeddedBundle(), nullptr) ==
        LMSB_INVALID_ARGUMENT);
  CHECK(text == nullptr);
}

}  // namespace
