#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Polynomials by Horner's rule, highest coefficient first, and small parts that several functions share: nearest
// integers, powers of two, and float32 functions computed in float64. Read next: kernel/math/exponential.hpp.

#include <twill/kernel/math/coefficients.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace math {

namespace table = math_coefficients;

/// c0 + x * (c1 + x * (c2 + ...))
template <class T, int N> [[nodiscard]] TWILL_INLINE Pack<T, N> polynomial(const Pack<T, N>&, T c0) {
  return Pack<T, N>{c0};
}
template <class T, int N, std::same_as<T>... Rest>
[[nodiscard]] TWILL_INLINE Pack<T, N> polynomial(const Pack<T, N>& x, T c0, T c1, Rest... rest) {
  return kernel::fma(polynomial(x, c1, rest...), x, Pack<T, N>{c0});
}

/// A polynomial from a list of kernel/math/coefficients.hpp, in the list's precision or rounded to that of x.
template <class T, int N, class C, std::size_t Count>
[[nodiscard]] TWILL_INLINE Pack<T, N> polynomial(const Pack<T, N>& x, const C (&list)[Count]) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) TWILL_ALWAYS_INLINE {
    return polynomial(x, static_cast<T>(list[I])...);
  }
  (std::make_index_sequence<Count>{});
}

/// Sums and differences of integers that wrap: results from NaN or numbers out of bounds are replaced later.
template <class T, int N> [[nodiscard]] TWILL_INLINE Pack<T, N> wrapped_sum(const Pack<T, N>& a, const Pack<T, N>& b) {
  using U = Pack<std::make_unsigned_t<T>, N>;
  return bits_as<Pack<T, N>>(U{bits_as<U>(a).v + bits_as<U>(b).v});
}
template <class T, int N>
[[nodiscard]] TWILL_INLINE Pack<T, N> wrapped_difference(const Pack<T, N>& a, const Pack<T, N>& b) {
  using U = Pack<std::make_unsigned_t<T>, N>;
  return bits_as<Pack<T, N>>(U{bits_as<U>(a).v - bits_as<U>(b).v});
}

/// The nearest integer to `x * factor` in two forms, for magnitudes below 2^22: adding 1.5 * 2^23 puts it in low bits.
template <int N> struct Nearest {
  Pack<float, N> value;
  Pack<std::int32_t, N> integer;
};
template <int N> [[nodiscard]] TWILL_INLINE Nearest<N> nearest(const Pack<float, N>& x, float factor) {
  using F = Pack<float, N>;
  using I = Pack<std::int32_t, N>;
  const F magic{0x1.8p23F};
  const F sum = kernel::fma(x, F{factor}, magic);
  return {sum - magic, wrapped_difference(bits_as<I>(sum), bits_as<I>(magic))};
}

/// 2^n for n in [-126, 127].
template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> power_of_two(const Pack<std::int32_t, N>& n) {
  using U = Pack<std::uint32_t, N>;
  return bits_as<Pack<float, N>>(U{(bits_as<U>(n).v + 127) << 23});
}

/// The nearest integer to `x * factor` in two forms, for magnitudes below 2^51.
template <int N> struct NearestDouble {
  Pack<double, N> value;
  Pack<std::int64_t, N> integer;
};
template <int N> [[nodiscard]] TWILL_INLINE NearestDouble<N> nearest(const Pack<double, N>& x, double factor) {
  using F = Pack<double, N>;
  using I = Pack<std::int64_t, N>;
  const F magic{0x1.8p52};
  const F sum = kernel::fma(x, F{factor}, magic);
  return {sum - magic, wrapped_difference(bits_as<I>(sum), bits_as<I>(magic))};
}

/// 2^n for n in [-1022, 1023].
template <int N> [[nodiscard]] TWILL_INLINE Pack<double, N> power_of_two(const Pack<std::int64_t, N>& n) {
  using U = Pack<std::uint64_t, N>;
  return bits_as<Pack<double, N>>(U{(bits_as<U>(n).v + 1023) << 52});
}

/// A function of float64 applied to float32, rounded once at the end: as many lanes at a time as a register holds.
template <class F, int N, class... More>
[[nodiscard]] TWILL_INLINE Pack<float, N> in_double(F f, const Pack<float, N>& first, const More&... more) {
  if constexpr (N * 8 <= vector_bytes || N <= 2)
    return convert_lanes<float>(f(convert_lanes<double>(first), convert_lanes<double>(more)...));
  else
    return join(in_double(f, half_of<0>(first), half_of<0>(more)...),
                in_double(f, half_of<1>(first), half_of<1>(more)...));
}

}}}}} // namespace twill::v0::kernel::TWILL_ISA::math
