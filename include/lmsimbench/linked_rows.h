#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lmsimbench/bundle.h"

namespace lmsimbench {

/// The rows of one table that belong to a run.
struct LinkedRows {
  std::string table;
  /// In the order of the table; never empty.
  std::vector<size_t> rows;
  /// True if the source measured them once for several of its runs: the kernels
  /// or collectives of its machine, not of this run alone.
  bool shared = false;
};

/// One run with everything that was measured of it, at whatever level.
struct LinkedRun {
  /// The record id of its row in `iterations` or `failed_configurations`; for a
  /// run that has none, the run id of its source, followed by "@source" and, if
  /// need be, "@platform" where several runs have that id.
  std::string name;
  /// True if it has a row in `iterations` or `failed_configurations`.
  bool has_record = false;
  std::string source;
  /// Empty where the source does not state it.
  std::string platform;
  /// In the order of the bundle's tables; a table may be there twice, with rows
  /// of its own and shared ones.
  std::vector<LinkedRows> tables;
};

/// Every run of the bundle: those with a record first, in the order of their
/// tables, then those that stand on their own. What belongs together is said by
/// the table `links`, by equal source and run ids, and by `where_other_levels`
/// of the table `linked_runs`.
std::vector<LinkedRun> LinkedRuns(const Bundle& bundle);

/// The run with this name. A run id that belongs to a record gives the run of
/// that record. NOT_FOUND with the nearest name; INVALID_ARGUMENT with the
/// candidates if several runs have this id.
absl::StatusOr<LinkedRun> FindLinkedRun(const Bundle& bundle,
                                        absl::string_view name);

/// The levels at which a run was measured, as names of the six views: whole-run
/// tables (`linked_runs`, `stage_runs`) count as iterations, `stage_times` as
/// ranks. In the order iterations, memory, ranks, operators, collectives,
/// gemms.
std::vector<std::string> LevelsOf(const LinkedRun& run, bool with_shared);

}  // namespace lmsimbench
