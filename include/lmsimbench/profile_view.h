#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace lmsimbench {

/// A column of strings: ids into a pool of distinct strings. Borrowed from the
/// view's owner.
class StringColumn {
 public:
  StringColumn() = default;
  /// `ends[i]` is the offset in `text` of the zero byte behind string i, string
  /// i + 1 begins behind it; every id is below `ends.size()`.
  StringColumn(absl::Span<const uint32_t> ids, absl::Span<const uint32_t> ends,
               const char* text)
      : ids_(ids), ends_(ends), text_(text) {}

  size_t size() const { return ids_.size(); }
  absl::string_view operator[](size_t row) const { return Text(ids_[row]); }

  /// Ids of the rows: equal ids, equal strings. Ids of columns of one bundle
  /// are comparable.
  absl::Span<const uint32_t> ids() const { return ids_; }
  /// Distinct strings of the pool: ids are below.
  size_t strings() const { return ends_.size(); }
  /// The string with this id. A zero byte follows it.
  absl::string_view Text(uint32_t id) const {
    const uint32_t begin = id == 0 ? 0 : ends_[id - 1] + 1;
    return absl::string_view(text_ + begin, ends_[id] - begin);
  }

 private:
  absl::Span<const uint32_t> ids_;
  absl::Span<const uint32_t> ends_;
  const char* text_ = nullptr;
};

/// What a column holds.
enum class ColumnType : uint8_t { kF64, kI64, kString };

/// One column of a view. Exactly the member that `type` names is filled.
struct ProfileColumn {
  std::string name;
  ColumnType type = ColumnType::kF64;
  absl::Span<const double> f64;   ///< missing: NaN
  absl::Span<const int64_t> i64;  ///< missing: -1
  StringColumn strings;           ///< missing: empty
};

/// One measured table: named columns, one entry a row. Cheap to copy and to
/// scan; the memory belongs to the bundle (or to whoever built the view) and
/// has to outlive it.
class ProfileView {
 public:
  ProfileView() = default;
  /// Every column has `rows` entries.
  ProfileView(std::string name, size_t rows, std::vector<ProfileColumn> columns)
      : name_(std::move(name)), rows_(rows), columns_(std::move(columns)) {}

  /// "iterations", "memory", "ranks", "operators", "collectives", "gemms", or
  /// another table of the bundle.
  const std::string& name() const { return name_; }
  size_t rows() const { return rows_; }
  absl::Span<const ProfileColumn> columns() const { return columns_; }

  /// The column with this name, or null.
  const ProfileColumn* Find(absl::string_view column) const {
    for (const ProfileColumn& candidate : columns_) {
      if (candidate.name == column) return &candidate;
    }
    return nullptr;
  }

  /// Typed columns by name. NOT_FOUND if there is none of this name,
  /// INVALID_ARGUMENT if it has another type.
  absl::StatusOr<absl::Span<const double>> F64(absl::string_view column) const;
  absl::StatusOr<absl::Span<const int64_t>> I64(absl::string_view column) const;
  absl::StatusOr<StringColumn> Strings(absl::string_view column) const;

 private:
  std::string name_;
  size_t rows_ = 0;
  std::vector<ProfileColumn> columns_;
};

}  // namespace lmsimbench
