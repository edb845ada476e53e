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
/// - those of several experts at once, of weight gradients and of all else,
/// over
///   experts, tokens of one, and its weights; where none were measured, by the
///   matrix multiplication of all their rows;
/// - fused attention, by direction and causal mask, over sequences times heads,
///   tokens, and the dimension of a head (of keys and values the mean). Without
///   a mask fewer or more queries than keys are as so many sequences;
/// - elementwise kernels, by kind and direction, over bytes. What does the same
///   in experts and elsewhere is one kind;
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
  static constexpr int kSlots = (4 + kOperatorKinds) * 2 * 3;

  static int SlotOf(const Operator& op);
  void AddTable(int slot, const Accelerator& accelerator,
                const std::vector<const Measured<Operator>*>& measured,
                double reach);

  // Of several experts, by the table of single matrix multiplications.
  Cost FindGrouped(const Operator& op, int width) const;

  double memory_bandwidth_ = kNoNumber;
  // Index into `tables_` of each slot; -1: nothing was measured.
  std::array<int16_t, kSlots> index_;
  std::vector<MonotoneTable> tables_;
};

}  // namespace lmsimbench
