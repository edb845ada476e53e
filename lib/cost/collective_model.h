#pragma once

#include "absl/status/statusor.h"
#include "lmsimbench/cost_models.h"

namespace lmsimbench {

/// Seconds of a collective of several members; infinite if the algorithm does
/// not apply to it. FAILED_PRECONDITION names what the system does not state.
absl::StatusOr<double> CollectiveSeconds(const CollectiveParameters& parameters,
                                         const System& system,
                                         const SpannedCollective& collective);

}  // namespace lmsimbench
