#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace lmsimbench {

/// Parses one JSON document strictly: INVALID_ARGUMENT with line and column for
/// what is not JSON, not UTF-8, follows the document or is nested more than 64
/// deep, and with the key's path for a key that an object repeats. Keys keep
/// their order.
absl::StatusOr<nlohmann::ordered_json> ParseJson(absl::string_view text);

/// What a JSON value is, in words for a message: `the text "abc"`, `12.5`,
/// `an object`.
std::string DescribeJson(const nlohmann::ordered_json& value);

}  // namespace lmsimbench
