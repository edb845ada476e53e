#include <cstddef>

#include "lmsimbench/placement.h"

namespace lmsimbench {
namespace {

// Ranks from `first`, at equal distances.
void AppendRow(int64_t first, int64_t count, int64_t stride,
               std::vector<int64_t>& members) {
  for (int64_t i = 0; i < count; ++i) members.push_back(first + i * stride);
}

}  // namespace

Coordinates CoordinatesOf(const Placement& placement, int64_t rank) {
  Coordinates c;
  c.tp = rank / placement.tp_stride % placement.tp;
  c.cp = rank / placement.cp_stride % placement.cp;
  c.dp = rank / placement.dp_stride % placement.dp;
  c.pp = rank / placement.pp_stride % placement.pp;
  return c;
}

int64_t RankOf(const Placement& placement, const Coordinates& coordinates) {
  return coordinates.tp * placement.tp_stride +
         coordinates.cp * placement.cp_stride +
         coordinates.dp * placement.dp_stride +
         coordinates.pp * placement.pp_stride;
}

int64_t ClassOf(const Placement& placement, int64_t rank) {
  const Coordinates c = CoordinatesOf(placement, rank);
  const auto period = static_cast<int64_t>(placement.pipeline_kinds.size());
  const int64_t pipeline = c.dp * placement.cp + c.cp;
  return placement.pipeline_kinds[pipeline % period] * placement.pp + c.pp;
}

std::vector<int64_t> GroupMembers(const Placement& placement, Group group,
                                  int64_t rank) {
  const Placement& p = placement;
  const int64_t shard = p.shard_ranks;
  const int64_t replicas = p.dp / shard;
  Coordinates first = CoordinatesOf(p, rank);
  std::vector<int64_t> members;
  switch (group) {
    case Group::kNotStated:
      members.push_back(rank);
      break;
    case Group::kTensor:
      first.tp = 0;
      AppendRow(RankOf(p, first), p.tp, p.tp_stride, members);
      break;
    case Group::kData:
      first.dp = 0;
      AppendRow(RankOf(p, first), p.dp, p.dp_stride, members);
      break;
    case Group::kShard:
      first.dp -= first.dp % shard;
      AppendRow(RankOf(p, first), shard, p.dp_stride, members);
      break;
    case Group::kReplica:
      first.dp %= shard;
      AppendRow(RankOf(p, first), replicas, p.dp_stride * shard, members);
      break;
    case Group::kPipeline:
      members.push_back(rank);
      first.pp = (first.pp + 1) % p.pp;
      if (p.pp > 1) members.push_back(RankOf(p, first));
      break;
    case Group::kEmbedding:
      first.pp = 0;
      members.push_back(RankOf(p, first));
      first.pp = p.pp - 1;
      if (p.pp > 1) members.push_back(RankOf(p, first));
      break;
    case Group::kModel:
      first.tp = 0;
      for (first.pp = 0; first.pp < p.pp; ++first.pp) {
        AppendRow(RankOf(p, first), p.tp, p.tp_stride, members);
      }
      break;
    case Group::kWorld:
      AppendRow(0, Ranks(p), 1, members);
      break;
  }
  return members;
}

}  // namespace lmsimbench
