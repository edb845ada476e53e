#include "lib/aggregate/execute.h"

#include "catch2/catch.hpp"
#include "test/aggregate/execute_graphs.h"

namespace lmsimbench {
namespace {

using namespace hand_made;

Execution Run(const CostedGraph& costed) {
  ExecuteWorkspace workspace;
  Execution execution;
  const absl::Status status = Execute(costed, workspace, execution);
  INFO(status);
  REQUIRE(status.ok());
  CHECK(execution.tasks == CountTasks(costed.graph));
  for (const ExecutedClass& executed : execution.classes) {
    CHECK(executed.compute_s + executed.exposed_communication_s +
              executed.bubble_s + executed.idle_s ==
          execution.iteration_time_s);
    CHECK(executed.exposed_tensor_s + executed.exposed_pipeline_s +
              executed.exposed_data_s ==
          executed.exposed_communication_s);
  }
  return execution;
}

TEST_CASE("a 1F1B iteration of two stages takes the time derived by hand") {
  // rank 0: F0 0-1, sent until 1.25; F1 1-2, sent until 2.25; B0 4.5-6.5; B1
  // 7.5-9.5; norm 9.5-10; norm reduced 10-10.25; optimizer 10.25-11.25.
  // rank 1: F0 1.25-2.25; B0 2.25-4.25, sent until 4.5; F1 4.25-5.25; B1
  // 5.25-7.25, sent until 7.5; norm 7.25-7.75; from 10 as rank 0.
  const Execution execution = Run(TwoStages());
  CHECK(execution.iteration_time_s == 11.25);

  const ExecutedClass& first = execution.classes[0];
  CHECK(first.compute_s == 2 * (1 + 2) + 0.5 + 1);
  // The second send and both receives; the first send is beside F1.
  CHECK(first.exposed_pipeline_s == 3 * 0.25);
  CHECK(first.exposed_data_s == 0.25);
  CHECK(first.overlapped_communication_s == 0.25);
  CHECK(first.bubble_s == 11.25 - 7.5 - 1);
  CHECK(first.idle_s == 0);

  const ExecutedClass& last = execution.classes[1];
  // The first receive only: the second is beside F0, the sends beside F1 and
  // the norm.
  CHECK(last.exposed_pipeline_s == 0.25);
  CHECK(last.overlapped_communication_s == 3 * 0.25);
  CHECK(last.bubble_s == 11.25 - 7.5 - 0.5);
}

TEST_CASE("without overlap of transfers the sender's compute stream is held") {
  // rank 0: F0 0-1, held until 1.25; F1 1.25-2.25, held until 2.5; B0 4.5-6.5;
  // B1 7.75-9.75. rank 1: F0 1.25-2.25; B0 2.25-4.25, held until 4.5; F1
  // 4.5-5.5; B1 5.5-7.5, held until 7.75; norm 7.75-8.25.
  CostedGraph costed = TwoStages();
  costed.graph.overlaps.p2p = false;
  const Execution execution = Run(costed);
  CHECK(execution.iteration_time_s == 9.75 + 0.5 + 0.25 + 1);
  CHECK(execution.classes[0].exposed_pipeline_s == 4 * 0.25);
  CHECK(execution.classes[0].overlapped_communication_s == 0);
  // The receive at 2.25 is beside B0.
  CHECK(execution.classes[1].exposed_pipeline_s == 3 * 0.25);
  CHECK(execution.classes[1].overlapped_communication_s == 0.25);
  CHECK(execution.classes[1].bubble_s == 11.5 - 7.5 - 1);
}

TEST_CASE("transfers queue behind the one before in their direction") {
  // A transfer of 3 s: rank 0's leave at 1 and, not at 2 but, at 4; F1 of rank
  // 1 cannot start before 7.
  CostedGraph costed = TwoStages();
  costed.collectives[costed.graph.transfer].seconds = 3;
  // rank 1: F0 4-5, B0 5-7 (arrives at 10), F1 7-8, B1 8-10 (arrives at 13).
  // rank 0: B0 10-12, B1 13-15.
  CHECK(Run(costed).iteration_time_s == 15 + 0.5 + 0.25 + 1);
}

TEST_CASE("a gradient goes back over the link that the activation came by") {
  // Rank 0's link takes 1 s, rank 1's (which leads round to rank 0) 100 s.
  CostedGraph costed = TwoStages();
  const int32_t slow = AddCollective(costed, CollectiveKind::kSendReceive,
                                     Group::kPipeline, {1, 100});
  costed.graph.transfer = slow;
  UseSpan(costed, 1, Group::kPipeline, 1);
  const Execution execution = Run(costed);
  // F0 0-1, there 2-3, B0 3-5, back 6-8; F1 1-2, there 5-6, B1 6-8, back 9-11.
  CHECK(execution.iteration_time_s == 11 + 0.5 + 0.25 + 1);
  const auto kind = static_cast<size_t>(CollectiveKind::kSendReceive);
  const auto group = static_cast<size_t>(Group::kPipeline);
  // A transfer counts at its sender.
  for (const ExecutedClass& executed : execution.classes) {
    CHECK(executed.collectives[kind][group].runs == 2);
    CHECK(executed.collectives[kind][group].seconds == 2);
  }
}

TEST_CASE("interleaved chunks pass their output round the ring") {
  CostedGraph costed = Pipelines(2, 1, 2, 2);
  const int32_t forward =
      AddOperator(costed, OperatorKind::kNorm, OperatorPass::kForward, 1);
  const int32_t backward =
      AddOperator(costed, OperatorKind::kNorm, OperatorPass::kInputGradient, 2);
  costed.graph.transfer = AddCollective(costed, CollectiveKind::kSendReceive,
                                        Group::kPipeline, {0.25});
  const int32_t chunk = AddChunk(
      costed, {{AddBlock(costed, {Compute(forward)}, {Compute(backward)}), 1}});
  for (int i = 0; i < 4; ++i) PlaceChunk(costed, chunk);
  AddSchedule(costed, "F0.0 F1.0 F0.1 F1.1 B0.1 B1.1 B0.0 B1.0");
  AddSchedule(costed, "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 B0.0 B1.0");
  // rank 0: F 0-1, 1-2; chunk 1: F 2.5-3.5, 3.5-4.5; B 7-9, 10-12; chunk 0: B
  // 12-14, 14.5-16.5.
  // rank 1: F 1.25-2.25, 2.25-3.25; chunk 1: F0 3.75-4.75, B0 4.75-6.75, F1
  // 6.75-7.75, B1 7.75-9.75; chunk 0: B 9.75-11.75, 12.25-14.25.
  const Execution execution = Run(costed);
  CHECK(execution.iteration_time_s == 16.5);
  // Rank 1's last work is its last send.
  CHECK(execution.classes[1].end_s == 14.5);
  CHECK(execution.classes[1].idle_s == 2);
}

// One rank, one micro-batch, one block `count` times.
CostedGraph OneBlock(const std::vector<double>& operators,
                     const std::vector<double>& collectives,
                     const std::vector<Step>& forward,
                     const std::vector<Step>& backward, int32_t count = 1,
                     const std::vector<Bucket>& buckets = {}) {
  CostedGraph costed = Pipelines(1, 1, 1, 1);
  for (double seconds : operators)
    AddOperator(costed, OperatorKind::kMlpUp, OperatorPass::kForward, seconds);
  for (double seconds : collectives)
    AddCollective(costed, CollectiveKind::kAllReduce, Group::kTensor,
                  {seconds});
  const int32_t block = AddBlock(costed, forward, backward);
  PlaceChunk(costed, AddChunk(costed, {{block, count}}), buckets);
  AddSchedule(costed, "F0 B0");
  return costed;
}

TEST_CASE("a computation that joins waits for the collectives before it") {
  // Forward: 0-1, collective 1-1.5, 1.5-2.5. Backward: 2.5-3.5, collective
  // 3.5-5.5, beside it 3.5-4.5, joined by 5.5-6.5.
  const Execution execution = Run(
      OneBlock({1}, {0.5, 2}, {Compute(0), Communicate(0), Compute(0, true)},
               {Compute(0), Communicate(1), Compute(0), Compute(0, true)}));
  CHECK(execution.iteration_time_s == 6.5);
  CHECK(execution.classes[0].compute_s == 5);
  CHECK(execution.classes[0].exposed_tensor_s == 1.5);
  CHECK(execution.classes[0].overlapped_communication_s == 1);
  CHECK(execution.classes[0].bubble_s == 0);
}

TEST_CASE("collectives queue on the tensor stream") {
  // 0-1, collective 1-4, 1-2, collective 4-7 (issued at 2), joined by 7-8.
  const Execution execution =
      Run(OneBlock({1}, {3},
                   {Compute(0), Communicate(0), Compute(0), Communicate(0),
                    Compute(0, true)},
                   {}));
  CHECK(execution.iteration_time_s == 8);
  CHECK(execution.classes[0].exposed_tensor_s == 5);
}

TEST_CASE("a block starts when what the block before left open has ended") {
  // Forward twice: 0-1, collective 1-3; 3-4, collective 4-6. Backward: 6-7,
  // 7-8.
  CostedGraph costed =
      OneBlock({1}, {2}, {Compute(0), Communicate(0)}, {Compute(0)}, 2);
  const Execution execution = Run(costed);
  CHECK(execution.iteration_time_s == 8);
  CHECK(execution.classes[0].exposed_tensor_s == 4);
}

// Two blocks, forward 1 s and backward 2 s each, in two kinds of pipeline in
// which a reduction takes 1 s and 3 s.
CostedGraph TwoKinds() {
  CostedGraph costed = Pipelines(1, 2, 1, 1);
  AddOperator(costed, OperatorKind::kMlpUp, OperatorPass::kForward, 1);
  AddOperator(costed, OperatorKind::kMlpUp, OperatorPass::kWeightGradient, 2);
  AddCollective(costed, CollectiveKind::kAllReduce, Group::kData, {1, 3});
  AddCollective(costed, CollectiveKind::kAllReduce, Group::kReplica, {1});
  UseSpan(costed, 1, Group::kData, 1);
  const int32_t block = AddBlock(costed, {Compute(0)}, {Compute(1)});
  Bucket early;
  early.reduce = 0;
  Bucket late = early;
  late.block = 1;
  PlaceChunk(costed, AddChunk(costed, {{block, 2}}), {early, late});
  AddSchedule(costed, "F0 B0");
  return costed;
}

TEST_CASE("a reduction starts when bucket and streams of all kinds are ready") {
  // Forward 0-2; buckets are ready at 4 and 6. The first runs 4-5 and 4-7, so
  // the second 7-8 and 7-10.
  const Execution execution = Run(TwoKinds());
  CHECK(execution.iteration_time_s == 10);
  CHECK(execution.classes[0].end_s == 8);
  CHECK(execution.classes[0].overlapped_communication_s == 1);
  CHECK(execution.classes[0].exposed_data_s == 1);
  CHECK(execution.classes[0].bubble_s == 1);
  CHECK(execution.classes[0].idle_s == 2);
  CHECK(execution.classes[1].overlapped_communication_s == 2);
  CHECK(execution.classes[1].exposed_data_s == 4);
}

TEST_CASE("replicas are reduced behind the shards, by all kinds together") {
  // 4-5 and 4-7, replicas 7-8; 8-9 and 8-11, replicas 11-12.
  CostedGraph costed = TwoKinds();
  for (Bucket& bucket : costed.graph.buckets) bucket.reduce_replicas = 1;
  CHECK(Run(costed).iteration_time_s == 12);
}

TEST_CASE("without overlap gradients are reduced after the last pass") {
  // 6-7 and 6-9, 9-10 and 9-12.
  CostedGraph costed = TwoKinds();
  costed.graph.overlaps.grad_reduce = false;
  const Execution execution = Run(costed);
  CHECK(execution.iteration_time_s == 12);
  CHECK(execution.classes[1].exposed_data_s == 6);
}

TEST_CASE("gradients are reduced once, or in every backward pass") {
  // Two micro-batches: forward 0-2 and 2-4, backward 4-8 and 8-12. Once: ready
  // at 10 and 12. In each: ready at 6, 8, 10, 12; the slow kind reduces 6-9,
  // 9-12, 12-15, 15-18. After the last pass: 12-24.
  CostedGraph costed = TwoKinds();
  costed.graph.program.micro_batches = 2;
  costed.graph.passes.clear();
  costed.graph.schedule_begin = {0};
  AddSchedule(costed, "F0 F1 B0 B1");
  CHECK(Run(costed).iteration_time_s == 16);
  costed.graph.reduces_every_backward = true;
  CHECK(Run(costed).iteration_time_s == 18);
  costed.graph.overlaps.grad_reduce = false;
  CHECK(Run(costed).iteration_time_s == 24);
}

TEST_CASE("a block waits for the last gather of the buckets that hold it") {
  // Backward order: bucket 0 holds block 0, bucket 1 blocks 1 and 2. Gathers
  // run 0-2.5 (bucket 1) and 2.5-5 (bucket 0): forward 2.5-3.5, 3.5-4.5, 5-6.
  Bucket early;
  early.gather = 0;
  Bucket late = early;
  late.block = 2;
  CostedGraph costed =
      OneBlock({1, 2}, {2.5}, {Compute(0)}, {Compute(1)}, 3, {early, late});
  const Execution execution = Run(costed);
  CHECK(execution.iteration_time_s == 6 + 3 * 2);
  CHECK(execution.classes[0].exposed_data_s == 2.5 + 0.5);
  CHECK(execution.classes[0].overlapped_communication_s == 2);

  // Without overlap both come at the end: 3 + 6 + 5.
  costed.graph.overlaps.param_gather = false;
  CHECK(Run(costed).iteration_time_s == 14);
  CHECK(Run(costed).classes[0].exposed_data_s == 5);
}

TEST_CASE("a block that two buckets share waits for both") {
  // Bucket 0 ends within block 1 (backward order), so the second block in
  // forward order waits for its gather too: 2.5-3.5, 5-6, 6-7.
  Bucket early;
  early.block = 1;
  early.gather = 0;
  Bucket late = early;
  late.block = 2;
  const Execution execution = Run(
      OneBlock({1, 2}, {2.5}, {Compute(0)}, {Compute(1)}, 3, {early, late}));
  CHECK(execution.iteration_time_s == 7 + 3 * 2);
}

TEST_CASE("a block without parameters waits for no gather") {
  Bucket bucket;
  bucket.gather = 0;
  CostedGraph costed =
      OneBlock({1, 2}, {2.5}, {Compute(0)}, {Compute(1)}, 1, {bucket});
  CHECK(Run(costed).iteration_time_s == 5.5);
  costed.graph.program.blocks[0].parameters = 0;
  CHECK(Run(costed).iteration_time_s == 3);
}

TEST_CASE("what follows the last pass runs one after the other") {
  // Rank 0 is there at 9.5, rank 1 at 7.25 (see above). Replicated gradients of
  // rank 1 7.25-9.75; so the embedding 9.75-10.75, the norm until 11.25 and its
  // collective until 11.5, the optimizer until 12.5.
  CostedGraph costed = TwoStages();
  costed.graph.replicated_gradients = {
      -1,
      AddCollective(costed, CollectiveKind::kAllReduce, Group::kTensor, {2.5})};
  costed.graph.embedding_gradients =
      AddCollective(costed, CollectiveKind::kAllReduce, Group::kEmbedding, {1});
  const Execution execution = Run(costed);
  CHECK(execution.iteration_time_s == 12.5);
  // Of the 2.5 s the first 0.25 s are beside a send and count once, as tensor.
  CHECK(execution.classes[1].exposed_tensor_s == 2.5);
  CHECK(execution.classes[1].exposed_pipeline_s == 0.25);
  CHECK(execution.classes[0].exposed_data_s == 1.25);
}

TEST_CASE("schedules that wait for each other are refused by rank and pass") {
  // Rank 0 wants a gradient before it has sent what that comes from.
  CostedGraph costed = TwoStages();
  costed.graph.passes.clear();
  costed.graph.schedule_begin = {0};
  AddSchedule(costed, "F0 B0 B1 F1");
  AddSchedule(costed, "F0 F1 B0 B1");
  ExecuteWorkspace workspace;
  Execution execution;
  const absl::Status status = Execute(costed, workspace, execution);
  CHECK(status.code() == absl::StatusCode::kInvalidArgument);
  CHECK(std::string(status.message()) ==
        "pipeline ranks wait for each other for ever: rank 0 before the "
        "backward pass of micro-batch 0 through chunk 0 for chunk 0 of rank 1, "
        "rank 1 before the forward pass of micro-batch 1 through chunk 0 for "
        "chunk 0 of rank 0");
}

TEST_CASE("a pass, bucket or lifetime outside the program is refused") {
  ExecuteWorkspace workspace;
  Execution execution;
  CostedGraph costed = TwoStages();
  costed.graph.passes[0].micro_batch = 2;
  CHECK(Execute(costed, workspace, execution).code() ==
        absl::StatusCode::kInvalidArgument);
  costed = TwoStages();
  costed.graph.passes[0].chunk = 1;
  CHECK(Execute(costed, workspace, execution).code() ==
        absl::StatusCode::kInvalidArgument);
  costed = TwoStages();
  costed.graph.chunks[0].is_first = false;
  CHECK(Execute(costed, workspace, execution).code() ==
        absl::StatusCode::kInvalidArgument);
  costed = TwoKinds();
  costed.graph.buckets[1].block = 2;
  CHECK(Execute(costed, workspace, execution).code() ==
        absl::StatusCode::kInvalidArgument);
  costed = TwoKinds();
  std::swap(costed.graph.buckets[0], costed.graph.buckets[1]);
  CHECK(Execute(costed, workspace, execution).code() ==
        absl::StatusCode::kInvalidArgument);
  costed = TwoStages();
  Tensor tensor;
  tensor.last_step = 2;
  costed.graph.program.tensors = {tensor};
  costed.graph.program.blocks[0].end_tensor = 1;
  CHECK(Execute(costed, workspace, execution).code() ==
        absl::StatusCode::kInvalidArgument);
}

void AddTensor(CostedGraph& costed, TensorKind kind, int64_t bytes,
               int32_t first_step, int32_t last_step) {
  Tensor tensor;
  tensor.kind = kind;
  tensor.bytes = bytes;
  tensor.first_step = first_step;
  tensor.last_step = last_step;
  costed.graph.program.tensors.push_back(tensor);
  ++costed.graph.program.blocks.back().end_tensor;
}

TEST_CASE("memory follows the time of both streams") {
  // 0-1 takes 100; the collective 1-3 takes 30; 1-2 beside it takes 50; 3-4
  // takes 60 after the collective gave back. Peak: 180 from 1 to 2.
  CostedGraph costed = OneBlock(
      {1}, {2},
      {WithMemory(Compute(0), 100, 0), WithMemory(Communicate(0), 30, 30),
       WithMemory(Compute(0), 50, 50), WithMemory(Compute(0, true), 60, 60)},
      {WithMemory(Compute(0), 0, 100)});
  AddTensor(costed, TensorKind::kActivation, 100, 0, 4);
  AddTensor(costed, TensorKind::kBuffer, 30, 1, 1);
  AddTensor(costed, TensorKind::kTemporary, 50, 2, 2);
  AddTensor(costed, TensorKind::kLogits, 60, 3, 3);
  Stage& stage = costed.graph.program.stages[0];
  stage.weights_bytes = 1000;
  stage.gradients_bytes = 2000;
  stage.optimizer_bytes = 4000;
  costed.graph.program.framework_bytes = 8000;
  const ExecutedClass executed = Run(costed).classes[0];
  CHECK(executed.peak_bytes == 15180);
  CHECK(executed.peak_time_s == 1);
  CHECK(executed.peak_kind_bytes ==
        std::array<int64_t, kTensorKinds>{100, 50, 30, 0});
}

TEST_CASE("at one moment memory changes in the order of issue") {
  // The collective 1-2 and the computation 1-2 give back before the next takes.
  CostedGraph costed =
      OneBlock({1}, {1},
               {Compute(0), WithMemory(Communicate(0), 30, 30),
                WithMemory(Compute(0), 50, 50), WithMemory(Compute(0), 60, 60)},
               {});
  CHECK(Run(costed).classes[0].peak_bytes == 80);
  // What takes no time takes before it gives back.
  costed.operators[0].seconds = 0;
  costed.collectives[0].seconds = 0;
  CHECK(Run(costed).classes[0].peak_bytes == 60);
}

TEST_CASE("the first of several equal peaks is told") {
  CostedGraph costed = OneBlock(
      {1}, {},
      {Compute(0), WithMemory(Compute(0), 7, 7), WithMemory(Compute(0), 7, 7)},
      {});
  CHECK(Run(costed).classes[0].peak_time_s == 1);
  // Nothing is ever taken: the peak is there from the begin.
  costed.graph.program.steps[1].allocated_bytes = 0;
  costed.graph.program.steps[1].freed_bytes = 0;
  costed.graph.program.steps[2] = costed.graph.program.steps[1];
  costed.graph.program.stages[0].weights_bytes = 5;
  CHECK(Run(costed).classes[0].peak_bytes == 5);
  CHECK(Run(costed).classes[0].peak_time_s == 0);
}

TEST_CASE("runs and seconds are summed by kind, pass and evidence") {
  CostedGraph costed =
      OneBlock({1, 2}, {0.5}, {Compute(0), Communicate(0), Compute(0, true)},
               {Again(Compute(0)), Again(Communicate(0)), Compute(1, true)}, 3);
  costed.graph.program.operators[1].pass = OperatorPass::kInputGradient;
  const ExecutedClass executed = Run(costed).classes[0];
  const auto& up =
      executed.operators[static_cast<size_t>(OperatorKind::kMlpUp)];
  const OperatorSum& forward = up[static_cast<size_t>(OperatorPass::kForward)];
  CHECK(forward.runs == 9);
  CHECK(forward.seconds == 9);
  CHECK(forward.recomputed_s == 3);
  const OperatorSum& gradient =
      up[static_cast<size_t>(OperatorPass::kInputGradient)];
  CHECK(gradient.runs == 3);
  CHECK(gradient.seconds == 6);
  CHECK(gradient.recomputed_s == 0);
  const CollectiveSum& reduced =
      executed.collectives[static_cast<size_t>(CollectiveKind::kAllReduce)]
                          [static_cast<size_t>(Group::kTensor)];
  CHECK(reduced.runs == 6);
  CHECK(reduced.seconds == 3);
  CHECK(executed.evidence_s[static_cast<size_t>(Evidence::kMeasured)] == 15);
  CHECK(executed.evidence_s[static_cast<size_t>(Evidence::kAnalytic)] == 3);
}

TEST_CASE("a workspace keeps nothing from one graph to the next") {
  ExecuteWorkspace workspace;
  Execution execution;
  for (int i = 0; i < 2; ++i) {
    REQUIRE(Execute(TwoKinds(), workspace, execution).ok());
    CHECK(execution.iteration_time_s == 10);
    REQUIRE(Execute(TwoStages(), workspace, execution).ok());
    CHECK(execution.iteration_time_s == 11.25);
    CHECK(execution.classes[0].overlapped_communication_s == 0.25);
    CHECK(execution.tasks == CountTasks(TwoStages().graph));
  }
}

}  // namespace
}  // namespace lmsimbench
