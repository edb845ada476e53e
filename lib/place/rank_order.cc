#include "lib/place/rank_order.h"

#include <cstddef>
#include <iterator>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "fmt/format.h"

namespace lmsimbench::place {

absl::Status SetStrides(const std::string& rank_order, Placement& placement) {
  int64_t no_stride = 0;
  const struct {
    absl::string_view name;
    int64_t size;
    int64_t& stride;
  } parallelisms[] = {
      {"tp", placement.tp, placement.tp_stride},
      {"cp", placement.cp, placement.cp_stride},
      {"ep", 1, no_stride},
      {"dp", placement.dp, placement.dp_stride},
      {"pp", placement.pp, placement.pp_stride},
  };

  static constexpr absl::string_view kDefaultOrder = "tp-cp-ep-dp-pp";
  const absl::string_view order =
      rank_order.empty() ? kDefaultOrder : absl::string_view(rank_order);
  bool named[std::size(parallelisms)] = {};
  size_t names = 0;
  int64_t ranks = 1;
  for (absl::string_view name : absl::StrSplit(order, '-')) {
    for (size_t i = 0; i < std::size(parallelisms); ++i) {
      if (name != parallelisms[i].name || named[i]) continue;
      named[i] = true;
      parallelisms[i].stride = ranks;
      ranks *= parallelisms[i].size;
      break;
    }
    ++names;
  }
  bool all = names == std::size(parallelisms);
  for (bool is_named : named) all = all && is_named;
  if (all) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("rank order '{}' does not name tp, cp, ep, dp, pp once each, "
                  "joined by '-'",
                  rank_order));
}

}  // namespace lmsimbench::place
