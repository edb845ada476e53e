#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lmsimbench::report {

/// Aligned columns under two lines of heads, the second for units. The first
/// columns hold names and lie left, the others numbers and lie right. ASCII.
class TextTable {
 public:
  struct Column {
    std::string name;
    std::string unit;
    bool left = false;
  };

  explicit TextTable(std::vector<Column> columns)
      : columns_(std::move(columns)) {}

  /// One cell a column.
  void Add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  /// Every line ends in a line break and holds no space at its end.
  std::string Print() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Cells. An undefined number is "-", never 0.
std::string Fixed(double value, int digits);
std::string Percent(double fraction, int digits = 1);
std::string Count(double value);

/// Words joined by ", " in lines of at most `width`, each begun by `indent`.
std::string WrapList(const std::vector<std::string>& words, size_t width,
                     const std::string& indent);

}  // namespace lmsimbench::report
