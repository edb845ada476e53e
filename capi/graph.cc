#include "capi/graph.h"

#include <string>
#include <utility>

#include "capi/cost_model.h"
#include "capi/make.h"
#include "capi/table.h"
#include "capi/text.h"
#include "capi/values.h"
#include "fmt/format.h"
#include "lmsimbench/pipeline.h"
#include "lmsimbench/staged.h"

namespace capi = lmsimbench::capi;
using lmsimbench::Cost;
using lmsimbench::CostedGraph;
using lmsimbench::Evidence;
using lmsimbench::ExecutionGraph;
using lmsimbench::Operator;
using lmsimbench::Slice;
using lmsimbench::SpannedCollective;
using lmsimbench::Stream;

lmsb_graph::lmsb_graph(CostedGraph of)
    : costed(std::move(of)),
      operators(
          capi::BatchOf(absl::MakeConstSpan(costed.graph.program.operators))),
      collectives(capi::BatchOf(absl::MakeConstSpan(costed.spanned))) {}

namespace {

// Everything takes one tick: for what of a graph does not depend on costs.
class OneTick final : public lmsimbench::CostModel {
 public:
  OneTick() : CostModel("one tick") {}

 private:
  static constexpr Cost kTick = {1.0 / (1 << 20), Evidence::kAnalytic};

  absl::Status DoOperatorCosts(const lmsimbench::System&,
                               absl::Span<const Operator>,
                               absl::Span<Cost> costs) const override {
    std::fill(costs.begin(), costs.end(), kTick);
    return absl::OkStatus();
  }
  absl::Status DoCollectiveCosts(const lmsimbench::System&,
                                 absl::Span<const SpannedCollective>,
                                 absl::Span<Cost> costs) const override {
    std::fill(costs.begin(), costs.end(), kTick);
    return absl::OkStatus();
  }
};

absl::StatusOr<lmsb_graph*> NewGraph(lmsimbench::Workload workload,
                                     const lmsimbench::System& system,
                                     lmsimbench::ParallelConfig config) {
  lmsimbench::ChooseWhatIsOpen(system, workload, config);
  auto program = lmsimbench::Compile(workload, config);
  if (!program.ok()) return program.status();
  auto placement = lmsimbench::Place(config, system);
  if (!placement.ok()) return placement.status();
  auto graph = lmsimbench::Lower(*program, *placement, config);
  if (!graph.ok()) return graph.status();
  auto costed = lmsimbench::CostGraph(*graph, OneTick());
  if (!costed.ok()) return costed.status();
  return new lmsb_graph(*std::move(costed));
}

// What a slice runs, in words.
std::string NameOf(const CostedGraph& costed, const Slice& slice) {
  if (slice.stream == Stream::kCompute) {
    return lmsimbench::Describe(costed.graph.program.operators[slice.id]);
  }
  return lmsimbench::Describe(costed.spanned[lmsimbench::SpannedIndex(
      costed, slice.id, slice.rank_class)]);
}

// The columns that tell which pass a slice belongs to.
void AddPass(const std::vector<Slice>& slices, capi::TableBuilder& table) {
  table.I64("micro_batch",
            [&](size_t i) { return slices[i].pass.micro_batch; });
  table.I64("chunk", [&](size_t i) { return slices[i].pass.chunk; });
  table.Strings("direction",
                [&](size_t i) { return Name(slices[i].pass.direction); });
  table.I64("recomputed",
            [&](size_t i) { return slices[i].recomputed ? 1 : 0; });
}

}  // namespace

lmsb_code lmsb_graph_new(lmsb_graph** out, const lmsb_workload* workload,
                         const lmsb_system* system, const lmsb_config* config) {
  return capi::Make(out, [&]() -> absl::StatusOr<lmsb_graph*> {
    absl::Status status = capi::CheckHandle(workload, "workload");
    if (status.ok()) status = capi::CheckHandle(system, "system");
    if (status.ok()) status = capi::CheckHandle(config, "config");
    if (!status.ok()) return status;
    return NewGraph(*workload->value, *system->value, *config->value);
  });
}

