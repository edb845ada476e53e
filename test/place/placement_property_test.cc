#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "catch2/catch.hpp"
#include "lmsimbench/fmt.h"
#include "lmsimbench/layout.h"
#include "lmsimbench/pipeline.h"

/// \file
/// The analytic spans and classes against an enumeration of all ranks.

namespace lmsimbench {
namespace {

struct Case {
  ParallelConfig config;
  System system;
};

class RandomCases {
 public:
  Case Next() {
    Case c;
    ParallelConfig& config = c.config;
    config.zero = ZeroStage::kOptimizerState;
    do {
      config.tp = OneOf({1, 1, 2, 3, 4, 5, 6, 8, 12});
      config.cp = OneOf({1, 1, 1, 2, 3, 4});
      config.dp = OneOf({1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 24, 40});
      config.pp = OneOf({1, 2, 3, 4, 5, 8});
    } while (Devices(config) > 500);
    std::vector<std::string> order = {"tp", "cp", "ep", "dp", "pp"};
    if (Below(3) != 0) std::shuffle(order.begin(), order.end(), random_);
    config.rank_order = fmt::format("{}", fmt::join(order, "-"));
    const size_t dp_at = config.rank_order.find("dp");
    const size_t cp_at = config.rank_order.find("cp");
    // Sharding groups are parts of the faster of dp and cp, or whole rows.
    const bool cp_first = config.cp == 1 || (config.dp > 1 && cp_at < dp_at);
    const int64_t row = cp_first ? config.cp : config.dp;
    std::vector<int64_t> groups = {kNoCount};
    for (int64_t n = 1; n <= config.dp * config.cp; ++n) {
      if (config.dp * config.cp % n != 0) continue;
      if (row % n == 0 || n % row == 0) groups.push_back(n);
    }
    config.zero_group = groups[Below(groups.size())];
    if (Below(3) == 0) {
      config.context_algorithm =
          Below(2) == 0 ? ContextAlgorithm::kHybrid : ContextAlgorithm::kRing;
    }
    // Experts take a part of the ranks of a stage; these lie as the others'
    // stages do only where the stages are outermost.
    const int64_t of_stage = config.tp * config.cp * config.dp;
    const bool pp_last = config.pp == 1 || config.rank_order.rfind("pp") == 12;
    if (pp_last && Below(2) == 0) {
      const auto divisor = [&](int64_t of) {
        std::vector<int64_t> divisors;
        for (int64_t n = 1; n <= of; ++n) {
          if (of % n == 0) divisors.push_back(n);
        }
        return divisors[Below(divisors.size())];
      };
      config.ep = divisor(of_stage);
      config.etp = divisor(of_stage / config.ep);
    }

    c.system.network.resize(1 + Below(4));
    for (NetworkLevel& level : c.system.network) {
      level.size = OneOf({1, 2, 3, 4, 5, 6, 8, 8, 8, 12, 16});
    }
    // The outermost joins all, by its size or because none is stated.
    c.system.network.back().size = Below(2) == 0 ? kNoCount : 500;
    return c;
  }

 private:
  size_t Below(size_t n) { return random_() % n; }
  int64_t OneOf(const std::vector<int64_t>& values) {
    return values[Below(values.size())];
  }

