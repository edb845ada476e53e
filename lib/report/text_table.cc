#include "lib/report/text_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fmt/format.h"

namespace lmsimbench::report {
namespace {

constexpr size_t kGap = 2;

void AppendCell(const std::string& text, size_t width, bool left,
                std::string& line) {
  const std::string padding(width - std::min(width, text.size()), ' ');
  line += left ? text + padding : padding + text;
}

void AppendLine(std::string line, std::string& out) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

}  // namespace

void TextTable::Add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::Print() const {
  std::vector<std::string> names, units;
  bool any_unit = false;
  for (const Column& column : columns_) {
    names.push_back(column.name);
    units.push_back(column.unit);
    any_unit = any_unit || !column.unit.empty();
  }
  std::vector<const std::vector<std::string>*> lines = {&names};
  if (any_unit) lines.push_back(&units);
  for (const auto& row : rows_) lines.push_back(&row);

  std::string out;
  std::vector<size_t> widths(columns_.size());
  for (const auto* line : lines) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      widths[i] = std::max(widths[i], (*line)[i].size());
    }
  }
  for (const auto* line : lines) {
    std::string text;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) text.append(kGap, ' ');
      AppendCell((*line)[i], widths[i], columns_[i].left, text);
    }
    AppendLine(std::move(text), out);
  }
  return out;
}

std::string Fixed(double value, int digits) {
  if (std::isnan(value)) return "-";
  std::string text = fmt::format("{:.{}f}", value, digits);
  // Rounded to nothing, a small negative number is no negative zero.
  if (text.find_first_not_of("-0.") == std::string::npos && text[0] == '-') {
    text.erase(0, 1);
  }
  return text;
}

std::string Percent(double fraction, int digits) {
  return Fixed(fraction * 100, digits);
}

std::string Count(double value) { return Fixed(value, 0); }

std::string WrapList(const std::vector<std::string>& words, size_t width,
                     const std::string& indent) {
  std::string out, line;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i] + (i + 1 < words.size() ? "," : "");
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line.clear();
    }
    line += (line.empty() ? indent : " ") + word;
  }
  return line.empty() ? out : out + line + "\n";
}

}  // namespace lmsimbench::report
