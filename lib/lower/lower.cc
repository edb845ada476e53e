#include <algorithm>
#include <string>

#include "fmt/format.h"
#include "lib/core/arithmetic.h"
#include "lib/lower/buckets.h"
#include "lib/lower/check_program.h"
#include "lib/lower/schedule.h"
#include "lib/lower/units.h"
#include "lmsimbench/layout.h"
#include "lmsimbench/pipeline.h"

namespace lmsimbench {
namespace {

// Megatron-LM's size of a gradient bucket: 40 million parameters, or a million
// for each data-parallel rank where that is more.
constexpr int64_t kBucketParameters = 40'000'000;
constexpr int64_t kBucketParametersPerRank = 1'000'000;

// Passes of all ranks, which are stored one by one. 512 times those of 16,384
// devices with 512 micro-batches; what has more is a slip of the pen, and must
// not end in want of memory.
constexpr int64_t kMostPasses = int64_t{1} << 26;

absl::StatusOr<Schedule> ScheduleFor(const ParallelConfig& config) {
  const int64_t chunks = ChunksPerRank(config);
  switch (config.schedule) {
    case Schedule::kNotStated:
      return chunks > 1 ? Schedule::kInterleaved1F1B : Schedule::k1F1B;
    case Schedule::kGPipe:
    case Schedule::k1F1B:
    case Schedule::kInterleaved1F1B:
    case Schedule::kZeroBubbleH1:
    case Schedule::kZeroBubbleH2:
    case Schedule::kZeroBubbleV:
    case Schedule::kDualPipeV:
      return config.schedule;
    case Schedule::kDualPipe:
      break;
  }
  if (config.pp > 1) return config.schedule;
  return absl::UnimplementedError(fmt::format(
      "the staged pipeline does not model schedule {} on one pipeline rank",
      std::string(Name(config.schedule))));
}

// Micro-batches that go through a chunk in a row: under GPipe all of them. A
// last group smaller than the pipeline would wait for itself.
int64_t GroupSize(const ParallelConfig& config, Schedule schedule,
                  int64_t micro_batches) {
  if (schedule == Schedule::kGPipe) return micro_batches;
  if (schedule == Schedule::k1F1B || SplitsBackward(schedule)) return 1;
  if (IsStated(config.micro_batch_group)) return config.micro_batch_group;
  int64_t group = std::min(config.pp, micro_batches);
  while (micro_batches % group != 0 && micro_batches % group < config.pp) {
    ++group;
  }
  return group;
}

absl::Status CheckPlacement(const Placement& placement,
                            const ParallelConfig& config) {
  if (placement.tp == config.tp && placement.cp == config.cp &&
      placement.dp == config.dp && placement.pp == config.pp) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(fmt::format(
      "the placement is of tp {}, cp {}, dp {}, pp {}, the configuration of tp "
      "{}, cp {}, dp {}, pp {}",
      placement.tp, placement.cp, placement.dp, placement.pp, config.tp,
      config.cp, config.dp, config.pp));
}

absl::Status CheckSplit(const Program& program, Schedule schedule) {
  const bool splits = SplitsBackward(schedule);
  if (program.splits_backward == splits) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "schedule {} {} backward passes; the program was compiled for one that "
      "{}",
      std::string(Name(schedule)), splits ? "splits" : "does not split",
      splits ? "does not" : "does"));
}

absl::Status CheckPasses(const lower::ScheduleShape& shape) {
  const int64_t chunks = shape.pp * shape.chunks;
  const int64_t directions = SplitsBackward(shape.schedule) ? 3 : 2;
  if (shape.micro_batches <= kMostPasses / directions / chunks) {
    return absl::OkStatus();
  }
  return absl::OutOfRangeError(fmt::format(
      "{} micro-batches through {} chunks are more passes than the {} that are "
      "simulated",
      shape.micro_batches, chunks, kMostPasses));
}

void AddSchedules(const lower::ScheduleShape& shape, ExecutionGraph& graph) {
  graph.passes.resize(
      static_cast<size_t>(shape.pp * lower::CountPasses(shape)));
  graph.schedule_begin.assign(1, 0);
  Pass* const passes = graph.passes.data();
  Pass* end = passes;
  for (int64_t rank = 0; rank < shape.pp; ++rank) {
    end = lower::WriteSchedule(shape, rank, end);
    graph.schedule_begin.push_back(static_cast<int32_t>(end - passes));
  }
  graph.passes.resize(static_cast<size_t>(end - passes));
}