  std::mt19937 random_{20260729};
};

std::string Text(const Case& c) {
  return fmt::format("{}; {}", c.config, c.system);
}

using Key = std::tuple<int64_t, int64_t, int64_t, int64_t>;

Key KeyOf(const Coordinates& c) { return {c.tp, c.cp, c.dp, c.pp}; }

// The same ranks as experts count them: etp for tp, ep for cp, expert data
// parallelism for dp. `CountUp` of a configuration with these sizes gives them.
ParallelConfig ExpertConfig(const ParallelConfig& config) {
  ParallelConfig experts = config;
  experts.tp = ExpertTensorParallel(config);
  experts.cp = config.ep;
  experts.dp = config.tp * config.cp * config.dp / (experts.tp * config.ep);
  std::string& order = experts.rank_order;
  const size_t cp = order.find("cp");
  const size_t ep = order.find("ep");
  std::swap(order[cp], order[ep]);
  return experts;
}

// Coordinates of all ranks, by counting up: the first parallelism of the order
// turns fastest.
std::vector<Coordinates> CountUp(const ParallelConfig& config) {
  const std::string& order = config.rank_order;
  std::vector<std::pair<int64_t Coordinates::*, int64_t>> digits;
  for (size_t at = 0; at < order.size(); at += 3) {
    const std::string name = order.substr(at, 2);
    if (name == "tp") digits.emplace_back(&Coordinates::tp, config.tp);
    if (name == "cp") digits.emplace_back(&Coordinates::cp, config.cp);
    if (name == "dp") digits.emplace_back(&Coordinates::dp, config.dp);
    if (name == "pp") digits.emplace_back(&Coordinates::pp, config.pp);
  }
  std::vector<Coordinates> ranks;
  Coordinates next;
  for (int64_t rank = 0; rank < Devices(config); ++rank) {
    ranks.push_back(next);
    for (const auto& [digit, size] : digits) {
      if (++(next.*digit) < size) break;
      next.*digit = 0;
    }
  }
  return ranks;
}

// Groups as the headers define them, found by comparing coordinates.
class Enumeration {
 public:
  Enumeration(const Case& c, int64_t shard_ranks)
      : case_(c),
        shard_(shard_ranks),
        inner_(ContextInner(c.config)),
        ranks_(CountUp(c.config)),
        // Where nothing says otherwise experts lie as tensor parallelism does.
        dense_experts_(c.config.ep == 1 &&
                       ExpertTensorParallel(c.config) == c.config.tp),
        expert_ranks_(CountUp(ExpertConfig(c.config))) {
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      by_coordinates_[KeyOf(ranks_[rank])] = static_cast<int64_t>(rank);
    }
    for (int i = 1; i < kGroups; ++i) {
      const auto group = static_cast<Group>(i);
      if (group == Group::kPipeline || group == Group::kEmbedding) continue;
      for (size_t rank = 0; rank < ranks_.size(); ++rank) {
        groups_[{group, KeyOfRank(group, static_cast<int64_t>(rank))}].insert(
            static_cast<int64_t>(rank));
      }
    }
    for (const auto& [key, members] : groups_) spans_[key] = SpanOf(members);
  }

  const std::vector<Coordinates>& ranks() const { return ranks_; }

  int64_t RankOf(const Coordinates& c) const {
    return by_coordinates_.at(KeyOf(c));
  }

  std::set<int64_t> Members(Group group, int64_t rank) const {
    Coordinates c = ranks_[rank];
    switch (group) {
      case Group::kNotStated:
        return {rank};
      case Group::kPipeline: {
        c.pp = (c.pp + 1) % case_.config.pp;
        return {rank, RankOf(c)};
      }
      case Group::kEmbedding: {
        Coordinates last = c;
        c.pp = 0;
        last.pp = case_.config.pp - 1;
        return {RankOf(c), RankOf(last)};
      }
      default:
        return groups_.at({group, KeyOfRank(group, rank)});
    }
  }

  Span SpanOf(Group group, int64_t rank) const {
    const auto found = spans_.find({group, KeyOfRank(group, rank)});
    return found != spans_.end() ? found->second : SpanOf(Members(group, rank));
  }

 private:
  Span SpanOf(const std::set<int64_t>& members) const {
    Span span;
    span.members = static_cast<int64_t>(members.size());
    std::map<int64_t, int64_t> in_node;
    for (int64_t rank : members) ++in_node[Block(rank, 0)];
    span.nodes = static_cast<int64_t>(in_node.size());
    span.members_per_node = 0;
    for (const auto& [node, count] : in_node) {
      span.members_per_node = std::max(span.members_per_node, count);
    }
    span.level = 0;
    while (std::any_of(members.begin(), members.end(), [&](int64_t rank) {
      return Block(rank, span.level) != Block(*members.begin(), span.level);
    })) {
      ++span.level;
    }
    return span;
  }

