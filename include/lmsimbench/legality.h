#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/workload.h"

/// \file
/// The one place that decides whether a configuration is legal for a workload
/// on a number of devices.
///
/// A rule is here because real frameworks have it; a rule whose figures are not
/// stated is not judged. So layers that do not divide by the stages are legal
/// where neither placement nor list says how they lie (frameworks then place
/// them in their own way), and illegal where even placement is stated.

namespace lmsimbench {

/// A value that a broken rule offers for one field.
struct Offer {
  /// A whole number, yes or no, a name or text, or a list of layers.
  using Value = std::variant<int64_t, bool, std::string, std::vector<int64_t>>;

  /// Field of the configuration, as in JSON, or "global_batch" of the workload.
  std::string field;
  Value value;
  /// The data-parallel size moves with it, so that the number of devices stays.
  bool dp_follows = false;
};

/// One broken rule.
struct Violation {
  /// Short, stable name of the rule: "tp divides heads".
  std::string rule;
  /// What is broken, with its numbers and the nearest legal values: "tensor
  /// parallel size 6 does not divide 32 attention heads; nearest: tp 4 or 8".
  std::string message;
  /// Single values that mend this rule, for each field the nearest below and
  /// above. Where some of them make the whole configuration legal, only those
  /// are offered. Empty where no single value helps.
  std::vector<Offer> offers;
};

/// True if no rule is broken. Cheap: composes no message.
bool IsLegal(const Workload& workload, const ParallelConfig& config,
             int64_t devices);

/// Every rule that the configuration breaks, in a fixed order; empty if it is
/// legal. Where a figure is out of its range (a size below 1), only that is
/// reported. `devices` -1: as many as the configuration takes.
std::vector<Violation> FindViolations(const Workload& workload,
                                      const ParallelConfig& config,
                                      int64_t devices);

/// OK if no rule is broken, else INVALID_ARGUMENT with the message of each and,
/// where there is one, the nearest legal configuration.
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

/// Puts an offered value in place, for the number of devices that the offer was
/// made for. INVALID_ARGUMENT if there is no such field or it cannot hold the
/// value.
absl::Status TakeOffer(const Offer& offer, int64_t devices, Workload& workload,
                       ParallelConfig& config);

}  // namespace lmsimbench
