#include <algorithm>
#include <cstddef>

#include "lib/place/rank_order.h"
#include "lib/place/shard_rows.h"
#include "lmsimbench/placement.h"

namespace lmsimbench {
namespace {

// Ranks from `first`, at equal distances.
void AppendRow(int64_t first, int64_t count, int64_t stride,
               std::vector<int64_t>& members) {
  for (int64_t i = 0; i < count; ++i) members.push_back(first + i * stride);
}

// The ranks that differ from `rank` in one coordinate, of `count` values at
// this distance, or in two.
std::vector<int64_t> Row(int64_t rank, place::RankRow row) {
  std::vector<int64_t> members;
  const int64_t first = rank - rank / row.stride % row.count * row.stride;
  AppendRow(first, row.count, row.stride, members);
  return members;
}
std::vector<int64_t> Rows(int64_t rank, place::RankRow a, place::RankRow b) {
  std::vector<int64_t> members;
  for (int64_t of_a : Row(rank, a)) {
    const std::vector<int64_t> row = Row(of_a, b);
    members.insert(members.end(), row.begin(), row.end());
  }
  std::sort(members.begin(), members.end());
  return members;
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
  const place::ShardRows shards = place::ShardRowsOf(p);
  const place::RankRow tensor = {p.tp, p.tp_stride};
  const place::RankRow context = {p.cp, p.cp_stride};
  const place::RankRow data = {p.dp, p.dp_stride};
  const bool dense_experts = place::HasDenseExperts(p);
  Coordinates first = CoordinatesOf(p, rank);
  switch (group) {
    case Group::kNotStated:
      break;
    case Group::kTensor:
      return Row(rank, tensor);
    case Group::kData:
      return Rows(rank, context, data);
    case Group::kShard:
      return Rows(rank, shards.fast_within, shards.slow_within);
    case Group::kReplica:
      return Rows(rank, shards.fast_across, shards.slow_across);
    case Group::kPipeline:
      if (p.pp == 1) break;
      first.pp = (first.pp + 1) % p.pp;
      return {rank, RankOf(p, first)};
    case Group::kEmbedding: {
      if (p.pp == 1) break;
      Coordinates last = first;
      first.pp = 0;
      last.pp = p.pp - 1;
      return {RankOf(p, first), RankOf(p, last)};
    }
    case Group::kModel:
      return Rows(rank, tensor, {p.pp, p.pp_stride});
    case Group::kWorld:
      return Row(rank, {Ranks(p), 1});
    case Group::kContext:
      return Row(rank, context);
    case Group::kContextInner:
      return Row(rank, {p.context_inner, p.cp_stride});
    case Group::kContextOuter:
      return Row(rank, {p.cp / p.context_inner, p.cp_stride * p.context_inner});
    case Group::kExpert:
      return Row(rank, {p.ep, p.ep_stride});
    case Group::kExpertTensor:
      return dense_experts ? Row(rank, tensor)
                           : Row(rank, {p.etp, p.etp_stride});
    case Group::kExpertRegion:
      return dense_experts
                 ? Row(rank, tensor)
                 : Rows(rank, {p.etp, p.etp_stride}, {p.ep, p.ep_stride});
    case Group::kExpertData:
      return dense_experts ? Rows(rank, context, data)
                           : Row(rank, {p.expert_dp, p.expert_dp_stride});
  }
  return {rank};
}

}  // namespace lmsimbench
