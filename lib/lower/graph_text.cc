#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "fmt/format.h"
#include "lib/core/operator_text.h"
#include "lib/lower/pass_notation.h"
#include "lib/lower/transfer_way.h"
#include "lib/lower/units_text.h"
#include "lmsimbench/execution_graph.h"
#include "lmsimbench/fmt.h"

namespace lmsimbench {
namespace {

// Passes of one phase of a schedule that are written out; of a longer one those
// at both ends.
constexpr size_t kWholePhase = 16;
constexpr size_t kPhaseEnd = 6;

void AppendLine(std::string line, std::string& text) {
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + "\n";
}

std::string CollectiveName(const ExecutionGraph& graph, int32_t id) {
  return fmt::format("c{} {}", id, graph.collectives[id].kind);
}

std::string OperatorName(const ExecutionGraph& graph, int32_t id) {
  return fmt::format("{} {}", id, graph.program.operators[id].kind);
}

std::string PhaseText(absl::Span<const Pass> passes) {
  std::string text;
  const bool whole = passes.size() <= kWholePhase;
  const char* before = "";
  for (size_t i = 0; i < passes.size(); ++i) {
    if (!whole && i == kPhaseEnd) {
      text += fmt::format(" ({} more)", passes.size() - 2 * kPhaseEnd);
      i = passes.size() - kPhaseEnd;
      before = " ";
    }
    text += before + lower::PassNotation(passes[i]);
    before = passes[i].with_next ? "+" : " ";
  }
  return text;
}

// Warm-up, steady phase and cool-down, divided by bars: forward passes only,
// forward and backward in turn, no forward passes any more. A schedule that
// turns once, as GPipe's, has no steady phase.
std::string ScheduleText(absl::Span<const Pass> passes) {
  size_t first_backward = 0;
  while (first_backward < passes.size() &&
         passes[first_backward].direction == Direction::kForward) {
    ++first_backward;
  }
  size_t end_forward = passes.size();
  while (end_forward > 0 &&
         passes[end_forward - 1].direction != Direction::kForward) {
    --end_forward;
  }
  const bool turns_once = end_forward <= first_backward;
  const size_t steady =
      turns_once || first_backward == 0 ? first_backward : first_backward - 1;
  size_t cool_down =
      turns_once ? steady : std::min(end_forward + 1, passes.size());
  while (cool_down > steady && cool_down < passes.size() &&
         passes[cool_down - 1].with_next) {
    ++cool_down;
  }
  std::string text;
  for (const auto phase :
       {passes.subspan(0, steady), passes.subspan(steady, cool_down - steady),
        passes.subspan(cool_down)}) {
    if (phase.empty()) continue;
    if (!text.empty()) text += " | ";
    text += PhaseText(phase);
  }
  return text;
}

void AppendCollectives(const ExecutionGraph& graph, std::string& text) {
  if (graph.collectives.empty()) return;
  text += "\ncollectives\n" + CollectivesText(graph.collectives);
}

// The step of a backward or weight pass at which a bucket is complete.
std::string CompleteAt(const ExecutionGraph& graph, const PlacedChunk& placed,
                       const Bucket& bucket) {
  const Program& program = graph.program;
  const auto runs = Runs(program, program.chunks[placed.kind]);
  int64_t passed = 0;
  for (size_t r = runs.size(); r-- > 0; passed += runs[r].count) {
    if (bucket.block >= passed + runs[r].count) continue;
    const Block& block = program.blocks[runs[r].block];
    if (bucket.step < 0) {
      return fmt::format("{} of the way back ({}, block {}), its begin",
                         bucket.block, block.kind, runs[r].block);
    }
    const Step& step = program.splits_backward
                           ? WeightSteps(program, block)[bucket.step]
                           : BackwardSteps(program, block)[bucket.step];
    const Operator& op = program.operators[step.id];
    return fmt::format("{} of the way back ({}, block {}), {} {}", bucket.block,
                       block.kind, runs[r].block, op.kind, op.pass);
  }
  return "no step";
}

void AppendBuckets(const ExecutionGraph& graph, std::string& text) {
  if (graph.buckets.empty()) return;
  text += "\nbuckets of gradients, in the order of the backward pass\n";
  AppendLine(
      fmt::format("  {:>6} {:>6} {:>14}  {:<28} {:<16}  {}", "chunk", "bucket",
                  "parameters", "reduced by", "gathered by", "complete at"),
      text);
  // Chunks of one kind share their buckets.
  std::vector<bool> shown(graph.program.chunks.size(), false);
  for (const PlacedChunk& placed : graph.chunks) {
    if (shown[placed.kind]) continue;
    shown[placed.kind] = true;
    for (int32_t b = placed.begin_bucket; b < placed.end_bucket; ++b) {
      const Bucket& bucket = graph.buckets[b];
      std::string reduced = CollectiveName(graph, bucket.reduce);
      if (bucket.reduce_replicas >= 0) {
        reduced += fmt::format(", c{}", bucket.reduce_replicas);
      }
      AppendLine(
          fmt::format(
              "  {:>6} {:>6} {:>14}  {:<28} {:<16}  {}", placed.kind, b,
              bucket.parameters, reduced,
              bucket.gather < 0 ? "-" : CollectiveName(graph, bucket.gather),
              CompleteAt(graph, placed, bucket)),
          text);
    }
  }
}

struct PassCounts {
  std::array<int64_t, kDirections> passes = {};
  // Those that hand on what they computed, and those that wait for it, by way.
  std::array<int64_t, 4> sends = {};
  std::array<int64_t, 4> receives = {};

