#include "flows.h"

#include <cstddef>

namespace embed {
namespace {

// How often a tensor goes round the ring.
int Passes(Collective collective) {
  return collective == Collective::kAllReduce ? 2 : 1;
}

int Rings(const Group& group) {
  return group.nodes > 1 ? group.members_per_node : 1;
}

// Place in ring `ring`: a ring enters a node at device `ring` and leaves it at
// the device before, so that no two rings leave a node by the same device.
int MemberAt(const Group& group, int ring, int place) {
  const int per_node = group.members_per_node;
  return place / per_node * per_node + (ring + place % per_node) % per_node;
}

// In each step every member hands one part of the tensor to the next, as soon
// as it has it.
std::vector<Flow> Ring(const Group& group, int passes, double bytes) {
  const int members = group.Members();
  const int rings = Rings(group);
  const int steps = passes * (members - 1);
  std::vector<Flow> flows;
  flows.reserve(static_cast<size_t>(steps) * rings * members);
  for (int step = 0; step < steps; ++step) {
    for (int ring = 0; ring < rings; ++ring) {
      for (int place = 0; place < members; ++place) {
        Flow flow;
        flow.from = MemberAt(group, ring, place);
        flow.to = MemberAt(group, ring, (place + 1) % members);
        flow.bytes = bytes / members / rings;
        if (step > 0) {
          flow.after = ((step - 1) * rings + ring) * members +
                       (place + members - 1) % members;
        }
        flows.push_back(flow);
      }
    }
  }
  return flows;
}

// Each round leads to the same device of the same node further on, so that all
// stay in their node or all leave it: else those that wait for the network
// would meet at one receiver.
std::vector<Flow> Pairwise(const Group& group, double bytes) {
  const int members = group.Members();
  const int per_node = group.members_per_node;
  std::vector<Flow> flows;
  flows.reserve(static_cast<size_t>(members) * (members - 1));
  for (int round = 1; round < members; ++round) {
    for (int member = 0; member < members; ++member) {
      Flow flow;
      flow.from = member;
      flow.to =
          (member / per_node + round / per_node) % group.nodes * per_node +
          (member + round) % per_node;
      flow.bytes = bytes / members;
      if (round > 1) flow.after = (round - 2) * members + member;
      flows.push_back(flow);
    }
  }
  return flows;
}

// In each round everyone who has the tensor sends it to one who has not.
std::vector<Flow> Tree(const Group& group, double bytes) {
  const int members = group.Members();
  // The latest flow of each member, as sender or receiver.
  std::vector<int> latest(members, -1);
  std::vector<Flow> flows;
  for (int have = 1; have < members; have *= 2) {
    for (int from = 0; from < have && from + have < members; ++from) {
      const int to = from + have;
      flows.push_back({from, to, bytes, latest[from]});
      latest[from] = latest[to] = static_cast<int>(flows.size()) - 1;
    }
  }
  return flows;
}

}  // namespace

int64_t FlowCount(const Question& question) {
  const int64_t members = question.group.Members();
  switch (question.collective) {
    case Collective::kAllReduce:
    case Collective::kAllGather:
    case Collective::kReduceScatter:
      return Passes(question.collective) * (members - 1) *
             Rings(question.group) * members;
    case Collective::kAllToAll:
      return members * (members - 1);
    case Collective::kBroadcast:
      return members - 1;
    case Collective::kSend:
      return members > 1 ? 1 : 0;
  }
  return 0;
}

std::vector<Flow> FlowsOf(const Question& question) {
  const Group& group = question.group;
  const auto bytes = static_cast<double>(question.bytes);
  switch (question.collective) {
    case Collective::kAllReduce:
    case Collective::kAllGather:
    case Collective::kReduceScatter:
      return Ring(group, Passes(question.collective), bytes);
    case Collective::kAllToAll:
      return Pairwise(group, bytes);
    case Collective::kBroadcast:
      return Tree(group, bytes);
    case Collective::kSend:
      if (group.Members() > 1) return {{0, group.Members() - 1, bytes, -1}};
      break;
  }
  return {};
}

}  // namespace embed
