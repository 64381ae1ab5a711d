#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Primitives on packs: the values of kernel/apply.hpp in every lane, in one or a few instructions where possible. Truth
// values enter and leave as masks. Products are not contracted with later sums, so a fused program gives the bits of an
// unfused one; the `fma` primitive rounds once where the graph asks for it. Read next: kernel/math/.

#include <twill/kernel/apply.hpp>
#include <twill/kernel/draw.hpp>
#include <twill/kernel/math/by_primitive.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>
#include <twill/kernel/primitive.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

namespace vector_detail {

/// Integer arithmetic wraps: it is done on the unsigned vector.
template <Primitive P, class T, int N> TWILL_INLINE Pack<T, N> on_unsigned(const Pack<T, N>& a, const Pack<T, N>& b) {
  using Unsigned = Pack<std::make_unsigned_t<T>, N>;
  const Unsigned x = bits_as<Unsigned>(a);
  const Unsigned y = bits_as<Unsigned>(b);
  // no function in between: a vector wider than a register has no fixed ABI as a return value
  if constexpr (P == Primitive::add)
    return bits_as<Pack<T, N>>(Unsigned{x.v + y.v});
  else if constexpr (P == Primitive::subtract)
    return bits_as<Pack<T, N>>(Unsigned{x.v - y.v});
  else
    return bits_as<Pack<T, N>>(Unsigned{x.v * y.v});
}

template <Primitive P, std::floating_point T, int N> TWILL_INLINE Pack<T, N> apply_floating(const Pack<T, N>& a) {
  using enum Primitive;
  using F = Pack<T, N>;
  if constexpr (P == negate)
    return -a;
  else if constexpr (P == abs)
    return magnitude(a);
  else if constexpr (P == sign)
    return select(a == F{T{0}}, F{T{0}}, select(a == a, copy_sign(F{T{1}}, a), a));
  else if constexpr (P == square)
    return uncontracted(a * a);
  else if constexpr (P == sqrt)
    return kernel::sqrt(a);
  else if constexpr (P == rsqrt)
    return F{T{1}} / kernel::sqrt(a);
  else if constexpr (P == reciprocal)
    return F{T{1}} / a;
  else if constexpr (P == floor)
    return round_to<Rounding::down>(a);
  else if constexpr (P == ceil)
    return round_to<Rounding::up>(a);
  else if constexpr (P == round)
    return round_to<Rounding::even>(a);
  else if constexpr (P == trunc)
    return round_to<Rounding::toward_zero>(a);
  else if constexpr (P == exp)
    return math::exp(a);
  else if constexpr (P == expm1)
    return math::expm1(a);
  else if constexpr (P == log)
    return math::log(a);
  else if constexpr (P == log1p)
    return math::log1p(a);
  else if constexpr (P == sin)
    return math::sin(a);
  else if constexpr (P == cos)
    return math::cos(a);
  else if constexpr (P == tanh)
    return math::tanh(a);
  else if constexpr (P == erf)
    return math::erf(a);
  else if constexpr (std::same_as<T, float>)
    return apply_to_floats<P>(a);
  else if constexpr (P == tanh_accurate)
    return math::tanh(a);
  else
    return by_lane([](T x) { return kernel::apply<P>(x); }, a);
}

template <Primitive P, std::integral T, int N> TWILL_INLINE Pack<T, N> apply_integral(const Pack<T, N>& a) {
  using enum Primitive;
  const Pack<T, N> zero{T{0}};
  if constexpr (P == negate)
    return on_unsigned<Primitive::subtract>(zero, a);
  else if constexpr (P == abs)
    return std::is_signed_v<T> ? select(a < zero, apply_integral<negate>(a), a) : a;
  else if constexpr (P == square)
    return on_unsigned<Primitive::multiply>(a, a);
  else if constexpr (P == floor || P == ceil || P == round || P == trunc)
    return a;
  else if constexpr (P == invert)
    return Pack<T, N>{~a.v};
  else
    return by_lane([](T x) { return kernel::apply<P>(x); }, a);
}

/// Products and sums of signed integers occur in reductions too.
template <Primitive P, std::integral T, int N>
TWILL_INLINE Pack<T, N> apply_integral(const Pack<T, N>& a, const Pack<T, N>& b) {
  using enum Primitive;
  if constexpr (P == add)
    return on_unsigned<Primitive::add>(a, b);
  else if constexpr (P == subtract)
    return on_unsigned<Primitive::subtract>(a, b);
  else if constexpr (P == multiply)
    return on_unsigned<Primitive::multiply>(a, b);
  else if constexpr (P == maximum)
    return select(a > b, a, b);
  else if constexpr (P == minimum)
    return select(a < b, a, b);
  else if constexpr (P == bitwise_and)
    return Pack<T, N>{a.v & b.v};
  else if constexpr (P == bitwise_or)
    return Pack<T, N>{a.v | b.v};
  else if constexpr (P == bitwise_xor)
    return Pack<T, N>{a.v ^ b.v};
  else
    return by_lane([](T x, T y) { return kernel::apply<P>(x, y); }, a, b);
}

template <Primitive P, std::floating_point T, int N>
TWILL_INLINE Pack<T, N> apply_floating(const Pack<T, N>& a, const Pack<T, N>& b) {
  using enum Primitive;
  if constexpr (P == add)
    return a + b;
  else if constexpr (P == subtract)
    return a - b;
  else if constexpr (P == multiply)
    return uncontracted(a * b);
  else if constexpr (P == divide)
    return a / b;
  else if constexpr (P == maximum)
    return select(b == b, larger(b, a), b); // the test stays off the chain of a reduction, whose sum is a
  else if constexpr (P == minimum)
    return select(b == b, smaller(b, a), b);
  else if constexpr (P == copysign)
    return copy_sign(a, b);
  else if constexpr (P == power)
    return math::power(a, b);
  else if constexpr (std::same_as<T, float>)
    return apply_to_floats<P>(a, b);
  else
    return by_lane([](T x, T y) { return kernel::apply<P>(x, y); }, a, b);
}

template <class T, int N> TWILL_INLINE auto truth(const Pack<T, N>& a) { return a != Pack<T, N>{T{0}}; }
template <int N, int W> TWILL_INLINE Mask<N, W> truth(const Mask<N, W>& a) { return a; }

} // namespace vector_detail

