#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/model_spec.h"

namespace lmsimbench {

/// A model under a name that means it alone.
struct NamedModel {
  /// The name that its sources use; where that stands for several
  /// architectures, followed by "@source"; and where that still does, by the
  /// facts that tell them apart, as ",heads=16".
  std::string name;
  /// The same with other sources that have the same architecture.
  std::vector<std::string> also_called;
  ModelSpec model;
};

/// Every model of the iterations view and of the models table, sorted by name.
/// Refuses what `ReadRuns` refuses, and a cell of the models table that has no
/// meaning.
absl::StatusOr<std::vector<NamedModel>> NamedModels(const Bundle& bundle);

}  // namespace lmsimbench