void lmsb_graph_free(lmsb_graph* graph) {
  capi::Free(graph, "lmsb_graph_free");
}

const lmsb_operator_batch* lmsb_graph_operator_batch(const lmsb_graph* graph) {
  return capi::IsHandle(graph) ? &graph->operators : nullptr;
}

const lmsb_collective_batch* lmsb_graph_collective_batch(
    const lmsb_graph* graph) {
  return capi::IsHandle(graph) ? &graph->collectives : nullptr;
}

lmsb_code lmsb_graph_operators(const lmsb_graph* graph, lmsb_table** out) {
  return capi::MakeFrom(graph, "graph", out, [&] {
    const auto& all = graph->costed.graph.program.operators;
    capi::TableBuilder table("operators", all.size());
    table.Strings("kind", [&](size_t i) { return Name(all[i].kind); });
    table.Strings("pass", [&](size_t i) { return Name(all[i].pass); });
    table.Strings("computation",
                  [&](size_t i) { return Name(all[i].computation); });
    table.Strings("precision",
                  [&](size_t i) { return Name(all[i].precision); });
    const auto add = [&](const char* name, int64_t Operator::*figure) {
      table.I64(name, [&](size_t i) { return all[i].*figure; });
    };
    add("batch", &Operator::batch);
    add("m", &Operator::m);
    add("n", &Operator::n);
    add("k", &Operator::k);
    add("query_tokens", &Operator::query_tokens);
    add("key_tokens", &Operator::key_tokens);
    add("heads", &Operator::heads);
    add("kv_heads", &Operator::kv_heads);
    add("head_dim", &Operator::head_dim);
    table.I64("causal", [&](size_t i) { return all[i].causal ? 1 : 0; });
    add("window", &Operator::window);
    add("rows", &Operator::rows);
    add("width", &Operator::width);
    table.F64("flops", [&](size_t i) { return all[i].flops; });
    table.F64("bytes", [&](size_t i) { return all[i].bytes; });
    add("value_head_dim", &Operator::value_head_dim);
    return std::move(table).Finish();
  });
}

lmsb_code lmsb_graph_collectives(const lmsb_graph* graph, lmsb_table** out) {
  return capi::MakeFrom(graph, "graph", out, [&] {
    const auto& all = graph->costed.spanned;
    capi::TableBuilder table("collectives", all.size());
    table.Strings("kind",
                  [&](size_t i) { return Name(all[i].collective.kind); });
    table.Strings("group",
                  [&](size_t i) { return Name(all[i].collective.group); });
    table.I64("bytes", [&](size_t i) { return all[i].collective.bytes; });
    table.I64("members", [&](size_t i) { return all[i].span.members; });
    table.I64("nodes", [&](size_t i) { return all[i].span.nodes; });
    table.I64("members_per_node",
              [&](size_t i) { return all[i].span.members_per_node; });
    table.I64("level", [&](size_t i) { return all[i].span.level; });
    return std::move(table).Finish();
  });
}

lmsb_code lmsb_graph_rank_classes(const lmsb_graph* graph, lmsb_table** out) {
  return capi::MakeFrom(graph, "graph", out, [&] {
    const auto& all = graph->costed.graph.placement.classes;
    capi::TableBuilder table("rank_classes", all.size());
    table.I64("pipeline_rank", [&](size_t i) { return all[i].pipeline_rank; });
    table.I64("pipeline_kind", [&](size_t i) { return all[i].pipeline_kind; });
    table.I64("ranks", [&](size_t i) { return all[i].ranks; });
    return std::move(table).Finish();
  });
}

lmsb_code lmsb_graph_tasks(const lmsb_graph* graph, lmsb_table** out) {
  return capi::MakeFrom(
      graph, "graph", out, [&]() -> absl::StatusOr<lmsb_table*> {
        auto timeline = lmsimbench::Expand(graph->costed);
        if (!timeline.ok()) return timeline.status();
        const std::vector<Slice>& all = timeline->slices;
        const auto computes = [&](size_t i) {
          return all[i].stream == Stream::kCompute;
        };
        capi::TableBuilder table("tasks", all.size());
        table.I64("rank_class", [&](size_t i) { return all[i].rank_class; });
        table.Strings("stream", [&](size_t i) { return Name(all[i].stream); });
        table.I64("operator",
                  [&](size_t i) { return computes(i) ? all[i].id : -1; });
        table.I64("collective", [&](size_t i) {
          return computes(i) ? -1
                             : lmsimbench::SpannedIndex(
                                   graph->costed, all[i].id, all[i].rank_class);
        });
        AddPass(all, table);
        return std::move(table).Finish();
      });
}