  int64_t of(Direction direction) const {
    return passes[static_cast<size_t>(direction)];
  }
  int64_t sent(lower::Way way) const { return sends[static_cast<size_t>(way)]; }
  int64_t received(lower::Way way) const {
    return receives[static_cast<size_t>(way)];
  }
};

PassCounts CountPasses(const ExecutionGraph& graph, int64_t rank) {
  PassCounts counts;
  for (const Pass& pass : Passes(graph, rank)) {
    ++counts.passes[static_cast<size_t>(pass.direction)];
    ++counts.sends[static_cast<size_t>(
        lower::OutputWay(graph, rank, pass.chunk, pass.direction))];
    ++counts.receives[static_cast<size_t>(
        lower::InputWay(graph, rank, pass.chunk, pass.direction))];
  }
  return counts;
}

// Collectives within the blocks of a rank's chunks.
std::string BlockCollectives(const ExecutionGraph& graph, int64_t rank) {
  std::vector<bool> used(graph.collectives.size(), false);
  for (int32_t c = 0; c < graph.chunks_per_rank; ++c) {
    const PlacedChunk& placed = graph.chunks[rank * graph.chunks_per_rank + c];
    const Chunk& chunk = graph.program.chunks[placed.kind];
    for (const BlockRun& run : Runs(graph.program, chunk)) {
      const Block& block = graph.program.blocks[run.block];
      for (int32_t s = block.begin_step; s < block.end_step; ++s) {
        const Step& step = graph.program.steps[s];
        if (step.is_collective) used[step.id] = true;
      }
    }
  }
  std::string text;
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    if (!text.empty()) text += ", ";
    text += CollectiveName(graph, static_cast<int32_t>(i));
  }
  return text;
}

struct Buckets {
  int64_t reduced = 0;
  int64_t gathered = 0;
};

Buckets CountBuckets(const ExecutionGraph& graph, int64_t rank) {
  Buckets counts;
  for (int32_t c = 0; c < graph.chunks_per_rank; ++c) {
    const PlacedChunk& placed = graph.chunks[rank * graph.chunks_per_rank + c];
    for (int32_t b = placed.begin_bucket; b < placed.end_bucket; ++b) {
      counts.reduced += graph.buckets[b].reduce >= 0;
      counts.gathered += graph.buckets[b].gather >= 0;
    }
  }
  return counts;
}

std::string Gathers(int64_t count) {
  return fmt::format("{} parameter gather{}", count, count == 1 ? "" : "s");
}

std::string Reductions(const ExecutionGraph& graph, int64_t count) {
  std::string text =
      fmt::format("{} bucket reduction{}", count, count == 1 ? "" : "s");
  const bool every = graph.reduces_every_backward;
  if (graph.overlaps.grad_reduce) {
    const char* pass = graph.program.splits_backward ? "weight" : "backward";
    text += every ? fmt::format(" beside every {} pass", pass)
                  : fmt::format(" beside the last {} pass of each chunk", pass);
  } else if (every) {
    text += " a micro-batch";
  }
  return text;
}

// What the streams of a rank do, each in its order.
class RankText {
 public:
  RankText(const ExecutionGraph& graph, int64_t rank)
      : graph_(graph), rank_(rank) {}

