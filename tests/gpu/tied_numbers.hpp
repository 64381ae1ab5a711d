#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What sorting, selecting and counting are tested with: numbers with ties, NaN and zeros of either sign, and integers.

#include <twill/core/philox.hpp>
#include <twill/tensor/tensor.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace twill::test {

template <class X> auto there(const X& x) { return x.to(TestedDevice{0}); }

/// Numbers of which many are equal, some NaN, some zeros of either sign.
inline Tensor<float, Cpu, Shape<dyn, dyn>> some_numbers(const Dims& extents) {
  const Tensor<float, Cpu, Shape<dyn, dyn>> x(Cpu{0}, extents);
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const float drawn = random_uniform(47, 0, 0, static_cast<std::uint64_t>(i));
    const float whole = std::floor(drawn * 100) - 50;
    x.data()[i] = drawn > 0.9F ? std::numeric_limits<float>::quiet_NaN() : drawn < 0.3F ? whole * 0 : whole;
  }
  return x;
}
/// Integers from low on.
inline Tensor<std::int64_t, Cpu, Shape<dyn>> some_integers(std::int64_t low, std::uint64_t range, std::int64_t count) {
  const Tensor<std::int64_t, Cpu, Shape<dyn>> x(Cpu{0}, Dims(count));
  for (std::int64_t i = 0; i < count; ++i)
    x.data()[i] = low + static_cast<std::int64_t>(random_integer(48, 0, 0, range, static_cast<std::uint64_t>(i)));
  return x;
}

} // namespace twill::test