lmsb_code lmsb_graph_to_json(const lmsb_graph* graph, const char* stage,
                             size_t stage_length, lmsb_text** out) {
  return capi::MakeFrom(
      graph, "graph", out, [&]() -> absl::StatusOr<lmsb_text*> {
        absl::string_view wanted;
        absl::Status status =
            capi::ReadText(stage, stage_length, "stage", wanted);
        if (!status.ok()) return status;
        const ExecutionGraph& of = graph->costed.graph;
        if (wanted == "program") return new lmsb_text{{}, ToJson(of.program)};
        if (wanted == "placement")
          return new lmsb_text{{}, ToJson(of.placement)};
        if (wanted == "graph") return new lmsb_text{{}, ToJson(of)};
        return absl::NotFoundError(
            fmt::format("no stage '{}'; there are program, placement, graph",
                        std::string(wanted)));
      });
}

lmsb_code lmsb_timeline_new(lmsb_timeline** out, const lmsb_graph* graph,
                            const lmsb_cost_model* model) {
  return capi::Make(out, [&]() -> absl::StatusOr<lmsb_timeline*> {
    absl::Status status = capi::CheckHandle(graph, "graph");
    if (status.ok()) status = capi::CheckHandle(model, "model");
    if (!status.ok()) return status;
    auto costed = lmsimbench::CostGraph(graph->costed.graph, *model->model);
    if (!costed.ok()) return costed.status();
    auto timeline = lmsimbench::Expand(*costed);
    if (!timeline.ok()) return timeline.status();
    return new lmsb_timeline(*std::move(costed), *std::move(timeline));
  });
}

void lmsb_timeline_free(lmsb_timeline* timeline) {
  capi::Free(timeline, "lmsb_timeline_free");
}

double lmsb_timeline_iteration_time_s(const lmsb_timeline* timeline) {
  return capi::IsHandle(timeline) ? timeline->timeline.iteration_time_s : 0;
}

lmsb_code lmsb_timeline_slices(const lmsb_timeline* timeline,
                               lmsb_table** out) {
  return capi::MakeFrom(timeline, "timeline", out, [&] {
    const std::vector<Slice>& all = timeline->timeline.slices;
    capi::TableBuilder table("slices", all.size());
    table.I64("rank_class", [&](size_t i) { return all[i].rank_class; });
    table.Strings("stream", [&](size_t i) { return Name(all[i].stream); });
    table.F64("start_s", [&](size_t i) { return all[i].start_s; });
    table.F64("end_s", [&](size_t i) { return all[i].end_s; });
    table.Strings("name",
                  [&](size_t i) { return NameOf(timeline->costed, all[i]); });
    AddPass(all, table);
    return std::move(table).Finish();
  });
}

lmsb_code lmsb_timeline_memory(const lmsb_timeline* timeline,
                               lmsb_table** out) {
  return capi::MakeFrom(timeline, "timeline", out, [&] {
    const auto& all = timeline->timeline.memory;
    capi::TableBuilder table("memory", all.size());
    table.I64("rank_class", [&](size_t i) { return all[i].rank_class; });
    table.F64("time_s", [&](size_t i) { return all[i].time_s; });
    table.I64("bytes", [&](size_t i) { return all[i].bytes; });
    return std::move(table).Finish();
  });
}

lmsb_code lmsb_timeline_to_perfetto(const lmsb_timeline* timeline,
                                    lmsb_text** out) {
  return capi::MakeFrom(timeline, "timeline", out, [&] {
    return new lmsb_text{
        {}, lmsimbench::ToPerfettoJson(timeline->costed, timeline->timeline)};
  });
}
