// What the C interface costs beside the C++ path, on one core.
//   OperatorsCpp and OperatorsC: a cost model that answers every operator of a
//   graph with a constant, derived from CostModel and made of callbacks, asked
//   in the same way; the difference is the cost of a callback for a batch.
//   Open: the embedded bundle from C, with all its views.
//   PredictCpp and PredictC: the staged simulator with a workspace.

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "capi/cost_model.h"
#include "capi/values.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/c.h"
#include "lmsimbench/cost_model.h"
#include "lmsimbench/lookup.h"
#include "lmsimbench/pipeline.h"
#include "lmsimbench/simulators.h"

namespace {

void Need(lmsb_code code) {
  if (code == LMSB_OK) return;
  std::fprintf(stderr, "%s\n", lmsb_last_error());
  std::exit(1);
}

lmsb_code Constant(void*, const lmsb_system*,
                   const lmsb_operator_batch* operators, double* seconds,
                   int32_t* evidence, lmsb_error*) {
  for (size_t i = 0; i < operators->count; ++i) {
    seconds[i] = 1e-6;
    evidence[i] = LMSB_EVIDENCE_ANALYTIC;
  }
  return LMSB_OK;
}

class ConstantModel : public lmsimbench::CostModel {
 public:
  ConstantModel() : CostModel("constant") {}

 private:
  absl::Status DoOperatorCosts(
      const lmsimbench::System&, absl::Span<const lmsimbench::Operator>,
      absl::Span<lmsimbench::Cost> costs) const override {
    for (auto& cost : costs) cost = {1e-6, lmsimbench::Evidence::kAnalytic};
    return absl::OkStatus();
  }
};

template <typename T>
T Need(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::fprintf(stderr, "%s\n", std::string(value.status().message()).c_str());
  std::exit(1);
}

struct Question {
  lmsimbench::Workload workload;
  lmsimbench::System system;
  lmsimbench::ParallelConfig config;
};

Question TheQuestion() {
  const auto bundle = Need(lmsimbench::Bundle::Embedded());
  Question q;
  q.workload.model = Need(lmsimbench::FindModel(bundle, "megatron-22B"));
  q.workload.seq_len = 2048;
  q.workload.global_batch = 16;
  q.system = Need(lmsimbench::FindPlatform(bundle, "a100-sxm4-80g"));
  q.config.tp = 4;
  q.config.pp = 2;
  q.config.dp = 2;
  q.config.micro_batch = 1;
  q.system.devices = lmsimbench::Devices(q.config);
  return q;
}

void AskOperators(benchmark::State& state, const lmsimbench::CostModel& model) {
  const Question q = TheQuestion();
  const auto program = Need(lmsimbench::Compile(q.workload, q.config));
  std::vector<lmsimbench::Cost> costs(program.operators.size());
  for (auto unused : state) {
    (void)unused;
    const absl::Status status =
        model.Costs(q.system, absl::MakeConstSpan(program.operators),
                    absl::MakeSpan(costs));
    if (!status.ok()) std::exit(1);
    benchmark::DoNotOptimize(costs.data());
  }
  state.counters["operators"] = static_cast<double>(costs.size());
}

void OperatorsCpp(benchmark::State& state) {
  AskOperators(state, ConstantModel());
}

void OperatorsC(benchmark::State& state) {
  lmsb_cost_model_functions functions = {};
  functions.struct_size = sizeof(functions);
  functions.name = "constant";
  functions.operator_costs = Constant;
  lmsb_cost_model* model = nullptr;
  Need(lmsb_cost_model_new(&model, &functions));
  AskOperators(state, *model->model);
  lmsb_cost_model_free(model);
}

void Open(benchmark::State& state) {
  for (auto unused : state) {
    (void)unused;
    lmsb_bundle* bundle = nullptr;
    Need(lmsb_bundle_open_embedded(&bundle));
    lmsb_bundle_free(bundle);
  }
}

void PredictCpp(benchmark::State& state) {
  const Question q = TheQuestion();
  const auto simulator = Need(lmsimbench::MakeSimulator(
      "staged", Need(lmsimbench::Bundle::Embedded())));
  lmsimbench::Workspace workspace;
  lmsimbench::Prediction prediction;
  for (auto unused : state) {
    (void)unused;
    const absl::Status status = simulator->PredictInto(
        q.workload, q.system, q.config, workspace, prediction);
    if (!status.ok()) std::exit(1);
  }
}

void PredictC(benchmark::State& state) {
  const Question q = TheQuestion();
  const lmsb_workload workload(&q.workload);
  const lmsb_system system(&q.system);
  const lmsb_config config(&q.config);
  lmsb_bundle* bundle = nullptr;
  lmsb_simulator* simulator = nullptr;
  lmsb_workspace* workspace = nullptr;
  lmsb_prediction* prediction = nullptr;
  Need(lmsb_bundle_open_embedded(&bundle));
  Need(lmsb_simulator_built_in(&simulator, bundle, "staged", 6));
  Need(lmsb_workspace_new(&workspace));
  Need(lmsb_prediction_new(&prediction));
  for (auto unused : state) {
    (void)unused;
    Need(lmsb_simulator_predict(simulator, &workload, &system, &config,
                                workspace, prediction));
  }
  lmsb_prediction_free(prediction);
  lmsb_workspace_free(workspace);
  lmsb_simulator_free(simulator);
  lmsb_bundle_free(bundle);
}

BENCHMARK(OperatorsCpp);
BENCHMARK(OperatorsC);
BENCHMARK(Open)->Unit(benchmark::kMillisecond);
BENCHMARK(PredictCpp)->Unit(benchmark::kMicrosecond);
BENCHMARK(PredictC)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
