#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lmsimbench/operator.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/system.h"

namespace lmsimbench {

/// Where the members of a group lie: what decides how fast they communicate.
struct Span {
  int64_t members = 1;
  /// Nodes that hold a member.
  int64_t nodes = 1;
  /// Members in the node that holds most of them.
  int64_t members_per_node = 1;
  /// Index into `System::network` of the innermost level that joins all
  /// members: 0 within one node.
  int32_t level = 0;

  friend bool operator==(const Span& a, const Span& b) {
    return a.members == b.members && a.nodes == b.nodes &&
           a.members_per_node == b.members_per_node && a.level == b.level;
  }
};

/// Coordinates of a rank in each parallelism.
struct Coordinates {
  int64_t tp = 0;
  int64_t cp = 0;
  int64_t dp = 0;
  int64_t pp = 0;
};

/// Ranks that behave alike: the same pipeline rank, and groups that span the
/// devices in the same way. The ranks of a tensor-parallel group go in lockstep
/// and are of one class.
struct RankClass {
  int64_t pipeline_rank = 0;
  /// Which kind of pipeline it stands in: classes of one kind form a pipeline.
  int64_t pipeline_kind = 0;
  /// Ranks of this class.
  int64_t ranks = 0;
  /// Index into `Placement::spans` for every `Group`; for `kPipeline` the link
  /// to the next stage (the last stage's leads to the first). Where the groups
  /// of the tensor-parallel ranks differ, the slowest: through the outermost
  /// level, then over most nodes, then with fewest members in a node.
  std::array<int32_t, kGroups> span = {};
};

/// Ranks on devices. Rank r runs on device r; which part of the work it does
/// follows from the rank order. A plain value.
struct Placement {
  System system;
  int64_t tp = 1, cp = 1, dp = 1, pp = 1;
  /// Distance between ranks that differ by one in that coordinate.
  int64_t tp_stride = 1, cp_stride = 1, dp_stride = 1, pp_stride = 1;
  /// Neighbours in the data group that `zero` shards over: the whole group,
  /// unless `zero_group` says less.
  int64_t shard_ranks = 1;
  /// Neighbours in the context-parallel group that exchange heads.
  int64_t context_inner = 1;
  /// The same ranks as experts divide them: a stage's ranks, in the same order,
  /// are expert tensor times expert times expert data parallelism.
  int64_t etp = 1, ep = 1, expert_dp = 1;
  int64_t etp_stride = 1, ep_stride = 1, expert_dp_stride = 1;

  /// Distinct spans.
  std::vector<Span> spans;
  /// Classes of one kind of pipeline stand together, by pipeline rank: class
  /// `kind * pp + pipeline_rank`.
  std::vector<RankClass> classes;
  /// Kind of pipeline of the tensor-parallel groups, which are numbered by
  /// `dp * cp_size + cp`; repeats with the period of its size.
  std::vector<int32_t> pipeline_kinds;
};

/// Ranks of the placement.
inline int64_t Ranks(const Placement& placement) {
  return placement.tp * placement.cp * placement.dp * placement.pp;
}

/// Coordinates of a rank, for 0 <= rank < `Ranks`.
Coordinates CoordinatesOf(const Placement& placement, int64_t rank);
/// The rank with these coordinates.
int64_t RankOf(const Placement& placement, const Coordinates& coordinates);
/// Index into `classes` of a rank.
int64_t ClassOf(const Placement& placement, int64_t rank);
/// The ranks of the group of this kind that `rank` belongs to, in ascending
/// order. For `kPipeline` the rank and the next stage's, for `kEmbedding` those
/// of the first and the last stage of its pipeline; one rank where there is one
/// stage.
std::vector<int64_t> GroupMembers(const Placement& placement, Group group,
                                  int64_t rank);

/// The part of a system that a workload on fewer devices runs on: its first
/// `devices` devices, levels of the network unchanged. INVALID_ARGUMENT if the
/// system states fewer.
absl::StatusOr<System> SubTopology(const System& system, int64_t devices);

/// The placement as text: rank order, groups with their spans, rank classes.
std::string ToText(const Placement& placement);
/// The same as JSON.
std::string ToJson(const Placement& placement);

}  // namespace lmsimbench
