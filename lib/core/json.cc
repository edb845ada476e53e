#include "lmsimbench/json.h"

#include "lib/core/json_fields.h"

namespace lmsimbench {
namespace {

template <typename T>
std::string ToText(const T& value) {
  return json::Write(value).dump(2, ' ', false,
                                 json::Json::error_handler_t::replace);
}

template <typename T>
absl::StatusOr<T> FromText(absl::string_view text) {
  absl::StatusOr<json::Json> document = ParseJson(text);
  if (!document.ok()) return document.status();
  if (!document->is_object()) {
    return json::Expected("an object", "the document", *document);
  }
  T value;
  absl::Status status = json::Read(*document, "", value);
  if (!status.ok()) return status;
  return value;
}

}  // namespace

std::string ToJson(const ModelSpec& model) { return ToText(model); }
std::string ToJson(const Workload& workload) { return ToText(workload); }
std::string ToJson(const System& system) { return ToText(system); }
std::string ToJson(const ParallelConfig& config) { return ToText(config); }
std::string ToJson(const Prediction& prediction) { return ToText(prediction); }

template <>
absl::StatusOr<ModelSpec> FromJson(absl::string_view text) {
  return FromText<ModelSpec>(text);
}
template <>
absl::StatusOr<Workload> FromJson(absl::string_view text) {
  return FromText<Workload>(text);
}
template <>
absl::StatusOr<System> FromJson(absl::string_view text) {
  return FromText<System>(text);
}
template <>
absl::StatusOr<ParallelConfig> FromJson(absl::string_view text) {
  return FromText<ParallelConfig>(text);
}
template <>
absl::StatusOr<Prediction> FromJson(absl::string_view text) {
  return FromText<Prediction>(text);
}

}  // namespace lmsimbench