// Chunk c of the network is chunk c / pp of its rank, and where ranks hold
// copies of each other's stages also chunk 1 of that of its copy. Chunks of one
// kind share their buckets.
void AddChunks(const lower::BucketPlan& plan, const ParallelConfig& config,
               ExecutionGraph& graph) {
  const Program& program = graph.program;
  const int64_t pp = config.pp;
  const auto chunks = static_cast<int64_t>(program.chunk_kind.size());
  graph.chunks_per_rank =
      graph.bidirectional ? 2 : static_cast<int32_t>(chunks / pp);
  graph.chunks.clear();
  graph.buckets.clear();
  graph.chunks.resize(static_cast<size_t>(pp * graph.chunks_per_rank));
  for (int64_t c = 0; c < chunks; ++c) {
    const auto place_of = [&](int64_t chunk) {
      return RankOfChunk(config, chunk) * graph.chunks_per_rank + chunk / pp;
    };
    PlacedChunk& placed = graph.chunks[place_of(c)];
    placed.kind = program.chunk_kind[c];
    placed.is_first = c == 0;
    placed.is_last = c == chunks - 1;
    if (!plan.has_buckets) continue;
    const auto first_of_kind =
        std::find(program.chunk_kind.begin(), program.chunk_kind.begin() + c,
                  placed.kind) -
        program.chunk_kind.begin();
    if (first_of_kind < c) {
      const PlacedChunk& same = graph.chunks[place_of(first_of_kind)];
      placed.begin_bucket = same.begin_bucket;
      placed.end_bucket = same.end_bucket;
      continue;
    }
    placed.begin_bucket = static_cast<int32_t>(graph.buckets.size());
    lower::AppendBuckets(plan, program.chunks[placed.kind], graph);
    placed.end_bucket = static_cast<int32_t>(graph.buckets.size());
  }
  for (int64_t rank = 0; graph.bidirectional && rank < pp; ++rank) {
    graph.chunks[2 * RankOfCopy(config, rank) + 1] = graph.chunks[2 * rank];
  }
}

lower::BucketPlan PlanBuckets(const ParallelConfig& config,
                              const Overlaps& overlaps,
                              const Placement& placement) {
  lower::BucketPlan plan;
  plan.ranks = config.dp * config.cp;
  plan.shard_ranks = placement.shard_ranks;
  plan.expert_ranks = placement.expert_dp;
  plan.sharded = ShardsOptimizer(config.zero);
  plan.has_buckets = config.zero != ZeroStage::kParameters &&
                     (plan.ranks > 1 || plan.expert_ranks > 1);
  plan.bucket_parameters =
      overlaps.grad_reduce || overlaps.param_gather
          ? std::max(kBucketParameters, kBucketParametersPerRank * plan.ranks)
          : INT64_MAX;
  return plan;
}

// Either rank of a pair holds the stages of both. What of their gradients has
// been scattered is added part by part.
void AddCopiedGradients(const ParallelConfig& config, ExecutionGraph& graph) {
  const Program& program = graph.program;
  const Placement& placement = graph.placement;
  graph.copied_gradients.clear();
  if (!graph.bidirectional) return;
  const bool scattered = ShardsOptimizer(config.zero);
  for (const Stage& stage : program.stages) {
    const int64_t experts = stage.expert_parameters;
    const int64_t parameters =
        CeilDivide(stage.parameters - experts,
                   scattered ? placement.shard_ranks : 1) +
        CeilDivide(experts, scattered ? placement.expert_dp : 1);
    graph.copied_gradients.push_back(
        lower::AddCollective({CollectiveKind::kAllReduce, Group::kEmbedding,
                              parameters * program.gradient_bytes},
                             graph));
  }
}

// What follows the last pass of every rank.
void AddFinish(const ParallelConfig& config, ExecutionGraph& graph) {
  const Program& program = graph.program;
  const int64_t gradient_bytes = program.gradient_bytes;
  const auto stages = program.stages.size();
  // Of sharded parameters a rank has the gradients of its shard.
  const int64_t shards =
      config.zero == ZeroStage::kParameters ? graph.placement.shard_ranks : 1;
  graph.replicated_gradients.assign(stages, -1);
  for (size_t i = 0; i < stages && program.sequence_parallel; ++i) {
    graph.replicated_gradients[i] = lower::AddCollective(
        {CollectiveKind::kAllReduce, Group::kTensor,
         CeilDivide(program.stages[i].replicated_parameters * gradient_bytes,
                    shards)},
        graph);
  }
  AddCopiedGradients(config, graph);
  graph.embedding_gradients = lower::AddCollective(
      {CollectiveKind::kAllReduce, Group::kEmbedding,
       CeilDivide(program.shared_embedding_parameters * gradient_bytes,
                  shards)},
      graph);
  // Every rank adds the square of its own part, one number: a part of the
  // model, and where the gradients are scattered a part of that.
  constexpr int64_t kNormBytes = 4;
  const bool scattered =
      ShardsOptimizer(config.zero) && config.dp * config.cp > 1;
  // Experts are parts of the model beside tensor and pipeline parallelism.
  const bool has_experts = std::any_of(
      program.stages.begin(), program.stages.end(),
      [](const Stage& stage) { return stage.expert_parameters > 0; });
  const bool everywhere =
      scattered || (has_experts && (graph.placement.ep > 1 ||
                                    graph.placement.etp != config.tp));
  graph.gradient_norm =
      everywhere || config.tp * config.pp > 1
          ? lower::AddCollective(
                {CollectiveKind::kAllReduce,
                 everywhere ? Group::kWorld : Group::kModel, kNormBytes},
                graph)
          : -1;
}

