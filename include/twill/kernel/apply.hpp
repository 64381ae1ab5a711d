#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Scalar definitions of the primitives, which tests compare with and uniform values use. They follow NumPy: maximum and
// minimum propagate NaN, round goes to the even neighbour, integer floor_divide and remainder round towards minus
// infinity and give 0 for a divisor of 0. Read next: kernel/apply_pack.hpp, which has the same for vectors.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/philox.hpp>
#include <twill/kernel/primitive.hpp>
#include <twill/kernel/scalar/floats.hpp>
#include <twill/kernel/scalar/integers.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel {

namespace detail {
template <class T> struct Compute { using type = T; };
template <ShortFloat T> struct Compute<T> { using type = float; };

template <class T> inline constexpr bool is_bool = std::same_as<T, bool>;

template <Primitive P, std::integral T> constexpr T apply_integral(T a) {
  using enum Primitive;
  static_assert(P <= reciprocal || (P >= floor && P <= trunc),
                "twill: this primitive takes a floating type; cast first");
  static_assert(P != sqrt && P != rsqrt, "twill: this primitive takes a floating type; cast first");
  if constexpr (P == negate)
    return wrapping(T{0}, a, [](auto x, auto y) { return x - y; });
  else if constexpr (P == abs)
    return a < T{0} ? wrapping(T{0}, a, [](auto x, auto y) { return x - y; }) : a;
  else if constexpr (P == sign)
    return static_cast<T>((a > T{0}) - (a < T{0}));
  else if constexpr (P == square)
    return wrapping(a, a, [](auto x, auto y) { return x * y; });
  else if constexpr (P == reciprocal)
    return static_cast<T>(a == T{1} ? 1 : a == static_cast<T>(-1) ? -1 : 0);
  else
    return a; // floor, ceil, round, trunc
}
} // namespace detail

/// The type in which a value is computed: itself, but float for floats of 16 and 8 bits.
template <class T> using compute_t = typename detail::Compute<T>::type;

/// One operand. T is a compute type: bool, an integer, float or double.
template <Primitive P, class T> [[nodiscard]] constexpr auto apply(T a) {
  using enum Primitive;
  if constexpr (P == logical_not)
    return a == T{0};
  else if constexpr (P == isnan)
    return a != a;
  else if constexpr (P == isinf) {
    if constexpr (std::floating_point<T>)
      return a == std::numeric_limits<T>::infinity() || a == -std::numeric_limits<T>::infinity();
    else
      return false;
  } else if constexpr (P == isfinite) {
    if constexpr (std::floating_point<T>)
      return a - a == T{0};
    else
      return true;
  } else if constexpr (P == invert) {
    if constexpr (detail::is_bool<T>)
      return !a;
    else
      return static_cast<T>(~a);
  } else if constexpr (std::floating_point<T>)
    return detail::apply_floating<P>(a);
  else if constexpr (detail::is_bool<T>) {
    static_assert(P != negate, "twill: negate takes a number; use logical_not for truth values");
    return static_cast<bool>(detail::apply_integral<P>(static_cast<std::uint8_t>(a)));
  } else
    return detail::apply_integral<P>(a);
}

/// Two operands of one type.
template <Primitive P, class T> [[nodiscard]] constexpr auto apply(T a, T b) {
  using enum Primitive;
  if constexpr (P == equal)
    return a == b;
  else if constexpr (P == not_equal)
    return a != b;
  else if constexpr (P == less)
    return a < b;
  else if constexpr (P == less_equal)
    return a <= b;
  else if constexpr (P == greater)
    return a > b;
  else if constexpr (P == greater_equal)
    return a >= b;
  else if constexpr (P == logical_and)
    return a != T{0} && b != T{0};
  else if constexpr (P == logical_or)
    return a != T{0} || b != T{0};
  else if constexpr (P == logical_xor)
    return (a != T{0}) != (b != T{0});
  else if constexpr (P == maximum)
    return a > b || a != a ? a : b;
  else if constexpr (P == minimum)
    return a < b || a != a ? a : b;
  else if constexpr (std::floating_point<T>) {
    return detail::apply_floating<P>(a, b);
  } else if constexpr (detail::is_bool<T>) {
    if constexpr (P == add || P == bitwise_or)
      return a || b;
    else if constexpr (P == bitwise_xor)
      return a != b;
    else {
      static_assert(P == multiply || P == bitwise_and, "twill: this primitive takes numbers; cast first");
      return a && b;
    }
  } else {
    if constexpr (P == add)
      return detail::wrapping(a, b, [](auto x, auto y) { return x + y; });
    else if constexpr (P == subtract)
      return detail::wrapping(a, b, [](auto x, auto y) { return x - y; });
    else if constexpr (P == multiply)
      return detail::wrapping(a, b, [](auto x, auto y) { return x * y; });
    else if constexpr (P == divide) { // towards zero, as C divides
      const T floored = detail::floor_divide_integers(a, b);
      return static_cast<T>(floored + ((floored < T{0} && detail::remainder_integers(a, b) != T{0}) ? 1 : 0));
    } else if constexpr (P == floor_divide)
      return detail::floor_divide_integers(a, b);
    else if constexpr (P == remainder)
      return detail::remainder_integers(a, b);
    else if constexpr (P == fmod)
      return detail::fmod_integers(a, b);
    else if constexpr (P == power)
      return detail::power_integers(a, b);
    else if constexpr (P == left_shift)
      return detail::left_shift_integers(a, b);
    else if constexpr (P == right_shift)
      return detail::right_shift_integers(a, b);
    else if constexpr (P == gcd)
      return detail::gcd_integers(a, b);
    else if constexpr (P == bitwise_and)
      return static_cast<T>(a & b);
    else if constexpr (P == bitwise_or)
      return static_cast<T>(a | b);
    else {
      static_assert(P == bitwise_xor, "twill: this primitive takes a floating type; cast first");
      return static_cast<T>(a ^ b);
    }
  }
}

