#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "lmsimbench/cost_models.h"
#include "lmsimbench/fmt.h"
#include "lmsimbench/legality.h"
#include "test/aggregate/random_iteration.h"
#include "test/aggregate/run_stages.h"
#include "test/cost/fixed_model.h"

namespace lmsimbench {
namespace {

// A legal random iteration.
// With sharded parameters, if asked for.
RandomIteration Legal(std::mt19937_64& random, bool sharded = false) {
  while (true) {
    RandomIteration made = MakeRandomIteration(random);
    if (sharded) made.config.zero = ZeroStage::kParameters;
    if (IsLegal(made.workload, made.config, kNoCount)) return made;
  }
}

// Asks a random model, and takes a share of what it says of some questions.
class Cheaper final : public CostModel {
 public:
  explicit Cheaper(uint64_t seed) : CostModel("cheaper"), all_(seed) {}

  OperatorKind kind = OperatorKind::kNotStated;
  OperatorPass pass = OperatorPass::kNotStated;
  Group group = Group::kNotStated;
  double share = 1;

 private:
  absl::Status DoOperatorCosts(const System& system,
                               absl::Span<const Operator> operators,
                               absl::Span<Cost> costs) const override {
    absl::Status status = all_.Costs(system, operators, costs);
    for (size_t i = 0; i < operators.size(); ++i) {
      if (operators[i].kind == kind && operators[i].pass == pass) {
        costs[i].seconds *= share;
      }
    }
    return status;
  }
  absl::Status DoCollectiveCosts(
      const System& system, absl::Span<const SpannedCollective> collectives,
      absl::Span<Cost> costs) const override {
    absl::Status status = all_.Costs(system, collectives, costs);
    for (size_t i = 0; i < collectives.size(); ++i) {
      if (collectives[i].collective.group == group) costs[i].seconds *= share;
    }
    return status;
  }

