#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/string_view.h"

/// \file
/// What the plain values of the library have in common: how a missing figure
/// looks, how an enumeration is named, and how equality and hashing follow from
/// one list of fields.
///
/// A value type `T` lists its fields once, in `T::VisitFields(visit,
/// objects…)`, which calls `visit(name, field…)` for each field in declaration
/// order with the field of every object given. Equality, hashing, JSON and text
/// all walk that list, so a field that is added there is known everywhere.

namespace lmsimbench {

/// A count that is not stated.
inline constexpr int64_t kNoCount = -1;

/// A number that is not stated or not answered. Test with `IsStated`, never
/// with `==`.
inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// True if the count or number is there.
inline bool IsStated(int64_t count) { return count != kNoCount; }
inline bool IsStated(double number) { return !std::isnan(number); }

/// A fact that is true, false, or not stated. In JSON true, false, or absent.
enum class YesNo : int8_t { kNotStated = -1, kNo = 0, kYes = 1 };

/// True if the fact is stated and holds.
inline bool IsYes(YesNo fact) { return fact == YesNo::kYes; }

/// Names of an enumeration's values: specialised beside each enumeration with
/// `static constexpr const char* kNames[]`, whose index is the value. These
/// names are what JSON, the tables and the command line use.
template <typename Enum>
struct EnumNames;

/// The name of an enumeration's value; "invalid" for a number outside the
/// enumeration.
template <typename Enum>
constexpr absl::string_view Name(Enum value) {
  const auto index = static_cast<size_t>(value);
  return index < std::size(EnumNames<Enum>::kNames)
             ? EnumNames<Enum>::kNames[index]
             : "invalid";
}

/// The value with this name. Returns false, and leaves `value` alone, if there
/// is none.
template <typename Enum>
bool ParseName(absl::string_view name, Enum& value) {
  for (size_t i = 0; i < std::size(EnumNames<Enum>::kNames); ++i) {
    if (name == EnumNames<Enum>::kNames[i]) {
      value = static_cast<Enum>(i);
      return true;
    }
  }
  return false;
}

/// Equality of single fields: a missing number equals a missing number.
template <typename T>
bool SameField(const T& a, const T& b) {
  return a == b;
}
inline bool SameField(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

/// True if all listed fields are equal.
template <typename T>
bool SameFields(const T& a, const T& b) {
  bool same = true;
  T::VisitFields([&same](const char*, const auto& x,
                         const auto& y) { same = same && SameField(x, y); },
                 a, b);
  return same;
}

/// Combines all listed fields into an Abseil hash state.
template <typename H, typename T>
H HashFields(H state, const T& value) {
  T::VisitFields(
      [&state](const char*, const auto& field) {
        if constexpr (std::is_same_v<std::decay_t<decltype(field)>, double>) {
          // All missing numbers are equal, so they hash alike whatever their
          // bits.
          state = H::combine(std::move(state), std::isnan(field),
                             std::isnan(field) ? 0.0 : field);
        } else {
          state = H::combine(std::move(state), field);
        }
      },
      value);
  return state;
}

}  // namespace lmsimbench