/// One operand that is a number.
template <Primitive P, class T, int N> [[nodiscard]] TWILL_INLINE auto apply(const Pack<T, N>& a) {
  using enum Primitive;
  using Truth = Mask<N, mask_bytes<T, N>>;
  if constexpr (P == logical_not)
    return a == Pack<T, N>{T{0}};
  else if constexpr (std::floating_point<T>) {
    if constexpr (P == isnan)
      return a != a;
    else if constexpr (P == isinf)
      return magnitude(a) == Pack<T, N>{std::numeric_limits<T>::infinity()};
    else if constexpr (P == isfinite)
      return magnitude(a) < Pack<T, N>{std::numeric_limits<T>::infinity()};
    else
      return vector_detail::apply_floating<P>(a);
  } else if constexpr (P == isfinite)
    return Truth{true};
  else if constexpr (P == isnan || P == isinf)
    return Truth{false};
  else
    return vector_detail::apply_integral<P>(a);
}

/// One operand that is a truth value.
template <Primitive P, int N, int W> [[nodiscard]] TWILL_INLINE auto apply(const Mask<N, W>& a) {
  using enum Primitive;
  if constexpr (P == logical_not || P == invert)
    return ~a;
  else if constexpr (P == isfinite)
    return Mask<N, W>{true};
  else if constexpr (P == isnan || P == isinf)
    return Mask<N, W>{false};
  else {
    static_assert(P != negate, "twill: negate takes a number; use logical_not for truth values");
    return a; // abs, sign, square and the like
  }
}

/// Two operands that are numbers of one type.
template <Primitive P, class T, int N> [[nodiscard]] TWILL_INLINE auto apply(const Pack<T, N>& a, const Pack<T, N>& b) {
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
    return vector_detail::truth(a) & vector_detail::truth(b);
  else if constexpr (P == logical_or)
    return vector_detail::truth(a) | vector_detail::truth(b);
  else if constexpr (P == logical_xor)
    return vector_detail::truth(a) ^ vector_detail::truth(b);
  else if constexpr (std::floating_point<T>)
    return vector_detail::apply_floating<P>(a, b);
  else
    return vector_detail::apply_integral<P>(a, b);
}

/// Two truth values.
template <Primitive P, int N, int W>
[[nodiscard]] TWILL_INLINE Mask<N, W> apply(const Mask<N, W>& a, const Mask<N, W>& b) {
  using enum Primitive;
  if constexpr (P == logical_and || P == bitwise_and || P == multiply || P == minimum)
    return a & b;
  else if constexpr (P == logical_or || P == bitwise_or || P == add || P == maximum)
    return a | b;
  else if constexpr (P == logical_xor || P == bitwise_xor || P == not_equal)
    return a ^ b;
  else if constexpr (P == equal)
    return ~(a ^ b);
  else if constexpr (P == less)
    return ~a & b;
  else if constexpr (P == less_equal)
    return ~a | b;
  else if constexpr (P == greater)
    return a & ~b;
  else {
    static_assert(P == greater_equal, "twill: this primitive takes numbers; cast first");
    return a | ~b;
  }
}

/// Two truth values of different sizes; the first decides the size of the result's integers.
template <Primitive P, int N, int W, int V>
[[nodiscard]] TWILL_INLINE Mask<N, W> apply(const Mask<N, W>& a, const Mask<N, V>& b) {
  return apply<P>(a, resize<W>(b));
}

