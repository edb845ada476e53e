#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "lib/core/json_fields.h"
#include "lib/place/rank_order.h"
#include "lmsimbench/fmt.h"
#include "lmsimbench/placement.h"

namespace lmsimbench {
namespace {

using Json = nlohmann::ordered_json;

struct Parallelism {
  const char* name;
  int64_t size;
  int64_t stride;
};

// From the fastest to the slowest varying rank.
std::array<Parallelism, 4> InRankOrder(const Placement& p) {
  std::array<Parallelism, 4> order = {{{"tp", p.tp, p.tp_stride},
                                       {"cp", p.cp, p.cp_stride},
                                       {"dp", p.dp, p.dp_stride},
                                       {"pp", p.pp, p.pp_stride}}};
  // One of size 1 has the stride of the next.
  std::stable_sort(order.begin(), order.end(),
                   [](const Parallelism& a, const Parallelism& b) {
                     return a.stride != b.stride ? a.stride < b.stride
                                                 : a.size < b.size;
                   });
  return order;
}

// Groups of parallelisms that there are none of, and those of experts that are
// divided as all else is, say nothing of their own.
bool IsTold(const Placement& p, Group group) {
  switch (group) {
    case Group::kContext:
      return p.cp > 1;
    case Group::kContextInner:
    case Group::kContextOuter:
      return p.context_inner > 1 && p.context_inner < p.cp;
    case Group::kExpert:
    case Group::kExpertTensor:
    case Group::kExpertRegion:
    case Group::kExpertData:
      return !place::HasDenseExperts(p);
    default:
      return true;
  }
}

std::vector<Group> Groups() {
  std::vector<Group> groups;
  for (int i = 1; i < kGroups; ++i) groups.push_back(static_cast<Group>(i));
  return groups;
}
std::vector<Group> ToldGroups(const Placement& p) {
  std::vector<Group> groups = Groups();
  groups.erase(std::remove_if(groups.begin(), groups.end(),
                              [&](Group group) { return !IsTold(p, group); }),
               groups.end());
  return groups;
}

int32_t SpanOf(const RankClass& rank_class, Group group) {
  return rank_class.span[static_cast<size_t>(group)];
}

// The level that joins a group, as its system names it.
std::string LevelName(const Placement& p, const Span& span) {
  if (static_cast<size_t>(span.level) >= p.system.network.size()) return "";
  return p.system.network[span.level].name;
}

// What the classes have in a group, each span once, with the ranks that have
// it.
struct UsedSpan {
  int32_t index;
  int64_t ranks;
};
std::vector<UsedSpan> UsedSpans(const Placement& p, Group group) {
  std::vector<UsedSpan> used;
  for (const RankClass& rank_class : p.classes) {
    const int32_t index = SpanOf(rank_class, group);
    auto found = std::find_if(
        used.begin(), used.end(),
        [index](const UsedSpan& span) { return span.index == index; });
    if (found == used.end()) found = used.insert(used.end(), {index, 0});
    found->ranks += rank_class.ranks;
  }
  return used;
}

void AppendLine(std::string line, std::string& text) {
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + "\n";
}

void AppendGroups(const Placement& p, std::string& text) {
  size_t width = 10;
  for (Group group : ToldGroups(p)) width = std::max(width, Name(group).size());
  AppendLine(
      fmt::format("{:<{}} {:>4} {:>8} {:>8} {:>9} {:>10}  {}", "group", width,
                  "span", "members", "nodes", "per node", "ranks", "joined by"),
      text);
  for (Group group : ToldGroups(p)) {
    for (const auto& [index, ranks] : UsedSpans(p, group)) {
      const Span& span = p.spans[index];
      const std::string level =
          span.members == 1 ? "-" : text::FieldText(LevelName(p, span));
      AppendLine(
          fmt::format("{:<{}} {:>4} {:>8} {:>8} {:>9} {:>10}  {}",
                      std::string(Name(group)), width, index, span.members,
                      span.nodes, span.members_per_node, ranks, level),
          text);
    }
  }
}

// Stages of one kind whose ranks behave alike stand in one line.
void AppendClasses(const Placement& p, std::string& text) {
  std::string head =
      fmt::format("{:<4} {:>11} {:>10}", "kind", "stages", "ranks");
  for (Group group : ToldGroups(p)) head += fmt::format("  {}", group);
  AppendLine(head, text);
  for (size_t begin = 0, end = 0; begin < p.classes.size(); begin = end) {
    const RankClass& first = p.classes[begin];
    int64_t ranks = 0;
    for (end = begin; end < p.classes.size() &&
                      p.classes[end].pipeline_kind == first.pipeline_kind &&
                      p.classes[end].span == first.span;
         ++end) {
      ranks += p.classes[end].ranks;
    }
    const int64_t last_stage = p.classes[end - 1].pipeline_rank;
    const std::string stages =
        first.pipeline_rank == last_stage
            ? fmt::format("{}", last_stage)
            : fmt::format("{}-{}", first.pipeline_rank, last_stage);
    std::string line =
        fmt::format("{:<4} {:>11} {:>10}", first.pipeline_kind, stages, ranks);
    for (Group group : ToldGroups(p)) {
      line += fmt::format("  {:>{}}", SpanOf(first, group), Name(group).size());
    }
    AppendLine(line, text);
  }
}

}  // namespace

std::string ToText(const Placement& placement) {
  const Placement& p = placement;
  std::string text = fmt::format("{} ranks", Ranks(p));
  if (!p.system.name.empty()) {
    text += " on " + text::FieldText(p.system.name);
  }
  text += "\nrank order";
  const char* separator = " ";
  for (const auto& [name, size, stride] : InRankOrder(p)) {
    text += fmt::format("{}{} {} (stride {})", separator, name, size, stride);
    separator = ", ";
  }
  if (!place::HasDenseExperts(p)) {
    text += fmt::format(
        "\nexperts: etp {} (stride {}), ep {} (stride {}), dp {} (stride {})",
        p.etp, p.etp_stride, p.ep, p.ep_stride, p.expert_dp,
        p.expert_dp_stride);
  }
  text += "\n\n";
  AppendGroups(p, text);
  text += fmt::format("\n{} rank class{}, by the numbers of their spans\n",
                      p.classes.size(), p.classes.size() == 1 ? "" : "es");
  AppendClasses(p, text);
  return text;
}

std::string ToJson(const Placement& placement) {
  const Placement& p = placement;
  Json json;
  json["ranks"] = Ranks(p);
  json["system"] = json::Write(p.system);
  Json& order = json["rank_order"] = Json::array();
  for (const auto& [name, size, stride] : InRankOrder(p)) {
    order.push_back({{"name", name}, {"size", size}, {"stride", stride}});
  }
  json["shard_ranks"] = p.shard_ranks;
  json["context_inner"] = p.context_inner;
  json["experts"] = {
      {{"name", "etp"}, {"size", p.etp}, {"stride", p.etp_stride}},
      {{"name", "ep"}, {"size", p.ep}, {"stride", p.ep_stride}},
      {{"name", "dp"}, {"size", p.expert_dp}, {"stride", p.expert_dp_stride}}};
  Json& spans = json["spans"] = Json::array();
  for (const Span& span : p.spans) {
    spans.push_back({{"members", span.members},
                     {"nodes", span.nodes},
                     {"members_per_node", span.members_per_node},
                     {"level", span.level},
                     {"level_name", LevelName(p, span)}});
  }
  Json& classes = json["classes"] = Json::array();
  for (const RankClass& rank_class : p.classes) {
    Json span = Json::object();
    for (Group group : Groups()) {
      span[std::string(Name(group))] = SpanOf(rank_class, group);
    }
    classes.push_back({{"pipeline_kind", rank_class.pipeline_kind},
                       {"pipeline_rank", rank_class.pipeline_rank},
                       {"ranks", rank_class.ranks},
                       {"span", std::move(span)}});
  }
  json["pipeline_kinds"] = p.pipeline_kinds;
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace lmsimbench