  void Append(std::string& text) {
    const PassCounts counts = CountPasses(graph_, rank_);
    const Stage& stage = graph_.program.stages[rank_];
    const int64_t weight = counts.of(Direction::kWeight);
    Say(Stream::kCompute,
        fmt::format("{} forward{} {} backward{} passes",
                    counts.of(Direction::kForward), weight > 0 ? "," : " and",
                    counts.of(Direction::kBackward),
                    weight > 0 ? fmt::format(" and {} weight", weight) : ""));
    if (stage.gradient_norm >= 0) {
      Say(Stream::kCompute, OperatorName(graph_, stage.gradient_norm));
    }
    for (const int32_t op :
         {stage.gradients_to_host, stage.optimizer, stage.weights_to_device}) {
      if (op >= 0) Say(Stream::kCompute, OperatorName(graph_, op));
    }
    const std::string within = BlockCollectives(graph_, rank_);
    if (!within.empty()) Say(Stream::kTensor, within + " within passes");
    Collective(Stream::kTensor, graph_.replicated_gradients[rank_],
               "gradients of replicated parameters");
    Transfers(Stream::kSendForward, counts.sent(lower::Way::kToNext));
    Transfers(Stream::kSendBackward, counts.sent(lower::Way::kToPrevious));
    Transfers(Stream::kReceiveForward, counts.received(lower::Way::kToNext));
    Transfers(Stream::kReceiveBackward,
              counts.received(lower::Way::kToPrevious));
    Data();
    for (int s = 0; s < kStreams; ++s) {
      if (streams_[s].empty()) continue;
      text += fmt::format("  {:<16} {}\n", static_cast<Stream>(s), streams_[s]);
    }
  }

 private:
  void Say(Stream stream, const std::string& what) {
    std::string& said = streams_[static_cast<size_t>(stream)];
    if (!said.empty()) said += "; ";
    said += what;
  }
  void Collective(Stream stream, int32_t id, const char* what) {
    if (id < 0) return;
    Say(stream, fmt::format("{} ({})", CollectiveName(graph_, id), what));
  }
  void Transfers(Stream stream, int64_t count) {
    if (count == 0 || graph_.transfer < 0) return;
    Say(stream, fmt::format("{} times {}", count,
                            CollectiveName(graph_, graph_.transfer)));
  }
  void Data() {
    const std::string units = lower::UnitsOfRankText(graph_, rank_);
    if (!units.empty()) Say(Stream::kData, units);
    const Buckets buckets = CountBuckets(graph_, rank_);
    const bool early = graph_.overlaps.param_gather;
    const std::string gathers = Gathers(buckets.gathered);
    if (buckets.gathered > 0 && early) {
      Say(Stream::kData, gathers + " from the start");
    }
    if (buckets.reduced > 0) {
      Say(Stream::kData, Reductions(graph_, buckets.reduced));
    }
    if (graph_.bidirectional) {
      Collective(Stream::kData, graph_.copied_gradients[rank_],
                 fmt::format("gradients of the copies on rank {}",
                             graph_.placement.pp - 1 - rank_)
                     .c_str());
    }
    if (rank_ == 0 || rank_ == graph_.placement.pp - 1) {
      Collective(Stream::kData, graph_.embedding_gradients,
                 "gradients of the shared embedding");
    }
    Collective(Stream::kData, graph_.gradient_norm, "gradient norm");
    if (buckets.gathered > 0 && !early) {
      Say(Stream::kData, gathers + " after the optimizer");
    }
  }

