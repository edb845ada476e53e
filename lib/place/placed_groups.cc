#include "lib/place/placed_groups.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "lib/place/rank_order.h"

namespace lmsimbench::place {
namespace {

GroupShape Shape(const Placement& p, RankRow row, int64_t block) {
  return MakeGroupShape(p, row.count, row.stride, 1, 1, block);
}
GroupShape Shape(const Placement& p, RankRow a, RankRow b, int64_t block) {
  return MakeGroupShape(p, a.count, a.stride, b.count, b.stride, block);
}

// Groups of tensor, data and pipeline parallelism, and of the whole.
void PlaceCommonGroups(const Placement& p, PlacedGroup* next) {
  const int64_t ends = std::min<int64_t>(p.pp, 2);
  const int64_t tensor_block = p.tp_stride * p.tp;
  const int64_t data_block = p.dp_stride * p.dp;
  const int64_t context_block = p.cp_stride * p.cp;
  const int64_t pipeline_block = p.pp_stride * p.pp;
  const int64_t same_block = std::max(data_block, context_block);
  const ShardRows shards = ShardRowsOf(p);
  const RankRow tensor = {p.tp, p.tp_stride};
  const RankRow data = {p.dp, p.dp_stride};
  const RankRow context = {p.cp, p.cp_stride};
  const Move cp = {p.cp_stride, p.cp};
  const Move dp = {p.dp_stride, p.dp};
  const Move pp = {p.pp_stride, p.pp};
  // Where the sharding groups begin, and the groups across them.
  const auto across = [](RankRow within, RankRow row) {
    return Move{row.stride, row.count, within.count};
  };
  const auto inside = [](RankRow within) {
    return Move{within.stride, within.count};
  };
  Move shard_fast = across(shards.fast_within, shards.fast_across);
  Move shard_slow = across(shards.slow_within, shards.slow_across);
  Move replica_fast = inside(shards.fast_within);
  Move replica_slow = inside(shards.slow_within);
  if (!IsContextInside(p)) {
    std::swap(shard_fast, shard_slow);
    std::swap(replica_fast, replica_slow);
  }
  // There is one, wherever its nodes begin.
  GroupShape world;
  world.count = Ranks(p);
  const int64_t first_to_last = p.pp_stride * (p.pp - 1);
  *next++ = {Group::kTensor, Shape(p, tensor, tensor_block), 1, cp, dp, pp};
  *next++ = {Group::kData, Shape(p, context, data, same_block),
             p.tp,         Move(),
             Move(),       pp};
  *next++ = {Group::kShard,
             Shape(p, shards.fast_within, shards.slow_within, ShardBlock(p)),
             p.tp,
             shard_fast,
             shard_slow,
             pp};
  *next++ = {Group::kReplica,
             Shape(p, shards.fast_across, shards.slow_across, same_block),
             p.tp,
             replica_fast,
             replica_slow,
             pp};
  *next++ = {Group::kPipeline,
             Shape(p, {ends, p.pp_stride}, pipeline_block),
             p.tp,
             cp,
             dp,
             pp};
  *next++ = {Group::kEmbedding,
             Shape(p, {ends, first_to_last}, pipeline_block),
             p.tp,
             cp,
             dp,
             Move()};
  *next++ = {Group::kModel,
             Shape(p, tensor, {p.pp, p.pp_stride},
                   std::max(tensor_block, pipeline_block)),
             1,
             cp,
             dp,
             Move()};
  *next++ = {Group::kWorld, world, 1, Move(), Move(), Move()};
}

// Of one rank, wherever it is.
PlacedGroup Alone(Group group) {
  PlacedGroup alone;
  alone.group = group;
  return alone;
}

void PlaceContextGroups(const Placement& p, PlacedGroup* next) {
  if (p.cp == 1) {
    for (const Group group :
         {Group::kContext, Group::kContextInner, Group::kContextOuter}) {
      *next++ = Alone(group);
    }
    return;
  }
  const int64_t block = p.cp_stride * p.cp;
  const int64_t inner = p.context_inner;
  const int64_t outer_stride = p.cp_stride * inner;
  const Move dp = {p.dp_stride, p.dp};
  const Move pp = {p.pp_stride, p.pp};
  *next++ = {Group::kContext,
             Shape(p, {p.cp, p.cp_stride}, block),
             p.tp,
             Move(),
             dp,
             pp};
  *next++ = {Group::kContextInner,
             Shape(p, {inner, p.cp_stride}, outer_stride),
             p.tp,
             {outer_stride, p.cp / inner, inner},
             dp,
             pp};
  *next++ = {Group::kContextOuter,
             Shape(p, {p.cp / inner, outer_stride}, block),
             p.tp,
             {p.cp_stride, inner},
             dp,
             pp};
}

// Experts divide the ranks of a stage anew. Where they do as all other layers,
// their groups are those of tensor and data parallelism, which stand in front.
void PlaceExpertGroups(const Placement& p, const PlacedGroups& placed,
                       PlacedGroup* next) {
  const RankRow expert = {p.ep, p.ep_stride};
  const RankRow tensor = {p.etp, p.etp_stride};
  const RankRow data = {p.expert_dp, p.expert_dp_stride};
  if (HasDenseExperts(p)) {
    *next++ = Alone(Group::kExpert);
    PlacedGroup group;
    for (const auto& [as, of] :
         {std::pair{Group::kExpertTensor, Group::kTensor},
          std::pair{Group::kExpertRegion, Group::kTensor},
          std::pair{Group::kExpertData, Group::kData}}) {
      group = placed[static_cast<size_t>(of) - 1];
      group.group = as;
      *next++ = group;
    }
    return;
  }
  const auto block = [](RankRow row) { return row.count * row.stride; };
  const Move cp = {p.cp_stride, p.cp};
  const Move dp = {p.dp_stride, p.dp};
  const Move pp = {p.pp_stride, p.pp};
  const auto place = [&](Group group, const GroupShape& shape, RankRow a,
                         RankRow b) {
    *next++ = {group, shape, p.tp, cp, dp, pp, {a, b}};
  };
  place(Group::kExpert, Shape(p, expert, block(expert)), expert, RankRow());
  place(Group::kExpertTensor, Shape(p, tensor, block(tensor)), tensor,
        RankRow());
  place(Group::kExpertRegion,
        Shape(p, tensor, expert, std::max(block(tensor), block(expert))),
        tensor, expert);
  place(Group::kExpertData, Shape(p, data, block(data)), data, RankRow());
}

}  // namespace

PlacedGroups PlaceGroups(const Placement& p) {
  const auto at = [](Group group) { return static_cast<size_t>(group) - 1; };
  PlacedGroups groups;
  PlaceCommonGroups(p, groups.data());
  PlaceContextGroups(p, groups.data() + at(Group::kContext));
  PlaceExpertGroups(p, groups, groups.data() + at(Group::kExpert));
  return groups;
}

}  // namespace lmsimbench::place
