#include <string>
#include <vector>

#include "fmt/format.h"
#include "lib/lower/pass_notation.h"
#include "lmsimbench/execution_graph.h"
#include "nlohmann/json.hpp"

namespace lmsimbench {
namespace {

using Json = nlohmann::ordered_json;

// An index; null where there is nothing to communicate.
Json JsonOf(int32_t collective) {
  return collective < 0 ? Json(nullptr) : Json(collective);
}

Json JsonOf(const Bucket& bucket) {
  return {{"parameters", bucket.parameters},
          {"block", bucket.block},
          {"step", bucket.step},
          {"reduce", JsonOf(bucket.reduce)},
          {"reduce_replicas", JsonOf(bucket.reduce_replicas)},
          {"gather", JsonOf(bucket.gather)}};
}

Json JsonOf(const Unit& unit) {
  return {{"gather", JsonOf(unit.gather)},
          {"gather_experts", JsonOf(unit.gather_experts)},
          {"reduce", JsonOf(unit.reduce)},
          {"reduce_replicas", JsonOf(unit.reduce_replicas)},
          {"reduce_experts", JsonOf(unit.reduce_experts)},
          {"is_gathered_again", unit.is_gathered_again},
          {"stays", unit.stays},
          {"weights_bytes", unit.weights_bytes},
          {"gradients_bytes", unit.gradients_bytes}};
}

Json RankJson(const ExecutionGraph& graph, int64_t rank) {
  Json json;
  json["pipeline_rank"] = rank;
  Json& classes = json["rank_classes"] = Json::array();
  for (size_t c = 0; c < graph.placement.classes.size(); ++c) {
    if (graph.placement.classes[c].pipeline_rank == rank) classes.push_back(c);
  }
  Json& chunks = json["chunks"] = Json::array();
  for (int32_t c = 0; c < graph.chunks_per_rank; ++c) {
    const PlacedChunk& chunk = graph.chunks[rank * graph.chunks_per_rank + c];
    chunks.push_back({{"kind", chunk.kind},
                      {"begin_bucket", chunk.begin_bucket},
                      {"end_bucket", chunk.end_bucket},
                      {"is_first", chunk.is_first},
                      {"is_last", chunk.is_last}});
  }
  Json& passes = json["passes"] = Json::array();
  for (const Pass& pass : Passes(graph, rank)) {
    passes.push_back(lower::PassNotation(pass) + (pass.with_next ? "+" : ""));
  }
  json["replicated_gradients"] = JsonOf(graph.replicated_gradients[rank]);
  if (graph.bidirectional) {
    json["copied_gradients"] = JsonOf(graph.copied_gradients[rank]);
  }
  return json;
}

}  // namespace

std::string ToJson(const ExecutionGraph& graph) {
  Json json;
  json["tasks"] = CountTasks(graph);
  json["overlaps"] = {{"grad_reduce", graph.overlaps.grad_reduce},
                      {"param_gather", graph.overlaps.param_gather},
                      {"p2p", graph.overlaps.p2p}};
  if (graph.overlaps.experts) json["overlaps"]["experts"] = true;
  json["reduces_every_backward"] = graph.reduces_every_backward;
  Json& collectives = json["collectives"] = Json::array();
  for (const Collective& collective : graph.collectives) {
    collectives.push_back({{"kind", std::string(Name(collective.kind))},
                           {"group", std::string(Name(collective.group))},
                           {"bytes", collective.bytes}});
  }
  Json& buckets = json["buckets"] = Json::array();
  for (const Bucket& bucket : graph.buckets) buckets.push_back(JsonOf(bucket));
  Json& units = json["units"] = Json::array();
  for (const Unit& unit : graph.units) units.push_back(JsonOf(unit));
  json["transfer"] = JsonOf(graph.transfer);
  json["embedding_gradients"] = JsonOf(graph.embedding_gradients);
  json["gradient_norm"] = JsonOf(graph.gradient_norm);
  json["chunks_per_rank"] = graph.chunks_per_rank;
  if (graph.turns_back) json["turns_back"] = true;
  if (graph.bidirectional) json["bidirectional"] = true;
  Json& ranks = json["pipeline_ranks"] = Json::array();
  for (int64_t rank = 0; rank < graph.placement.pp; ++rank) {
    ranks.push_back(RankJson(graph, rank));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace lmsimbench