  // What all members of a group have in common.
  Key KeyOfRank(Group group, int64_t rank) const {
    if (group < Group::kExpert) return GroupKey(group, ranks_[rank]);
    if (dense_experts_) {
      if (group == Group::kExpert) return KeyOf(ranks_[rank]);
      return GroupKey(
          group == Group::kExpertData ? Group::kData : Group::kTensor,
          ranks_[rank]);
    }
    Coordinates c = expert_ranks_[rank];
    if (group == Group::kExpertTensor || group == Group::kExpertRegion) {
      c.tp = 0;
    }
    if (group == Group::kExpert || group == Group::kExpertRegion) c.cp = 0;
    if (group == Group::kExpertData) c.dp = 0;
    return KeyOf(c);
  }
  Key GroupKey(Group group, Coordinates c) const {
    if (group == Group::kWorld) return KeyOf(Coordinates());
    if (group == Group::kTensor || group == Group::kModel) c.tp = 0;
    if (group == Group::kModel) c.pp = 0;
    if (group == Group::kData) c.dp = c.cp = 0;
    if (group == Group::kContext) c.cp = 0;
    if (group == Group::kContextInner) c.cp /= inner_;
    if (group == Group::kContextOuter) c.cp %= inner_;
    if (group == Group::kShard || group == Group::kReplica) {
      // The place among the ranks that hold the same parameters, in their
      // order.
      const std::string& order = case_.config.rank_order;
      const bool context_first = order.find("cp") < order.find("dp");
      const int64_t place = context_first ? c.dp * case_.config.cp + c.cp
                                          : c.cp * case_.config.dp + c.dp;
      c.cp = 0;
      c.dp = group == Group::kShard ? place / shard_ : place % shard_;
    }
    return KeyOf(c);
  }

  // Which node, pod… of this level a rank lies in.
  int64_t Block(int64_t rank, int32_t level) const {
    for (int32_t i = 0; i <= level; ++i) {
      const int64_t size = case_.system.network[i].size;
      rank = size == kNoCount ? 0 : rank / size;
    }
    return rank;
  }

  const Case& case_;
  int64_t shard_;
  int64_t inner_;
  std::vector<Coordinates> ranks_;
  bool dense_experts_;
  std::vector<Coordinates> expert_ranks_;
  std::map<Key, int64_t> by_coordinates_;
  std::map<std::pair<Group, Key>, std::set<int64_t>> groups_;
  std::map<std::pair<Group, Key>, Span> spans_;
};

// Slower: an outer level, then more nodes, then fewer members in a node.
std::tuple<int32_t, int64_t, int64_t> Slowness(const Span& span) {
  return {span.level, span.nodes, -span.members_per_node};
}

}  // namespace

TEST_CASE("ranks and coordinates are each other's inverse, in any order") {
  RandomCases cases;
  for (int i = 0; i < 300; ++i) {
    const Case c = cases.Next();
    INFO(Text(c));
    const Placement placement = *Place(c.config, c.system);
    const std::vector<Coordinates> expected = CountUp(c.config);
    bool same = true;
    for (int64_t rank = 0; rank < Ranks(placement); ++rank) {
      const Coordinates found = CoordinatesOf(placement, rank);
      same = same && KeyOf(found) == KeyOf(expected[rank]) &&
             RankOf(placement, found) == rank;
    }
    REQUIRE(same);
  }
}

TEST_CASE(
    "members of a group agree in the coordinates that its kind asks for") {
  RandomCases cases;
  for (int i = 0; i < 300; ++i) {
    const Case c = cases.Next();
    INFO(Text(c));
    const Placement placement = *Place(c.config, c.system);
    const Enumeration enumeration(c, placement.shard_ranks);
    for (int g = 0; g < kGroups; ++g) {
      const auto group = static_cast<Group>(g);
      INFO(fmt::format("group {}", group));
      bool same = true;
      for (int64_t rank = 0; rank < Ranks(placement); ++rank) {
        const std::vector<int64_t> members =
            GroupMembers(placement, group, rank);
        same = same &&
               std::set<int64_t>(members.begin(), members.end()) ==
                   enumeration.Members(group, rank) &&
               members.size() == enumeration.Members(group, rank).size();
      }
      REQUIRE(same);
    }
  }
}

