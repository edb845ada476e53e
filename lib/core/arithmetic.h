#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace lmsimbench {

/// Product of non-negative numbers; the largest int64 where it does not fit.
inline int64_t SaturatingProduct(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product)
             ? std::numeric_limits<int64_t>::max()
             : product;
}
template <typename... More>
int64_t SaturatingProduct(int64_t a, int64_t b, More... more) {
  return SaturatingProduct(SaturatingProduct(a, b), more...);
}

/// a / b, rounded up, for a >= 0 and b >= 1.
inline int64_t CeilDivide(int64_t a, int64_t b) {
  return a / b + (a % b == 0 ? 0 : 1);
}

/// Divisors of n in ascending order; empty for n < 1. Takes sqrt(n) steps: for
/// sizes, not for any 64-bit number.
inline std::vector<int64_t> Divisors(int64_t n) {
  std::vector<int64_t> small;
  std::vector<int64_t> large;
  for (int64_t d = 1; d <= n / d; ++d) {
    if (n % d != 0) continue;
    small.push_back(d);
    if (d != n / d) large.push_back(n / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

}  // namespace lmsimbench