  const ExecutionGraph& graph_;
  const int64_t rank_;
  std::string streams_[kStreams];
};

// What follows the last pass of a rank, in the order in which it runs.
std::string AfterLastPass(const ExecutionGraph& graph, int64_t rank) {
  std::vector<std::string> parts;
  const auto collective = [&](int32_t id) {
    if (id >= 0) parts.push_back(CollectiveName(graph, id));
  };
  const Buckets buckets = CountBuckets(graph, rank);
  if (buckets.reduced > 0 && !graph.overlaps.grad_reduce) {
    parts.push_back(Reductions(graph, buckets.reduced));
  }
  collective(graph.replicated_gradients[rank]);
  if (graph.bidirectional) collective(graph.copied_gradients[rank]);
  if (rank == 0 || rank == graph.placement.pp - 1) {
    collective(graph.embedding_gradients);
  }
  const Stage& stage = graph.program.stages[rank];
  if (stage.gradient_norm >= 0) {
    parts.push_back(OperatorName(graph, stage.gradient_norm));
  }
  collective(graph.gradient_norm);
  for (const int32_t op :
       {stage.gradients_to_host, stage.optimizer, stage.weights_to_device}) {
    if (op >= 0) parts.push_back(OperatorName(graph, op));
  }
  if (buckets.gathered > 0 && !graph.overlaps.param_gather) {
    parts.push_back(Gathers(buckets.gathered));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void AppendRank(const ExecutionGraph& graph, int64_t rank, std::string& text) {
  std::vector<size_t> classes;
  int64_t ranks = 0;
  for (size_t c = 0; c < graph.placement.classes.size(); ++c) {
    if (graph.placement.classes[c].pipeline_rank != rank) continue;
    classes.push_back(c);
    ranks += graph.placement.classes[c].ranks;
  }
  text += fmt::format("\npipeline rank {}: rank class{} {} ({} rank{})\n", rank,
                      classes.size() == 1 ? "" : "es", fmt::join(classes, ", "),
                      ranks, ranks == 1 ? "" : "s");
  std::string chunks;
  for (int32_t c = 0; c < graph.chunks_per_rank; ++c) {
    chunks += fmt::format("{}{}", chunks.empty() ? "" : ", ",
                          graph.chunks[rank * graph.chunks_per_rank + c].kind);
  }
  text += fmt::format("  {:<16} {}\n", "chunks", chunks);
  text += fmt::format("  {:<16} {}\n", "schedule",
                      ScheduleText(Passes(graph, rank)));
  RankText(graph, rank).Append(text);
  text += fmt::format("  {:<16} {}\n", "after last pass",
                      AfterLastPass(graph, rank));
}

}  // namespace

std::string ToText(const ExecutionGraph& graph) {
  std::string text =
      fmt::format("{} tasks in an iteration\n", CountTasks(graph));
  const Overlaps& overlaps = graph.overlaps;
  text += fmt::format(
      "beside computation: gradient reduction {}, parameter gathers {}, sends "
      "{}{}\n",
      overlaps.grad_reduce ? "yes" : "no", overlaps.param_gather ? "yes" : "no",
      overlaps.p2p ? "yes" : "no",
      overlaps.experts ? ", experts of another micro-batch yes" : "");
  text += "F2.1: forward pass of micro-batch 2 through chunk 1 of its rank\n";
  if (graph.turns_back) {
    text += "chunks 1 are passed from the last rank to the first\n";
  }
  if (graph.turns_back || overlaps.experts) {
    text += "F+B: passes of a chain\n";
  }
  AppendCollectives(graph, text);
  AppendBuckets(graph, text);
  text += lower::UnitsText(graph);
  for (int64_t rank = 0; rank < graph.placement.pp; ++rank) {
    AppendRank(graph, rank, text);
  }
  return text;
}

}  // namespace lmsimbench
