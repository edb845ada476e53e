#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "lib/cost/measured_kernels.h"
#include "lib/cost/monotone_table.h"

namespace lmsimbench {

/// Tables of the collectives of one platform within a node: one for each kind,
/// over bytes and members.
class CollectiveTables {
 public:
  /// `measured` is of the platform and may be used to fit.
  CollectiveTables(
      const System& platform,
      absl::Span<const Measured<SpannedCollective>* const> measured,
      double reach);

  bool empty() const { return tables_.empty(); }

  /// What the tables say; not answered where they do not reach.
  Cost Find(const SpannedCollective& spanned) const;

 private:
  // Index into `tables_` of each kind; -1: nothing was measured.
  std::array<int16_t, kCollectiveKinds> index_;
  std::vector<MonotoneTable> tables_;
};

}  // namespace lmsimbench
