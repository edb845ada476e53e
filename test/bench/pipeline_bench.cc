// Time of the staged pipeline on one core, workspace reused, configurations in
// rotation: no configuration follows itself, because repetition flatters.
//   S: 8 devices (tp 2, pp 2, dp 2), 32 layers, 16 micro-batches
//   M: 512 devices (tp 8, pp 8, dp 8), 96 layers, 64 micro-batches
//   L: 16,384 devices (tp 8, pp 16, vpp 8, dp 128), 128 layers, 512
//   micro-batches
//   E: 512 devices (pp 8, dp 64, ep 32), 64 layers of latent attention and 256
//   experts, 64 micro-batches
//   C: 512 devices (tp 8, pp 4, dp 4, cp 4), 80 layers, 64 micro-batches
//   F: as M, with sharded parameters over 4 of the 8 replicas
//   X: as L, with attention and experts of E, ep 8
// LowerAggregate is lower and aggregate with all outputs, ExecuteOperators the
// operator-level executor on the same costed graphs, which lie in memory one
// behind the other; their ratio in one run is what counts. AllStages are all
// five, StagedSimulator is `staged` behind its interface. Counters: allocations
// an iteration, tasks a second.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "lib/aggregate/execute.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/cost_models.h"
#include "lmsimbench/lookup.h"
#include "lmsimbench/pipeline.h"
#include "lmsimbench/staged.h"
#include "test/bench/allocation_count.h"

namespace lmsimbench {
namespace {

struct Question {
  Workload workload;
  ParallelConfig config;
};

struct Size {
  int64_t tp, pp, vpp, dp, layers, micro_batches, hidden;
  int64_t ep = 1;
  int64_t cp = 1;
  bool sharded = false;
};
constexpr Size kSizes[] = {
    {2, 2, 1, 2, 32, 16, 4096},         {8, 8, 1, 8, 96, 64, 12288},
    {8, 16, 8, 128, 128, 512, 16384},   {1, 8, 1, 64, 64, 64, 7168, 32},
    {8, 4, 1, 4, 80, 64, 8192, 1, 4},   {8, 8, 1, 8, 96, 64, 12288, 1, 1, true},
    {8, 16, 8, 128, 128, 512, 16384, 8}};

template <typename T>
T Need(absl::StatusOr<T> value) {
  if (!value.ok()) {
    fmt::print(stderr, "{}\n", std::string(value.status().message()));
    std::exit(1);
  }
  return *std::move(value);
}

void Need(const absl::Status& status) {
  if (status.ok()) return;
  fmt::print(stderr, "{}\n", std::string(status.message()));
  std::exit(1);
}

const Bundle& TheBundle() {
  static const Bundle bundle = Need(Bundle::Embedded());
  return bundle;
}

const CostModel& TheModel() {
  static const std::unique_ptr<CostModel> model =
      Need(MakeDefaultCostModel(TheBundle()));
  return *model;
}

const System& TheSystem() {
  static const System system = Need(FindPlatform(TheBundle(), "a100-sxm4-80g"));
  return system;
}

// As DeepSeek-V3 has them.
void SetExperts(ModelSpec& model) {
  model.attention = AttentionKind::kLatent;
  model.q_lora_rank = 1536;
  model.kv_lora_rank = 512;
  model.qk_nope_head_dim = 128;
  model.qk_rope_head_dim = 64;
  model.v_head_dim = 128;
  model.experts = 256;
  model.top_k = 8;
  model.expert_ffn = 2048;
  model.shared_experts = 1;
  model.dense_first_layers = 3;
}

// Eight configurations of one size that differ in what a sweep varies.
std::vector<Question> Questions(const Size& size) {
  std::vector<Question> questions;
  for (int i = 0; i < 8; ++i) {
    Question q;
    ModelSpec& model = q.workload.model;
    model.hidden = size.hidden;
    model.layers = size.layers;
    model.heads = size.hidden / 128;
    model.kv_heads = model.heads;
    model.ffn = 4 * size.hidden;
    model.vocab = 51200;
    model.gated_mlp = YesNo::kNo;
    model.dropout = 0;
    q.workload.seq_len = 2048;
    q.workload.precision = Precision::kBf16;
    q.workload.attention_impl = AttentionImpl::kFlash;
    ParallelConfig& config = q.config;
    config.tp = size.tp;
    config.pp = size.pp;
    config.vpp = size.vpp;
    config.dp = size.dp;
    config.cp = size.cp;
    if (size.ep > 1) {
      config.ep = size.ep;
      config.etp = 1;
      SetExperts(model);
    }
    config.micro_batch = 1 + i % 2;
    config.sequence_parallel = (i / 2) % 2 != 0 ? YesNo::kYes : YesNo::kNo;
    config.overlap_tensor = (i / 2) % 2 != 0 ? YesNo::kYes : YesNo::kNo;
    config.zero = size.sharded ? ZeroStage::kParameters
                               : ZeroStage::kDistributedOptimizer;
    if (size.sharded) config.zero_group = 4;
    config.recompute = i % 3 == 0 ? Recompute::kFull : Recompute::kNone;
    config.overlap_grad_reduce = YesNo::kYes;
    config.overlap_param_gather = i < 4 ? YesNo::kYes : YesNo::kNo;
    // A few micro-batches more or less, so that schedules differ.
    const int64_t micro_batches =
        size.micro_batches + (size.vpp > 1 ? size.pp * (i - 4) : i - 4);
    q.workload.global_batch = size.dp * config.micro_batch * micro_batches;
    questions.push_back(q);
  }
  return questions;
}

struct Prepared {
  Question question;
  Program program;
  Placement placement;
  ExecutionGraph graph;
  CostedGraph costed;
};

std::vector<Prepared> Prepare(const Size& size) {
  std::vector<Prepared> all;
  for (const Question& question : Questions(size)) {
    Prepared p;
    p.question = question;
    p.program = Need(Compile(question.workload, question.config));
    p.placement = Need(Place(question.config, TheSystem()));
    p.graph = Need(Lower(p.program, p.placement, question.config));
    p.costed = Need(CostGraph(p.graph, TheModel()));
    all.push_back(std::move(p));
  }
  return all;
}

// Counts what the timed loop allocates, once everything has been used.
class Allocations {
 public:
  explicit Allocations(benchmark::State& state)
      : state_(state), before_(AllocationCount()) {}
  ~Allocations() {
    state_.counters["allocations"] =
        benchmark::Counter(static_cast<double>(AllocationCount() - before_),
                           benchmark::Counter::kAvgIterations);
  }

