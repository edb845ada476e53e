#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lmsimbench/model_spec.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/prediction.h"
#include "lmsimbench/system.h"
#include "lmsimbench/workload.h"

namespace lmsimbench {

/// JSON of a core value: an object with one key a field, in the order of its
/// header; a field that is not stated is left out, or null where leaving it out
/// would mean the field's default. Numbers are printed so that reading them
/// back gives the same value; what JSON has no number for (infinity) is written
/// as not stated.
std::string ToJson(const ModelSpec& model);
std::string ToJson(const Workload& workload);
std::string ToJson(const System& system);
std::string ToJson(const ParallelConfig& config);
std::string ToJson(const Prediction& prediction);

/// Reads a core value from JSON. A key that is absent leaves the field at its
/// default; null, and -1 for a count, mean that it is not stated.
/// INVALID_ARGUMENT names the place: the key's path, what it holds and
/// what was expected; an unknown key comes with the nearest known one. Text
/// after the object, repeated keys and objects nested more than 64 deep are
/// errors too.
template <typename T>
absl::StatusOr<T> FromJson(absl::string_view text);
template <>
absl::StatusOr<ModelSpec> FromJson(absl::string_view text);
template <>
absl::StatusOr<Workload> FromJson(absl::string_view text);
template <>
absl::StatusOr<System> FromJson(absl::string_view text);
template <>
absl::StatusOr<ParallelConfig> FromJson(absl::string_view text);
template <>
absl::StatusOr<Prediction> FromJson(absl::string_view text);

}  // namespace lmsimbench
