#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "lib/cost/measured_kernels.h"
#include "lib/cost/monotone_table.h"

namespace lmsimbench {

/// Tables of the kernels of one platform, by what may be interpolated together:
///
/// - matrix multiplications, in all layouts, over m, n and k;
/// - fused attention, by direction and causal mask, over sequences times heads,
///   tokens, and the dimension of a head;
/// - elementwise kernels, by kind and direction, over bytes;
///
/// each apart by precision: 16 bits, 8 bits, 32 bits.
class OperatorTables {
 public:
  /// `measured` is of the platform and may be used to fit; what answers nothing
  /// here, or needs a figure that the platform does not state, is left out.
  OperatorTables(const System& platform,
                 absl::Span<const Measured<Operator>* const> measured,
                 double reach);

  bool empty() const { return tables_.empty(); }

  /// What the tables say; not answered where they do not reach.
  Cost Find(const Operator& op) const;

 private:
  static constexpr int kSlots = (3 + kOperatorKinds) * 2 * 3;

  static int SlotOf(const Operator& op);
  void AddTable(int slot, const Accelerator& accelerator,
                const std::vector<const Measured<Operator>*>& measured,
                double reach);

  // Index into `tables_` of each slot; -1: nothing was measured.
  std::array<int16_t, kSlots> index_;
  std::vector<MonotoneTable> tables_;
};

}  // namespace lmsimbench
