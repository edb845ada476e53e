#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/cost_model.h"
#include "lmsimbench/system.h"

namespace lmsimbench::capi {

/// Batches of operators and collectives of one case.
struct CostCase {
  std::string name;
  System system;
  std::vector<Operator> operators;
  std::vector<SpannedCollective> collectives;
  /// False for shapes that no reference is right about.
  bool is_real = true;
};

/// Batches that hold every kind of operator and collective, in every precision
/// and over every kind of span, that the cases of the bundle lower to, and edge
/// shapes.
absl::StatusOr<std::vector<CostCase>> CostCasesOf(const Bundle& bundle);

}  // namespace lmsimbench::capi
