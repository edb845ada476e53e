#include "simgrid_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace embed {
namespace {

// How NCCL sends: what a collective costs beside its flows, what a message
// costs beside its bytes where the system does not say, and the part of the
// bandwidth that carries them. These are the figures of the ring by which NCCL
// itself chooses the quickest (baseLat, hwLat and ncclTopoTuneModel in
// src/graph/tuning.cc of NVIDIA/nccl, commit 01afd20a).
struct Protocol {
  double start_s;
  double nvlink_latency_s;
  double network_latency_s;
  double bandwidth_part;
};
constexpr std::array<Protocol, 3> kProtocols = {{
    {3.6e-6, 0.47e-6, 2.7e-6, 1.0 / 4},  // LL
    {10.0e-6, 1.9e-6, 4.0e-6, 0.92},     // LL128
    {8.4e-6, 3.4e-6, 9.6e-6, 1},         // Simple
}};

constexpr int64_t kMostFlows = 100'000;
constexpr int64_t kMostMembers = 1024;
constexpr double kNotSimulated = std::numeric_limits<double>::quiet_NaN();

bool Names(const std::string& link, const char* word) {
  return link.find(word) != std::string::npos;
}

// A level of the network; nothing where the system does not state it.
struct Level {
  std::string link;
  // Members of the next inner level; -1: not stated.
  int64_t size = -1;
  Link figures;
};
std::optional<Level> ReadLevel(const lmsb_system* system, int index) {
  const std::string level = "network[" + std::to_string(index) + "].";
  const std::string link = level + "link";
  const std::string bandwidth = level + "bandwidth";
  const std::string latency = level + "latency_s";
  const std::string size = level + "size";
  const char* text = nullptr;
  Level read;
  if (lmsb_system_text(system, link.data(), link.size(), &text) != LMSB_OK ||
      lmsb_system_f64(system, bandwidth.data(), bandwidth.size(),
                      &read.figures.bandwidth) != LMSB_OK ||
      lmsb_system_f64(system, latency.data(), latency.size(),
                      &read.figures.latency_s) != LMSB_OK ||
      lmsb_system_i64(system, size.data(), size.size(), &read.size) !=
          LMSB_OK ||
      !(read.figures.bandwidth > 0)) {
    return std::nullopt;
  }
  read.link = text;
  return read;
}

// What a protocol makes of a level.
Link With(Link link, double latency_s, double bandwidth_part) {
  link.bandwidth *= bandwidth_part;
  if (std::isnan(link.latency_s)) link.latency_s = latency_s;
  return link;
}

Topology TopologyOf(const std::string& link) {
  if (Names(link, "InfiniBand") || Names(link, "RoCE")) {
    return Topology::kFatTree;
  }
  if (Names(link, "Slingshot")) return Topology::kDragonfly;
  return Topology::kNone;
}

// What joins the members of a group; nothing where it is not described.
std::optional<Fabric> FabricOf(const std::optional<Level>& inside,
                               const std::optional<Level>& outside,
                               std::optional<Topology> topology,
                               const Group& group) {
  Fabric fabric;
  fabric.nodes = group.nodes;
  fabric.devices_per_node = group.members_per_node;
  if (inside && inside->size > 0 && inside->size < kMostMembers) {
    fabric.devices_per_node = static_cast<int>(inside->size);
  }
  if (group.members_per_node > fabric.devices_per_node) return std::nullopt;
  if (group.nodes > 1) {
    if (!outside) return std::nullopt;
    fabric.outside = outside->figures;
    fabric.topology = topology.value_or(TopologyOf(outside->link));
    if (fabric.topology == Topology::kNone) return std::nullopt;
  }
  if (group.members_per_node > 1) {
    if (!inside) return std::nullopt;
    fabric.inside = inside->figures;
    const bool never_the_narrowest =
        group.nodes > 1 &&
        fabric.inside.bandwidth >
            2 * group.members_per_node * fabric.outside.bandwidth;
    if (!Names(inside->link, "NVSwitch") && !never_the_narrowest) {
      return std::nullopt;
    }
  }
  return fabric;
}

std::optional<Collective> CollectiveOf(uint8_t kind) {
  switch (kind) {
    case LMSB_COLLECTIVE_ALL_REDUCE:
      return Collective::kAllReduce;
    case LMSB_COLLECTIVE_ALL_GATHER:
      return Collective::kAllGather;
    case LMSB_COLLECTIVE_REDUCE_SCATTER:
      return Collective::kReduceScatter;
    case LMSB_COLLECTIVE_ALL_TO_ALL:
      return Collective::kAllToAll;
    case LMSB_COLLECTIVE_BROADCAST:
      return Collective::kBroadcast;
    case LMSB_COLLECTIVE_SEND_RECEIVE:
      return Collective::kSend;
    default:
      return std::nullopt;
  }
}

// An entry of the batch; nothing where it is not a collective that is known,
// its nodes hold unequal numbers of members, or another level than the first
// joins them.
std::optional<Question> QuestionOf(const lmsb_collective_batch& batch,
                                   size_t i) {
  const std::optional<Collective> collective =
      CollectiveOf(LMSB_U8(batch.kind, i));
  const int64_t bytes = LMSB_I64(batch.bytes, i);
  const int64_t members = LMSB_I64(batch.members, i);
  const int64_t nodes = LMSB_I64(batch.nodes, i);
  const int64_t per_node = LMSB_I64(batch.members_per_node, i);
  if (!collective || bytes < 1 || members < 2 || members > kMostMembers ||
      nodes < 1 || nodes > members || per_node < 1 || per_node > members ||
      members != nodes * per_node || LMSB_I32(batch.level, i) > 1) {
    return std::nullopt;
  }
  Question question;
  question.collective = *collective;
  question.group.nodes = static_cast<int>(nodes);
  question.group.members_per_node = static_cast<int>(per_node);
  question.bytes = bytes;
  return question;
}

}  // namespace