 private:
  benchmark::State& state_;
  int64_t before_;
};

// Calls `run` with the questions in rotation, after one round to warm up.
template <typename Items, typename Run>
void Rotate(benchmark::State& state, Items& items, Run&& run) {
  for (int round = 0; round < 2; ++round) {
    for (auto& item : items) run(item);
  }
  size_t next = 0;
  Allocations allocations(state);
  for (auto unused : state) {
    (void)unused;
    run(items[next]);
    next = next + 1 == items.size() ? 0 : next + 1;
  }
}

void LowerAggregate(benchmark::State& state) {
  auto all = Prepare(kSizes[state.range(0)]);
  Workspace workspace;
  Prediction prediction;
  ExecutionGraph graph;
  Rotate(state, all, [&](const Prepared& p) {
    Need(LowerInto(p.program, p.placement, p.question.config, graph));
    Need(AggregateInto(p.costed, TheSystem(), workspace, prediction));
    benchmark::DoNotOptimize(prediction.iteration_time_s);
  });
  state.counters["passes"] = static_cast<double>(all[0].graph.passes.size());
}

void LowerOnly(benchmark::State& state) {
  auto all = Prepare(kSizes[state.range(0)]);
  ExecutionGraph graph;
  Rotate(state, all, [&](const Prepared& p) {
    Need(LowerInto(p.program, p.placement, p.question.config, graph));
    benchmark::DoNotOptimize(graph.passes.data());
  });
}

void ExecuteOperators(benchmark::State& state) {
  auto all = Prepare(kSizes[state.range(0)]);
  ExecuteWorkspace workspace;
  Execution execution;
  int64_t tasks = 0;
  Rotate(state, all, [&](const Prepared& p) {
    Need(Execute(p.costed, workspace, execution));
    tasks += execution.tasks;
    benchmark::DoNotOptimize(execution.iteration_time_s);
  });
  // The warm-up has counted two rounds more.
  for (const Prepared& p : all) tasks -= 2 * CountTasks(p.graph);
  state.counters["tasks"] = static_cast<double>(CountTasks(all[0].graph));
  state.counters["tasks_per_s"] = benchmark::Counter(
      static_cast<double>(tasks), benchmark::Counter::kIsRate);
}

void AllStages(benchmark::State& state) {
  const auto questions = Questions(kSizes[state.range(0)]);
  Workspace workspace;
  Prediction prediction;
  Program program;
  Placement placement;
  ExecutionGraph graph;
  CostedGraph costed;
  Rotate(state, questions, [&](const Question& q) {
    Need(CompileInto(q.workload, q.config, program));
    Need(PlaceInto(q.config, TheSystem(), placement));
    Need(LowerInto(program, placement, q.config, graph));
    Need(CostGraphInto(graph, TheModel(), costed));
    Need(AggregateInto(costed, TheSystem(), workspace, prediction));
    benchmark::DoNotOptimize(prediction.iteration_time_s);
  });
}

// One stage of five: 0 compile, 1 place, 2 cost, 3 aggregate.
void OneStage(benchmark::State& state) {
  auto all = Prepare(kSizes[state.range(0)]);
  Workspace workspace;
  Prediction prediction;
  Program program;
  Placement placement;
  CostedGraph costed;
  const int64_t stage = state.range(1);
  Rotate(state, all, [&](const Prepared& p) {
    switch (stage) {
      case 0:
        return Need(
            CompileInto(p.question.workload, p.question.config, program));
      case 1:
        return Need(PlaceInto(p.question.config, TheSystem(), placement));
      case 2:
        return Need(CostGraphInto(p.graph, TheModel(), costed));
      default:
        return Need(
            AggregateInto(p.costed, TheSystem(), workspace, prediction));
    }
  });
}

void StagedSimulator(benchmark::State& state) {
  const auto questions = Questions(kSizes[state.range(0)]);
  const auto simulator = Need(MakeStaged(TheBundle()));
  Workspace workspace;
  Prediction prediction;
  Rotate(state, questions, [&](const Question& q) {
    Need(simulator->PredictInto(q.workload, TheSystem(), q.config, workspace,
                                prediction));
  });
}

BENCHMARK(LowerAggregate)->DenseRange(0, 6)->Unit(benchmark::kMicrosecond);
BENCHMARK(ExecuteOperators)->DenseRange(0, 6)->Unit(benchmark::kMicrosecond);
BENCHMARK(AllStages)->DenseRange(0, 6)->Unit(benchmark::kMicrosecond);
BENCHMARK(StagedSimulator)->DenseRange(0, 6)->Unit(benchmark::kMicrosecond);
BENCHMARK(LowerOnly)->DenseRange(0, 6)->Unit(benchmark::kMicrosecond);
BENCHMARK(OneStage)
    ->ArgsProduct({{0, 1, 3}, {0, 1, 2, 3}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace lmsimbench

BENCHMARK_MAIN();
