#include "lib/place/rank_order.h"

#include <cstddef>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "fmt/format.h"

namespace lmsimbench::place {
namespace {

struct Parallelism {
  absl::string_view name;
  int64_t size;
  int64_t& stride;
};
constexpr size_t kParallelisms = 5;
using Parallelisms = Parallelism[kParallelisms];

absl::Status SetStrides(const std::string& rank_order,
                        Parallelisms& parallelisms) {
  static constexpr absl::string_view kDefaultOrder = "tp-cp-ep-dp-pp";
  const absl::string_view order =
      rank_order.empty() ? kDefaultOrder : absl::string_view(rank_order);
  bool named[kParallelisms] = {};
  size_t names = 0;
  int64_t ranks = 1;
  for (absl::string_view name : absl::StrSplit(order, '-')) {
    for (size_t i = 0; i < kParallelisms; ++i) {
      if (name != parallelisms[i].name || named[i]) continue;
      named[i] = true;
      parallelisms[i].stride = ranks;
      ranks *= parallelisms[i].size;
      break;
    }
    ++names;
  }
  bool all = names == kParallelisms;
  for (bool is_named : named) all = all && is_named;
  if (all) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("rank order '{}' does not name tp, cp, ep, dp, pp once each, "
                  "joined by '-'",
                  rank_order));
}

}  // namespace

absl::Status SetStrides(const std::string& rank_order, Placement& placement) {
  Placement& p = placement;
  int64_t no_stride = 0;
  Parallelisms ranks = {{"tp", p.tp, p.tp_stride},
                        {"cp", p.cp, p.cp_stride},
                        {"ep", 1, no_stride},
                        {"dp", p.dp, p.dp_stride},
                        {"pp", p.pp, p.pp_stride}};
  absl::Status status = SetStrides(rank_order, ranks);
  if (!status.ok()) return status;

  int64_t pp_stride = 0;
  Parallelisms experts = {{"tp", p.etp, p.etp_stride},
                          {"cp", 1, no_stride},
                          {"ep", p.ep, p.ep_stride},
                          {"dp", p.expert_dp, p.expert_dp_stride},
                          {"pp", p.pp, pp_stride}};
  status = SetStrides(rank_order, experts);
  if (!status.ok() || HasDenseExperts(p) || p.pp == 1 ||
      pp_stride == p.pp_stride) {
    return status;
  }
  return absl::InvalidArgumentError(fmt::format(
      "rank order '{}' puts the stages {} ranks apart for tp {} * cp {} and {} "
      "for etp {} * ep {}; pp last fits any",
      rank_order, p.pp_stride, p.tp, p.cp, pp_stride, p.etp, p.ep));
}

}  // namespace lmsimbench::place
