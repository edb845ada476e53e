#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lmsimbench/profile_view.h"

namespace lmsimbench {

/// What a cell may hold, and so the type of its column.
enum class CellRule : uint8_t {
  kText,
  /// \{ A text with a meaning (run_cells.h), or empty.
  kPrecision,
  kAttention,
  kNorm,
  kPositions,
  kZeroStage,
  kRecompute,
  kOptions,
  /// \}
  kNumber,         ///< finite, at least 0
  kPositive,       ///< finite, above 0
  kCount,          ///< whole, at least 0
  kPositiveCount,  ///< whole, at least 1
  kFlag,           ///< 0 or 1
};

/// How far a column has to be filled.
enum class Presence : uint8_t {
  kOptional,  ///< the column may be absent, its cells empty
  kRequired,  ///< the column is there and every cell filled
};

/// One column of a table of the bundle.
struct ColumnSpec {
  const char* name;
  CellRule rule = CellRule::kText;
  Presence presence = Presence::kOptional;
};

/// One table of the bundle: its file is `<name>.csv`.
struct TableSpec {
  const char* name;
  absl::Span<const ColumnSpec> columns;
};

/// Every table of the bundle, in the order in which they are written. A bundle
/// that has a table has all its columns, in this order.
absl::Span<const TableSpec> BundleTables();

/// The table with this name, or null.
const TableSpec* FindTableSpec(absl::string_view name);

/// Index of a column in its table, or -1.
int FindColumnSpec(const TableSpec& table, absl::string_view column);

/// Type of the column that holds such cells.
ColumnType TypeOf(CellRule rule);

/// Names of all tables, and of a table's columns: candidates for suggestions.
std::vector<std::string> TableNames();
std::vector<std::string> ColumnNames(const TableSpec& table);

}  // namespace lmsimbench
