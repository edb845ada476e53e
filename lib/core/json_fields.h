#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fmt/format.h"
#include "lib/core/json_document.h"
#include "lmsimbench/nearest_name.h"
#include "lmsimbench/values.h"

/// \file
/// JSON of any value that lists its fields (values.h).
///
/// A field that is not stated is left out where the field's default is 'not
/// stated' too, and is null where the default is a figure, so that reading back
/// gives the same value.

namespace lmsimbench::json {

using Json = nlohmann::ordered_json;

// Declared first: lists and nested values call each other.
template <typename T>
Json Write(const std::vector<T>& list);
template <typename T>
Json Write(const T& value);
template <typename T>
absl::Status Read(const Json& json, const std::string& path,
                  std::vector<T>& list);
template <typename T>
absl::Status Read(const Json& json, const std::string& path, T& value);

/// \{ Writes one field; null, or an empty object, if nothing is stated.
inline Json Write(int64_t count) {
  return IsStated(count) ? Json(count) : Json(nullptr);
}
inline Json Write(double number) {
  return IsStated(number) ? Json(number) : Json(nullptr);
}
inline Json Write(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}
inline Json Write(YesNo fact) {
  return fact == YesNo::kNotStated ? Json(nullptr) : Json(IsYes(fact));
}
template <typename T>
Json Write(const std::vector<T>& list) {
  if (list.empty()) return nullptr;
  Json array = Json::array();
  for (const T& entry : list) array.push_back(Write(entry));
  return array;
}
template <typename T>
Json Write(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    // The first name of every enumeration says that nothing is known.
    return value == T{} ? Json(nullptr) : Json(std::string(Name(value)));
  } else {
    Json object = Json::object();
    const T defaults;
    T::VisitFields(
        [&object](const char* name, const auto& field, const auto& by_default) {
          Json written = Write(field);
          if (!written.empty() || !Write(by_default).empty()) {
            object[name] = std::move(written);
          }
        },
        value, defaults);
    return object;
  }
}
/// \}

inline absl::Status Expected(const std::string& what, const std::string& path,
                             const Json& found) {
  return absl::InvalidArgumentError(fmt::format(
      "{}: expected {}, found {}", path, what, DescribeJson(found)));
}

/// \{ Reads one field. `path` names it in messages.
inline absl::Status Read(const Json& json, const std::string& path,
                         int64_t& count) {
  if (json.is_null()) {
    count = kNoCount;
    return absl::OkStatus();
  }
  constexpr auto kLargest = std::numeric_limits<int64_t>::max();
  if (json.is_number_unsigned() &&
      json.get<uint64_t>() > static_cast<uint64_t>(kLargest)) {
    return Expected(fmt::format("a whole number up to {}", kLargest), path,
                    json);
  }
  if (!json.is_number_integer()) return Expected("a whole number", path, json);
  count = json.get<int64_t>();
  return absl::OkStatus();
}
inline absl::Status Read(const Json& json, const std::string& path,
                         double& number) {
  if (json.is_null()) {
    number = kNoNumber;
    return absl::OkStatus();
  }
  if (!json.is_number()) return Expected("a number", path, json);
  number = json.get<double>();
  return absl::OkStatus();
}
inline absl::Status Read(const Json& json, const std::string& path,
                         std::string& text) {
  if (json.is_null()) {
    text.clear();
    return absl::OkStatus();
  }
  if (!json.is_string()) return Expected("a text", path, json);
  text = json.get<std::string>();
  return absl::OkStatus();
}
inline absl::Status Read(const Json& json, const std::string& path,
                         YesNo& fact) {
  if (json.is_null()) {
    fact = YesNo::kNotStated;
    return absl::OkStatus();
  }
  if (!json.is_boolean()) return Expected("true or false", path, json);
  fact = json.get<bool>() ? YesNo::kYes : YesNo::kNo;
  return absl::OkStatus();
}
template <typename T>
absl::Status Read(const Json& json, const std::string& path,
                  std::vector<T>& list) {
  list.clear();
  if (json.is_null()) return absl::OkStatus();
  if (!json.is_array()) return Expected("a list", path, json);
  for (const Json& entry : json) {
    list.emplace_back();
    absl::Status status =
        Read(entry, fmt::format("{}[{}]", path, list.size() - 1), list.back());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}
template <typename Enum>
absl::Status ReadName(const Json& json, const std::string& path, Enum& value) {
  if (json.is_null()) {
    value = Enum{};
    return absl::OkStatus();
  }
  // ZeRO stages are called "0" to "3"; a bare number says the same.
  const std::string name =
      json.is_string() ? json.get<std::string>() : DescribeJson(json);
  const bool may_be_name = json.is_string() || json.is_number_integer();
  if (may_be_name && ParseName(name, value)) return absl::OkStatus();
  const auto& names = EnumNames<Enum>::kNames;
  const std::vector<std::string> known(std::begin(names), std::end(names));
  const std::string nearest = may_be_name ? NearestName(name, known) : "";
  return Expected(nearest.empty()
                      ? fmt::format("one of {}", fmt::join(known, ", "))
                      : fmt::format("one of {} (nearest: {})",
                                    fmt::join(known, ", "), nearest),
                  path, json);
}
template <typename T>
absl::Status Read(const Json& json, const std::string& path, T& value) {
  if constexpr (std::is_enum_v<T>) {
    return ReadName(json, path, value);
  } else {
    value = T();
    if (json.is_null()) return absl::OkStatus();
    if (!json.is_object()) return Expected("an object", path, json);
    std::vector<std::string> known;
    absl::Status status;
    T::VisitFields(
        [&](const char* name, auto& field) {
          known.emplace_back(name);
          const auto member = json.find(name);
          if (!status.ok() || member == json.end()) return;
          status =
              Read(*member, path.empty() ? name : path + "." + name, field);
        },
        value);
    for (const auto& member : json.items()) {
      if (!status.ok()) return status;
      if (std::find(known.begin(), known.end(), member.key()) != known.end()) {
        continue;
      }
      const std::string key =
          path.empty() ? member.key() : path + "." + member.key();
      const std::string nearest = NearestName(member.key(), known);
      status = absl::InvalidArgumentError(
          nearest.empty() ? fmt::format("unknown key '{}'; known: {}", key,
                                        fmt::join(known, ", "))
                          : fmt::format("unknown key '{}'; did you mean '{}'?",
                                        key, nearest));
    }
    return status;
  }
}
/// \}

}  // namespace lmsimbench::json
