#include "catch2/catch.hpp"
#include "lib/aggregate/execute.h"
#include "test/aggregate/execute_graphs.h"

// What communication does to what runs beside it, and what computation of one
// micro-batch hides of another's, derived by hand. That folded passes agree is
// the business of folded_equals_executed_test.

namespace lmsimbench {
namespace {

using namespace hand_made;

Execution Run(const CostedGraph& costed) {
  ExecuteWorkspace workspace;
  Execution execution;
  REQUIRE(Execute(costed, workspace, execution).ok());
  for (const ExecutedClass& executed : execution.classes) {
    CHECK(executed.compute_s + executed.exposed_communication_s +
              executed.bubble_s + executed.idle_s ==
          execution.iteration_time_s);
  }
  return execution;
}

// One rank, two blocks of 1 s forward and 2 s backward, a bucket of each.
CostedGraph TwoBlocks(double reduce_s) {
  CostedGraph costed = Pipelines(1, 1, 1, 1);
  AddOperator(costed, OperatorKind::kMlpUp, OperatorPass::kForward, 1);
  AddOperator(costed, OperatorKind::kMlpUp, OperatorPass::kWeightGradient, 2);
  AddCollective(costed, CollectiveKind::kAllReduce, Group::kData, {reduce_s});
  const int32_t block = AddBlock(costed, {Compute(0)}, {Compute(1)});
  Bucket early;
  early.reduce = 0;
  Bucket late = early;
  late.block = 1;
  PlaceChunk(costed, AddChunk(costed, {{block, 2}}), {early, late});
  AddSchedule(costed, "F0 B0");
  return costed;
}

TEST_CASE("computation beside a collective of its block is slowed") {
  CostedGraph costed = Pipelines(1, 1, 1, 1);
  AddOperator(costed, OperatorKind::kMlpUp, OperatorPass::kForward, 1);
  AddCollective(costed, CollectiveKind::kAllReduce, Group::kTensor, {2});
  const int32_t block = AddBlock(
      costed, {Communicate(0), Compute(0), Compute(0, true)}, {});
  PlaceChunk(costed, AddChunk(costed, {{block, 2}}));
  AddSchedule(costed, "F0 B0");
  // The first operator of a block is beside the collective, the second is not.
  CHECK(Run(costed).iteration_time_s == 6);
  costed.contention.compute = 0.5;
  const Execution execution = Run(costed);
  CHECK(execution.iteration_time_s == 7);
  CHECK(execution.classes[0].slowed_s == 1);
  CHECK(execution.classes[0].compute_s == 5);
}

TEST_CASE("a block waits for its host behind what it catches up on") {
  CostedGraph costed = TwoBlocks(4);
  costed.contention.compute = 0.5;
  // Backward blocks 2-4 and 4-7: the second is slowed by 1 of the host's 2 s.
  costed.operators[1].host_s = 4;
  const Execution execution = Run(costed);
  // 2-6 and 6-10, of which the reduction 4-8 covers operators 6-8.
  CHECK(execution.classes[0].slowed_s == 1);
  CHECK(execution.classes[0].host_s == 2 + 1);
  CHECK(execution.classes[0].compute_s == 10);
}

TEST_CASE("a block is slowed by reductions issued before it starts") {
  CostedGraph costed = TwoBlocks(1);
  CHECK(Run(costed).iteration_time_s == 7);
  costed.contention.compute = 0.5;
  // Backward blocks 2-4 and 4-6; the reduction 4-5 costs half a second, and
  // that of the second bucket, ready at 6, none.
  const Execution execution = Run(costed);
  CHECK(execution.iteration_time_s == 7);
  CHECK(execution.classes[0].slowed_s == 0.5);
  CHECK(execution.classes[0].overlapped_communication_s == 1.5);
  CHECK(execution.classes[0].exposed_data_s == 0.5);
}

TEST_CASE("gathers from the begin slow the first blocks") {
  CostedGraph costed = TwoBlocks(0);
  AddCollective(costed, CollectiveKind::kAllGather, Group::kData, {0.75});
  for (Bucket& bucket : costed.graph.buckets) bucket.gather = 1;
  CHECK(Run(costed).iteration_time_s == 6.75);
  costed.contention.compute = 0.5;
  // Gathers 0-0.75 and 0.75-1.5; the first block runs 0.75-1.75 beside the
  // second of them for 0.75 s.
  CHECK(Run(costed).iteration_time_s == 6.75 + 0.375);
}

TEST_CASE("collectives that leave the node wait for reductions that do") {
  CostedGraph costed = TwoBlocks(1);
  const int32_t over_links =
      AddCollective(costed, CollectiveKind::kAllToAll, Group::kContext, {3});
  costed.graph.program.steps.insert(costed.graph.program.steps.end(),
                                    {Compute(1), Communicate(over_links)});
  Block& block = costed.graph.program.blocks[0];
  block.backward_step = 1;
  costed.graph.program.steps.erase(costed.graph.program.steps.begin() + 1);
  block.weight_step = block.end_step = 3;
  // Forward 0-2, backward 2-4 and until 7 the collective; again 7-12.
  CHECK(Run(costed).iteration_time_s == 12);
  costed.contention.links = true;
  CHECK(Run(costed).iteration_time_s == 12);
  // The first bucket is ready at 4. Its reduction ends before the second block
  // starts, unless it takes long.
  costed.spanned[0].span.level = costed.spanned[1].span.level = 1;
  CHECK(Run(costed).iteration_time_s == 12);
  costed.collectives[0].seconds = 5;
  // 4-9, so that the second block is held from 7 to 9; the second bucket, ready
  // at 9, is reduced until 14, when the block has ended.
  CHECK(Run(costed).iteration_time_s == 14);
  costed.spanned[1].span.level = 0;
  CHECK(Run(costed).classes[0].slowed_s == 0);
}

TEST_CASE("a transfer shares its links with the reduction under way") {
  CostedGraph costed = TwoStages();
  const int32_t reduce =
      AddCollective(costed, CollectiveKind::kAllReduce, Group::kData, {1});
  Bucket bucket;
  bucket.reduce = reduce;
  costed.graph.buckets = {bucket};
  for (PlacedChunk& chunk : costed.graph.chunks) chunk.end_bucket = 1;
  const double before = Run(costed).iteration_time_s;
  costed.contention.links = true;
  CHECK(Run(costed).iteration_time_s == before);
  for (SpannedCollective& spanned : costed.spanned) spanned.span.level = 1;
  // The gradient that the last rank has at 7.25 takes twice the 0.25 s, beside
  // the reduction until 8.25.
  CHECK(Run(costed).iteration_time_s == before + 0.25);
  costed.collectives[static_cast<size_t>(reduce)].seconds = 0.125;
  const double shared = Run(costed).iteration_time_s;
  costed.contention.links = false;
  CHECK(shared == Run(costed).iteration_time_s + 0.125);
  costed.contention.links = true;
  costed.graph.overlaps.p2p = false;
  CHECK(Run(costed).classes[1].exposed_pipeline_s > 0);
}

TEST_CASE("passes of a chain cover what experts of the other side send") {
  // Forward passes compute 2 s and send 0.5 s, backward passes 4 s and 4 s.
  CostedGraph costed = Pipelines(1, 1, 2, 2);
  costed.graph.turns_back = true;
  AddOperator(costed, OperatorKind::kExpertUp, OperatorPass::kForward, 1);
  AddOperator(costed, OperatorKind::kExpertUp, OperatorPass::kInputGradient, 2);
  AddCollective(costed, CollectiveKind::kAllToAll, Group::kExpert, {0.5});
  AddCollective(costed, CollectiveKind::kAllToAll, Group::kExpert, {4});
  const int32_t block =
      AddBlock(costed, {Compute(0), Communicate(0), Compute(0, true)},
               {Compute(1), Communicate(1), Compute(1, true)});
  const int32_t chunk = AddChunk(costed, {{block, 1}});
  PlaceChunk(costed, chunk);
  PlaceChunk(costed, chunk);
  AddSchedule(costed, "F0.0 F0.1 F1.0+ B0.1 B0.0 F1.1 B1.1 B1.0");
  CHECK(Run(costed).iteration_time_s == 4 * 2.5 + 4 * 8);
  costed.graph.overlaps.experts = true;
  // In the chain all of the forward pass's 0.5 s is covered, and of the 4 s of
  // the other the 2 s that it computes.
  const Execution execution = Run(costed);
  CHECK(execution.iteration_time_s == 4 * 2.5 + 4 * 8 - 0.5 - 2);
  CHECK(execution.classes[0].overlapped_communication_s == 2.5);
  CHECK(execution.classes[0].exposed_tensor_s == 4 * 0.5 + 4 * 4 - 2.5);
}

}  // namespace
}  // namespace lmsimbench
