#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/strings/string_view.h"
#include "capi/handle.h"
#include "lmsimbench/profile_view.h"

/// \file
/// Views and columns as handles, and tables that the library makes.

struct lmsb_column : lmsimbench::capi::Handle<lmsimbench::capi::Kind::kColumn> {
  explicit lmsb_column(const lmsimbench::ProfileColumn& of) : column(&of) {}

  const lmsimbench::ProfileColumn* column;
};

struct lmsb_view : lmsimbench::capi::Handle<lmsimbench::capi::Kind::kView> {
  explicit lmsb_view(lmsimbench::ProfileView of);

  lmsimbench::ProfileView view;
  /// Of the view above: made once it has its place, and never moved.
  std::vector<lmsb_column> columns;

  lmsb_view(const lmsb_view&) = delete;
  lmsb_view& operator=(const lmsb_view&) = delete;
};

namespace lmsimbench::capi {

/// The entries of a table that is being made, column by column.
class TableBuilder {
 public:
  explicit TableBuilder(std::string name, size_t rows)
      : name_(std::move(name)), rows_(rows) {}

  /// \{ Appends a column with an entry of `entry(row)` for each row.
  template <typename Entry>
  void F64(std::string name, Entry&& entry) {
    std::vector<double>& entries = f64_.emplace_back(rows_);
    for (size_t row = 0; row < rows_; ++row) entries[row] = entry(row);
    ProfileColumn& column = Add(std::move(name), ColumnType::kF64);
    column.f64 = entries;
  }
  template <typename Entry>
  void I64(std::string name, Entry&& entry) {
    std::vector<int64_t>& entries = i64_.emplace_back(rows_);
    for (size_t row = 0; row < rows_; ++row) entries[row] = entry(row);
    ProfileColumn& column = Add(std::move(name), ColumnType::kI64);
    column.i64 = entries;
  }
  template <typename Entry>
  void Strings(std::string name, Entry&& entry) {
    std::vector<uint32_t>& ids = ids_.emplace_back(rows_);
    for (size_t row = 0; row < rows_; ++row) ids[row] = Intern(entry(row));
    Add(std::move(name), ColumnType::kString);
  }
  /// \}

  /// The table as a handle. The builder is used up.
  lmsb_table* Finish() &&;

 private:
  friend struct ::lmsb_table;
  ProfileColumn& Add(std::string name, ColumnType type);
  uint32_t Intern(absl::string_view text);

  std::string name_;
  size_t rows_;
  // Their entries stay where they are when more columns follow.
  std::deque<std::vector<double>> f64_;
  std::deque<std::vector<int64_t>> i64_;
  std::deque<std::vector<uint32_t>> ids_;
  std::vector<ProfileColumn> columns_;
  std::unordered_map<std::string, uint32_t> interned_;
  std::string text_;
  std::vector<uint32_t> ends_;
};

}  // namespace lmsimbench::capi

struct lmsb_table : lmsimbench::capi::Handle<lmsimbench::capi::Kind::kTable> {
  explicit lmsb_table(lmsimbench::capi::TableBuilder&& of);

  lmsimbench::capi::TableBuilder entries;
  lmsb_view view;
};
