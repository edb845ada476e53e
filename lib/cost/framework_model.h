#pragma once

#include "absl/types/span.h"
#include "lmsimbench/framework.h"

namespace lmsimbench {

/// \{ Makes of the costs of a device those inside a framework.
void RunInside(const FrameworkParameters& parameters,
               absl::Span<const Operator> operators, absl::Span<Cost> costs);
void RunInside(const FrameworkParameters& parameters,
               absl::Span<const SpannedCollective> collectives,
               absl::Span<Cost> costs);
/// \}

/// What communication is in the way of, inside a framework.
Contention ContentionInside(const FrameworkParameters& parameters);

}  // namespace lmsimbench
