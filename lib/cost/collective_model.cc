#include "lib/cost/collective_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fmt/format.h"
#include "lib/cost/platform_match.h"

namespace lmsimbench {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// What a group finds: bandwidths in bytes per second, times in seconds.
struct Links {
  double members = 1;
  double nodes = 1;
  double per_node = 1;
  // Of one device inside the node; infinite where nobody else of the group is
  // in it.
  double inside = kNever;
  // Of the group's members in one node together, out of the node; infinite
  // where the group has only one.
  double outside = kNever;
  double base_s = 0;
  double inside_step_s = 0;
  double outside_step_s = 0;

  // What limits a ring that passes through every device: it leaves each node
  // once, over all links that the group has there.
  double Narrowest() const { return std::min(inside, outside); }
};

// What is taken for a level that states no bandwidth; NaN if nothing is.
double UnstatedBandwidth(const CollectiveParameters& parameters,
                         const System& system, size_t level) {
  const double inside =
      parameters.unstated_node_share * system.accelerator.memory_bandwidth;
  return level == 0 && IsStated(inside) ? inside
                                        : parameters.unstated_bandwidth;
}

absl::StatusOr<double> Bandwidth(const CollectiveParameters& parameters,
                                 const System& system, size_t level) {
  const double otherwise = UnstatedBandwidth(parameters, system, level);
  if (level >= system.network.size()) {
    if (IsStated(otherwise)) return otherwise;
    return absl::FailedPreconditionError(
        fmt::format("system '{}' states {} levels of network; a group needs "
                    "level {}",
                    system.name, system.network.size(), level));
  }
  const NetworkLevel& network = system.network[level];
  if (IsStated(network.bandwidth)) return network.bandwidth;
  if (IsStated(otherwise)) return otherwise;
  return absl::FailedPreconditionError(
      fmt::format("system '{}' states no bandwidth of network level {} '{}'",
                  system.name, level, network.name));
}

// A level that joins nodes by the links that are inside them, too.
bool IsFabricOfNode(const System& system, size_t level) {
  return level < system.network.size() && !system.network[level].link.empty() &&
         system.network[level].link == system.network.front().link;
}

absl::Status FindLinks(const CollectiveParameters& parameters,
                       const System& system, const Span& span, Links& links) {
  links = {};
  links.members = static_cast<double>(span.members);
  links.nodes = static_cast<double>(std::max<int64_t>(1, span.nodes));
  links.per_node =
      static_cast<double>(std::max<int64_t>(1, span.members_per_node));
  links.base_s = parameters.base_s;
  const auto step = [&system](size_t level, double otherwise) {
    return level < system.network.size() &&
                   IsStated(system.network[level].latency_s)
               ? system.network[level].latency_s
               : otherwise;
  };
  if (span.members_per_node > 1) {
    const absl::StatusOr<double> inside = Bandwidth(parameters, system, 0);
    if (!inside.ok()) return inside.status();
    links.inside = *inside * parameters.node_efficiency;
    links.inside_step_s = step(0, parameters.node_step_s);
  }
  if (span.nodes <= 1) return absl::OkStatus();
  double of_device = kNever;
  for (size_t level = 1; level <= static_cast<size_t>(std::max(1, span.level));
       ++level) {
    const absl::StatusOr<double> outside = Bandwidth(parameters, system, level);
    if (!outside.ok()) return outside.status();
    const bool inside = IsFabricOfNode(system, level);
    of_device = std::min(of_device,
                         *outside * (inside ? parameters.node_efficiency
                                            : parameters.network_efficiency));
    links.outside_step_s = std::max(
        links.outside_step_s, step(level, inside ? parameters.node_step_s
                                                 : parameters.network_step_s));
  }
  const auto of_node = static_cast<double>(DevicesPerNode(system));
  const bool shared = parameters.share_links || of_node < links.per_node;
  links.outside = of_device * (shared ? links.per_node : of_node);
  return absl::OkStatus();
}

// Seconds of `rounds` times round a ring, each of which brings every member
// (members - 1) / members of the tensor.
double Ring(const Links& links, double bytes, double rounds) {
  const double steps = rounds * (links.members - 1);
  const double outside_steps = links.nodes > 1 ? rounds * (links.nodes - 1) : 0;
  return links.base_s + (steps - outside_steps) * links.inside_step_s +
         outside_steps * links.outside_step_s +
         rounds * (links.members - 1) / links.members * bytes /
             links.Narrowest();
}

// Up and down (`ways` 2) or only down (1) a tree between nodes, with a chain of
// the members in each.
double Tree(const Links& links, double bytes, double ways) {
  return links.base_s +
         ways * ((links.per_node - 1) * links.inside_step_s +
                 std::log2(links.nodes) * links.outside_step_s) +
         ways * bytes / links.Narrowest();
}

// The part inside the nodes and the part across them, one after the other. An
// all-reduce is a reduce-scatter inside, an all-reduce of the parts across, an
// all-gather inside; the others have each part once.
double Hierarchical(const Links& links, double bytes, double rounds) {
  const double inside = rounds * (links.per_node - 1);
  const double outside = rounds * (links.nodes - 1);
  return links.base_s + inside * links.inside_step_s +
         outside * links.outside_step_s +
         inside / links.per_node * bytes / links.inside +
         outside / links.nodes * bytes / links.outside;
}

// Every member exchanges its part with every other; what stays inside the node
// and what leaves it move at the same time.
double Pairwise(const Links& links, double bytes) {
  const double part = bytes / links.members;
  const double inside = links.per_node - 1;
  const double outside = links.members - links.per_node;
  return links.base_s + inside * links.inside_step_s +
         outside * links.outside_step_s +
         std::max(inside * part / links.inside,
                  outside * part / (links.outside / links.per_node));
}

// From one device to another, or in a ring from each to the next: the slowest
// of them crosses a node's boundary, over the links of one device.
double Send(const Links& links, double bytes) {
  return links.base_s +
         (links.nodes > 1 ? links.outside_step_s : links.inside_step_s) +
         bytes / std::min(links.inside, links.outside / links.per_node);
}

double Fastest(CollectiveAlgorithm asked, const Links& links, double bytes,
               double rounds, bool has_tree, bool has_hierarchy) {
  const bool any = asked == CollectiveAlgorithm::kBest;
  double seconds = kNever;
  if (any || asked == CollectiveAlgorithm::kRing) {
    seconds = std::min(seconds, Ring(links, bytes, rounds));
  }
  if (has_tree && (any || asked == CollectiveAlgorithm::kTree)) {
    seconds = std::min(seconds, Tree(links, bytes, rounds));
  }
  if (has_hierarchy && (any || asked == CollectiveAlgorithm::kHierarchical)) {
    seconds = std::min(seconds, Hierarchical(links, bytes, rounds));
  }
  return seconds;
}

// Infinite where the algorithm does not apply.
double SecondsOf(CollectiveAlgorithm algorithm, const Links& links,
                 CollectiveKind kind, double bytes) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return Fastest(algorithm, links, bytes, 2, true, true);
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return Fastest(algorithm, links, bytes, 1, false, true);
    case CollectiveKind::kAllToAll:
      return algorithm == CollectiveAlgorithm::kBest ||
                     algorithm == CollectiveAlgorithm::kPairwise
                 ? Pairwise(links, bytes)
                 : kNever;
    case CollectiveKind::kBroadcast: {
      // A ring passes the tensor on in pieces: each member forwards all of it.
      const double whole = bytes * links.members / (links.members - 1);
      const double ring = Ring(links, whole, 1);
      const double tree = Tree(links, bytes, 1);
      if (algorithm == CollectiveAlgorithm::kBest) return std::min(ring, tree);
      if (algorithm == CollectiveAlgorithm::kRing) return ring;
      return algorithm == CollectiveAlgorithm::kTree ? tree : kNever;
    }
    case CollectiveKind::kSendReceive:
      return Send(links, bytes);
    case CollectiveKind::kNotStated:
      return kNever;
  }
  return kNever;
}

