#include <algorithm>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "fmt/format.h"
#include "lib/profile/run_cells.h"
#include "lib/profile/view_row.h"
#include "lmsimbench/lookup.h"
#include "lmsimbench/measured_run.h"

namespace lmsimbench {
namespace {

// A count whose default says something: an empty cell leaves it.
void ReadCount(const ViewRow& row, const char* column, int64_t& count) {
  if (IsStated(row.Count(column))) count = row.Count(column);
}

absl::StatusOr<ModelSpec> ReadModel(const ViewRow& row) {
  ModelSpec model;
  model.name = row.Text("name");
  model.hidden = row.Count("hidden");
  model.layers = row.Count("layers");
  model.heads = row.Count("heads");
  model.kv_heads = row.Count("kv_heads");
  model.head_dim = row.Count("head_dim");
  model.ffn = row.Count("ffn");
  model.gated_mlp = row.Fact("gated_mlp");
  model.vocab = row.Count("vocab");
  model.tied_embeddings = row.Fact("tied_embeddings");
  ReadCount(row, "sliding_window", model.sliding_window);
  ReadCount(row, "sliding_window_period", model.sliding_window_period);
  model.qk_norm = row.Fact("qk_norm");
  ReadCount(row, "norms_per_layer", model.norms_per_layer);
  model.qkv_bias = row.Fact("qkv_bias");
  model.linear_bias = row.Fact("linear_bias");
  model.max_positions = row.Count("max_positions");
  model.dropout = row.Number("dropout");
  ReadCount(row, "experts", model.experts);
  ReadCount(row, "top_k", model.top_k);
  model.expert_ffn = row.Count("expert_ffn");
  ReadCount(row, "shared_experts", model.shared_experts);
  model.shared_expert_ffn = row.Count("shared_expert_ffn");
  ReadCount(row, "dense_first_layers", model.dense_first_layers);
  model.q_lora_rank = row.Count("q_lora_rank");
  model.kv_lora_rank = row.Count("kv_lora_rank");
  model.qk_nope_head_dim = row.Count("qk_nope_head_dim");
  model.qk_rope_head_dim = row.Count("qk_rope_head_dim");
  model.v_head_dim = row.Count("v_head_dim");
  ReadCount(row, "mtp_layers", model.mtp_layers);
  absl::Status status = ReadAttention(row.Text("attention"), model.attention);
  if (status.ok()) status = ReadNorm(row.Text("norm"), model.norm);
  if (status.ok()) {
    status = ReadPositions(row.Text("positions"), model.positions);
  }
  if (status.ok()) return model;
  return absl::InvalidArgumentError(fmt::format(
      "models, row '{}': {}", model.name, std::string(status.message())));
}

// One architecture that goes by a name, with the sources that have it.
struct Variant {
  ModelSpec model;
  std::vector<std::string> sources;
};

using Variants = std::map<std::string, std::vector<Variant>>;

void Add(const ModelSpec& model, const std::string& source,
         Variants& variants) {
  std::vector<Variant>& known = variants[model.name];
  auto same = std::find_if(
      known.begin(), known.end(),
      [&model](const Variant& variant) { return variant.model == model; });
  if (same == known.end()) same = known.insert(known.end(), {model, {}});
  std::vector<std::string>& sources = same->sources;
  if (std::find(sources.begin(), sources.end(), source) == sources.end()) {
    sources.push_back(source);
  }
}

template <typename T>
std::string FactText(const T& field) {
  if constexpr (std::is_same_v<T, YesNo>) {
    return field == YesNo::kNotStated ? "unstated"
                                      : (IsYes(field) ? "true" : "false");
  } else if constexpr (std::is_enum_v<T>) {
    return field == T{} ? "unstated" : std::string(Name(field));
  } else if constexpr (std::is_same_v<T, std::string>) {
    return field;
  } else {
    return IsStated(field) ? fmt::format("{}", field) : "unstated";
  }
}

std::vector<std::pair<std::string, std::string>> FactsOf(
    const ModelSpec& model) {
  std::vector<std::pair<std::string, std::string>> facts;
  ModelSpec::VisitFields(
      [&facts](const char* name, const auto& field) {
        facts.emplace_back(name, FactText(field));
      },
      model);
  return facts;
}

// For each variant the facts that tell it from the others, as ",heads=16": the
// first fields, in their order, that do.
std::vector<std::string> DistinctFacts(
    const std::vector<const Variant*>& variants) {
  std::vector<std::vector<std::pair<std::string, std::string>>> facts;
  for (const Variant* variant : variants) {
    facts.push_back(FactsOf(variant->model));
  }
  std::vector<std::string> texts(variants.size());
  const auto distinct = [&texts] {
    return std::set<std::string>(texts.begin(), texts.end()).size();
  };
  const size_t fields = facts.front().size();
  for (size_t field = 0; field < fields && distinct() < texts.size(); ++field) {
    const std::vector<std::string> before = texts;
    const size_t groups = distinct();
    for (size_t i = 0; i < texts.size(); ++i) {
      texts[i] +=
          fmt::format(",{}={}", facts[i][field].first, facts[i][field].second);
    }
    if (distinct() == groups) texts = before;  // this field tells nothing apart
  }
  return texts;
}

// Gives each architecture of one name a name of its own.
void NameApart(const std::string& name, const std::vector<Variant>& variants,
               std::vector<NamedModel>& models) {
  if (variants.size() == 1) {
    models.push_back({name, {}, variants.front().model});
    return;
  }
  std::map<std::string, std::vector<const Variant*>> by_source;
  for (const Variant& variant : variants) {
    for (const std::string& source : variant.sources) {
      by_source[source].push_back(&variant);
    }
  }
  std::map<const Variant*, std::vector<std::string>> names;
  for (const auto& [source, of_source] : by_source) {
    const std::vector<std::string> facts = of_source.size() == 1
                                               ? std::vector<std::string>(1)
                                               : DistinctFacts(of_source);
    for (size_t i = 0; i < of_source.size(); ++i) {
      names[of_source[i]].push_back(
          fmt::format("{}@{}{}", name, source, facts[i]));
    }
  }
  for (const Variant& variant : variants) {
    std::vector<std::string>& all = names[&variant];
    models.push_back({all.front(),
                      std::vector<std::string>(all.begin() + 1, all.end()),
                      variant.model});
  }
}

}  // namespace

absl::StatusOr<std::vector<NamedModel>> NamedModels(const Bundle& bundle) {
  Variants variants;
  const absl::StatusOr<std::vector<MeasuredRun>> runs = ReadRuns(bundle);
  if (!runs.ok()) return runs.status();
  for (const MeasuredRun& run : *runs) {
    Add(run.workload.model, run.source, variants);
  }
  const ProfileView& table = bundle.ViewOrEmpty("models");
  for (size_t i = 0; i < table.rows(); ++i) {
    const ViewRow row(table, i);
    const absl::StatusOr<ModelSpec> model = ReadModel(row);
    if (!model.ok()) return model.status();
    Add(*model, row.Text("source_id"), variants);
  }
  std::vector<NamedModel> models;
  for (const auto& [name, of_name] : variants) {
    NameApart(name, of_name, models);
  }
  std::sort(
      models.begin(), models.end(),
      [](const NamedModel& a, const NamedModel& b) { return a.name < b.name; });
  return models;
}

}  // namespace lmsimbench