  RandomCostModel all_;
};

TEST_CASE("the parts of every rank sum to the iteration time") {
  std::mt19937_64 random(11);
  Stages stages;
  for (int i = 0; i < 3000; ++i) {
    const RandomIteration made = Legal(random, i % 3 == 0);
    CAPTURE(fmt::format("{}", made.config), fmt::format("{}", made.workload));
    RunStages(made.workload, made.config, made.system,
              RandomCostModel(random()), stages);
    const Prediction& p = stages.prediction;
    for (const RankPrediction& rank : p.ranks) {
      CHECK(rank.compute_s + rank.exposed_communication_s + rank.bubble_s +
                rank.idle_s ==
            p.iteration_time_s);
      CHECK(rank.compute_s >= 0);
      CHECK(rank.exposed_communication_s >= 0);
      CHECK(rank.overlapped_communication_s >= 0);
      CHECK(rank.bubble_s >= 0);
      CHECK(rank.idle_s >= 0);
    }
    std::vector<double> computed(p.ranks.size());
    for (const OperatorTotal& total : p.operators) {
      computed[total.rank_class] += total.seconds;
    }
    for (size_t r = 0; r < computed.size(); ++r) {
      CHECK(p.ranks[r].compute_s == computed[r]);
    }
    // So do the parts of the rank that works longest, and the parts of memory;
    // the peak is that of a rank, and no other has more.
    bool largest = false;
    CHECK(p.time.forward_s + p.time.backward_s + p.time.recompute_s +
              p.time.optimizer_s + p.time.tensor_communication_s +
              p.time.pipeline_communication_s + p.time.data_communication_s +
              p.time.bubble_s + p.time.other_s +
              (IsStated(p.time.offload_s) ? p.time.offload_s : 0) ==
          p.iteration_time_s);
    for (const RankPrediction& rank : p.ranks) {
      const MemoryParts& m = rank.memory;
      CHECK(m.weights_bytes + m.gradients_bytes + m.optimizer_bytes +
                m.activations_bytes + m.logits_bytes + m.buffers_bytes +
                m.framework_bytes ==
            rank.peak_memory_bytes);
      CHECK(rank.peak_memory_bytes <= p.peak_memory_bytes);
      largest = largest || (rank.peak_memory_bytes == p.peak_memory_bytes &&
                            rank.memory == p.memory);
    }
    CHECK(largest);
  }
}

TEST_CASE("a cheaper kernel or collective makes no iteration longer") {
  std::mt19937_64 random(12);
  Stages stages;
  int shorter = 0;
  for (int i = 0; i < 3000; ++i) {
    const RandomIteration made = Legal(random, i % 3 == 0);
    CAPTURE(fmt::format("{}", made.config), fmt::format("{}", made.workload));
    Cheaper model(random());
    RunStages(made.workload, made.config, made.system, model, stages);
    const double before = stages.prediction.iteration_time_s;
    if (random() % 2 == 0) {
      const auto& totals = stages.prediction.operators;
      const OperatorTotal& total = totals[random() % totals.size()];
      model.kind = total.kind;
      model.pass = total.pass;
    } else {
      const auto& totals = stages.prediction.collectives;
      if (totals.empty()) continue;
      model.group = totals[random() % totals.size()].group;
    }
    model.share = static_cast<double>(random() % 4) / 4;
    CAPTURE(model.kind, model.pass, model.group, model.share);
    RunStages(made.workload, made.config, made.system, model, stages);
    CHECK(stages.prediction.iteration_time_s <= before);
    shorter += stages.prediction.iteration_time_s < before ? 1 : 0;
  }
  // Most of what is made cheaper lies on the critical path.
  CHECK(shorter > 1000);
}

TEST_CASE("a faster link makes no iteration longer") {
  std::mt19937_64 random(13);
  Stages stages;
  CollectiveParameters parameters;
  parameters.share_links = false;
  const auto links = MakeCollectiveModel(parameters);
  int shorter = 0;
  for (int i = 0; i < 1000; ++i) {
    RandomIteration made = Legal(random, i % 3 == 0);
    CAPTURE(fmt::format("{}", made.config), fmt::format("{}", made.workload),
            fmt::format("{}", made.system));
    FixedModel model({0, Evidence::kAnalytic});
    model.of_operator = [](const Operator& op) {
      return Cost{1e-6 + op.flops / 1e14 + op.bytes / 1e12,
                  Evidence::kAnalytic};
    };
    model.of_collective = [&](const SpannedCollective& c) {
      return CostOf(*links, made.system, c);
    };
    RunStages(made.workload, made.config, made.system, model, stages);
    const double before = stages.prediction.iteration_time_s;
    NetworkLevel& level = made.system.network[random() % 2];
    if (random() % 2 == 0) {
      level.bandwidth *= 1.0 + static_cast<double>(random() % 100) / 10;
    } else {
      level.latency_s *= static_cast<double>(random() % 10) / 10;
    }
    RunStages(made.workload, made.config, made.system, model, stages);
    CHECK(stages.prediction.iteration_time_s <= before);
    shorter += stages.prediction.iteration_time_s < before ? 1 : 0;
  }
  CHECK(shorter > 300);
}

bool IsData(Group group) {
  return group == Group::kData || group == Group::kShard ||
         group == Group::kReplica;
}
bool IsSharded(const ParallelConfig& config, OperatorPass pass) {
  return ShardsOptimizer(config.zero) && pass == OperatorPass::kOptimizer;
}

// What does not concern data parallelism is bit-equal in two predictions, the
// second of twice the replicas. Sharded state is halved.
void CheckSameButData(const Prediction& one, const Prediction& two,
                      const ParallelConfig& config) {
  REQUIRE(one.operators.size() == two.operators.size());
  for (size_t i = 0; i < one.operators.size(); ++i) {
    const OperatorTotal& a = one.operators[i];
    if (!IsSharded(config, a.pass)) CHECK(a == two.operators[i]);
  }
  std::vector<CollectiveTotal> others[2];
  for (const CollectiveTotal& c : one.collectives) {
    if (!IsData(c.group)) others[0].push_back(c);
  }
  for (const CollectiveTotal& c : two.collectives) {
    if (!IsData(c.group)) others[1].push_back(c);
  }
  CHECK(others[0] == others[1]);
  REQUIRE(one.ranks.size() == two.ranks.size());
  const bool whole_group = !IsStated(config.zero_group);
  for (size_t i = 0; i < one.ranks.size(); ++i) {
    const RankPrediction& a = one.ranks[i];
    const RankPrediction& b = two.ranks[i];
    CHECK(b.ranks == 2 * a.ranks);
    CHECK(a.memory.weights_bytes == b.memory.weights_bytes);
    CHECK(a.memory.activations_bytes == b.memory.activations_bytes);
    CHECK(a.memory.logits_bytes == b.memory.logits_bytes);
    CHECK(a.memory.buffers_bytes == b.memory.buffers_bytes);
    // A share is rounded up to a byte.
    const auto halved = [&](double bytes) {
      return whole_group ? std::ceil(bytes / 2) : bytes;
    };
    CHECK(b.memory.optimizer_bytes == (ShardsOptimizer(config.zero)
                                           ? halved(a.memory.optimizer_bytes)
                                           : a.memory.optimizer_bytes));
    CHECK(b.memory.gradients_bytes == (config.zero == ZeroStage::kGradients
                                           ? halved(a.memory.gradients_bytes)
                                           : a.memory.gradients_bytes));
  }
}

TEST_CASE("twice the replicas and the batch change data parallelism alone") {
  std::mt19937_64 random(14);
  Stages stages;
  for (int counted = 0; counted < 2000;) {
    RandomIteration made = Legal(random);
    ParallelConfig& config = made.config;
    // One replica communicates nothing, two do.
    if (config.dp == 1) config.dp = 2;
    made.workload.global_batch = 4 * config.dp * config.micro_batch * config.pp;
    config.micro_batch_group = kNoCount;
    // In one node all groups of a kind have the same span.
    made.system.network[0].size = kNoCount;
    CAPTURE(fmt::format("{}", config), fmt::format("{}", made.workload));
    if (!IsLegal(made.workload, config, kNoCount)) continue;
    ++counted;

    // Seconds depend on kind, group and bytes, those of data parallelism on its
    // size too, unless it is free; what is sharded takes no time.
    const RandomCostModel drawn(random());
    const bool free_data = random() % 2 == 0;
    FixedModel model({0, Evidence::kAnalytic});
    model.of_operator = [&](const Operator& op) {
      if (IsSharded(config, op.pass)) return Cost{0, Evidence::kAnalytic};
      return CostOf(drawn, made.system, op);
    };
    model.of_collective = [&](SpannedCollective c) {
      if (IsData(c.collective.group)) {
        if (free_data) return Cost{0, Evidence::kAnalytic};
      } else {
        c.span = Span();
      }
      return CostOf(drawn, made.system, c);
    };
    RunStages(made.workload, config, made.system, model, stages);
    const Prediction one = stages.prediction;
    config.dp *= 2;
    made.workload.global_batch *= 2;
    RunStages(made.workload, config, made.system, model, stages);
    const Prediction& two = stages.prediction;
    CheckSameButData(one, two, config);
    if (!free_data) continue;
    CHECK(one.iteration_time_s == two.iteration_time_s);
    CHECK(one.time == two.time);
    for (size_t r = 0; r < one.ranks.size(); ++r) {
      CHECK(one.ranks[r].compute_s == two.ranks[r].compute_s);
      CHECK(one.ranks[r].bubble_s == two.ranks[r].bubble_s);
      CHECK(one.ranks[r].peak_time_s == two.ranks[r].peak_time_s);
    }
  }
}

TEST_CASE("one device takes the sum of its operators") {
  std::mt19937_64 random(15);
  Stages stages;
  for (int i = 0; i < 1000; ++i) {
    RandomIteration made = Legal(random);
    ParallelConfig& config = made.config;
    config.dp = config.tp = config.pp = config.vpp = 1;
    config.schedule = random() % 2 == 0 ? Schedule::k1F1B : Schedule::kGPipe;
    config.zero_group = config.micro_batch_group = kNoCount;
    made.workload.global_batch =
        config.micro_batch * static_cast<int64_t>(1 + random() % 9);
    CAPTURE(fmt::format("{}", config), fmt::format("{}", made.workload));
    RunStages(made.workload, config, made.system, RandomCostModel(random()),
              stages);
    double pass_s = 0;
    const Program& program = stages.program;
    const auto seconds = [&](int32_t op) {
      return op < 0 ? 0 : stages.costed.operators[op].seconds;
    };
    const Stage& stage = program.stages[0];
    for (const BlockRun& run : program.runs) {
      const Block& block = program.blocks[run.block];
      for (int32_t s = block.begin_step; s < block.end_step; ++s) {
        REQUIRE(!program.steps[s].is_collective);
        pass_s += run.count * seconds(program.steps[s].id);
      }
    }
    const Prediction& p = stages.prediction;
    CHECK(p.iteration_time_s ==
          pass_s * static_cast<double>(program.micro_batches) +
              seconds(stage.gradient_norm) + seconds(stage.gradients_to_host) +
              seconds(stage.optimizer) + seconds(stage.weights_to_device));
    REQUIRE(p.ranks.size() == 1);
    CHECK(p.ranks[0].compute_s == p.iteration_time_s);
    CHECK(p.ranks[0].bubble_s == 0);
    CHECK(p.ranks[0].idle_s == 0);
    CHECK(p.collectives.empty());
    double totals = 0;
    for (const OperatorTotal& total : p.operators) totals += total.seconds;
    CHECK(totals == p.iteration_time_s);
  }
}

// Most bytes that tensors hold at once while one micro-batch goes forward and
// back through all blocks, one step after the other.
int64_t MostAlive(const Program& program) {
  int64_t most = 0;
  int64_t before = 0;  // kept by the blocks in front
  for (const BlockRun& run : Runs(program, program.chunks[0])) {
    const Block& block = program.blocks[run.block];
    before += (run.count - 1) * block.stored_bytes;
    for (int32_t step = 0; step < block.end_step - block.begin_step; ++step) {
      int64_t alive = before;
      for (int32_t t = block.begin_tensor; t < block.end_tensor; ++t) {
        const Tensor& tensor = program.tensors[t];
        if (tensor.first_step <= step && step <= tensor.last_step) {
          alive += tensor.bytes;
        }
      }
      most = std::max(most, alive);
    }
    before += block.stored_bytes;
  }
  return most;
}

TEST_CASE("one device peaks where the lifetimes of its tensors do") {
  std::mt19937_64 random(18);
  Stages stages;
  for (int i = 0; i < 1000; ++i) {
    RandomIteration made = Legal(random);
    ParallelConfig& config = made.config;
    config.dp = config.tp = config.pp = config.vpp = 1;
    config.schedule = Schedule::k1F1B;
    config.zero_group = config.micro_batch_group = kNoCount;
    made.workload.global_batch =
        config.micro_batch * static_cast<int64_t>(1 + random() % 3);
    CAPTURE(fmt::format("{}", config), fmt::format("{}", made.workload));
    RunStages(made.workload, config, made.system, RandomCostModel(random()),
              stages);
    const Stage& stage = stages.program.stages[0];
    CHECK(stages.prediction.peak_memory_bytes ==
          static_cast<double>(stage.weights_bytes + stage.gradients_bytes +
                              stage.optimizer_bytes +
                              MostAlive(stages.program)));
  }
}

TEST_CASE("recomputing more takes no less time and no more memory") {
  std::mt19937_64 random(16);
  Stages stages;
  for (int counted = 0; counted < 1000;) {
    RandomIteration made = Legal(random);
    ParallelConfig& config = made.config;
    config.recompute_modules.clear();
    config.recompute_layers = kNoCount;
    config.recompute_method = RecomputeMethod::kNotStated;
    // Many layers a stage, whose inputs are less than what one of them keeps.
    made.workload.model.layers = 8 * config.pp * config.vpp;
    made.workload.attention_impl = AttentionImpl::kUnfused;
    if (!IsLegal(made.workload, config, kNoCount)) continue;
    ++counted;
    CAPTURE(fmt::format("{}", config), fmt::format("{}", made.workload));
    const RandomCostModel model(random());
    const auto run = [&](Recompute recompute) {
      config.recompute = recompute;
      RunStages(made.workload, config, made.system, model, stages);
      return stages.prediction;
    };
    const Prediction none = run(Recompute::kNone);
    const Prediction selective = run(Recompute::kSelective);
    const Prediction full = run(Recompute::kFull);
    CHECK(none.iteration_time_s <= selective.iteration_time_s);
    CHECK(selective.iteration_time_s <= full.iteration_time_s);
    CHECK(none.time.recompute_s == 0);
    for (size_t r = 0; r < none.ranks.size(); ++r) {
      CHECK(none.ranks[r].peak_memory_bytes >=
            selective.ranks[r].peak_memory_bytes);
      CHECK(selective.ranks[r].peak_memory_bytes >=
            full.ranks[r].peak_memory_bytes);
    }
  }
}

TEST_CASE("a cost that is no number stops the prediction by its operator") {
  std::mt19937_64 random(17);
  Stages stages;
  constexpr double kBad[] = {std::numeric_limits<double>::quiet_NaN(), -1e-9,
                             std::numeric_limits<double>::infinity()};
  for (int i = 0; i < 300; ++i) {
    const RandomIteration made = Legal(random);
    CAPTURE(fmt::format("{}", made.config), fmt::format("{}", made.workload));
    FixedModel model({1e-6, Evidence::kMeasured});
    RunStages(made.workload, made.config, made.system, model, stages);
    const double bad = kBad[random() % 3];
    const auto& operators = stages.program.operators;
    const std::string worst = Describe(operators[random() % operators.size()]);
    model.of_operator = [&](const Operator& op) {
      return Cost{Describe(op) == worst ? bad : 1e-6, Evidence::kMeasured};
    };
    absl::Status status = CostGraph(stages.graph, model).status();
    CHECK(status.code() == absl::StatusCode::kInternal);
    CHECK_THAT(std::string(status.message()), Catch::Matchers::Contains(worst));

    model = FixedModel({1e-6, Evidence::kMeasured});
    const auto& spanned = stages.costed.spanned;
    if (spanned.empty()) continue;
    const SpannedCollective& asked = spanned[random() % spanned.size()];
    if (asked.span.members == 1) continue;
    model.of_collective = [&](const SpannedCollective& c) {
      return Cost{Describe(c) == Describe(asked) ? bad : 1e-6,
                  Evidence::kMeasured};
    };
    status = CostGraph(stages.graph, model).status();
    CHECK(status.code() == absl::StatusCode::kInternal);
    CHECK_THAT(std::string(status.message()),
               Catch::Matchers::Contains(Describe(asked)));
  }
}

}  // namespace
}  // namespace lmsimbench
