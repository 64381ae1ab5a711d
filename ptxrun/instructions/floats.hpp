#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Floating-point rules of PTX: canonical NaN, flushing of subnormal numbers, saturation to [0, 1], minima and maxima, and the host's
// rounding mode for the length of an instruction.

#include "ptxrun/instruction.hpp"

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ptxrun {

[[nodiscard]] inline float canonical(float x) { return x != x ? std::bit_cast<float>(std::uint32_t{0x7fffffff}) : x; }
[[nodiscard]] inline double canonical(double x) { return x; }

[[nodiscard]] inline float flush(float x) {
  return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0F, x) : x;
}
[[nodiscard]] inline double flush(double x) { return x; } // doubles are never flushed

template <class T> [[nodiscard]] T saturate(T x) { return x > T(0) ? (x > T(1) ? T(1) : x) : T(0); } // NaN gives zero

/// A NaN beside a number gives the number; -0 is below +0.
template <class T> [[nodiscard]] T maximum_number(T a, T b) {
  return a != a ? b : b != b ? a : (b < a || (a == b && !std::signbit(a))) ? a : b;
}
template <class T> [[nodiscard]] T minimum_number(T a, T b) {
  return a != a ? b : b != b ? a : (a < b || (a == b && std::signbit(a))) ? a : b;
}
template <class T> [[nodiscard]] T maximum_or_nan(T a, T b) {
  return a != a || b != b ? std::numeric_limits<T>::quiet_NaN() : maximum_number(a, b);
}
template <class T> [[nodiscard]] T minimum_or_nan(T a, T b) {
  return a != a || b != b ? std::numeric_limits<T>::quiet_NaN() : minimum_number(a, b);
}

[[nodiscard]] inline double to_integral(double x, Rounding rounding) {
  switch (rounding) {
  case Rounding::nearest_integral:
    return std::nearbyint(x);
  case Rounding::zero_integral:
    return std::trunc(x);
  case Rounding::down_integral:
    return std::floor(x);
  case Rounding::up_integral:
    return std::ceil(x);
  default:
    return x;
  }
}

/// Sets the host's rounding mode; integral roundings leave it.
class RoundingScope {
public:
  explicit RoundingScope(Rounding rounding)
      : is_set_{rounding == Rounding::zero || rounding == Rounding::down || rounding == Rounding::up} {
    if (!is_set_) return;
    std::fesetround(rounding == Rounding::zero ? FE_TOWARDZERO : rounding == Rounding::down ? FE_DOWNWARD : FE_UPWARD);
  }
  ~RoundingScope() {
    if (is_set_) std::fesetround(FE_TONEAREST);
  }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

private:
  bool is_set_;
};

} // namespace ptxrun
