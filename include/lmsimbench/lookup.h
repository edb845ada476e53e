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

/// Names of the bundle's models and platforms, sorted. A model's name is that
/// of a row of the iterations view or of the models table; where one name
/// stands for several architectures, each is listed with its source, as
/// "name@source".
std::vector<std::string> ModelNames(const Bundle& bundle);
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
