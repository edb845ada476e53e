// Time of vTrain's model on its golden configurations, resolved before, one
// workspace: the smallest (11 tasks), the largest on 8 devices, the 530B model
// on 3,360 devices (1,122,522 nodes in the original) and the mean over all.
//
// "Folded" simulates passes of ranks, all outputs; "PlanAndFolded" also looks
// up every communication; "Kernels" is the reference that simulates every
// kernel; "Tasks" writes the folded simulation out, kernel by kernel. Counters:
// tasks of the case, tasks a second, allocations of one simulation.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "lib/simulators/vtrain/folded_simulation.h"
#include "lib/simulators/vtrain/kernel_simulation.h"
#include "lib/simulators/vtrain/plan.h"
#include "lib/simulators/vtrain/task_timeline.h"
#include "test/bench/allocation_count.h"
#include "test/simulators/vtrain_records.h"

namespace lmsimbench::vtrain {
namespace {

struct Case {
  std::string id;
  Config config;
  Plan plan;
  KernelTable table;
  FoldedTable folded;
  FoldedRanks ranks;
  int64_t tasks = 0;
};

int64_t Tasks(const Outputs& outputs) {
  int64_t tasks = 0;
  for (const RankOutputs& rank : outputs.ranks) tasks += rank.task_nodes;
  return tasks;
}

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> made;
    FoldedWorkspace workspace;
    Outputs outputs;
    for (SimulationRecord& record : ReadSimulationRecords()) {
      Case one;
      one.id = record.id;
      one.config = record.config;
      one.table = std::move(record.kernels);
      if (!Resolve(VtrainRepairs::None(), one.config).ok() ||
          !MakePlan(one.config, {}, one.plan).ok()) {
        continue;
      }
      Fold(one.table, one.folded);
      FoldRanks(one.plan, one.folded, one.ranks);
      Simulate(one.plan, one.folded, one.ranks, workspace, outputs);
      one.tasks = Tasks(outputs);
      made.push_back(std::move(one));
    }
    if (made.empty()) {
      fmt::print(stderr, "the golden file cannot be read\n");
      std::exit(1);
    }
    return made;
  }();
  return cases;
}

enum Which { kSmallest, kEightDevices, k530B };

const Case& Find(int64_t which) {
  const auto fewer = [](const Case& a, const Case& b) {
    return a.tasks < b.tasks;
  };
  const std::vector<Case>& cases = Cases();
  if (which == kSmallest) {
    return *std::min_element(cases.begin(), cases.end(), fewer);
  }
  if (which == k530B) {
    return *std::max_element(cases.begin(), cases.end(), fewer);
  }
  const Case* found = nullptr;
  for (const Case& one : cases) {
    if (one.config.num_gpus == 8 && (found == nullptr || fewer(*found, one))) {
      found = &one;
    }
  }
  return *found;
}

void SetCounters(benchmark::State& state, const Case& one,
                 int64_t allocations) {
  const auto tasks = static_cast<double>(one.tasks);
  const auto runs = static_cast<double>(state.iterations());
  state.counters["tasks"] = tasks;
  state.counters["tasks_per_s"] =
      benchmark::Counter(tasks * runs, benchmark::Counter::kIsRate);
  state.counters["allocations"] = static_cast<double>(allocations) / runs;
  state.SetLabel(one.id);
}

void Folded(benchmark::State& state) {
  const Case& one = Find(state.range(0));
  FoldedWorkspace workspace;
  Outputs outputs;
  Simulate(one.plan, one.folded, one.ranks, workspace, outputs);
  const int64_t before = AllocationCount();
  for (auto _ : state) {
    Simulate(one.plan, one.folded, one.ranks, workspace, outputs);
    benchmark::DoNotOptimize(outputs.iteration_ns);
    benchmark::ClobberMemory();
  }
  SetCounters(state, one, AllocationCount() - before);
}
BENCHMARK(Folded)->Arg(kSmallest)->Arg(kEightDevices)->Arg(k530B);

void PlanAndFolded(benchmark::State& state) {
  const Case& one = Find(state.range(0));
  FoldedWorkspace workspace;
  Outputs outputs;
  Plan plan;
  FoldedTable folded;
  FoldedRanks ranks;
  benchmark::DoNotOptimize(MakePlan(one.config, {}, plan).ok());
  FoldRanks(plan, one.folded, ranks);
  Simulate(plan, one.folded, ranks, workspace, outputs);
  const int64_t before = AllocationCount();
  for (auto _ : state) {
    benchmark::DoNotOptimize(MakePlan(one.config, {}, plan).ok());
    Fold(one.table, folded);
    FoldRanks(plan, folded, ranks);
    Simulate(plan, folded, ranks, workspace, outputs);
    benchmark::DoNotOptimize(outputs.iteration_ns);
    benchmark::ClobberMemory();
  }
  SetCounters(state, one, AllocationCount() - before);
}
BENCHMARK(PlanAndFolded)->Arg(kSmallest)->Arg(kEightDevices)->Arg(k530B);

// One iteration simulates every golden configuration once.
void FoldedAll(benchmark::State& state) {
  const std::vector<Case>& cases = Cases();
  FoldedWorkspace workspace;
  Outputs outputs;
  for (auto _ : state) {
    for (const Case& one : cases) {
      Simulate(one.plan, one.folded, one.ranks, workspace, outputs);
      benchmark::DoNotOptimize(outputs.iteration_ns);
      benchmark::ClobberMemory();
    }
  }
  state.counters["configurations"] = static_cast<double>(cases.size());
  state.counters["per_simulation"] = benchmark::Counter(
      static_cast<double>(cases.size()) *
          static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(FoldedAll)->Unit(benchmark::kMicrosecond);

void Kernels(benchmark::State& state) {
  const Case& one = Find(state.range(0));
  KernelWorkspace workspace;
  Outputs outputs;
  for (auto _ : state) {
    SimulateKernels(one.plan, one.table, workspace, outputs);
    benchmark::DoNotOptimize(outputs.iteration_ns);
    benchmark::ClobberMemory();
  }
  SetCounters(state, one, 0);
}
BENCHMARK(Kernels)->Arg(kSmallest)->Arg(kEightDevices)->Arg(k530B);

void TasksWritten(benchmark::State& state) {
  const Case& one = Find(state.range(0));
  FoldedWorkspace workspace;
  Outputs outputs;
  TaskTimeline timeline;
  Simulate(one.plan, one.folded, one.ranks, workspace, outputs);
  WriteTasks(one.plan, one.table, workspace, outputs, timeline);
  for (auto _ : state) {
    Simulate(one.plan, one.folded, one.ranks, workspace, outputs);
    WriteTasks(one.plan, one.table, workspace, outputs, timeline);
    benchmark::DoNotOptimize(timeline.ranks.data());
    benchmark::ClobberMemory();
  }
  SetCounters(state, one, 0);
}
BENCHMARK(TasksWritten)->Arg(kSmallest)->Arg(kEightDevices)->Arg(k530B);

}  // namespace
}  // namespace lmsimbench::vtrain

BENCHMARK_MAIN();
