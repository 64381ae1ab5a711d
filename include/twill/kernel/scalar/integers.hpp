#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Integer arithmetic on scalars, with NumPy's results: overflow wraps, division rounds towards minus infinity and gives
// 0 for a divisor of 0, a shift by at least the width leaves only the sign. Read next: kernel/scalar/floats.hpp.

#include <climits>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel { namespace detail {

/// Signed overflow wraps, as it does in NumPy.
template <std::integral T, class F> constexpr T wrapping(T a, T b, F f) {
  using Unsigned = std::make_unsigned_t<T>;
  // int at least: small types would be promoted to a signed one
  using Wide = std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, Unsigned>;
  return static_cast<T>(f(static_cast<Wide>(a), static_cast<Wide>(b)));
}

template <std::integral T> constexpr T floor_divide_integers(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return wrapping(T{0}, a, [](auto x, auto y) { return x - y; });
    const T quotient = static_cast<T>(a / b);
    return static_cast<T>(quotient - ((a % b != 0) && ((a < 0) != (b < 0)) ? 1 : 0));
  } else {
    return static_cast<T>(a / b);
  }
}

template <std::integral T> constexpr T remainder_integers(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
    const T rest = static_cast<T>(a % b);
    return static_cast<T>(rest != 0 && ((rest < 0) != (b < 0)) ? rest + b : rest);
  } else {
    return static_cast<T>(a % b);
  }
}

template <std::integral T> constexpr T power_integers(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    if (exponent < 0) return base == 1 ? T{1} : base == -1 ? (exponent % 2 == 0 ? T{1} : T{-1}) : T{0};
  }
  T result = 1;
  for (; exponent > 0; exponent = static_cast<T>(exponent / 2)) {
    if (exponent % 2 != 0) result = wrapping(result, base, [](auto x, auto y) { return x * y; });
    base = wrapping(base, base, [](auto x, auto y) { return x * y; });
  }
  return result;
}

/// C's remainder: the sign of the dividend.
template <std::integral T> constexpr T fmod_integers(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return 0;
  return static_cast<T>(a % b);
}

/// A negative count acts as a huge one.
template <std::integral T> constexpr T left_shift_integers(T a, T count) {
  using Unsigned = std::make_unsigned_t<T>;
  if (static_cast<Unsigned>(count) >= sizeof(T) * CHAR_BIT) return 0;
  return static_cast<T>(static_cast<Unsigned>(static_cast<std::uint64_t>(static_cast<Unsigned>(a)) << count));
}
template <std::integral T> constexpr T right_shift_integers(T a, T count) {
  if (static_cast<std::make_unsigned_t<T>>(count) >= sizeof(T) * CHAR_BIT) return static_cast<T>(a < T{0} ? -1 : 0);
  return static_cast<T>(a >> count);
}

/// The result is never negative, except for the one number whose magnitude has no positive form.
template <std::integral T> constexpr T gcd_integers(T a, T b) {
  using Unsigned = std::make_unsigned_t<T>;
  const auto magnitude = [](T x) {
    const auto bits = static_cast<Unsigned>(x);
    return x < T{0} ? static_cast<Unsigned>(Unsigned{0} - bits) : bits;
  };
  Unsigned x = magnitude(a), y = magnitude(b);
  while (y != 0) {
    const auto rest = static_cast<Unsigned>(x % y);
    x = y;
    y = rest;
  }
  return static_cast<T>(x);
}

}}}} // namespace twill::v0::kernel::detail