bool SimgridModel::Before::operator()(const Fabric& a, const Fabric& b) const {
  const auto all = [](const Fabric& of) {
    return std::tie(of.inside.bandwidth, of.inside.latency_s,
                    of.outside.bandwidth, of.outside.latency_s, of.topology,
                    of.nodes, of.devices_per_node);
  };
  return all(a) < all(b);
}

bool SimgridModel::Before::operator()(const Question& a,
                                      const Question& b) const {
  const auto all = [](const Question& of) {
    return std::tie(of.collective, of.group.nodes, of.group.members_per_node,
                    of.bytes);
  };
  return all(a) < all(b);
}

lmsb_cost_model_functions SimgridModel::Functions() {
  lmsb_cost_model_functions functions = {};
  functions.struct_size = sizeof(functions);
  functions.user = this;
  functions.name = "simgrid";
  functions.collective_costs = &SimgridModel::Ask;
  return functions;
}

lmsb_code SimgridModel::Ask(void* user, const lmsb_system* system,
                            const lmsb_collective_batch* batch, double* seconds,
                            int32_t* evidence, lmsb_error* error) {
  std::string message;
  try {
    const lmsb_code code = static_cast<SimgridModel*>(user)->Answer(
        system, *batch, seconds, evidence, message);
    if (code == LMSB_OK) return LMSB_OK;
  } catch (const std::exception& problem) {
    message = problem.what();
  }
  // Some of it may have been asked but not answered.
  static_cast<SimgridModel*>(user)->known_.clear();
  lmsb_error_set(error, message.data(), message.size());
  return LMSB_INTERNAL;
}

lmsb_code SimgridModel::Answer(const lmsb_system* system,
                               const lmsb_collective_batch& batch,
                               double* seconds, int32_t* evidence,
                               std::string& error) {
  const std::optional<Level> inside = ReadLevel(system, 0);
  const std::optional<Level> outside = ReadLevel(system, 1);
  struct Entry {
    size_t index;
    std::array<const double*, kProtocols.size()> simulated_s;
  };
  std::vector<Entry> asked;
  std::map<Fabric, std::vector<Question>, Before> unknown;
  for (size_t i = 0; i < batch.count; ++i) {
    const std::optional<Question> question = QuestionOf(batch, i);
    if (!question || FlowCount(*question) > kMostFlows) continue;
    const std::optional<Fabric> stated =
        FabricOf(inside, outside, topology_, question->group);
    if (!stated) continue;
    Entry entry = {i, {}};
    for (size_t p = 0; p < kProtocols.size(); ++p) {
      const Protocol& protocol = kProtocols[p];
      Fabric fabric = *stated;
      fabric.inside = With(fabric.inside, protocol.nvlink_latency_s,
                           protocol.bandwidth_part);
      fabric.outside = With(fabric.outside, protocol.network_latency_s,
                            protocol.bandwidth_part);
      const auto [known, is_new] =
          known_[fabric].emplace(*question, kNotSimulated);
      if (is_new) unknown[fabric].push_back(*question);
      entry.simulated_s[p] = &known->second;
    }
    asked.push_back(entry);
  }
  for (const auto& [fabric, questions] : unknown) {
    const std::vector<double> answers = Simulate(fabric, questions, error);
    if (!error.empty()) return LMSB_INTERNAL;
    for (size_t i = 0; i < questions.size(); ++i) {
      known_[fabric][questions[i]] = answers[i];
    }
  }
  for (const Entry& entry : asked) {
    double quickest = std::numeric_limits<double>::infinity();
    for (size_t p = 0; p < kProtocols.size(); ++p) {
      quickest =
          std::min(quickest, kProtocols[p].start_s + *entry.simulated_s[p]);
    }
    seconds[entry.index] = quickest;
    evidence[entry.index] = LMSB_EVIDENCE_ANALYTIC;
  }
  return LMSB_OK;
}

}  // namespace embed
