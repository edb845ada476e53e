#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "handles.h"
#include "lmsimbench/c.h"

namespace embed {

// Columns of a view, read where they lie: nothing is copied, and all live as
// long as what the view came from.

/// The column of a view that has this name.
inline const lmsb_column* ColumnOf(const lmsb_view* view,
                                   const std::string& name) {
  const lmsb_column* column = nullptr;
  Need(lmsb_view_column(view, name.data(), name.size(), &column));
  return column;
}

/// A column of texts.
class Texts {
 public:
  Texts(const lmsb_view* view, const std::string& name)
      : column_(ColumnOf(view, name)) {
    size_t count = 0;
    Need(lmsb_column_strings(column_, &entries_, &count));
  }
  std::string operator[](size_t row) const {
    return lmsb_column_string(column_, entries_[row], nullptr);
  }

 private:
  const lmsb_column* column_;
  const uint32_t* entries_ = nullptr;
};

/// A column of counts.
inline const int64_t* Counts(const lmsb_view* view, const std::string& name) {
  const int64_t* entries = nullptr;
  size_t count = 0;
  Need(lmsb_column_i64(ColumnOf(view, name), &entries, &count));
  return entries;
}

/// A column of numbers.
inline const double* Numbers(const lmsb_view* view, const std::string& name) {
  const double* entries = nullptr;
  size_t count = 0;
  Need(lmsb_column_f64(ColumnOf(view, name), &entries, &count));
  return entries;
}

}  // namespace embed
