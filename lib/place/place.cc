#include <algorithm>
#include <cstdint>
#include <string>

#include "fmt/format.h"
#include "lib/core/arithmetic.h"
#include "lib/place/rank_classes.h"
#include "lib/place/rank_order.h"
#include "lib/place/shard_rows.h"
#include "lmsimbench/layout.h"
#include "lmsimbench/pipeline.h"

namespace lmsimbench {
namespace {

// Ranks are counted in 31 bits, as legality has it.
constexpr int64_t kMostRanks = 2147483647;

absl::Status SetSizes(const ParallelConfig& config, Placement& placement) {
  const struct {
    const char* name;
    int64_t size;
  } sizes[] = {{"tp", config.tp},
               {"cp", config.cp},
               {"dp", config.dp},
               {"pp", config.pp}};
  for (const auto& [name, size] : sizes) {
    if (size < 1) {
      return absl::InvalidArgumentError(
          fmt::format("{} is {}; a size is at least 1", name, size));
    }
  }
  const int64_t ranks =
      SaturatingProduct(config.tp, config.cp, config.dp, config.pp);
  if (ranks > kMostRanks) {
    return absl::InvalidArgumentError(
        fmt::format("tp {} * cp {} * dp {} * pp {} is more than {} ranks",
                    config.tp, config.cp, config.dp, config.pp, kMostRanks));
  }
  placement.tp = config.tp;
  placement.cp = config.cp;
  placement.dp = config.dp;
  placement.pp = config.pp;
  return absl::OkStatus();
}

// A sharding group that is a part of the ranks that vary fastest, or a number
// of whole rows of them.
absl::Status SetShardRanks(const ParallelConfig& config, Placement& placement) {
  const int64_t ranks = config.dp * config.cp;
  placement.shard_ranks = ranks;
  const int64_t stated = config.zero_group;
  if (!IsStated(stated) || !ShardsOptimizer(config.zero) || stated >= ranks) {
    return absl::OkStatus();
  }
  if (stated < 1) {
    return absl::InvalidArgumentError(
        fmt::format("zero_group is {}; a size is at least 1", stated));
  }
  if (ranks % stated != 0) {
    return absl::InvalidArgumentError(
        config.cp == 1
            ? fmt::format("zero_group {} does not divide dp {}", stated,
                          config.dp)
            : fmt::format("zero_group {} does not divide dp {} * cp {}", stated,
                          config.dp, config.cp));
  }
  const int64_t row = place::IsContextInside(placement) ? config.cp : config.dp;
  if (row % stated != 0 && stated % row != 0) {
    return absl::UnimplementedError(fmt::format(
        "zero_group {} is neither a part nor a multiple of the {} ranks that "
        "vary fastest (dp {}, cp {}): such sharding groups are not placed",
        stated, row, config.dp, config.cp));
  }
  placement.shard_ranks = stated;
  return absl::OkStatus();
}

absl::Status SetContextInner(const ParallelConfig& config,
                             Placement& placement) {
  placement.context_inner = ContextInner(config);
  if (placement.context_inner >= 1 &&
      config.cp % placement.context_inner == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      fmt::format("context_inner {} does not divide cp {}",
                  placement.context_inner, config.cp));
}

absl::Status SetExperts(const ParallelConfig& config, Placement& placement) {
  placement.ep = IsStated(config.ep) ? config.ep : 1;
  placement.etp = ExpertTensorParallel(config);
  if (placement.ep < 1 || placement.etp < 1) {
    return absl::InvalidArgumentError(
        fmt::format("ep is {}, etp is {}; a size is at least 1", placement.ep,
                    placement.etp));
  }
  const int64_t ranks = config.tp * config.cp * config.dp;
  const int64_t together = SaturatingProduct(placement.etp, placement.ep);
  if (ranks % together != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "etp {} * ep {} does not divide the {} ranks of a stage (tp {} * cp {} "
        "* dp {})",
        placement.etp, placement.ep, ranks, config.tp, config.cp, config.dp));
  }
  placement.expert_dp = ranks / together;
  return absl::OkStatus();
}

std::string NameOf(const System& system) {
  return system.name.empty() ? "the system" : fmt::format("'{}'", system.name);
}

// The network has to join all ranks; a single device needs none.
absl::Status CheckNetwork(const System& system, int64_t ranks) {
  int64_t joined = 1;
  for (const NetworkLevel& level : system.network) {
    if (IsStated(level.size) && level.size < 1) {
      return absl::InvalidArgumentError(fmt::format(
          "network level '{}' of {} has size {}; a size is at least 1, or -1 "
          "for all there are",
          level.name, NameOf(system), level.size));
    }
    joined = IsStated(level.size) ? SaturatingProduct(joined, level.size)
                                  : std::max(joined, ranks);
  }
  if (joined >= ranks) return absl::OkStatus();
  if (system.network.empty()) {
    return absl::FailedPreconditionError(
        fmt::format("{} devices have to be joined, and {} states no network "
                    "(its levels, the first of them the node)",
                    ranks, NameOf(system)));
  }
  return absl::FailedPreconditionError(fmt::format(
      "'{}', the outermost network level of {}, joins {} devices, and {} have "
      "to be joined; a level around it is missing",
      system.network.back().name, NameOf(system), joined, ranks));
}

absl::Status CheckDevices(const ParallelConfig& config, const System& system) {
  const int64_t ranks = Devices(config);
  if (!IsStated(system.devices) || system.devices == ranks) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(fmt::format(
      "tp {} * cp {} * dp {} * pp {} takes {} devices, {} states {}; "
      "SubTopology gives the part of a larger system that a workload runs on",
      config.tp, config.cp, config.dp, config.pp, ranks, NameOf(system),
      system.devices));
}

}  // namespace

absl::Status PlaceInto(const ParallelConfig& config, const System& system,
                       Placement& placement) {
  if (absl::Status s = SetSizes(config, placement); !s.ok()) return s;
  if (absl::Status s = SetContextInner(config, placement); !s.ok()) return s;
  if (absl::Status s = SetExperts(config, placement); !s.ok()) return s;
  if (absl::Status s = place::SetStrides(config.rank_order, placement);
      !s.ok()) {
    return s;
  }
  if (absl::Status s = SetShardRanks(config, placement); !s.ok()) return s;
  if (absl::Status s = CheckDevices(config, system); !s.ok()) return s;
  if (absl::Status s = CheckNetwork(system, Ranks(placement)); !s.ok()) {
    return s;
  }
  placement.system = system;
  place::SetRankClasses(placement);
  return absl::OkStatus();
}

absl::StatusOr<Placement> Place(const ParallelConfig& config,
                                const System& system) {
  Placement placement;
  if (absl::Status s = PlaceInto(config, system, placement); !s.ok()) return s;
  return placement;
}

}  // namespace lmsimbench
