#include "fmt/format.h"
#include "lib/lower/check_graph.h"
#include "lmsimbench/pipeline.h"

namespace lmsimbench {
namespace {

// Numbers each group's distinct spans in the order in which the classes show
// them.
void NumberSpans(const Placement& placement, std::vector<int32_t>& ordinals) {
  const auto& classes = placement.classes;
  ordinals.resize(classes.size() * kGroups);
  for (int group = 0; group < kGroups; ++group) {
    int32_t distinct = 0;
    for (size_t k = 0; k < classes.size(); ++k) {
      size_t first = 0;
      while (classes[first].span[group] != classes[k].span[group]) ++first;
      ordinals[k * kGroups + group] =
          first == k ? distinct++ : ordinals[first * kGroups + group];
    }
  }
}

// One entry for each distinct span of each collective's group.
void SpanCollectives(CostedGraph& costed) {
  const ExecutionGraph& graph = costed.graph;
  const auto& classes = graph.placement.classes;
  costed.spanned.clear();
  costed.collective_begin.clear();
  for (const Collective& collective : graph.collectives) {
    const auto group = static_cast<int>(collective.group);
    costed.collective_begin.push_back(
        static_cast<int32_t>(costed.spanned.size()));
    int32_t entries = 0;
    for (size_t k = 0; k < classes.size(); ++k) {
      if (costed.span_ordinal[k * kGroups + group] != entries) continue;
      ++entries;
      costed.spanned.push_back({collective,
                                graph.placement.spans[classes[k].span[group]],
                                graph.placement.pp});
    }
  }
}

template <typename Question>
absl::Status NotAnswered(const CostModel& model, const char* what,
                         const Question& question) {
  return absl::UnimplementedError(
      fmt::format("cost model '{}' does not answer the {} '{}'", model.name(),
                  what, Describe(question)));
}

template <typename Question>
absl::Status Ask(const CostModel& model, const System& system, const char* what,
                 absl::Span<const Question> questions, absl::Span<Cost> costs) {
  absl::Status status = model.Costs(system, questions, costs);
  if (!status.ok()) return status;
  for (size_t i = 0; i < costs.size(); ++i) {
    if (costs[i].evidence == Evidence::kNotAnswered) {
      return NotAnswered(model, what, questions[i]);
    }
    costs[i].seconds = WholeTicks(costs[i].seconds);
    costs[i].host_s = WholeTicks(costs[i].host_s);
  }
  return absl::OkStatus();
}

// A group of one has nobody to talk to; the model is asked about the others
// only, in batches as long as they stand together.
absl::Status AskCollectives(const CostModel& model, CostedGraph& costed) {
  const auto spanned = absl::MakeConstSpan(costed.spanned);
  costed.collectives.resize(spanned.size());
  const auto costs = absl::MakeSpan(costed.collectives);
  size_t i = 0;
  while (i < spanned.size()) {
    if (spanned[i].span.members <= 1) {
      costs[i++] = {0, Evidence::kAnalytic};
      continue;
    }
    size_t end = i + 1;
    while (end < spanned.size() && spanned[end].span.members > 1) ++end;
    absl::Status status =
        Ask(model, costed.graph.placement.system, "collective",
            spanned.subspan(i, end - i), costs.subspan(i, end - i));
    if (!status.ok()) return status;
    i = end;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CostGraphInto(const ExecutionGraph& graph, const CostModel& model,
                           CostedGraph& costed) {
  absl::Status status = lower::CheckGraph(graph);
  if (!status.ok()) return status;
  costed.graph = graph;
  absl::StatusOr<Contention> contention =
      model.ContentionOn(graph.placement.system);
  if (!contention.ok()) return contention.status();
  costed.contention = *contention;
  costed.operators.resize(graph.program.operators.size());
  status = Ask(model, graph.placement.system, "operator",
               absl::MakeConstSpan(costed.graph.program.operators),
               absl::MakeSpan(costed.operators));
  if (!status.ok()) return status;
  NumberSpans(costed.graph.placement, costed.span_ordinal);
  SpanCollectives(costed);
  return AskCollectives(model, costed);
}

absl::StatusOr<CostedGraph> CostGraph(const ExecutionGraph& graph,
                                      const CostModel& model) {
  CostedGraph costed;
  absl::Status status = CostGraphInto(graph, model, costed);
  if (!status.ok()) return status;
  return costed;
}

}  // namespace lmsimbench
