#include "lib/place/rank_classes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

#include "lib/place/group_shape.h"

namespace lmsimbench::place {
namespace {

// All groups of one kind: their shape, and where they begin. The first member
// of the group of data-parallel coordinate d and pipeline rank p is moved by
// `d / dp_ranks % dp_steps * dp_stride` and by `p * pp_stride`.
struct PlacedGroup {
  Group group;
  GroupShape shape;
  // Tensor-parallel ranks that have a group each.
  int64_t tp;
  int64_t pp_stride;
  int64_t dp_steps;
  int64_t dp_stride;
  int64_t dp_ranks = 1;
};

using PlacedGroups = std::array<PlacedGroup, kGroups - 1>;

PlacedGroups PlaceGroups(const Placement& p) {
  const auto row = [&p](int64_t count, int64_t stride, int64_t block) {
    return MakeGroupShape(p, count, stride, 1, 1, block);
  };
  const int64_t shard = p.shard_ranks;
  const int64_t shard_stride = p.dp_stride * shard;
  const int64_t replicas = p.dp / shard;
  const int64_t ends = std::min<int64_t>(p.pp, 2);
  const int64_t tensor_block = p.tp_stride * p.tp;
  const int64_t data_block = p.dp_stride * p.dp;
  const int64_t pipeline_block = p.pp_stride * p.pp;
  const GroupShape model =
      MakeGroupShape(p, p.tp, p.tp_stride, p.pp, p.pp_stride,
                     std::max(tensor_block, pipeline_block));
  // There is one, wherever its nodes begin.
  GroupShape world;
  world.count = Ranks(p);
  const int64_t first_to_last = p.pp_stride * (p.pp - 1);
  return {{
      {Group::kTensor, row(p.tp, p.tp_stride, tensor_block), 1, p.pp_stride,
       p.dp, p.dp_stride},
      {Group::kData, row(p.dp, p.dp_stride, data_block), p.tp, p.pp_stride, 1,
       0},
      {Group::kShard, row(shard, p.dp_stride, shard_stride), p.tp, p.pp_stride,
       replicas, shard_stride, shard},
      {Group::kReplica, row(replicas, shard_stride, data_block), p.tp,
       p.pp_stride, shard, p.dp_stride},
      {Group::kPipeline, row(ends, p.pp_stride, pipeline_block), p.tp,
       p.pp_stride, p.dp, p.dp_stride},
      {Group::kEmbedding, row(ends, first_to_last, pipeline_block), p.tp, 0,
       p.dp, p.dp_stride},
      {Group::kModel, model, 1, 0, p.dp, p.dp_stride},
      {Group::kWorld, world, 1, 0, 1, 0},
  }};
}

int64_t Begin(const Placement& p, const PlacedGroup& group,
              const Coordinates& c) {
  return c.cp * p.cp_stride +
         c.dp / group.dp_ranks % group.dp_steps * group.dp_stride +
         c.pp * group.pp_stride;
}

// The slowest span among the groups of the tensor-parallel ranks, which go in
// lockstep.
Span SlowestSpan(const Placement& p, const PlacedGroup& group, int64_t begin) {
  Span slowest = SpanAt(p.system, group.shape, begin);
  int64_t position = Position(group.shape, begin);
  for (int64_t tp = 1; tp < group.tp && group.shape.cycle > 1; ++tp) {
    const int64_t member = begin + tp * p.tp_stride;
    if (Position(group.shape, member) == position) continue;
    position = Position(group.shape, member);
    const Span span = SpanAt(p.system, group.shape, member);
    if (IsSlower(span, slowest)) slowest = span;
  }
  return slowest;
}

int32_t SpanIndex(const Span& span, Placement& p) {
  const auto found = std::find(p.spans.begin(), p.spans.end(), span);
  const auto index = static_cast<int32_t>(found - p.spans.begin());
  if (found == p.spans.end()) p.spans.push_back(span);
  return index;
}

// Steps of the data-parallel coordinate after which the spans of a group
// repeat. (Replica groups begin anew with every sharding group: their period is
// 1 or all of its ranks, since boundaries that their members do not always meet
// lie farther apart than a sharding group is long.)
int64_t DataPeriod(const PlacedGroup& group) {
  const int64_t steps =
      PositionPeriod(group.shape, group.dp_stride, group.dp_steps);
  return steps == 1 ? 1 : steps * group.dp_ranks;
}

// Tensor-parallel groups, numbered by `dp * cp_size + cp`, after which the
// spans of all groups repeat.
int64_t Period(const Placement& p, const PlacedGroups& groups) {
  int64_t dp = 1;
  int64_t cp = 1;
  for (const PlacedGroup& group : groups) {
    dp = std::min(p.dp, std::lcm(dp, DataPeriod(group)));
    cp = std::min(p.cp,
                  std::lcm(cp, PositionPeriod(group.shape, p.cp_stride, p.cp)));
  }
  return dp == 1 && p.cp % cp == 0 ? cp : dp * p.cp;
}

// Appends the classes of one pipeline, whose coordinates are given for its
// first stage. `constant` holds the spans that are the same in all of them.
void AppendPipeline(const PlacedGroups& groups, const RankClass& constant,
                    Coordinates c, Placement& p) {
  for (c.pp = 0; c.pp < p.pp; ++c.pp) {
    const bool is_last = c.pp == p.pp - 1;
    RankClass rank_class = constant;
    rank_class.pipeline_rank = c.pp;
    for (const PlacedGroup& group : groups) {
      if (group.shape.cycle == 1) continue;
      if (is_last && group.group == Group::kPipeline) continue;
      rank_class.span[static_cast<size_t>(group.group)] =
          SpanIndex(SlowestSpan(p, group, Begin(p, group, c)), p);
    }
    // The last stage's next is the first.
    if (is_last) {
      rank_class.span[static_cast<size_t>(Group::kPipeline)] =
          rank_class.span[static_cast<size_t>(Group::kEmbedding)];
    }
    p.classes.push_back(rank_class);
  }
}

// The kind of the pipeline whose classes stand last: the first kind with the
// same spans, which may be its own.
int64_t KindOfLast(const Placement& p) {
  const int64_t last = static_cast<int64_t>(p.classes.size()) / p.pp - 1;
  const auto of_last = p.classes.begin() + last * p.pp;
  int64_t kind = 0;
  while (!std::equal(of_last, p.classes.end(), p.classes.begin() + kind * p.pp,
                     [](const RankClass& a, const RankClass& b) {
                       return a.span == b.span;
                     })) {
    ++kind;
  }
  return kind;
}

}  // namespace

void SetRankClasses(Placement& p) {
  p.spans.clear();
  p.classes.clear();
  p.pipeline_kinds.clear();

  const PlacedGroups groups = PlaceGroups(p);
  RankClass constant;
  constant.span[static_cast<size_t>(Group::kNotStated)] = SpanIndex(Span(), p);
  for (const PlacedGroup& group : groups) {
    if (group.shape.cycle > 1) continue;
    constant.span[static_cast<size_t>(group.group)] =
        SpanIndex(SpanAt(p.system, group.shape, 0), p);
  }

  const int64_t pipelines = p.dp * p.cp;
  const int64_t period = Period(p, groups);
  int64_t kinds = 0;
  for (int64_t i = 0; i < period; ++i) {
    Coordinates c;
    c.dp = i / p.cp;
    c.cp = i % p.cp;
    AppendPipeline(groups, constant, c, p);
    const int64_t kind = KindOfLast(p);
    kinds = std::max(kinds, kind + 1);
    p.classes.resize(kinds * p.pp);
    p.pipeline_kinds.push_back(static_cast<int32_t>(kind));
    const int64_t alike = (pipelines - i + period - 1) / period;
    for (int64_t stage = kind * p.pp; stage < (kind + 1) * p.pp; ++stage) {
      p.classes[stage].pipeline_kind = kind;
      p.classes[stage].ranks += alike * p.tp;
    }
  }
  if (kinds == 1) p.pipeline_kinds.resize(1);
}

}  // namespace lmsimbench::place
