#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "lmsimbench/profile_view.h"
#include "lmsimbench/values.h"

namespace lmsimbench {

/// One row of a view by column names. A column that the view does not have, or
/// has in another type, is missing in every row.
class ViewRow {
 public:
  ViewRow(const ProfileView& view, size_t row) : view_(view), row_(row) {}

  std::string Text(absl::string_view column) const {
    const ProfileColumn* found = view_.Find(column);
    return found != nullptr && found->type == ColumnType::kString
               ? std::string(found->strings[row_])
               : std::string();
  }
  int64_t Count(absl::string_view column) const {
    const ProfileColumn* found = view_.Find(column);
    return found != nullptr && found->type == ColumnType::kI64
               ? found->i64[row_]
               : kNoCount;
  }
  double Number(absl::string_view column) const {
    const ProfileColumn* found = view_.Find(column);
    return found != nullptr && found->type == ColumnType::kF64
               ? found->f64[row_]
               : kNoNumber;
  }
  /// The fact of a column of 0 and 1.
  YesNo Fact(absl::string_view column) const {
    const int64_t count = Count(column);
    if (!IsStated(count)) return YesNo::kNotStated;
    return count != 0 ? YesNo::kYes : YesNo::kNo;
  }

 private:
  const ProfileView& view_;
  size_t row_;
};

}  // namespace lmsimbench
