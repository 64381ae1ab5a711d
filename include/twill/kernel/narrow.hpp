#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Floating types of 16 and 8 bits in packs: widened to float when loaded, rounded to nearest even when stored, with the
// bits of core/half.hpp and core/float8.hpp. Hardware conversions, or integer arithmetic where there are none. Read
// next: kernel/pack.hpp.

#include <twill/core/float8.hpp>
#include <twill/core/half.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

namespace vector_detail {
template <int N> using Words = Pack<std::uint16_t, N>;
template <int N> using Bits = Pack<std::uint32_t, N>;

/// Rounds double to float, to odd, before the rounding to 16 bits (see core/half.hpp).
template <int N> TWILL_INLINE Pack<float, N> round_to_odd(const Pack<double, N>& value) {
  constexpr std::uint64_t rest = rest_of_double;
  const auto bits = bits_as<Pack<std::uint64_t, N>>(value).v;
  const Pack<std::uint64_t, N> odd{(bits & ~rest) | (((bits & rest) + rest) & (rest + 1))};
  return convert_lanes<float>(bits_as<Pack<double, N>>(odd));
}

template <int N> TWILL_INLINE Pack<float, N> widen(const Words<N>& words, bfloat16) {
  return bits_as<Pack<float, N>>(Bits<N>{convert_lanes<std::uint32_t>(words).v << 16});
}

template <int N> TWILL_INLINE Words<N> narrow(const Pack<float, N>& value, bfloat16) {
  const auto input = bits_as<Bits<N>>(value).v;
  const Bits<N> rounded{(input + 0x7fffU + ((input >> 16) & 1U)) >> 16};
  const Bits<N> quiet{(input >> 16) | 0x40U};
  return convert_lanes<std::uint16_t>(select(value == value, rounded, quiet));
}

template <int N> TWILL_INLINE Pack<float, N> widen(const Words<N>& words, half) {
#if defined(__AVX512F__)
  if constexpr (N == 16)
    return __builtin_ia32_vcvtph2ps512_mask((vector_t<short, 16>)words.v, vector_t<float, 16>{}, all_16, 4);
  else
#endif
#if defined(__F16C__)
      if constexpr (N == 8)
    return __builtin_ia32_vcvtph2ps256((vector_t<short, 8>)words.v);
  else
#endif
    return by_lane_to<float>([](std::uint16_t bits) { return float{half::from_bits(bits)}; }, words);
}

template <int N> TWILL_INLINE Words<N> narrow(const Pack<float, N>& value, half) {
#if defined(__AVX512F__)
  if constexpr (N == 16)
    return Words<N>{(typename Words<N>::Vector)__builtin_ia32_vcvtps2ph512_mask(value.v, 0, vector_t<short, 16>{},
                                                                                all_16_unsigned)};
  else
#endif
#if defined(__F16C__)
      if constexpr (N == 8)
    return Words<N>{(typename Words<N>::Vector)__builtin_ia32_vcvtps2ph256(value.v, 0)};
  else
#endif
    return by_lane_to<std::uint16_t>([](float x) { return half{x}.bits; }, value);
}

template <ByteFloat T, int N> TWILL_INLINE Pack<float, N> widen(const Pack<std::uint8_t, N>& bytes, T) {
  return by_lane_to<float>([](std::uint8_t bits) { return float{T::from_bits(bits)}; }, bytes);
}
template <ByteFloat T, int N> TWILL_INLINE Pack<std::uint8_t, N> narrow(const Pack<float, N>& value, T) {
  return by_lane_to<std::uint8_t>([](float x) { return T{x}.bits; }, value);
}
} // namespace vector_detail

/// The unsigned integer with the bits of a short float.
template <ShortFloat T> using bits_t = decltype(T::bits);

/// N values of a short floating type from their bits.
template <ShortFloat T, int N> [[nodiscard]] TWILL_INLINE Pack<float, N> widen(const Pack<bits_t<T>, N>& words) {
  return vector_detail::widen(words, T{});
}

/// The bits of N floats rounded to a short type.
template <ShortFloat T, int N> [[nodiscard]] TWILL_INLINE Pack<bits_t<T>, N> narrow(const Pack<float, N>& value) {
  return vector_detail::narrow(value, T{});
}
/// The bits of N numbers rounded once to a short type; integers go through float.
template <ShortFloat T, class From, int N>
[[nodiscard]] TWILL_INLINE Pack<bits_t<T>, N> narrow(const Pack<From, N>& value) {
  if constexpr (std::is_same_v<From, double>)
    return narrow<T>(vector_detail::round_to_odd(value));
  else
    return narrow<T>(convert_lanes<float>(value));
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
