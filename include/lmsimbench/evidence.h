#pragma once

#include <cstdint>
#include <utility>

#include "lmsimbench/values.h"

namespace lmsimbench {

/// What a predicted number rests on.
enum class Evidence : uint8_t {
  kNotAnswered,
  kMeasured,      ///< this very shape was measured
  kInterpolated,  ///< between measured shapes
  kExtrapolated,  ///< outside the measured shapes
  kAnalytic,      ///< a formula
};
template <>
struct EnumNames<Evidence> {
  static constexpr const char* kNames[] = {
      "not answered", "measured", "interpolated", "extrapolated", "analytic"};
};
inline constexpr int kEvidences = 5;

/// Shares that sum to 1 of what rests on each kind of evidence.
struct EvidenceShares {
  double measured = kNoNumber;
  double interpolated = kNoNumber;
  double extrapolated = kNoNumber;
  double analytic = kNoNumber;

  template <typename Visit, typename... Self>
  static void VisitFields(Visit&& visit, Self&... self) {
    visit("measured", self.measured...);
    visit("interpolated", self.interpolated...);
    visit("extrapolated", self.extrapolated...);
    visit("analytic", self.analytic...);
  }
  friend bool operator==(const EvidenceShares& a, const EvidenceShares& b) {
    return SameFields(a, b);
  }
  friend bool operator!=(const EvidenceShares& a, const EvidenceShares& b) {
    return !SameFields(a, b);
  }
  template <typename H>
  friend H AbslHashValue(H state, const EvidenceShares& shares) {
    return HashFields(std::move(state), shares);
  }
};

}  // namespace lmsimbench
