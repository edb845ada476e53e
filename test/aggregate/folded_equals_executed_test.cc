#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "lib/aggregate/execute.h"
#include "lib/aggregate/partial.h"
#include "lmsimbench/fmt.h"
#include "lmsimbench/legality.h"
#include "lmsimbench/pipeline.h"
#include "test/aggregate/random_iteration.h"

namespace lmsimbench {
namespace {

// Everything that both simulations say of a rank class.
void CheckSameClass(const RankPrediction& folded,
                    const ExecutedClass& executed) {
  CHECK(folded.compute_s == executed.compute_s);
  CHECK(folded.exposed_communication_s == executed.exposed_communication_s);
  CHECK(folded.overlapped_communication_s ==
        executed.overlapped_communication_s);
  CHECK(folded.bubble_s == executed.bubble_s);
  CHECK(folded.idle_s == executed.idle_s);
  CHECK(folded.peak_memory_bytes == static_cast<double>(executed.peak_bytes));
  CHECK(folded.peak_time_s == executed.peak_time_s);
  const auto kind = [&](TensorKind tensor) {
    return static_cast<double>(
        executed.peak_kind_bytes[static_cast<size_t>(tensor)]);
  };
  CHECK(folded.memory.activations_bytes == kind(TensorKind::kActivation));
  CHECK(folded.memory.logits_bytes == kind(TensorKind::kLogits));
  CHECK(folded.memory.buffers_bytes ==
        kind(TensorKind::kTemporary) + kind(TensorKind::kBuffer));
}

// How the exposed communication divides, of the class that works longest.
void CheckSameParts(const Prediction& folded, const Execution& executed) {
  const auto work = [](const ExecutedClass& c) {
    return c.compute_s + c.exposed_communication_s;
  };
  const auto longest =
      std::max_element(executed.classes.begin(), executed.classes.end(),
                       [&](const ExecutedClass& a, const ExecutedClass& b) {
                         return work(a) < work(b);
                       });
  CHECK(folded.time.tensor_communication_s == longest->exposed_tensor_s);
  CHECK(folded.time.other_s == longest->host_s + longest->slowed_s);
  CHECK(folded.time.pipeline_communication_s == longest->exposed_pipeline_s);
  CHECK(folded.time.data_communication_s == longest->exposed_data_s);
  const OperatorSum& copies =
      longest->operators[static_cast<size_t>(OperatorKind::kHostCopy)]
                        [static_cast<size_t>(OperatorPass::kOptimizer)];
  CHECK(IsStated(folded.time.offload_s) == (copies.runs > 0));
  if (copies.runs > 0) CHECK(folded.time.offload_s == copies.seconds);
}

void CheckSameTotals(const Prediction& folded, const Execution& executed) {
  size_t operators = 0;
  size_t collectives = 0;
  for (size_t c = 0; c < executed.classes.size(); ++c) {
    for (int kind = 0; kind < kOperatorKinds; ++kind) {
      for (int pass = 0; pass < kOperatorPasses; ++pass) {
        const OperatorSum& sum = executed.classes[c].operators[kind][pass];
        if (sum.runs == 0) continue;
        REQUIRE(operators < folded.operators.size());
        const OperatorTotal& total = folded.operators[operators++];
        CHECK(total.rank_class == static_cast<int64_t>(c));
        CHECK(static_cast<int>(total.kind) == kind);
        CHECK(static_cast<int>(total.pass) == pass);
        CHECK(total.runs == sum.runs);
        CHECK(total.seconds == sum.seconds);
      }
    }
    for (int kind = 0; kind < kCollectiveKinds; ++kind) {
      for (int group = 0; group < kGroups; ++group) {
        const CollectiveSum& sum = executed.classes[c].collectives[kind][group];
        if (sum.runs == 0) continue;
        REQUIRE(collectives < folded.collectives.size());
        const CollectiveTotal& total = folded.collectives[collectives++];
        CHECK(static_cast<int>(total.kind) == kind);
        CHECK(static_cast<int>(total.group) == group);
        CHECK(total.runs == sum.runs);
        CHECK(total.seconds == sum.seconds);
      }
    }
  }
  CHECK(operators == folded.operators.size());
  CHECK(collectives == folded.collectives.size());
}

// What is asked for alone is what the whole prediction says.
void CheckSameAlone(const CostedGraph& costed, const Prediction& folded,
                    Workspace& workspace) {
  const auto time = aggregate::IterationTime(costed, workspace);
  REQUIRE(time.ok());
  CHECK(*time == folded.iteration_time_s);
  Prediction peaks;
  aggregate::PredictPeaks(costed, workspace, peaks);
  CHECK(peaks.peak_memory_bytes == folded.peak_memory_bytes);
  REQUIRE(peaks.ranks.size() == folded.ranks.size());
  for (size_t c = 0; c < peaks.ranks.size(); ++c) {
    CHECK(peaks.ranks[c].pipeline_rank == folded.ranks[c].pipeline_rank);
    CHECK(peaks.ranks[c].peak_memory_bytes ==
          folded.ranks[c].peak_memory_bytes);
  }
}

// Compares iterations that `make` draws; returns in how many ranks differ by
// more than their stage.
template <typename Make>
int Compare(int cases, uint64_t seed, Make&& make, double slow_links = 1) {
  std::mt19937_64 random(seed);
  Program program;
  Placement placement;
  ExecutionGraph graph;
  CostedGraph costed;
  Workspace workspace;
  Prediction folded;
  ExecuteWorkspace execute_workspace;
  Execution executed;
  int compared = 0;
  int with_several_kinds = 0;
  for (int tried = 0; compared < cases; ++tried) {
    REQUIRE(tried < 20 * cases);
    const RandomIteration made = make(random);
    // The host is slower than the device now and then, and communication gets
    // in the way.
    const RandomCostModel model(random(), tried % 3 == 0, slow_links,
                                tried % 5 == 0 ? 20 : 1, tried % 2 == 0);
    if (!IsLegal(made.workload, made.config, kNoCount)) continue;
    CAPTURE(tried, fmt::format("{}", made.config),
            fmt::format("{}", made.workload));
    absl::Status status = CompileInto(made.workload, made.config, program);
    if (status.code() == absl::StatusCode::kUnimplemented) continue;
    if (status.code() == absl::StatusCode::kInvalidArgument) continue;
    REQUIRE(status == absl::OkStatus());
    status = PlaceInto(made.config, made.system, placement);
    if (status.code() == absl::StatusCode::kUnimplemented) continue;
    if (status.code() == absl::StatusCode::kInvalidArgument) continue;
    REQUIRE(status == absl::OkStatus());
    status = LowerInto(program, placement, made.config, graph);
    REQUIRE(status == absl::OkStatus());
    status = CostGraphInto(graph, model, costed);
    REQUIRE(status == absl::OkStatus());
    status = AggregateInto(costed, made.system, workspace, folded);
    REQUIRE(status == absl::OkStatus());
    status = Execute(costed, execute_workspace, executed);
    REQUIRE(status == absl::OkStatus());

    CHECK(folded.iteration_time_s == executed.iteration_time_s);
    CHECK(CountTasks(graph) == executed.tasks);
    REQUIRE(folded.ranks.size() == executed.classes.size());
    for (size_t c = 0; c < folded.ranks.size(); ++c) {
      CAPTURE(c);
      CheckSameClass(folded.ranks[c], executed.classes[c]);
    }
    CheckSameParts(folded, executed);
    CheckSameTotals(folded, executed);
    CheckSameAlone(costed, folded, workspace);
    ++compared;
    if (static_cast<int64_t>(folded.ranks.size()) > made.config.pp) {
      ++with_several_kinds;
    }
  }
  return with_several_kinds;
}

// Exact sums: no tolerance anywhere. The cases are no use if all of them are
// simple.
TEST_CASE("folded passes and single operators give the same iteration") {
  constexpr int kCases = 20'000;
  CHECK(Compare(kCases, 2026, MakeRandomIteration) > kCases / 100);
}

TEST_CASE("the same with experts, latent attention, context parallelism") {
  constexpr int kCases = 5'000;
  CHECK(Compare(kCases, 2027, MakeRandomSparseIteration) > kCases / 100);
}

TEST_CASE("the same with sharded parameters") {
  constexpr int kCases = 20'000;
  CHECK(Compare(kCases, 2028, MakeRandomShardedIteration) > kCases / 100);
}

TEST_CASE("the same where weight gradients have passes of their own") {
  constexpr int kCases = 10'000;
  CHECK(Compare(kCases, 2029, MakeRandomSplitIteration) > kCases / 100);
}

TEST_CASE("the same where a steady state is left out") {
  constexpr int kCases = 1'500;
  for (const double slow_links : {1.0, 30.0}) {
    CHECK(Compare(kCases, 2030, MakeRandomDeepIteration, slow_links) >
          kCases / 100);
  }
}

}  // namespace
}  // namespace lmsimbench