TEST_CASE("every class's span is the slowest of its tensor ranks' groups") {
  RandomCases cases;
  for (int i = 0; i < 800; ++i) {
    const Case c = cases.Next();
    INFO(Text(c));
    const Placement placement = *Place(c.config, c.system);
    const Enumeration enumeration(c, placement.shard_ranks);
    std::vector<int64_t> ranks_of_class(placement.classes.size());
    for (int64_t rank = 0; rank < Ranks(placement); ++rank) {
      const Coordinates& coordinates = enumeration.ranks()[rank];
      const int64_t class_index = ClassOf(placement, rank);
      ++ranks_of_class[class_index];
      const RankClass& rank_class = placement.classes[class_index];
      REQUIRE(rank_class.pipeline_rank == coordinates.pp);
      if (coordinates.tp != 0) {
        Coordinates first = coordinates;
        first.tp = 0;
        REQUIRE(class_index == ClassOf(placement, enumeration.RankOf(first)));
        continue;
      }
      for (int g = 0; g < kGroups; ++g) {
        const auto group = static_cast<Group>(g);
        Span slowest = enumeration.SpanOf(group, rank);
        Coordinates member = coordinates;
        for (member.tp = 1; member.tp < c.config.tp; ++member.tp) {
          const Span span =
              enumeration.SpanOf(group, enumeration.RankOf(member));
          if (Slowness(span) > Slowness(slowest)) slowest = span;
        }
        const Span& found = placement.spans[rank_class.span[g]];
        if (!(found == slowest)) {
          FAIL(fmt::format(
              "group {} of rank {}: members {}, nodes {}, per node {}, level "
              "{}; enumerated {}, {}, {}, {}",
              group, rank, found.members, found.nodes, found.members_per_node,
              found.level, slowest.members, slowest.nodes,
              slowest.members_per_node, slowest.level));
        }
      }
    }
    for (size_t k = 0; k < placement.classes.size(); ++k) {
      REQUIRE(placement.classes[k].ranks == ranks_of_class[k]);
      REQUIRE(ranks_of_class[k] > 0);
    }
  }
}

TEST_CASE(
    "kinds of pipelines differ in a span, and each span is kept once and "
    "used") {
  RandomCases cases;
  for (int i = 0; i < 1000; ++i) {
    const Case c = cases.Next();
    INFO(Text(c));
    const Placement placement = *Place(c.config, c.system);
    const int64_t pp = placement.pp;
    const int64_t kinds = static_cast<int64_t>(placement.classes.size()) / pp;
    REQUIRE(static_cast<int64_t>(placement.classes.size()) == kinds * pp);
    std::set<std::vector<int32_t>> distinct;
    std::set<int32_t> used;
    for (int64_t kind = 0; kind < kinds; ++kind) {
      std::vector<int32_t> spans;
      for (int64_t stage = 0; stage < pp; ++stage) {
        const RankClass& rank_class = placement.classes[kind * pp + stage];
        REQUIRE(rank_class.pipeline_kind == kind);
        REQUIRE(rank_class.pipeline_rank == stage);
        spans.insert(spans.end(), rank_class.span.begin(),
                     rank_class.span.end());
      }
      distinct.insert(spans);
      used.insert(spans.begin(), spans.end());
    }
    REQUIRE(static_cast<int64_t>(distinct.size()) == kinds);
    std::set<std::tuple<int64_t, int64_t, int64_t, int32_t>> spans;
    for (const Span& span : placement.spans) {
      spans.insert(
          {span.members, span.nodes, span.members_per_node, span.level});
    }
    REQUIRE(spans.size() == placement.spans.size());
    REQUIRE(used.size() == placement.spans.size());
  }
}

TEST_CASE("where all divides, one kind stands for a million ranks") {
  ParallelConfig config;
  config.tp = 8;
  config.dp = 8192;
  config.pp = 16;
  System system;
  system.network.resize(3);
  system.network[0].size = 8;
  system.network[1].size = 32;
  const Placement placement = *Place(config, system);
  CHECK(placement.pipeline_kinds.size() == 1);
  CHECK(placement.classes.size() == 16);
}

}  // namespace lmsimbench
