#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "capi/handle.h"
#include "fmt/format.h"
#include "lib/core/json_document.h"
#include "lib/core/json_fields.h"
#include "lmsimbench/values.h"

/// \file
/// Fields of values by name: "micro_batch", "model.hidden",
/// "network[1].bandwidth".

namespace lmsimbench::capi {

/// One name of a path, with what follows it.
struct PathStep {
  absl::string_view name;
  absl::string_view rest;
};
/// Splits "a.b[0]" into "a" and ".b[0]".
PathStep FirstStep(absl::string_view path);

/// Reads the index at the begin of "[12].x" for a list of this size and leaves
/// ".x". `field` is the whole path, for messages.
absl::Status ReadIndex(absl::string_view field, size_t size,
                       absl::string_view& rest, size_t& index);

absl::Status NoParts(absl::string_view field, absl::string_view rest);
absl::Status NoField(absl::string_view field, absl::string_view name,
                     const std::vector<std::string>& known);
absl::Status WrongType(absl::string_view field, const char* what);

template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};

/// Calls `leaf(value)` for the value that `rest` names from here.
template <typename T, typename Leaf>
absl::Status Descend(T& value, absl::string_view field, absl::string_view rest,
                     Leaf& leaf);

/// Calls `leaf(part)` for the part of an object that `path` names.
template <typename T, typename Leaf>
absl::Status VisitField(T& object, absl::string_view field,
                        absl::string_view path, Leaf& leaf) {
  const PathStep step = FirstStep(path);
  absl::Status status;
  bool found = false;
  std::decay_t<T>::VisitFields(
      [&](const char* name, auto& part) {
        if (found || step.name != name) return;
        found = true;
        status = Descend(part, field, step.rest, leaf);
      },
      object);
  if (found) return status;
  std::vector<std::string> known;
  std::decay_t<T>::VisitFields(
      [&](const char* name, auto&) { known.emplace_back(name); }, object);
  return NoField(field, step.name, known);
}

template <typename T, typename Leaf>
absl::Status Descend(T& value, absl::string_view field, absl::string_view rest,
                     Leaf& leaf) {
  using Value = std::decay_t<T>;
  if (rest.empty()) return leaf(value);
  if constexpr (IsVector<Value>::value) {
    if (rest.front() == '[') {
      size_t index = 0;
      absl::Status status = ReadIndex(field, value.size(), rest, index);
      if (!status.ok()) return status;
      return Descend(value[index], field, rest, leaf);
    }
  } else if constexpr (std::is_class_v<Value> &&
                       !std::is_same_v<Value, std::string>) {
    if (rest.front() == '.') {
      return VisitField(value, field, rest.substr(1), leaf);
    }
  }
  return NoParts(field, rest);
}

/// \{ Leaves. Each reads or writes the one kind of value that it is for.
struct GetF64 {
  absl::string_view field;
  double* value;
  template <typename T>
  absl::Status operator()(const T& found) const {
    if constexpr (std::is_same_v<T, double>) {
      *value = found;
    } else if constexpr (std::is_same_v<T, int64_t>) {
      *value = IsStated(found) ? static_cast<double>(found) : kNoNumber;
    } else {
      return WrongType(field, "a number");
    }
    return absl::OkStatus();
  }
};

struct GetI64 {
  absl::string_view field;
  int64_t* value;
  template <typename T>
  absl::Status operator()(const T& found) const {
    if constexpr (std::is_same_v<T, int64_t>) {
      *value = found;
    } else if constexpr (std::is_same_v<T, YesNo>) {
      *value = static_cast<int64_t>(found);
    } else {
      return WrongType(field, "a count or a fact");
    }
    return absl::OkStatus();
  }
};

struct GetText {
  absl::string_view field;
  const char** value;
  template <typename T>
  absl::Status operator()(const T& found) const {
    if constexpr (std::is_same_v<T, std::string>) {
      *value = found.c_str();
    } else if constexpr (std::is_enum_v<T> && !std::is_same_v<T, YesNo>) {
      *value = Name(found).data();
    } else {
      return WrongType(field, "a text or a name");
    }
    return absl::OkStatus();
  }
};

struct GetCount {
  absl::string_view field;
  size_t* value;
  template <typename T>
  absl::Status operator()(const T& found) const {
    if constexpr (IsVector<T>::value) {
      *value = found.size();
      return absl::OkStatus();
    } else {
      return WrongType(field, "a list");
    }
  }
};

struct SetF64 {
  absl::string_view field;
  double value;
  template <typename T>
  absl::Status operator()(T& found) const {
    if constexpr (std::is_same_v<T, double>) {
      if (std::isinf(value)) {
        return absl::InvalidArgumentError(
            fmt::format("field '{}' is set to infinity", std::string(field)));
      }
      found = value;
      return absl::OkStatus();
    } else {
      return WrongType(field, "a number");
    }
  }
};

struct SetI64 {
  absl::string_view field;
  int64_t value;
  template <typename T>
  absl::Status operator()(T& found) const {
    if constexpr (std::is_same_v<T, int64_t>) {
      if (value < kNoCount) return OutOfRange("-1 (not stated) or more");
      found = value;
      return absl::OkStatus();
    } else if constexpr (std::is_same_v<T, YesNo>) {
      if (value < -1 || value > 1) return OutOfRange("1, 0 or -1");
      found = static_cast<YesNo>(value);
      return absl::OkStatus();
    } else {
      return WrongType(field, "a count or a fact");
    }
  }
  absl::Status OutOfRange(const char* range) const {
    return absl::InvalidArgumentError(fmt::format(
        "field '{}' is set to {}; it is {}", std::string(field), value, range));
  }
};

struct SetText {
  absl::string_view field;
  absl::string_view value;
  template <typename T>
  absl::Status operator()(T& found) const {
    if constexpr (std::is_same_v<T, std::string>) {
      found = std::string(value);
      return absl::OkStatus();
    } else if constexpr (std::is_enum_v<T> && !std::is_same_v<T, YesNo>) {
      if (value.empty()) {
        found = T{};
        return absl::OkStatus();
      }
      if (ParseName(value, found)) return absl::OkStatus();
      const std::vector<std::string> known(std::begin(EnumNames<T>::kNames),
                                           std::end(EnumNames<T>::kNames));
      return absl::InvalidArgumentError(
          fmt::format("field '{}' has no value '{}'{}", std::string(field),
                      std::string(value), DidYouMean(value, known)));
    } else {
      return WrongType(field, "a text or a name");
    }
  }
};

struct SetJson {
  absl::string_view field;
  const json::Json& value;
  template <typename T>
  absl::Status operator()(T& found) const {
    T read{};
    absl::Status status = json::Read(value, std::string(field), read);
    if (status.ok()) found = std::move(read);
    return status;
  }
};
/// \}

}  // namespace lmsimbench::capi
