#include <cmath>

#include "fmt/format.h"
#include "lmsimbench/costed_graph.h"
#include "nlohmann/json.hpp"

namespace lmsimbench {
namespace {

using Json = nlohmann::ordered_json;

std::string Text(absl::string_view text) { return std::string(text); }

// Missing where no time passes.
double Rate(double amount, double seconds) {
  return seconds > 0 ? amount / seconds : kNoNumber;
}

void SetRate(Json& json, const char* key, double rate) {
  if (IsStated(rate)) json[key] = rate;
}

Json JsonOf(const Operator& op, const Cost& cost) {
  Json json;
  json["operator"] = Describe(op);
  json["seconds"] = cost.seconds;
  json["evidence"] = Text(Name(cost.evidence));
  if (cost.host_s > 0) json["host_seconds"] = cost.host_s;
  SetRate(json, "flops_per_s", Rate(op.flops, cost.seconds));
  SetRate(json, "bytes_per_s", Rate(op.bytes, cost.seconds));
  return json;
}

Json JsonOf(const SpannedCollective& spanned, const Cost& cost) {
  Json json;
  json["collective"] = Describe(spanned);
  json["kind"] = Text(Name(spanned.collective.kind));
  json["group"] = Text(Name(spanned.collective.group));
  json["bytes"] = spanned.collective.bytes;
  json["members"] = spanned.span.members;
  json["nodes"] = spanned.span.nodes;
  json["members_per_node"] = spanned.span.members_per_node;
  json["level"] = spanned.span.level;
  json["seconds"] = cost.seconds;
  json["evidence"] = Text(Name(cost.evidence));
  if (cost.host_s > 0) json["host_seconds"] = cost.host_s;
  SetRate(json, "bytes_per_s",
          Rate(static_cast<double>(spanned.collective.bytes), cost.seconds));
  return json;
}

std::string Column(double rate, double unit) {
  return IsStated(rate) ? fmt::format("{:10.2f}", rate / unit)
                        : fmt::format("{:>10}", "-");
}

}  // namespace

std::string ToText(const CostedGraph& costed) {
  std::string text = "operators\n";
  text += fmt::format("  {:>12} {:>9} {:>10} {:>10}  {:<13} operator\n", "us",
                      "host us", "TFLOP/s", "GB/s", "evidence");
  for (size_t i = 0; i < costed.operators.size(); ++i) {
    const Operator& op = costed.graph.program.operators[i];
    const Cost& cost = costed.operators[i];
    text += fmt::format("  {:12.3f} {:9.1f} {} {}  {:<13} {}\n",
                        cost.seconds * 1e6, cost.host_s * 1e6,
                        Column(Rate(op.flops, cost.seconds), 1e12),
                        Column(Rate(op.bytes, cost.seconds), 1e9),
                        Text(Name(cost.evidence)), Describe(op));
  }
  text += "collectives (GB/s: size of the tensor over the time)\n";
  text += fmt::format("  {:>12} {:>9} {:>10}  {:<13} collective\n", "us",
                      "host us", "GB/s", "evidence");
  for (size_t i = 0; i < costed.collectives.size(); ++i) {
    const SpannedCollective& spanned = costed.spanned[i];
    const Cost& cost = costed.collectives[i];
    const double rate =
        Rate(static_cast<double>(spanned.collective.bytes), cost.seconds);
    text +=
        fmt::format("  {:12.3f} {:9.1f} {}  {:<13} {}\n", cost.seconds * 1e6,
                    cost.host_s * 1e6, Column(rate, 1e9),
                    Text(Name(cost.evidence)), Describe(spanned));
  }
  const Contention& contention = costed.contention;
  if (contention.compute > 0) {
    text += fmt::format(
        "computation beside communication takes {:.1f} % more time\n",
        100 * contention.compute);
  }
  if (contention.links) {
    text +=
        "what leaves the node shares links with the data stream\n";
  }
  return text;
}

std::string ToJson(const CostedGraph& costed) {
  Json json;
  json["operators"] = Json::array();
  for (size_t i = 0; i < costed.operators.size(); ++i) {
    json["operators"].push_back(
        JsonOf(costed.graph.program.operators[i], costed.operators[i]));
  }
  json["collectives"] = Json::array();
  for (size_t i = 0; i < costed.collectives.size(); ++i) {
    json["collectives"].push_back(
        JsonOf(costed.spanned[i], costed.collectives[i]));
  }
  if (costed.contention.any()) {
    json["contention"] = {{"compute", costed.contention.compute},
                          {"links", costed.contention.links}};
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace lmsimbench