/// `where`: the second operand where the first is true, otherwise the third.
template <Primitive P, class T>
requires(P == Primitive::where) [[nodiscard]] constexpr T apply(bool condition, T a, T b) { return condition ? a : b; }

/// `fma`: a * b + c, rounded once where the instruction set can.
template <Primitive P, class T>
requires(P == Primitive::fma) [[nodiscard]] constexpr T apply(T a, T b, T c) {
  if constexpr (std::floating_point<T>) {
#if defined(__FMA__) || TWILL_DEVICE_CODE
    return std::fma(a, b, c);
#else
    return a * b + c;
#endif
  } else {
    return apply<Primitive::add>(apply<Primitive::multiply>(a, b), c);
  }
}

/// `betainc`: a function of three real numbers.
template <Primitive P, std::floating_point T>
requires(P == Primitive::betainc) [[nodiscard]] constexpr T apply(T a, T b, T c) {
  return detail::apply_floating<P>(a, b, c);
}

/// `random_uniform`: a draw in [0, 1) as core/philox.hpp defines it.
template <Primitive P>
requires(P == Primitive::random_uniform)
    [[nodiscard]] constexpr float apply(std::int64_t seed, std::int64_t step, std::int64_t node, std::int64_t index) {
  return random_uniform(static_cast<std::uint64_t>(seed), static_cast<std::uint32_t>(step),
                        static_cast<std::uint32_t>(node), static_cast<std::uint64_t>(index));
}

/// `random_integer`: a draw in [0, range) as core/philox.hpp defines it.
template <Primitive P>
requires(P == Primitive::random_integer) [[nodiscard]] constexpr std::int64_t
    apply(std::int64_t seed, std::int64_t stream, std::int64_t range, std::int64_t index) {
  const auto bits = static_cast<std::uint64_t>(stream);
  return static_cast<std::int64_t>(random_integer(
      static_cast<std::uint64_t>(seed), static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32),
      static_cast<std::uint64_t>(range), static_cast<std::uint64_t>(index)));
}

/// A conversion between compute types: to bool "different from zero", from floats to integers towards zero.
template <class To, class From> [[nodiscard]] constexpr To convert(From value) {
  if constexpr (std::same_as<To, bool>)
    return value != From{0};
  else if constexpr (std::floating_point<From> && std::integral<To> && sizeof(To) < 4)
    return static_cast<To>(static_cast<std::int32_t>(value)); // wraps on every device
  else if constexpr (std::floating_point<From> && std::same_as<To, std::uint32_t>)
    return static_cast<To>(static_cast<std::int64_t>(value));
  else if constexpr (std::floating_point<From> && std::same_as<To, std::uint64_t>)
    return value < From{0} ? static_cast<To>(static_cast<std::int64_t>(value)) : static_cast<To>(value);
  else
    return static_cast<To>(value);
}

/// A value in the element type T, rounded once, as programs hold it.
template <class T, class From> [[nodiscard]] constexpr compute_t<T> cast_element(From value) {
  if constexpr (ShortFloat<T> && std::same_as<From, double>)
    return static_cast<float>(T{value}); // not through a float
  else
    return static_cast<compute_t<T>>(static_cast<T>(convert<compute_t<T>>(value)));
}

/// The value that a reduction starts from.
template <Reduction R, class T> [[nodiscard]] constexpr T identity() {
  using enum Reduction;
  if constexpr (R == sum || R == any)
    return T{0};
  else if constexpr (R == product || R == all)
    return T{1};
  else {
    using Limits = std::numeric_limits<T>;
    if constexpr (R == max)
      return Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest();
    else
      return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
}

/// One combination of a reduction.
template <Reduction R, class T> [[nodiscard]] constexpr T combine(T a, T b) {
  using enum Reduction;
  if constexpr (R == sum)
    return apply<Primitive::add>(a, b);
  else if constexpr (R == product)
    return apply<Primitive::multiply>(a, b);
  else if constexpr (R == max)
    return apply<Primitive::maximum>(a, b);
  else if constexpr (R == min)
    return apply<Primitive::minimum>(a, b);
  else if constexpr (R == any)
    return static_cast<T>(a != T{0} || b != T{0});
  else
    return static_cast<T>(a != T{0} && b != T{0});
}

}}} // namespace twill::v0::kernel
