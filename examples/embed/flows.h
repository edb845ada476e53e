#pragma once

#include <cstdint>
#include <vector>

namespace embed {

/// What is done with a tensor of `bytes`, counted as lmsb_collective_batch
/// counts it.
enum class Collective {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kSend,
};

/// The members of a group, as many in each of its nodes. Member m is device
/// m % members_per_node of node m / members_per_node.
struct Group {
  int nodes = 1;
  int members_per_node = 1;

  int Members() const { return nodes * members_per_node; }
};

/// One collective, alone on the network.
struct Question {
  Collective collective = Collective::kSend;
  Group group;
  int64_t bytes = 0;
};

/// Bytes that move from one member to another.
struct Flow {
  int from = 0;
  int to = 0;
  double bytes = 0;
  /// Flow that has to end before this one begins, an earlier one in the list;
  /// -1: none.
  int after = -1;
};

/// How many flows it takes; 0 where the group has one member.
int64_t FlowCount(const Question& question);

/// Its flows:
///   all-reduce, all-gather, reduce-scatter: rings that pass through every
///     member, one for each device of a node where there are several nodes, so
///     that every device's way into the network is used;
///   all-to-all: in each round every member sends to another;
///   broadcast: a binomial tree, without cutting the tensor into pieces;
///   send: one flow, from the first member to the last.
std::vector<Flow> FlowsOf(const Question& question);

}  // namespace embed
