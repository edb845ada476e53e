#include "measured_collectives.h"

#include <limits>

#include "columns.h"

namespace embed {
namespace {

uint8_t KindOf(const std::string& name) {
  if (name == "all_reduce") return LMSB_COLLECTIVE_ALL_REDUCE;
  if (name == "all_gather") return LMSB_COLLECTIVE_ALL_GATHER;
  if (name == "reduce_scatter") return LMSB_COLLECTIVE_REDUCE_SCATTER;
  if (name == "all_to_all") return LMSB_COLLECTIVE_ALL_TO_ALL;
  if (name == "broadcast") return LMSB_COLLECTIVE_BROADCAST;
  if (name == "send_recv") return LMSB_COLLECTIVE_SEND_RECEIVE;
  return LMSB_COLLECTIVE_NOT_STATED;
}

bool Contains(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

}  // namespace

std::vector<MeasuredCollective> ReadMeasured(const Bundle& bundle) {
  const std::string name = "collectives";
  const lmsb_view* view = nullptr;
  Need(lmsb_bundle_view(bundle.get(), name.data(), name.size(), &view));
  const Texts split(view, "split");
  const Texts platform(view, "platform");
  const Texts kind(view, "collective");
  const Texts library(view, "library");
  const Texts link(view, "link");
  const Texts notes(view, "notes");
  const int64_t* const bytes = Counts(view, "bytes");
  const int64_t* const group_size = Counts(view, "group_size");
  const int64_t* const nodes = Counts(view, "nodes");
  const double* const latency_us = Numbers(view, "latency_us");

  std::vector<MeasuredCollective> rows;
  for (size_t i = 0; i < lmsb_view_rows(view); ++i) {
    if (split[i] != "test" || !Contains(library[i], "NCCL") ||
        Contains(notes[i], "FLAG") || Contains(link[i], "TCP") ||
        nodes[i] < 1 || group_size[i] < 2 || group_size[i] % nodes[i] != 0) {
      continue;
    }
    MeasuredCollective row;
    row.platform = platform[i];
    row.link = link[i];
    row.kind = kind[i];
    row.asked.kind = KindOf(kind[i]);
    row.asked.level = nodes[i] > 1 ? 1 : 0;
    row.asked.bytes = bytes[i];
    row.asked.members = group_size[i];
    row.asked.nodes = nodes[i];
    row.asked.members_per_node = group_size[i] / nodes[i];
    row.seconds = latency_us[i] * 1e-6;
    rows.push_back(row);
  }
  return rows;
}

std::vector<double> Ask(const CostModel& model, const System& system,
                        const std::vector<Asked>& asked) {
  std::vector<double> seconds(asked.size());
  if (asked.empty()) return seconds;
  const size_t stride = sizeof(Asked);
  lmsb_collective_batch batch = {};
  batch.struct_size = sizeof(batch);
  batch.count = asked.size();
  batch.kind = {&asked[0].kind, stride};
  batch.group = {&asked[0].group, stride};
  batch.bytes = {&asked[0].bytes, stride};
  batch.members = {&asked[0].members, stride};
  batch.nodes = {&asked[0].nodes, stride};
  batch.members_per_node = {&asked[0].members_per_node, stride};
  batch.level = {&asked[0].level, stride};
  std::vector<int32_t> evidence(asked.size());
  const double missing = std::numeric_limits<double>::quiet_NaN();
  const lmsb_code code = lmsb_cost_model_collectives(
      model.get(), system.get(), &batch, seconds.data(), evidence.data());
  // A figure that the platform does not state is no answer, and no reason to
  // end.
  if (code == LMSB_FAILED_PRECONDITION) {
    return std::vector<double>(asked.size(), missing);
  }
  Need(code);
  for (size_t i = 0; i < seconds.size(); ++i) {
    if (evidence[i] == LMSB_EVIDENCE_NOT_ANSWERED) seconds[i] = missing;
  }
  return seconds;
}

}  // namespace embed
