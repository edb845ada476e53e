#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lib/profile/tables.h"

namespace lmsimbench {

/// Distinct texts, numbered in the order in which they come.
class TextPool {
 public:
  TextPool() { Add(""); }

  /// The number of this text.
  uint32_t Add(const std::string& text);
  const std::string& Text(uint32_t id) const { return texts_[id]; }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  absl::flat_hash_map<std::string, uint32_t> ids_;
  std::vector<std::string> texts_;
};

/// One column on its way into a bundle: the vector of its type is filled.
struct ColumnData {
  std::vector<double> f64;
  std::vector<int64_t> i64;
  std::vector<uint32_t> ids;
};

/// One table on its way into a bundle.
struct TableData {
  const TableSpec* spec = nullptr;
  size_t rows = 0;
  /// One for each column of `spec`.
  std::vector<ColumnData> columns;
  /// Where it was read, for messages.
  std::string file;
  std::vector<size_t> lines;

  /// The text of a cell; the column holds texts.
  const std::string& Text(const TextPool& pool, int column, size_t row) const {
    return pool.Text(columns[column].ids[row]);
  }
};

/// The tables of one bundle.
struct BundleData {
  TextPool pool;
  std::vector<TableData> tables;

  /// The table with this name, or null.
  const TableData* Find(absl::string_view name) const;
};

}  // namespace lmsimbench
