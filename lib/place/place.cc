#include <algorithm>
#include <cstdint>
#include <string>

#include "fmt/format.h"
#include "lib/core/arithmetic.h"
#include "lib/place/rank_classes.h"
#include "lib/place/rank_order.h"
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

absl::Status SetShardRanks(const ParallelConfig& config, Placement& placement) {
  placement.shard_ranks = config.dp;
  const int64_t stated = config.zero_group;
  if (!IsStated(stated) || !ShardsOptimizer(config.zero) ||
      stated >= config.dp) {
    return absl::OkStatus();
  }
  if (stated < 1) {
    return absl::InvalidArgumentError(
        fmt::format("zero_group is {}; a size is at least 1", stated));
  }
  if (config.dp % stated == 0) {
    placement.shard_ranks = stated;
    return absl::OkStatus();
  }
  if (config.dp * config.cp % stated == 0) {
    return absl::UnimplementedError(fmt::format(
        "zero_group {} does not divide dp {}: sharding groups that reach over "
        "context-parallel ranks are not placed",
        stated, config.dp));
  }
  return absl::InvalidArgumentError(
      fmt::format("zero_group {} does not divide dp {}", stated, config.dp));
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
