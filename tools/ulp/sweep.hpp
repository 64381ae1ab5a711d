#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Compares a vector function of float32 with a reference in float64 over a range of bit patterns: the largest error in units
// in the last place, where it occurs, and how often a special value is wrong. The reference is libm's; where glibc's vector
// library has the function, that one looks first, and libm is asked about what it finds worse than all before.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ulp {

/// What a sweep found.
struct Finding {
  double worst = 0;
  float where = 0;
  std::uint64_t inputs = 0;
  std::uint64_t wrong = 0; ///< NaN, infinity or the sign of zero differs
  float where_wrong = 0;

  void take(const Finding& other) {
    if (other.worst > worst) {
      worst = other.worst;
      where = other.where;
    }
    if (wrong == 0) where_wrong = other.where_wrong;
    inputs += other.inputs;
    wrong += other.wrong;
  }
};

/// The distance of neighbours of float32 at x, that of subnormals at least.
inline double unit_at(double x) {
  const auto exponent = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7ff0000000000000U);
  return std::max(exponent * 0x1p-23, 0x1p-149);
}

/// The error of y in units, or -1 where it is of another kind than the exact value.
inline double error_of(float y, double exact) {
  const auto rounded = static_cast<float>(exact);
  if (std::isnan(rounded) || std::isnan(y)) return std::isnan(rounded) && std::isnan(y) ? 0 : -1;
  if (rounded == y) {
    if (y == 0 && std::signbit(y) != std::signbit(rounded)) return -1;
    return std::isinf(y) ? 0 : std::abs(static_cast<double>(y) - exact) / unit_at(exact);
  }
  if (std::isinf(rounded) != std::isinf(y)) {
    // the largest number and infinity are neighbours
    const double distance =
        std::abs(std::min(std::abs(exact), 0x1p128) - std::min(std::abs(static_cast<double>(y)), 0x1p128));
    return std::signbit(y) == std::signbit(exact) && distance < 0x1p108 ? distance / 0x1p104 : -1;
  }
  return std::abs(static_cast<double>(y) - exact) / unit_at(exact);
}

inline constexpr int block = 4096;
using Evaluate = void (*)(const float* x, float* y); ///< of one block
using Exact = double (*)(double);
/// As many doubles as a register holds, in which glibc's vector library computes.
#if defined(__AVX512F__)
inline constexpr int wide_lanes = 8;
#elif defined(__AVX2__)
inline constexpr int wide_lanes = 4;
#else
inline constexpr int wide_lanes = 2;
#endif
typedef double Wide __attribute__((vector_size(8 * wide_lanes)));
using NearlyExact = Wide (*)(Wide); ///< to a few units of float64; or none

/// Whether y is the same special value, or a plain number within so many units of the nearly exact one: by far the most are.
inline bool is_near(float y, double near, double units) {
  const double size = std::abs(near);
  const auto wide = static_cast<double>(y);
  const bool plain = (size > 0x1p-149) & (size < 0x1.fffffep127) & (std::abs(wide - near) <= units * unit_at(size));
  const bool special =
      ((near != near) & (wide != wide)) | ((size == std::numeric_limits<double>::infinity()) & (wide == near));
  const bool nothing = (size < 0x1p-151) & (wide == 0) & (std::copysign(1.0, near) == std::copysign(1.0, wide));
  return plain | special | nothing;
}
/// The same of a whole block, in a loop without branches.
inline bool all_near(const float* y, const double* near, double units) {
  int others = 0;
  for (int i = 0; i < block; ++i) others += is_near(y[i], near[i], units) ? 0 : 1;
  return others == 0;
}

/// Bit patterns first, first + stride, ... below last.
inline Finding sweep(std::uint64_t first, std::uint64_t last, std::uint64_t stride, Evaluate evaluate, Exact exact,
                     NearlyExact nearly_exact) {
  Finding found;
  alignas(64) float x[block], y[block];
  alignas(64) double wide[block], near[block];
  for (std::uint64_t start = first; start < last; start += stride * block) {
    for (int i = 0; i < block; ++i) {
      x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(start + stride * static_cast<std::uint64_t>(i)));
      wide[i] = static_cast<double>(x[i]);
    }
    evaluate(x, y);
    if (nearly_exact != nullptr)
      for (int i = 0; i < block; i += wide_lanes)
        *reinterpret_cast<Wide*>(near + i) = nearly_exact(*reinterpret_cast<const Wide*>(wide + i));
    const int count = static_cast<int>(std::min<std::uint64_t>(block, (last - start + stride - 1) / stride));
    found.inputs += static_cast<std::uint64_t>(count);
    if (nearly_exact != nullptr && all_near(y, near, found.worst - 1e-6)) continue;
    for (int i = 0; i < count; ++i) {
      if (nearly_exact != nullptr && is_near(y[i], near[i], found.worst - 1e-6)) continue;
      const double error = error_of(y[i], exact(wide[i]));
      if (error < 0) {
        if (found.wrong++ == 0) found.where_wrong = x[i];
      } else if (error > found.worst) {
        found.worst = error;
        found.where = x[i];
      }
    }
  }
  return found;
}

} // namespace ulp
