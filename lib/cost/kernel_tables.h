#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "lib/cost/measured_kernels.h"
#include "lib/cost/monotone_table.h"

namespace lmsimbench {

/// The tables of one platform: its measured kernels and collectives by what may
/// be interpolated together.
///
/// | of | lengths |
/// |---|---|
/// | matrix multiplications, all layouts | m, n, k |
/// | fused attention, by direction and causal mask | sequences x heads, tokens,
/// head dimension | | elementwise kernels, by kind and direction | bytes | |
/// collectives within a node, by kind | bytes, members |
///
/// Those of operators are kept apart by precision: 16 bits, 8 bits, 32 bits.
class KernelTables {
 public:
  /// The tables of `platform`, of those measurements that are of it and may be
  /// used to fit.
  KernelTables(const System& platform,
               absl::Span<const Measured<Operator>* const> operators,
               absl::Span<const Measured<SpannedCollective>* const> collectives,
               double reach);

  /// The system that the tables hold for.
  System platform;

  bool has_operators() const { return has_operators_; }
  bool has_collectives() const { return has_collectives_; }

  /// \{ What the tables say; 'not answered' where they do not reach.
  Cost Find(const Operator& op) const;
  Cost Find(const SpannedCollective& spanned) const;
  /// \}

 private:
  // Matrix multiplications; attention with and without mask; elementwise kinds.
  static constexpr int kOperatorSlots = 3 + kOperatorKinds;
  static constexpr int kDirections = 2;
  static constexpr int kWidths = 3;

  static int SlotOf(const Operator& op);
  const MonotoneTable* At(int slot) const {
    return slot < 0 || index_[slot] < 0 ? nullptr : &tables_[index_[slot]];
  }
  void AddTable(int slot, std::vector<TablePoint> points,
                const MonotoneTable::Reference& reference, double reach);
  void AddOperatorTables(absl::Span<const Measured<Operator>* const> operators,
                         double reach);
  void AddCollectiveTables(
      absl::Span<const Measured<SpannedCollective>* const> collectives,
      double reach);

  bool has_operators_ = false;
  bool has_collectives_ = false;
  // Index into `tables_` of each slot; -1: nothing was measured.
  std::array<int16_t, kOperatorSlots * kDirections * kWidths + kCollectiveKinds>
      index_;
  std::vector<MonotoneTable> tables_;
};

}  // namespace lmsimbench
