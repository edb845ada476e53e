#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "lmsimbench/values.h"

/// \file
/// Formatters of {fmt} for every value that lists its fields and every
/// enumeration that has names (values.h): `fmt::format("{}", config)`. Not part
/// of lmsimbench.h: it needs {fmt}.
///
/// A value is one line: fields that differ from their default, a name and its
/// value each, joined by commas ("tp 8, pp 2, dp 4, micro-batch 1, zero
/// distopt"); a fact by its name alone ("sequence-parallel", "no
/// sequence-parallel"); a value within a value in parentheses. A value that is
/// all defaults reads "default". Enumerations read as in JSON.

namespace lmsimbench::text {

// Detects EnumNames<T>::kNames.
template <typename T, typename = void>
struct IsNamedEnum : std::false_type {};
template <typename T>
struct IsNamedEnum<T, std::void_t<decltype(EnumNames<T>::kNames)>>
    : std::is_enum<T> {};

struct AnyVisit {
  template <typename... Fields>
  void operator()(const char*, Fields&&...) const {}
};
// Detects T::VisitFields.
template <typename T, typename = void>
struct ListsFields : std::false_type {};
template <typename T>
struct ListsFields<T, std::void_t<decltype(T::VisitFields(
                          std::declval<AnyVisit>(), std::declval<T&>()))>>
    : std::true_type {};

// Declared first: values and lists hold each other.
template <typename T>
std::string FieldsText(const T& value);
template <typename T>
std::string FieldText(const T& field);

template <typename T>
std::string FieldText(const std::vector<T>& list) {
  std::string text = "[";
  for (const T& entry : list) {
    if (text.size() > 1) text += ",";
    text += FieldText(entry);
  }
  return text + "]";
}
// A text with its control characters escaped: whatever it holds, one line.
inline std::string FieldText(const std::string& field) {
  std::string text;
  for (char c : field) {
    if (static_cast<unsigned char>(c) < 0x20) {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  return text;
}
template <typename T>
std::string FieldText(const T& field) {
  if constexpr (ListsFields<T>::value) {
    return "(" + FieldsText(field) + ")";
  } else if constexpr (std::is_enum_v<T>) {
    const absl::string_view name = Name(field);
    return std::string(name.data(), name.size());
  } else {
    return fmt::format("{}", field);
  }
}

template <typename T>
std::string FieldsText(const T& value) {
  const T defaults;
  std::string text;
  T::VisitFields(
      [&text](const char* name, const auto& field, const auto& by_default) {
        if (SameField(field, by_default)) return;
        if (!text.empty()) text += ", ";
        std::string label = name;
        for (char& c : label) {
          if (c == '_') c = '-';
        }
        using Field = std::decay_t<decltype(field)>;
        if constexpr (std::is_same_v<Field, YesNo>) {
          text += IsYes(field) ? label : "no " + label;
        } else if constexpr (std::is_same_v<Field, int64_t>) {
          // Not stated, where the default is a figure.
          text += IsStated(field) ? fmt::format("{} {}", label, field)
                                  : label + " not stated";
        } else {
          text += label + " " + FieldText(field);
        }
      },
      value, defaults);
  return text.empty() ? "default" : text;
}

}  // namespace lmsimbench::text

template <typename T>
struct fmt::formatter<T, char,
                      std::enable_if_t<lmsimbench::text::IsNamedEnum<T>::value>>
    : fmt::formatter<fmt::string_view> {
  template <typename Context>
  auto format(T value, Context& context) const {
    const absl::string_view name = lmsimbench::Name(value);
    return fmt::formatter<fmt::string_view>::format(
        fmt::string_view(name.data(), name.size()), context);
  }
};

template <>
struct fmt::formatter<lmsimbench::YesNo> : fmt::formatter<fmt::string_view> {
  template <typename Context>
  auto format(lmsimbench::YesNo fact, Context& context) const {
    return fmt::formatter<fmt::string_view>::format(
        fact == lmsimbench::YesNo::kNotStated ? "not stated"
        : lmsimbench::IsYes(fact)             ? "yes"
                                              : "no",
        context);
  }
};

template <typename T>
struct fmt::formatter<T, char,
                      std::enable_if_t<lmsimbench::text::ListsFields<T>::value>>
    : fmt::formatter<fmt::string_view> {
  template <typename Context>
  auto format(const T& value, Context& context) const {
    return fmt::formatter<fmt::string_view>::format(
        lmsimbench::text::FieldsText(value), context);
  }
};
