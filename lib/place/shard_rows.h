#pragma once

#include "lmsimbench/placement.h"

/// \file
/// The ranks that hold the same parameters, data times context parallelism, as
/// rows: a sharding group is a part of a row, or a number of whole rows.

namespace lmsimbench::place {

/// True if context-parallel ranks vary faster than data-parallel ones.
inline bool IsContextInside(const Placement& placement) {
  return placement.cp_stride <= placement.dp_stride;
}

/// Ranks at equal distances.
struct RankRow {
  int64_t count = 1;
  int64_t stride = 1;
};

/// What sharding groups and the groups across them (the replicas) consist of:
/// of the faster and of the slower of data and context parallelism first the
/// part within a sharding group, then the part across.
struct ShardRows {
  RankRow fast_within, fast_across;
  RankRow slow_within, slow_across;
};
inline ShardRows ShardRowsOf(const Placement& p) {
  const bool inside = IsContextInside(p);
  const RankRow fast =
      inside ? RankRow{p.cp, p.cp_stride} : RankRow{p.dp, p.dp_stride};
  const RankRow slow =
      inside ? RankRow{p.dp, p.dp_stride} : RankRow{p.cp, p.cp_stride};
  const int64_t of_fast =
      p.shard_ranks < fast.count ? p.shard_ranks : fast.count;
  const int64_t of_slow = p.shard_ranks / of_fast;
  return {{of_fast, fast.stride},
          {fast.count / of_fast, fast.stride * of_fast},
          {of_slow, slow.stride},
          {slow.count / of_slow, slow.stride * of_slow}};
}

/// The members of a sharding group lie between two neighbouring multiples of
/// it.
inline int64_t ShardBlock(const Placement& p) {
  const ShardRows rows = ShardRowsOf(p);
  return rows.slow_within.count > 1
             ? rows.slow_within.count * rows.slow_within.stride
             : rows.fast_within.count * rows.fast_within.stride;
}

}  // namespace lmsimbench::place