// True if a forward pass can go together with gradients of another micro-batch.
bool PairsMicroBatches(Schedule schedule) {
  return schedule == Schedule::kInterleaved1F1B ||
         schedule == Schedule::kDualPipe || schedule == Schedule::kDualPipeV;
}

}  // namespace

absl::Status LowerInto(const Program& program, const Placement& placement,
                       const ParallelConfig& config, ExecutionGraph& graph) {
  const absl::StatusOr<Schedule> schedule = ScheduleFor(config);
  if (!schedule.ok()) return schedule.status();
  absl::Status status = CheckPlacement(placement, config);
  if (status.ok()) status = lower::CheckProgram(program, config.pp);
  if (status.ok()) status = CheckSplit(program, *schedule);
  if (!status.ok()) return status;

  graph.program = program;
  graph.placement = placement;
  graph.collectives = program.collectives;

  const bool interleaved = *schedule == Schedule::kInterleaved1F1B;
  const bool sharded = ShardsOptimizer(config.zero);
  // FSDP does both unless told not to.
  const bool units = config.zero == ZeroStage::kParameters;
  graph.overlaps.grad_reduce = units ? config.overlap_grad_reduce != YesNo::kNo
                                     : IsYes(config.overlap_grad_reduce);
  graph.overlaps.param_gather =
      units ? config.overlap_param_gather != YesNo::kNo
            : IsYes(config.overlap_param_gather) && sharded;
  // Interleaved and split schedules send beside computation unless told not to.
  graph.overlaps.p2p = config.overlap_p2p == YesNo::kNotStated
                           ? interleaved || SplitsBackward(*schedule)
                           : IsYes(config.overlap_p2p);
  graph.overlaps.experts = IsYes(config.overlap_expert) &&
                           placement.ep * placement.etp > 1 &&
                           PairsMicroBatches(*schedule);
  graph.bidirectional = *schedule == Schedule::kDualPipe;
  graph.turns_back = IsVShaped(*schedule) || graph.bidirectional;
  graph.reduces_every_backward = units || config.zero == ZeroStage::kGradients;

  lower::ScheduleShape shape;
  shape.schedule = *schedule;
  shape.pp = config.pp;
  shape.chunks = static_cast<int64_t>(program.chunk_kind.size()) / config.pp;
  if (graph.bidirectional && shape.chunks != 1) {
    return absl::InvalidArgumentError(fmt::format(
        "schedule {} runs one chunk of the network on a rank, and its copy; "
        "the program has {}",
        std::string(Name(*schedule)), shape.chunks));
  }
  shape.micro_batches = program.micro_batches;
  shape.overlaps_experts = graph.overlaps.experts;
  shape.group = GroupSize(config, *schedule, shape.micro_batches);
  status = CheckPasses(shape);
  if (!status.ok()) return status;
  AddSchedules(shape, graph);
  const lower::BucketPlan plan = PlanBuckets(config, graph.overlaps, placement);
  AddChunks(plan, config, graph);
  graph.units.clear();
  if (units) lower::AddUnits(plan, graph);
  graph.transfer =
      config.pp > 1
          ? lower::AddCollective({CollectiveKind::kSendReceive,
                                  Group::kPipeline, program.transfer_bytes},
                                 graph)
          : -1;
  AddFinish(config, graph);
  return absl::OkStatus();
}

absl::StatusOr<ExecutionGraph> Lower(const Program& program,
                                     const Placement& placement,
                                     const ParallelConfig& config) {
  ExecutionGraph graph;
  absl::Status status = LowerInto(program, placement, config, graph);
  if (!status.ok()) return status;
  return graph;
}

}  // namespace lmsimbench
