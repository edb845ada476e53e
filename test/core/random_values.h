#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "lmsimbench/values.h"

namespace lmsimbench {

/// Fills values with random fields, stated and not stated, with extremes among
/// them. The same seed gives the same values.
class RandomValues {
 public:
  explicit RandomValues(uint32_t seed) : generator_(seed) {}

  int64_t Below(int64_t bound) {
    return std::uniform_int_distribution<int64_t>(0, bound - 1)(generator_);
  }

  void Fill(int64_t& count) {
    switch (Below(4)) {
      case 0:
        count = kNoCount;
        break;
      case 1:
        count = std::numeric_limits<int64_t>::max() - Below(1000);
        break;
      default:
        count = Below(1 << 20);
    }
  }
  void Fill(double& number) {
    switch (Below(4)) {
      case 0:
        number = kNoNumber;
        break;
      case 1:
        number = std::ldexp(static_cast<double>(Below(1LL << 53)),
                            static_cast<int>(Below(1800)) - 900);
        break;
      default:
        number = std::uniform_real_distribution<double>(-1, 1e6)(generator_);
    }
  }
  void Fill(std::string& text) {
    static const std::vector<std::string> kPieces = {
        "a", "Z", "7", "\"", "\\", "\n", "\x01", "é", "層", "\U0001F600", "/"};
    text.clear();
    for (int64_t n = Below(6); n > 0; --n) {
      text += kPieces[static_cast<size_t>(
          Below(static_cast<int64_t>(kPieces.size())))];
    }
  }
  void Fill(YesNo& fact) { fact = static_cast<YesNo>(Below(3) - 1); }
  template <typename T>
  void Fill(std::vector<T>& list) {
    list.assign(static_cast<size_t>(Below(4)), T());
    for (T& entry : list) Fill(entry);
  }
  template <typename T>
  void Fill(T& value) {
    if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(
          Below(static_cast<int64_t>(std::size(EnumNames<T>::kNames))));
    } else {
      T::VisitFields([this](const char*, auto& field) { Fill(field); }, value);
    }
  }

 private:
  std::mt19937 generator_;
};

}  // namespace lmsimbench
