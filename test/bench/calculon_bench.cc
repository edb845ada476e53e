// Time of one full evaluation of the Calculon model: all statistics, no layer
// output, over all golden configurations that succeed, inputs read before, one
// workspace. "shuffled" walks them in a random order (systems, applications and
// options change from one to the next), "hot" repeats each one many times in a
// row. Counters: seconds per evaluation and allocations per evaluation.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "lib/simulators/calculon/evaluate.h"
#include "test/bench/allocation_count.h"
#include "test/simulators/calculon_records.h"

namespace lmsimbench::calculon {
namespace {

struct Configuration {
  Application application;
  Execution execution;
  const System* system;
};

// All golden configurations that succeed, in an order that is random and always
// the same.
const std::vector<Configuration>& Configurations() {
  static RecordReader reader;
  static const std::vector<Configuration> configurations = [] {
    std::vector<Configuration> result;
    std::vector<std::string> lines;
    std::string message;
    if (!reader.Load(GoldenPath("applications.json"),
                     GoldenPath("systems.json"), message) ||
        !ReadLines(GoldenPath("golden_dev.jsonl.gz"), lines)) {
      fmt::print(stderr, "the golden files cannot be read: {}\n", message);
      std::exit(1);
    }
    for (const std::string& line : lines) {
      const Json record = ParsePythonJson(line);
      RecordInputs inputs;
      if (record["status"] != "ok" || !reader.Read(record, inputs, message))
        continue;
      result.push_back({inputs.application, inputs.execution, inputs.system});
    }
    std::shuffle(result.begin(), result.end(), std::mt19937(20240222));
    return result;
  }();
  return configurations;
}

void Run(const Configuration& configuration, Workspace& workspace,
         Statistics& statistics) {
  const ErrorCode code =
      Evaluate(configuration.application, *configuration.system,
               configuration.execution, workspace, statistics);
  benchmark::DoNotOptimize(code);
  benchmark::DoNotOptimize(statistics.total_time);
  benchmark::ClobberMemory();
}

void SetCounters(benchmark::State& state, int64_t evaluations,
                 int64_t allocations) {
  const auto count = static_cast<double>(evaluations);
  state.counters["configurations"] =
      static_cast<double>(Configurations().size());
  state.counters["per_evaluation"] = benchmark::Counter(
      count, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["allocations_per_evaluation"] =
      static_cast<double>(allocations) / count;
}

// One iteration evaluates every configuration once.
void EvaluateShuffled(benchmark::State& state) {
  const std::vector<Configuration>& configurations = Configurations();
  Workspace workspace;
  Statistics statistics = {};
  int64_t evaluations = 0;
  const int64_t before = AllocationCount();
  for (auto _ : state) {
    for (const Configuration& configuration : configurations) {
      Run(configuration, workspace, statistics);
    }
    evaluations += static_cast<int64_t>(configurations.size());
  }
  SetCounters(state, evaluations, AllocationCount() - before);
}
BENCHMARK(EvaluateShuffled)->Unit(benchmark::kMicrosecond);

// One iteration evaluates every configuration 100 times in a row.
void EvaluateHot(benchmark::State& state) {
  constexpr int kRepetitions = 100;
  const std::vector<Configuration>& configurations = Configurations();
  Workspace workspace;
  Statistics statistics = {};
  int64_t evaluations = 0;
  const int64_t before = AllocationCount();
  for (auto _ : state) {
    for (const Configuration& configuration : configurations) {
      for (int i = 0; i < kRepetitions; ++i)
        Run(configuration, workspace, statistics);
    }
    evaluations += kRepetitions * static_cast<int64_t>(configurations.size());
  }
  SetCounters(state, evaluations, AllocationCount() - before);
}
BENCHMARK(EvaluateHot)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace lmsimbench::calculon

BENCHMARK_MAIN();
