#include "lmsimbench/nearest_name.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace lmsimbench {
namespace {

// Insertions, deletions and replacements that turn `a` into `b`.
size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string NearestName(absl::string_view name,
                        const std::vector<std::string>& candidates) {
  // Longer than any name that we know, and the distance costs their product.
  constexpr size_t kLongest = 200;
  if (name.empty() || name.size() > kLongest) return "";
  const std::string wanted = absl::AsciiStrToLower(name);
  const size_t limit = std::max<size_t>(2, wanted.size() / 3);

  const std::string* nearest = nullptr;
  const std::string* shortest_longer = nullptr;
  size_t nearest_distance = limit + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    const std::string known = absl::AsciiStrToLower(candidate);
    const size_t distance = EditDistance(wanted, known);
    // Short words are within two edits of anything: something must remain.
    if (distance < nearest_distance &&
        distance < std::max(wanted.size(), known.size())) {
      nearest = &candidate;
      nearest_distance = distance;
    }
    if (absl::StartsWith(known, wanted) &&
        (shortest_longer == nullptr ||
         candidate.size() < shortest_longer->size())) {
      shortest_longer = &candidate;
    }
  }
  if (nearest != nullptr) return *nearest;
  return shortest_longer != nullptr ? *shortest_longer : "";
}

}  // namespace lmsimbench
