#include "lib/cost/collective_tables.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/cost/collective_model.h"

namespace lmsimbench {
namespace {

// Round a ring every member sends to one other.
Extent ExtentOf(const SpannedCollective& spanned) {
  const bool sends = spanned.collective.kind == CollectiveKind::kSendReceive;
  return {static_cast<double>(spanned.collective.bytes),
          sends ? 2 : static_cast<double>(spanned.span.members), 1};
}

SpannedCollective CollectiveAt(const Extent& at, CollectiveKind kind) {
  SpannedCollective spanned;
  spanned.collective.kind = kind;
  spanned.collective.bytes = std::llround(at[0]);
  spanned.span.members = std::max<int64_t>(2, std::llround(at[1]));
  spanned.span.members_per_node = spanned.span.members;
  return spanned;
}

}  // namespace

CollectiveTables::CollectiveTables(
    const System& platform,
    absl::Span<const Measured<SpannedCollective>* const> measured,
    double reach) {
  index_.fill(-1);
  // Of the reference only the shape matters: any bandwidth will do where the
  // platform states none.
  CollectiveParameters parameters;
  parameters.unstated_bandwidth = 100e9;
  for (int kind = 0; kind < kCollectiveKinds; ++kind) {
    std::vector<TablePoint> points;
    for (const Measured<SpannedCollective>* row : measured) {
      if (static_cast<int>(row->question.collective.kind) != kind) continue;
      points.push_back({ExtentOf(row->question), row->seconds});
    }
    if (points.empty()) continue;
    const auto reference = [&](const Extent& at) {
      return *CollectiveSeconds(
          parameters, platform,
          CollectiveAt(at, static_cast<CollectiveKind>(kind)));
    };
    index_[kind] = static_cast<int16_t>(tables_.size());
    tables_.emplace_back(std::move(points), reference, reach);
  }
}

Cost CollectiveTables::Find(const SpannedCollective& spanned) const {
  const int16_t index = index_[static_cast<int>(spanned.collective.kind)];
  if (spanned.span.nodes != 1 || index < 0) return {};
  return tables_[index].Find(ExtentOf(spanned));
}

}  // namespace lmsimbench
