#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/simulator.h"

namespace lmsimbench {

/// A simulator that comes with the library.
struct BuiltInSimulator {
  const char* name;
  /// One line: what it is and what it answers.
  const char* description;
  /// False for a variant that is scored only where it is named.
  bool scored_by_default;
};

/// The built-in simulators, in the order in which a scorecard shows them.
absl::Span<const BuiltInSimulator> BuiltInSimulators();

/// Makes the built-in simulator with this name. Those that rest on
/// measurements read them from the bundle, rows of split `fit` only. NOT_FOUND
/// comes with the nearest known name.
absl::StatusOr<std::unique_ptr<Simulator>> MakeSimulator(
    const std::string& name, const Bundle& bundle);

}  // namespace lmsimbench
