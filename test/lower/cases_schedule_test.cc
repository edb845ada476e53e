#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "catch2/catch.hpp"
#include "test/compile/korthikanti.h"
#include "test/pipelines.h"

namespace lmsimbench {
namespace {

// Forward passes in front of the first backward pass.
int64_t ForwardFirst(const ExecutionGraph& graph, int64_t rank) {
  const auto passes = Passes(graph, rank);
  return std::find_if(passes.begin(), passes.end(),
                      [](const Pass& pass) {
                        return pass.direction == Direction::kBackward;
                      }) -
         passes.begin();
}

// Most passes whose backward pass is still to come.
int64_t MostInFlight(const ExecutionGraph& graph, int64_t rank) {
  int64_t in_flight = 0;
  int64_t most = 0;
  for (const Pass& pass : Passes(graph, rank)) {
    in_flight += pass.direction == Direction::kForward ? 1 : -1;
    most = std::max(most, in_flight);
  }
  return most;
}

TEST_CASE("fewer micro-batches than stages are legal, with a shorter warm-up") {
  constexpr int64_t kStages = 8;
  for (int64_t m = 1; m < kStages; ++m) {
    CAPTURE(m);
    const Workload workload = SmallWorkload(kStages, m);
    const ExecutionGraph one_f_one_b =
        Lowered(workload, Pipeline(kStages, Schedule::k1F1B));
    const ExecutionGraph gpipe =
        Lowered(workload, Pipeline(kStages, Schedule::kGPipe));
    for (int64_t rank = 0; rank < kStages; ++rank) {
      // A warm-up of min(m, PP - rank - 1); where micro-batches are left behind
      // it, the steady state begins with one more forward pass.
      const int64_t warm_up = std::min(m, kStages - rank - 1);
      CHECK(ForwardFirst(one_f_one_b, rank) == std::min(m, warm_up + 1));
      CHECK(ForwardFirst(gpipe, rank) == m);
      CHECK(Passes(one_f_one_b, rank).size() == static_cast<size_t>(2 * m));
    }
  }
}

TEST_CASE("1F1B holds as many micro-batches as stages follow, GPipe all") {
  constexpr int64_t kStages = 4;
  for (const int64_t m : {1, 3, 4, 5, 16}) {
    const Workload workload = SmallWorkload(kStages, m);
    for (int64_t rank = 0; rank < kStages; ++rank) {
      CHECK(MostInFlight(Lowered(workload, Pipeline(kStages, Schedule::k1F1B)),
                         rank) == std::min(m, kStages - rank));
      CHECK(MostInFlight(Lowered(workload, Pipeline(kStages, Schedule::kGPipe)),
                         rank) == m);
    }
  }
}

TEST_CASE("interleaved stages hold Megatron's warm-up and one chunk more") {
  // 2 (p - r - 1) + (v - 1) G + 1, at most m v.
  for (const int64_t p : {2, 4, 5}) {
    for (const int64_t v : {2, 3}) {
      for (const int64_t group : {p, p + 1, 2 * p}) {
        for (const int64_t groups : {1, 3}) {
          const int64_t m = group * groups;
          ParallelConfig config = Pipeline(p, Schedule::kInterleaved1F1B, v);
          config.micro_batch_group = group;
          const ExecutionGraph graph = Lowered(SmallWorkload(p * v, m), config);
          for (int64_t rank = 0; rank < p; ++rank) {
            CAPTURE(p, v, group, m, rank);
            const int64_t chunks =
                std::min(m * v, 2 * (p - rank - 1) + (v - 1) * group + 1);
            CHECK(MostInFlight(graph, rank) == chunks);
          }
        }
      }
    }
  }
}

TEST_CASE("the models of Korthikanti hold as many chunks as the paper says") {
  // L (1 + (p - 1) / (p v)) layers on the first stage: 124 of 175B, 139 of
  // 530B.
  for (const KorthikantiCase& c : kKorthikanti) {
    CAPTURE(c.name);
    const ExecutionGraph graph = Lowered(WorkloadOf(c), ConfigOf(c, true));
    CHECK(MostInFlight(graph, 0) ==
          std::min(ChunksInFlight(c), graph.program.micro_batches * c.vpp));
    if (c.vpp > 1) {
      CHECK(ChunksInFlight(c) * c.layers / (c.pp * c.vpp) ==
            c.layers + c.layers * (c.pp - 1) / (c.pp * c.vpp));
    }
  }
}

// Bytes that the buckets of a pipeline rank's chunks reduce and gather.
struct Traffic {
  int64_t all_reduce = 0;
  int64_t reduce_scatter = 0;
  int64_t all_gather = 0;
  size_t buckets = 0;
};
Traffic DataTraffic(const ExecutionGraph& graph, int64_t rank) {
  Traffic traffic;
  for (int32_t c = 0; c < graph.chunks_per_rank; ++c) {
    const PlacedChunk& chunk = graph.chunks[rank * graph.chunks_per_rank + c];
    for (int32_t b = chunk.begin_bucket; b < chunk.end_bucket; ++b) {
      const Bucket& bucket = graph.buckets[b];
      const Collective& reduce = graph.collectives[bucket.reduce];
      CHECK(reduce.group == Group::kData);
      (reduce.kind == CollectiveKind::kAllReduce ? traffic.all_reduce
                                                 : traffic.reduce_scatter) +=
          reduce.bytes;
      if (bucket.gather >= 0) {
        const Collective& gather = graph.collectives[bucket.gather];
        CHECK(gather.kind == CollectiveKind::kAllGather);
        traffic.all_gather += gather.bytes;
      }
      ++traffic.buckets;
    }
  }
  return traffic;
}

TEST_CASE("a distributed optimizer scatters gradients and gathers weights") {
  Workload workload;
  workload.model = Llama2_7B();
  workload.seq_len = 4096;
  workload.global_batch = 64;
  workload.precision = Precision::kBf16;
  ParallelConfig config;
  config.tp = config.pp = config.dp = 2;
  config.micro_batch = 1;
  config.zero = ZeroStage::kDistributedOptimizer;
  for (const YesNo overlapped : {YesNo::kNo, YesNo::kYes}) {
    config.overlap_grad_reduce = overlapped;
    config.overlap_param_gather = overlapped;
    for (const Precision gradients :
         {Precision::kNotStated, Precision::kFp32, Precision::kBf16}) {
      workload.gradient_precision = gradients;
      const ExecutionGraph graph = Lowered(workload, config);
      for (int64_t rank = 0; rank < 2; ++rank) {
        CAPTURE(rank, Name(gradients), overlapped);
        // P is what one tensor-parallel rank of the stage holds.
        const int64_t p = graph.program.stages[rank].parameters;
        const Traffic traffic = DataTraffic(graph, rank);
        CHECK(traffic.all_reduce == 0);
        CHECK(traffic.reduce_scatter ==
              (gradients == Precision::kBf16 ? 2 : 4) * p);
        CHECK(traffic.all_gather == 2 * p);
        // About 1.7 billion parameters in buckets of 40 million.
        CHECK((traffic.buckets > 1) == IsYes(overlapped));
      }
    }
  }
}

TEST_CASE("gradients that are not sharded are reduced whole") {
  Workload workload;
  workload.model = Llama2_7B();
  workload.seq_len = 4096;
  workload.global_batch = 64;
  ParallelConfig config;
  config.dp = 8;
  config.micro_batch = 1;
  const ExecutionGraph graph = Lowered(workload, config);
  const Traffic traffic = DataTraffic(graph, 0);
  CHECK(traffic.all_reduce == 4 * graph.program.stages[0].parameters);
  CHECK(traffic.reduce_scatter == 0);
  CHECK(traffic.all_gather == 0);
}

TEST_CASE("first and last stage reduce the gradients of a shared embedding") {
  Workload workload = SmallWorkload(4, 4);
  workload.model.tied_embeddings = YesNo::kYes;
  const ExecutionGraph tied = Lowered(workload, Pipeline(4, Schedule::k1F1B));
  REQUIRE(tied.embedding_gradients >= 0);
  const Collective expected{CollectiveKind::kAllReduce, Group::kEmbedding,
                            int64_t{4} * 1024 * 512};
  CHECK(tied.collectives[tied.embedding_gradients] == expected);
  CHECK(Lowered(workload, Pipeline(1, Schedule::k1F1B)).embedding_gradients ==
        -1);
  workload.model.tied_embeddings = YesNo::kNo;
  CHECK(Lowered(workload, Pipeline(4, Schedule::k1F1B)).embedding_gradients ==
        -1);
}

TEST_CASE("more micro-batches than can be stored are refused") {
  // 2^26 passes are the most: 2^24 micro-batches forward and backward through
  // two stages.
  const ParallelConfig config = Pipeline(2, Schedule::k1F1B);
  const absl::StatusOr<Placement> placement = Place(config, TestSystem());
  REQUIRE(placement.ok());
  for (const int64_t m : {(int64_t{1} << 24) + 1, int64_t{2'000'000'000}}) {
    const absl::StatusOr<Program> program =
        Compile(SmallWorkload(2, m), config);
    INFO(program.status());
    REQUIRE(program.ok());
    const absl::Status status = Lower(*program, *placement, config).status();
    CHECK(status.code() == absl::StatusCode::kOutOfRange);
    CHECK_THAT(std::string(status.message()),
               Catch::Matchers::Contains(std::to_string(m)));
  }
}

TEST_CASE("a schedule from both ends of one rank is refused by name") {
  const Workload workload = SmallWorkload(8, 8);
  const ParallelConfig config = Pipeline(1, Schedule::kDualPipe);
  const absl::StatusOr<Placement> placement = Place(config, TestSystem());
  REQUIRE(placement.ok());
  const absl::Status status =
      Lower(Compiled(workload, config), *placement, config).status();
  CHECK(status.code() == absl::StatusCode::kUnimplemented);
  CHECK_THAT(std::string(status.message()),
             Catch::Matchers::Contains("schedule dualpipe"));
}

TEST_CASE("a program is lowered for schedules that split as it does") {
  const Workload workload = SmallWorkload(8, 8);
  const ParallelConfig split = Pipeline(2, Schedule::kZeroBubbleH1);
  const ParallelConfig whole = Pipeline(2, Schedule::k1F1B);
  const Placement placement = Placed(whole, TestSystem());
  for (const auto& [compiled, lowered, named] :
       {std::tuple(split, whole, "schedule 1f1b does not split"),
        std::tuple(whole, split, "schedule zb-h1 splits")}) {
    const absl::Status status =
        Lower(Compiled(workload, compiled), placement, lowered).status();
    CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    CHECK_THAT(std::string(status.message()), Catch::Matchers::Contains(named));
  }
}

TEST_CASE("DualPipe holds every stage twice and adds the copies' gradients") {
  constexpr int64_t kStages = 4;
  Workload workload = SmallWorkload(2 * kStages, 2 * kStages);
  workload.model.tied_embeddings = YesNo::kYes;
  const ExecutionGraph graph =
      Lowered(workload, Pipeline(kStages, Schedule::kDualPipe));
  // With tied weights embedding and output layer of a rank are one matrix, as
  // on one device.
  const ExecutionGraph one = Lowered(workload, Pipeline(1));
  int64_t parameters = 0;
  for (int64_t rank = 0; rank < kStages; ++rank) {
    CAPTURE(rank);
    const Stage& stage = graph.program.stages[rank];
    const int64_t copy = kStages - 1 - rank;
    CHECK(graph.chunks[2 * rank].kind == graph.chunks[2 * copy + 1].kind);
    CHECK(graph.chunks[2 * rank].is_first == (rank == 0));
    CHECK(graph.chunks[2 * rank + 1].is_first == (copy == 0));
    parameters += stage.parameters;
    CHECK(stage.parameters == graph.program.stages[copy].parameters);
    CHECK(stage.layers == 4);
    const Collective& added = graph.collectives[graph.copied_gradients[rank]];
    CHECK(added.kind == CollectiveKind::kAllReduce);
    CHECK(added.bytes == 4 * stage.parameters);
  }
  CHECK(parameters == 2 * one.program.stages[0].parameters);
  CHECK(graph.embedding_gradients == -1);
}

TEST_CASE("a V has the embedding and the output layer on its first rank") {
  Workload workload = SmallWorkload(8, 8);
  workload.model.tied_embeddings = YesNo::kYes;
  const ExecutionGraph tied =
      Lowered(workload, Pipeline(4, Schedule::kZeroBubbleV));
  CHECK(tied.embedding_gradients == -1);
  CHECK(tied.chunks[0].is_first);
  CHECK(tied.chunks[1].is_last);
  // The weights that the two share lie there once.
  workload.model.tied_embeddings = YesNo::kNo;
  const ExecutionGraph untied =
      Lowered(workload, Pipeline(4, Schedule::kZeroBubbleV));
  CHECK(untied.program.stages[0].parameters -
            tied.program.stages[0].parameters ==
        1024 * 512);
}

}  // namespace
}  // namespace lmsimbench
