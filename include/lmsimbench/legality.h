#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/workload.h"

/// \file
/// The one place that decides whether a configuration is legal for a workload
/// on a number of devices.

namespace lmsimbench {

/// One broken rule.
struct Violation {
  /// Short, stable name of the rule: "tp divides heads".
  std::string rule;
  /// The rule with its numbers and a nearest legal value: "tensor parallel size
  /// 6 does not divide 32 attention heads; nearest: 4, 8".
  std::string message;
};

/// Every rule that the configuration breaks, in a fixed order; empty if it is
/// legal. A rule whose figures are not stated is not judged. `devices` -1: as
/// many as the configuration takes.
std::vector<Violation> FindViolations(const Workload& workload,
                                      const ParallelConfig& config,
                                      int64_t devices);

/// OK if no rule is broken, else INVALID_ARGUMENT with the message of each.
absl::Status CheckLegal(const Workload& workload, const ParallelConfig& config,
                        int64_t devices);

/// A legal configuration near an illegal one: the fields that broken rules name
/// are moved to their nearest legal value and what follows from them is adapted
/// (the data-parallel size to the devices, the micro-batch to the batch). A
/// legal configuration is returned unchanged. NOT_FOUND if none exists for this
/// workload and number of devices, with the rule that stands in the way.
absl::StatusOr<ParallelConfig> NearestLegal(const Workload& workload,
                                            const ParallelConfig& config,
                                            int64_t devices);

}  // namespace lmsimbench
