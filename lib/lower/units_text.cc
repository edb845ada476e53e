#include "lib/lower/units_text.h"

#include <initializer_list>

#include "fmt/format.h"
#include "lmsimbench/fmt.h"

namespace lmsimbench::lower {
namespace {

// The collectives that there are, the first with its kind.
std::string Names(const ExecutionGraph& graph,
                  std::initializer_list<int32_t> ids) {
  std::string names;
  for (const int32_t id : ids) {
    if (id < 0) continue;
    names += names.empty()
                 ? fmt::format("c{} {}", id, graph.collectives[id].kind)
                 : fmt::format(", c{}", id);
  }
  return names.empty() ? "-" : names;
}

// Units that are gathered for one micro-batch.
int64_t CountGathers(const ExecutionGraph& graph, int64_t rank,
                     Direction direction) {
  int64_t count = 0;
  for (int32_t c = 0; c < graph.chunks_per_rank; ++c) {
    const PlacedChunk& placed = graph.chunks[rank * graph.chunks_per_rank + c];
    const Chunk& chunk = graph.program.chunks[placed.kind];
    for (const BlockRun& run : Runs(graph.program, chunk)) {
      const Unit& unit = graph.units[run.block];
      if (direction == Direction::kBackward && !unit.is_gathered_again)
        continue;
      if (unit.gather >= 0 || unit.gather_experts >= 0) count += run.count;
    }
  }
  return count;
}

}  // namespace

std::string UnitsText(const ExecutionGraph& graph) {
  if (graph.units.empty()) return "";
  std::string text =
      "\nunits, one a block: gathered in every pass, reduced in backward "
      "passes\n";
  const auto append = [&](std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  append(fmt::format("  {:>6} {:<12} {:>14}  {:<28} {:<28}", "block", "kind",
                     "bytes", "gathered by", "reduced by"));
  for (size_t b = 0; b < graph.units.size(); ++b) {
    const Unit& unit = graph.units[b];
    const char* const kept =
        unit.is_gathered_again ? "" : "there still in the backward pass";
    append(fmt::format(
        "  {:>6} {:<12} {:>14}  {:<28} {:<28}  {}", b,
        graph.program.blocks[b].kind, unit.weights_bytes,
        Names(graph, {unit.gather, unit.gather_experts}),
        Names(graph, {unit.reduce, unit.reduce_replicas, unit.reduce_experts}),
        unit.stays ? "stays through the pass" : kept));
  }
  return text;
}

std::string UnitsOfRankText(const ExecutionGraph& graph, int64_t rank) {
  if (graph.units.empty()) return "";
  return fmt::format(
      "{} units gathered for the forward and {} for the backward passes of a "
      "micro-batch",
      CountGathers(graph, rank, Direction::kForward),
      CountGathers(graph, rank, Direction::kBackward));
}

}  // namespace lmsimbench::lower
