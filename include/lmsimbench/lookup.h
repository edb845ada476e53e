#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/model_spec.h"
#include "lmsimbench/nearest_name.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/system.h"

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

/// Names of the bundle's platforms, sorted.
std::vector<std::string> PlatformNames(const Bundle& bundle);

/// The model or platform with this name, or in this JSON file: what ends in
/// ".json" or holds a '/' is a path. NOT_FOUND comes with the nearest known
/// name; INVALID_ARGUMENT names the ambiguous candidates, or the file and the
/// place in it. A platform's figures that its table leaves empty stay missing.
absl::StatusOr<ModelSpec> FindModel(const Bundle& bundle,
                                    const std::string& name_or_path);
absl::StatusOr<System> FindPlatform(const Bundle& bundle,
                                    const std::string& name_or_path);

/// The configuration of the run with this record id, or in this JSON file.
absl::StatusOr<ParallelConfig> FindConfig(const Bundle& bundle,
                                          const std::string& record_or_path);

}  // namespace lmsimbench
