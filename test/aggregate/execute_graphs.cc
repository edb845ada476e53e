#include "test/aggregate/execute_graphs.h"

#include <sstream>
#include <string>

namespace lmsimbench::hand_made {
namespace {

int32_t Size(const std::vector<Step>& steps) {
  return static_cast<int32_t>(steps.size());
}

}  // namespace

Step Compute(int32_t op, bool joins) {
  Step step;
  step.id = op;
  step.joins = joins;
  return step;
}

Step Communicate(int32_t collective) {
  Step step;
  step.id = collective;
  step.is_collective = true;
  return step;
}

Step Again(Step step) {
  step.recomputed = true;
  return step;
}

Step WithMemory(Step step, int64_t allocated_bytes, int64_t freed_bytes) {
  step.allocated_bytes = allocated_bytes;
  step.freed_bytes = freed_bytes;
  return step;
}

CostedGraph Pipelines(int64_t pp, int64_t kinds, int32_t chunks_per_rank,
                      int64_t micro_batches) {
  CostedGraph costed;
  ExecutionGraph& graph = costed.graph;
  graph.placement.pp = pp;
  graph.placement.dp = kinds;
  graph.placement.spans.emplace_back();
  for (int64_t kind = 0; kind < kinds; ++kind) {
    for (int64_t rank = 0; rank < pp; ++rank) {
      RankClass rank_class;
      rank_class.pipeline_rank = rank;
      rank_class.pipeline_kind = kind;
      rank_class.ranks = 1;
      graph.placement.classes.push_back(rank_class);
    }
  }
  costed.span_ordinal.assign(pp * kinds * kGroups, 0);
  graph.program.micro_batches = micro_batches;
  graph.program.stages.resize(pp);
  graph.chunks_per_rank = chunks_per_rank;
  graph.schedule_begin = {0};
  graph.overlaps = {true, true, true};
  graph.replicated_gradients.assign(pp, -1);
  SetTail(costed, -1, -1);
  return costed;
}

int32_t AddOperator(CostedGraph& costed, OperatorKind kind, OperatorPass pass,
                    double seconds) {
  Operator op;
  op.kind = kind;
  op.pass = pass;
  costed.graph.program.operators.push_back(op);
  costed.operators.push_back({seconds, Evidence::kMeasured});
  return static_cast<int32_t>(costed.operators.size()) - 1;
}

int32_t AddCollective(CostedGraph& costed, CollectiveKind kind, Group group,
                      const std::vector<double>& seconds) {
  Collective collective;
  collective.kind = kind;
  collective.group = group;
  collective.bytes = 1;
  costed.graph.collectives.push_back(collective);
  costed.collective_begin.push_back(
      static_cast<int32_t>(costed.collectives.size()));
  for (double s : seconds) {
    costed.spanned.push_back({collective, Span()});
    costed.collectives.push_back({s, Evidence::kAnalytic});
  }
  return static_cast<int32_t>(costed.collective_begin.size()) - 1;
}

void UseSpan(CostedGraph& costed, int64_t rank_class, Group group,
             int32_t ordinal) {
  costed.span_ordinal[rank_class * kGroups + static_cast<int>(group)] = ordinal;
}

int32_t AddBlock(CostedGraph& costed, const std::vector<Step>& forward,
                 const std::vector<Step>& backward, int64_t parameters,
                 const std::vector<Step>& weight) {
  Program& program = costed.graph.program;
  Block block;
  block.begin_step = Size(program.steps);
  block.backward_step = block.begin_step + Size(forward);
  block.weight_step = block.backward_step + Size(backward);
  block.end_step = block.weight_step + Size(weight);
  block.parameters = parameters;
  program.steps.insert(program.steps.end(), forward.begin(), forward.end());
  program.steps.insert(program.steps.end(), backward.begin(), backward.end());
  program.steps.insert(program.steps.end(), weight.begin(), weight.end());
  program.blocks.push_back(block);
  return static_cast<int32_t>(program.blocks.size()) - 1;
}

int32_t AddChunk(CostedGraph& costed, const std::vector<BlockRun>& runs) {
  Program& program = costed.graph.program;
  Chunk chunk;
  chunk.begin_run = static_cast<int32_t>(program.runs.size());
  program.runs.insert(program.runs.end(), runs.begin(), runs.end());
  chunk.end_run = static_cast<int32_t>(program.runs.size());
  program.chunks.push_back(chunk);
  return static_cast<int32_t>(program.chunks.size()) - 1;
}

void PlaceChunk(CostedGraph& costed, int32_t kind,
                const std::vector<Bucket>& buckets) {
  ExecutionGraph& graph = costed.graph;
  const auto index = static_cast<int64_t>(graph.chunks.size());
  const int64_t rank = index / graph.chunks_per_rank;
  const int64_t chunk = index % graph.chunks_per_rank;
  PlacedChunk placed;
  placed.kind = kind;
  placed.begin_bucket = static_cast<int32_t>(graph.buckets.size());
  graph.buckets.insert(graph.buckets.end(), buckets.begin(), buckets.end());
  placed.end_bucket = static_cast<int32_t>(graph.buckets.size());
  placed.is_first = rank == 0 && chunk == 0;
  placed.is_last = rank == (graph.turns_back ? 0 : graph.placement.pp - 1) &&
                   chunk == graph.chunks_per_rank - 1;
  graph.chunks.push_back(placed);
}

void AddSchedule(CostedGraph& costed, const char* passes) {
  ExecutionGraph& graph = costed.graph;
  std::istringstream words(passes);
  std::string word;
  while (words >> word) {
    Pass pass;
    pass.direction = word[0] == 'F'   ? Direction::kForward
                     : word[0] == 'B' ? Direction::kBackward
                                      : Direction::kWeight;
    const size_t dot = word.find('.');
    pass.micro_batch = std::stoi(word.substr(1, dot));
    if (dot != std::string::npos)
      pass.chunk = static_cast<int16_t>(std::stoi(word.substr(dot + 1)));
    pass.with_next = word.back() == '+';
    graph.passes.push_back(pass);
  }
  graph.schedule_begin.push_back(static_cast<int32_t>(graph.passes.size()));
}

void SetTail(CostedGraph& costed, int32_t gradient_norm, int32_t optimizer) {
  for (Stage& stage : costed.graph.program.stages) {
    stage.gradient_norm = gradient_norm;
    stage.optimizer = optimizer;
  }
}

CostedGraph TwoStages() {
  CostedGraph costed = Pipelines(2, 1, 1, 2);
  const int32_t forward =
      AddOperator(costed, OperatorKind::kMlpUp, OperatorPass::kForward, 1);
  const int32_t backward = AddOperator(costed, OperatorKind::kMlpUp,
                                       OperatorPass::kInputGradient, 2);
  const int32_t norm = AddOperator(costed, OperatorKind::kGradientNorm,
                                   OperatorPass::kOptimizer, 0.5);
  const int32_t optimizer = AddOperator(costed, OperatorKind::kOptimizer,
                                        OperatorPass::kOptimizer, 1);
  costed.graph.transfer = AddCollective(costed, CollectiveKind::kSendReceive,
                                        Group::kPipeline, {0.25});
  costed.graph.gradient_norm =
      AddCollective(costed, CollectiveKind::kAllReduce, Group::kModel, {0.25});
  const int32_t block =
      AddBlock(costed, {Compute(forward)}, {Compute(backward)});
  const int32_t chunk = AddChunk(costed, {{block, 1}});
  PlaceChunk(costed, chunk);
  PlaceChunk(costed, chunk);
  AddSchedule(costed, "F0 F1 B0 B1");
  AddSchedule(costed, "F0 B0 F1 B1");
  SetTail(costed, norm, optimizer);
  return costed;
}

}  // namespace lmsimbench::hand_made