/// `where` of numbers, and of truth values.
template <Primitive P, class T, int N, int W>
[[nodiscard]] TWILL_INLINE Pack<T, N> apply(const Mask<N, W>& condition, const Pack<T, N>& a, const Pack<T, N>& b) {
  static_assert(P == Primitive::where);
  return select(condition, a, b);
}
template <Primitive P, int N, int W, int V, int U>
[[nodiscard]] TWILL_INLINE Mask<N, V> apply(const Mask<N, W>& condition, const Mask<N, V>& a, const Mask<N, U>& b) {
  static_assert(P == Primitive::where);
  return select(resize<V>(condition), a, resize<V>(b));
}

/// `fma` and `betainc`.
template <Primitive P, class T, int N>
[[nodiscard]] TWILL_INLINE Pack<T, N> apply(const Pack<T, N>& a, const Pack<T, N>& b, const Pack<T, N>& c) {
  static_assert(P == Primitive::fma || P == Primitive::betainc);
  if constexpr (P == Primitive::betainc)
    return by_lane([](T x, T y, T z) { return kernel::apply<P>(x, y, z); }, a, b, c);
  else if constexpr (std::floating_point<T>)
    return kernel::fma(a, b, c);
  else
    return vector_detail::apply_integral<Primitive::add>(vector_detail::apply_integral<Primitive::multiply>(a, b), c);
}

/// `random_integer`: a block of random bits for each lane, computed together for consecutive draws of one stream.
template <Primitive P, int N>
requires(P == Primitive::random_integer)
    [[nodiscard, gnu::noinline]] Pack<std::int64_t, N> apply(const Pack<std::int64_t, N>& seed,
                                                             const Pack<std::int64_t, N>& stream,
                                                             const Pack<std::int64_t, N>& range,
                                                             const Pack<std::int64_t, N>& index) {
  using Longs = Pack<std::int64_t, N>;
  Longs result;
  const auto differs = (seed != Longs{seed.v[0]}) | (stream != Longs{stream.v[0]}) |
                       (index != Longs{index.v[0]} + lane_numbers<std::int64_t, N>());
  if (any(differs)) [[unlikely]] {
    for (int i = 0; i < N; ++i)
      result.v[i] = kernel::apply<Primitive::random_integer>(seed.v[i], stream.v[i], range.v[i], index.v[i]);
    return result;
  }
  const auto bits = static_cast<std::uint64_t>(stream.v[0]);
  std::uint32_t words[4 * N];
  vector_detail::consecutive_blocks<N>(static_cast<std::uint64_t>(seed.v[0]), static_cast<std::uint32_t>(bits),
                                       static_cast<std::uint32_t>(bits >> 32), static_cast<std::uint64_t>(index.v[0]),
                                       words);
  for (int i = 0; i < N; ++i)
    result.v[i] = static_cast<std::int64_t>(integer_from_words(words + 4 * i, static_cast<std::uint64_t>(range.v[i])));
  return result;
}

/// `random_uniform`: seed, step, node and index may each vary from lane to lane.
template <Primitive P, int N>
requires(P == Primitive::random_uniform)
    [[nodiscard]] TWILL_INLINE Pack<float, N> apply(const Pack<std::int64_t, N>& seed,
                                                    const Pack<std::int64_t, N>& step,
                                                    const Pack<std::int64_t, N>& node,
                                                    const Pack<std::int64_t, N>& index) {
  Pack<float, N> result;
  for (int i = 0; i < N; ++i)
    result.v[i] = kernel::apply<Primitive::random_uniform>(seed.v[i], step.v[i], node.v[i], index.v[i]);
  return result;
}

/// One combination of a reduction.
template <Reduction R, class T, int N>
[[nodiscard]] TWILL_INLINE Pack<T, N> combine(const Pack<T, N>& a, const Pack<T, N>& b) {
  using enum Reduction;
  if constexpr (R == sum)
    return apply<Primitive::add>(a, b);
  else if constexpr (R == product)
    return apply<Primitive::multiply>(a, b);
  else if constexpr (R == max)
    return apply<Primitive::maximum>(a, b);
  else if constexpr (R == min)
    return apply<Primitive::minimum>(a, b);
  else
    static_assert(R == sum, "twill: any and all combine truth values; cast first");
}
template <Reduction R, int N, int W>
[[nodiscard]] TWILL_INLINE Mask<N, W> combine(const Mask<N, W>& a, const Mask<N, W>& b) {
  using enum Reduction;
  if constexpr (R == sum || R == any || R == max)
    return a | b;
  else
    return a & b;
}

/// All lanes combined, by halves: the result is a scalar.
template <Reduction R, class P> [[nodiscard]] TWILL_INLINE auto combine_lanes(const P& pack) {
  if constexpr (P::lanes > 2)
    return combine_lanes<R>(combine<R>(half_of<0>(pack), half_of<1>(pack)));
  else if constexpr (is_mask<P>)
    return kernel::combine<R>(pack.v[0] != 0, pack.v[1] != 0);
  else
    return kernel::combine<R>(static_cast<typename P::Value>(pack.v[0]), static_cast<typename P::Value>(pack.v[1]));
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
