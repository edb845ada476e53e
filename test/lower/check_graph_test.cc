#include <algorithm>
#include <string>

#include "catch2/catch.hpp"
#include "lmsimbench/layout.h"
#include "lmsimbench/legality.h"
#include "test/pipelines.h"

namespace lmsimbench {
namespace {

using Catch::Matchers::Contains;

void CheckRefused(const ExecutionGraph& graph, const std::string& named) {
  const FixedModel model({1e-6, Evidence::kAnalytic});
  const absl::Status status = CostGraph(graph, model).status();
  CAPTURE(named);
  CHECK(status.code() == absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(status.message()), Contains(named));
}

// The place of a pass in the schedule of a rank.
Pass& At(ExecutionGraph& graph, int64_t rank, int64_t position) {
  return graph.passes[graph.schedule_begin[rank] + position];
}

TEST_CASE("a receiver that takes transfers in another order is refused") {
  // On the last of two stages GPipe runs F0.0 F1.0 | B0.0 B1.0.
  ExecutionGraph graph =
      Lowered(SmallWorkload(2, 2), Pipeline(2, Schedule::kGPipe));
  SECTION("forward") {
    std::swap(At(graph, 1, 0), At(graph, 1, 1));
    CheckRefused(graph,
                 "pipeline rank 0 sends the output of F0.0 where rank 1 takes "
                 "the input of F1.0");
  }
  SECTION("backward") {
    std::swap(At(graph, 1, 2), At(graph, 1, 3));
    CheckRefused(graph,
                 "pipeline rank 1 sends the output of B1.0 where rank 0 takes "
                 "the input of B0.0");
  }
  SECTION("both ends may agree on any order") {
    for (int64_t rank : {0, 1})
      std::swap(At(graph, rank, 0), At(graph, rank, 1));
    CHECK(CostGraph(graph, FixedModel({1e-6, Evidence::kAnalytic})).ok());
  }
}

TEST_CASE("a transfer that nobody takes or nobody sends is refused") {
  ExecutionGraph graph = Lowered(SmallWorkload(2, 3), Pipeline(2));
  const auto drop = [&graph](int64_t rank, int64_t position) {
    graph.passes.erase(graph.passes.begin() + graph.schedule_begin[rank] +
                       position);
    for (int64_t r = rank + 1; r <= 2; ++r) --graph.schedule_begin[r];
  };
  // 1F1B on the first stage: F0.0 F1.0 B0.0 F2.0 B1.0 B2.0.
  SECTION("sent by nobody") {
    drop(0, 3);
    CheckRefused(graph,
                 "pipeline rank 0 sends the output of no further pass where "
                 "rank 1 takes the input of F2.0");
  }
  SECTION("taken by nobody") {
    drop(1, 4);
    CheckRefused(graph,
                 "pipeline rank 0 sends the output of F2.0 where rank 1 takes "
                 "the input of no further pass");
  }
}

TEST_CASE("chunks that go round the ring keep their order on every link") {
  // The last rank hands chunk 0 to chunk 1 of the first.
  ExecutionGraph graph =
      Lowered(SmallWorkload(4, 2), Pipeline(2, Schedule::kInterleaved1F1B, 2));
  const FixedModel model({1e-6, Evidence::kAnalytic});
  CHECK(CostGraph(graph, model).ok());
  // The first rank begins with F0.0 F1.0 F0.1 F1.1, the last with F0.0 F1.0
  // F0.1 B0.1 F1.1: both swap the passes of the second chunk, and what comes
  // round from the first chunk no longer fits.
  std::swap(At(graph, 0, 2), At(graph, 0, 3));
  std::swap(At(graph, 1, 2), At(graph, 1, 4));
  CheckRefused(graph,
               "pipeline rank 1 sends the output of F0.0 where rank 0 takes "
               "the input of F1.1");
}

TEST_CASE("passes, chunks and schedules that are not there are refused") {
  ExecutionGraph graph = Lowered(SmallWorkload(2, 2), Pipeline(2));
  SECTION("a micro-batch") {
    At(graph, 1, 0).micro_batch = 2;
    CheckRefused(graph, "pipeline rank 1 has a pass of micro-batch 2");
  }
  SECTION("a chunk") {
    At(graph, 0, 0).chunk = 1;
    CheckRefused(graph, "micro-batch 0 through chunk 1");
  }
  SECTION("a placed chunk") {
    graph.chunks.pop_back();
    CheckRefused(graph, "1 chunks for 2 pipeline ranks of 1 chunks");
  }
  SECTION("a schedule") {
    graph.schedule_begin.pop_back();
    CheckRefused(graph, "the schedules of 2 pipeline ranks");
  }
}

TEST_CASE("weight passes that are missing or come too early are refused") {
  // On the last of two stages ZB-H1 runs F0 B0 F1 B1 W0 W1.
  ExecutionGraph graph =
      Lowered(SmallWorkload(2, 2), Pipeline(2, Schedule::kZeroBubbleH1));
  CHECK(CostGraph(graph, FixedModel({1e-6, Evidence::kAnalytic})).ok());
  SECTION("before the backward pass") {
    std::swap(At(graph, 1, 3), At(graph, 1, 5));
    CheckRefused(graph, "pipeline rank 1 has the pass W1.0 before B1.0");
  }
  SECTION("twice") {
    At(graph, 1, 5) = At(graph, 1, 4);
    CheckRefused(graph, "pipeline rank 1 has the pass W0.0 twice");
  }
  SECTION("missing") {
    graph.passes.pop_back();
    --graph.schedule_begin[2];
    CheckRefused(graph, "pipeline rank 1 has 5 passes");
  }
  SECTION("in another order than backward passes") {
    std::swap(At(graph, 1, 4), At(graph, 1, 5));
    CHECK(CostGraph(graph, FixedModel({1e-6, Evidence::kAnalytic})).ok());
  }
  SECTION("without a split") {
    ExecutionGraph whole = Lowered(SmallWorkload(2, 2), Pipeline(2));
    At(whole, 1, 3).direction = Direction::kWeight;
    CheckRefused(whole, "pipeline rank 1 has the weight pass W1.0");
  }
}

TEST_CASE("micro-batches from the other end are refused") {
  ExecutionGraph graph =
      Lowered(SmallWorkload(4, 4), Pipeline(2, Schedule::kDualPipe));
  SECTION("in a chunk") {
    At(graph, 0, 0).micro_batch = 2;
    CheckRefused(graph,
                 "pipeline rank 0 has the pass F2.0; its chunk takes "
                 "micro-batches 0 to 1");
  }
  SECTION("without pairs") {
    graph.copied_gradients.pop_back();
    CheckRefused(graph, "do not form pairs that work from both ends");
  }
}

TEST_CASE("chains of passes that are not modelled are refused") {
  ExecutionGraph graph =
      Lowered(SmallWorkload(4, 3), Pipeline(2, Schedule::kZeroBubbleV));
  SECTION("at the end") {
    graph.passes.back().with_next = true;
    CheckRefused(graph, "pipeline rank 1 ends its schedule within a chain");
  }
  SECTION("with both passes of a micro-batch through a chunk") {
    graph = Lowered(SmallWorkload(4, 3), Pipeline(1));
    graph.overlaps.experts = true;
    At(graph, 0, 0).with_next = true;
    CheckRefused(graph, "has F0.0 and B0.0 in one chain");
  }
  SECTION("round the ring") {
    graph = Lowered(SmallWorkload(2, 3), Pipeline(2));
    At(graph, 0, 1).with_next = true;
    CheckRefused(graph, "pipeline rank 0 has the pass F1.0 in a chain");
  }
}

TEST_CASE("where the way turns back each chunk keeps its order") {
  // On two stages ZB-V begins with F0.0 F1.0 F2.0 F0.1 and F0.0 F0.1 F1.0.
  ExecutionGraph graph =
      Lowered(SmallWorkload(4, 3), Pipeline(2, Schedule::kZeroBubbleV));
  const FixedModel model({1e-6, Evidence::kAnalytic});
  CHECK(CostGraph(graph, model).ok());
  SECTION("on a link") {
    std::swap(At(graph, 0, 0), At(graph, 0, 1));
    CheckRefused(graph,
                 "pipeline rank 0 sends the output of F1.0 where rank 1 takes "
                 "the input of F0.0");
  }
  SECTION("at the turn") {
    // Both ranks agree on another order of the second chunk.
    for (Pass& pass : graph.passes) {
      if (pass.chunk == 1 && pass.micro_batch < 2) {
        pass.micro_batch = 1 - pass.micro_batch;
      }
    }
    CheckRefused(graph,
                 "pipeline rank 1 sends the output of F0.0 where rank 1 takes "
                 "the input of F1.1");
  }
  SECTION("without a second chunk") {
    graph = Lowered(SmallWorkload(2, 2), Pipeline(2));
    graph.turns_back = true;
    CheckRefused(graph, "the way turns back, and pipeline ranks have 1 chunks");
  }
}

TEST_CASE("every schedule that is lowered is sound") {
  for (const Schedule schedule :
       {Schedule::kGPipe, Schedule::k1F1B, Schedule::kInterleaved1F1B,
        Schedule::kZeroBubbleH1, Schedule::kZeroBubbleH2,
        Schedule::kZeroBubbleV, Schedule::kDualPipe, Schedule::kDualPipeV}) {
    for (int64_t pp = 1; pp <= 5; ++pp) {
      for (int64_t vpp : {1, 2, 3}) {
        for (int64_t m = 1; m <= 11; ++m) {
          const ParallelConfig config = Pipeline(pp, schedule, vpp);
          const Workload workload =
              SmallWorkload(2 * pp * ChunksPerRank(config), m);
          if (!IsLegal(workload, config, kNoCount)) continue;
          if (schedule == Schedule::kDualPipe && pp == 1) continue;
          CAPTURE(Name(schedule), pp, vpp, m);
          const FixedModel model({1e-6, Evidence::kAnalytic});
          CHECK(CostGraph(Lowered(workload, config), model).status() ==
                absl::OkStatus());
        }
      }
    }
  }
}

}  // namespace
}  // namespace lmsimbench
