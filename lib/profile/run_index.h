#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lmsimbench/bundle.h"

namespace lmsimbench {

/// The texts of a column; null if the view has no such column of texts.
const StringColumn* FindTexts(const ProfileView& view,
                              absl::string_view column);

/// A run as the lower tables name it: ids of source and run in the bundle's
/// pool.
using RunId = std::pair<uint32_t, uint32_t>;

/// The tables of a bundle that name runs, with their rows by run.
class RunIndex {
 public:
  explicit RunIndex(const Bundle& bundle);

  struct Table {
    const ProfileView* view;
    absl::flat_hash_map<RunId, std::vector<size_t>> rows;
  };

  /// In the order of the bundle.
  const std::vector<Table>& tables() const { return tables_; }

  /// Every run of the tables, in the order in which they come.
  const std::vector<RunId>& runs() const { return runs_; }

  std::string Source(const RunId& id) const {
    return std::string(pool_.Text(id.first));
  }
  std::string Run(const RunId& id) const {
    return std::string(pool_.Text(id.second));
  }

 private:
  std::vector<Table> tables_;
  std::vector<RunId> runs_;
  // Any column: they share one pool of texts.
  StringColumn pool_;
};

/// Where a row of `linked_runs` says that its other levels are.
struct OtherLevels {
  std::vector<std::string> tables;
  std::string source;
  /// Empty: all rows of the source.
  std::string run;
};

/// Reads `where_other_levels`, which is one of
///   operators.csv source_id=SOURCE notes run=RUN
///   collectives.csv source_id=SOURCE
///   SOURCE (gemms.csv, operators.csv: what they hold)
/// Without tables if the text names none.
OtherLevels ReadOtherLevels(const std::string& text);

}  // namespace lmsimbench
