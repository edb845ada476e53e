#include <catch2/catch.hpp>
#include <random>

#include "lib/simulators/vtrain/folded_simulation.h"
#include "lib/simulators/vtrain/kernel_simulation.h"
#include "lib/simulators/vtrain/plan.h"
#include "lib/simulators/vtrain/task_timeline.h"
#include "test/simulators/vtrain_compare.h"
#include "test/simulators/vtrain_records.h"

namespace lmsimbench::vtrain {
namespace {

constexpr double kTolerance = 1e-12;

class Random {
 public:
  explicit Random(uint32_t seed) : generator_(seed) {}
  int64_t Whole(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(generator_);
  }
  bool Coin() { return Whole(0, 1) == 1; }
  int64_t OneOf(std::initializer_list<int64_t> values) {
    return *(values.begin() +
             Whole(0, static_cast<int64_t>(values.size()) - 1));
  }

 private:
  std::mt19937 generator_;
};

VtrainRepairs RandomRepairs(Random& random) {
  return {random.Coin(), random.Coin(), random.Coin(), random.Coin(),
          random.Coin(), random.Coin(), random.Coin(), false};
}

Config RandomConfig(Random& random) {
  Config config;
  const int64_t t = random.OneOf({1, 1, 2, 4, 8, 16});
  const int64_t d = random.OneOf({1, 1, 2, 3, 8, 12});
  const int64_t p = random.OneOf({1, 1, 2, 3, 4, 7});
  config.tensor_parallel = t;
  config.data_parallel = d;
  config.pipeline_parallel = p;
  config.micro_batch = random.Whole(1, 3);
  config.global_batch = d * *config.micro_batch * random.Whole(1, 12);
  config.num_layers = p * random.Whole(p > 2 ? 1 : 0, 4);
  config.num_heads = 16;
  config.hidden = 16 * random.Whole(4, 200);
  config.max_length = random.OneOf({128, 1024, 2048});
  config.vocab = random.OneOf({1000, 50257});
  config.use_checkpoint = random.Coin();
  config.node_size = random.OneOf({1, 2, 4, 8, 16});
  config.inter_node_bandwidth =
      1.1 * static_cast<double>(random.OneOf({100, 409, 800, 1600}));
  config.intra_node_bandwidth =
      1.024 * static_cast<double>(random.OneOf({150, 300}));
  if (random.Coin()) config.ddp_bucket_size = random.OneOf({1, 25, 4096});
  return config;
}

// Whole numbers, as profiled, or not, as composed. Gaps may be negative, but
// none reaches before its own kernel.
KernelTable RandomKernels(Random& random) {
  KernelTable table;
  const double unit = random.Coin() ? 1 : 1.0 / 3;
  for (auto& pass : table.passes) {
    const int64_t count = random.Whole(0, 4);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t duration = random.Whole(0, 90000);
      pass.push_back({static_cast<double>(duration) * unit,
                      static_cast<double>(random.Whole(
                          std::max<int64_t>(-duration, -500), 3000)) *
                          unit});
    }
  }
  return table;
}

// What of the two simulations differs; empty: nothing.
std::string FoldingDifference(const Plan& plan, const KernelTable& table) {
  KernelWorkspace kernel_workspace;
  Outputs by_kernel;
  std::vector<RankTasks> tasks;
  SimulateKernels(plan, table, kernel_workspace, by_kernel, &tasks);

  FoldedTable folded;
  Fold(table, folded);
  if (!folded.foldable) return "not foldable";
  FoldedRanks ranks;
  FoldRanks(plan, folded, ranks);
  FoldedWorkspace workspace;
  Outputs outputs;
  Simulate(plan, folded, ranks, workspace, outputs);
  std::string difference = Difference(by_kernel, outputs, kTolerance);
  if (!difference.empty()) return difference;

  TaskTimeline timeline;
  WriteTasks(plan, table, workspace, outputs, timeline);
  std::vector<RankTasks> written;
  SpellTasks(timeline, written);
  return Difference(tasks, written, kTolerance);
}

TEST_CASE("folded simulation agrees on every golden configuration") {
  const auto records = ReadSimulationRecords();
  REQUIRE(records.size() == 369);
  Plan plan;
  for (const SimulationRecord& record : records) {
    for (const VtrainRepairs& repairs :
         {VtrainRepairs::None(), VtrainRepairs::All()}) {
      INFO(record.id);
      Config config = record.config;
      // One that keeps its micro-batches may not divide.
      if (!Resolve(repairs, config).ok()) continue;
      PlanOptions options;
      options.repairs = repairs;
      const Error error = MakePlan(config, options, plan);
      if (!error.ok()) continue;
      CHECK(FoldingDifference(plan, record.kernels) == "");
    }
  }
}

TEST_CASE("folded simulation agrees on random configurations and repairs") {
  Random random(20240926);
  Plan plan;
  int compared = 0;
  for (int i = 0; i < 3000; ++i) {
    PlanOptions options;
    options.repairs = RandomRepairs(random);
    options.tied_embeddings = random.Coin();
    Config config = RandomConfig(random);
    const KernelTable table = RandomKernels(random);
    if (!Resolve(options.repairs, config).ok() ||
        !MakePlan(config, options, plan).ok()) {
      continue;
    }
    ++compared;
    INFO("case " << i << ": t " << plan.tensor << " d " << plan.data << " p "
                 << plan.pipeline << " layers " << plan.layers
                 << " micro-batches " << plan.micro_batches);
    REQUIRE(FoldingDifference(plan, table) == "");
  }
  CHECK(compared > 2500);
}

TEST_CASE("a kernel that reaches before its start is not folded") {
  KernelTable table;
  table[LayerPass::kFwdTransformer] = {{100, -150}, {50, 0}};
  FoldedTable folded;
  Fold(table, folded);
  CHECK_FALSE(folded.foldable);
  // The gap behind the last kernel is dropped, so it may be anything.
  table[LayerPass::kFwdTransformer] = {{100, -100}, {50, -90}};
  Fold(table, folded);
  CHECK(folded.foldable);
  CHECK(folded[LayerPass::kFwdTransformer].length_ns == 50);
}

TEST_CASE("ends that go back are followed kernel by kernel") {
  // One stage, one layer; its last kernel but one ends latest.
  Config config;
  config.tensor_parallel = config.data_parallel = config.pipeline_parallel = 1;
  config.global_batch = 1;
  config.num_layers = 1;
  config.hidden = config.num_heads = 16;
  REQUIRE(Resolve(VtrainRepairs::None(), config).ok());
  Plan plan;
  REQUIRE(MakePlan(config, {}, plan).ok());
  KernelTable table;
  // Ends at 1000; the next starts at 100 and ends at 110.
  table[LayerPass::kWuTransformer] = {{900, 100}, {200, -1100}, {10, 0}};
  KernelWorkspace workspace;
  Outputs outputs;
  SimulateKernels(plan, table, workspace, outputs);
  CHECK(outputs.ranks[0].finish_ns == 1000);
  CHECK(outputs.ranks[0].end_ns == 110);
  CHECK(outputs.iteration_ns == 1000);
}

TEST_CASE("what a workspace has seen does not change an answer") {
  const auto records = ReadSimulationRecords();
  FoldedWorkspace workspace;
  FoldedRanks ranks;
  Outputs outputs;
  Plan plan;
  for (const SimulationRecord& record : records) {
    Config config = record.config;
    REQUIRE(Resolve(VtrainRepairs::None(), config).ok());
    REQUIRE(MakePlan(config, {}, plan).ok());
    FoldedTable folded;
    Fold(record.kernels, folded);
    FoldRanks(plan, folded, ranks);
    Simulate(plan, folded, ranks, workspace, outputs);
    FoldedWorkspace new_workspace;
    FoldedRanks new_ranks;
    Outputs new_outputs;
    Plan new_plan;
    REQUIRE(MakePlan(config, {}, new_plan).ok());
    FoldRanks(new_plan, folded, new_ranks);
    Simulate(new_plan, folded, new_ranks, new_workspace, new_outputs);
    INFO(record.id);
    CHECK(Difference(outputs, new_outputs, 0) == "");
  }
}

}  // namespace
}  // namespace lmsimbench::vtrain