class CollectiveModel : public CostModel {
 public:
  CollectiveModel(const CollectiveParameters& parameters,
                  std::vector<FittedOn<CollectiveParameters>> fitted)
      : CostModel("collectives"),
        parameters_(parameters),
        fitted_(std::move(fitted)) {}

 private:
  absl::Status DoCollectiveCosts(
      const System& system, absl::Span<const SpannedCollective> collectives,
      absl::Span<Cost> costs) const override {
    const int match = MatchPlatform(fitted_, system, SameNode);
    const CollectiveParameters& parameters =
        match < 0 ? parameters_ : fitted_[match].parameters;
    for (size_t i = 0; i < collectives.size(); ++i) {
      if (collectives[i].span.members <= 1) {
        costs[i] = {0, Evidence::kAnalytic};
        continue;
      }
      absl::StatusOr<double> seconds =
          CollectiveSeconds(parameters, system, collectives[i]);
      if (!seconds.ok()) return seconds.status();
      if (*seconds == kNever) continue;
      costs[i] = {*seconds, Evidence::kAnalytic};
    }
    return absl::OkStatus();
  }

  CollectiveParameters parameters_;
  std::vector<FittedOn<CollectiveParameters>> fitted_;
};

}  // namespace

absl::StatusOr<double> CollectiveSeconds(const CollectiveParameters& parameters,
                                         const System& system,
                                         const SpannedCollective& collective) {
  Links links;
  absl::Status status = FindLinks(parameters, system, collective.span, links);
  if (!status.ok()) return status;
  return SecondsOf(parameters.algorithm, links, collective.collective.kind,
                   static_cast<double>(collective.collective.bytes));
}

std::unique_ptr<CostModel> MakeCollectiveModel(
    const CollectiveParameters& parameters,
    std::vector<FittedOn<CollectiveParameters>> fitted) {
  return std::make_unique<CollectiveModel>(parameters, std::move(fitted));
}

}  // namespace lmsimbench
