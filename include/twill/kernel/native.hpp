#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Vector operations that the GNU extensions lack: fused multiply-add, square root, rounding, hardware minimum and
// maximum, 16-bit floats, stores that bypass the caches. Compiler builtins, since <immintrin.h> costs more to include
// than all of this header. Each has a plain form for instruction sets without it. Read next: kernel/apply_pack.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/pack.hpp>

#include <cmath>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

#if defined(__AVX512F__)
namespace vector_detail {
inline constexpr short all_16 = -1; ///< the mask operand that switches masking off
inline constexpr unsigned short all_16_unsigned = 65535;
inline constexpr signed char all_8 = -1; ///< nvcc declares some of the builtins signed and some not
inline constexpr unsigned char all_8_unsigned = 255;
} // namespace vector_detail
#endif

/// Hides the origin of a product, so that no compiler contracts it with a later sum: twill decides what is fused.
template <class T, int N> [[nodiscard]] TWILL_INLINE Pack<T, N> uncontracted(Pack<T, N> product) {
#if defined(__FMA__) && !defined(__clang__)
  if constexpr (std::is_floating_point_v<T> && Pack<T, N>::fits && N * sizeof(T) >= 16) {
#if defined(__AVX512VL__)
    asm("" : "+v"(product.v));
#else
    asm("" : "+x"(product.v));
#endif
  }
#endif
  return product;
}

/// a * b + c, rounded once where the instruction set can.
template <class T, int N>
[[nodiscard]] TWILL_INLINE Pack<T, N> fma(const Pack<T, N>& a, const Pack<T, N>& b, const Pack<T, N>& c) {
  [[maybe_unused]] constexpr int bytes = N * static_cast<int>(sizeof(T));
  [[maybe_unused]] constexpr bool single = sizeof(T) == 4;
#if defined(__AVX512F__)
  if constexpr (bytes == 64 && single)
    return __builtin_ia32_vfmaddps512_mask(a.v, b.v, c.v, vector_detail::all_16, 4);
  else if constexpr (bytes == 64)
    return __builtin_ia32_vfmaddpd512_mask(a.v, b.v, c.v, vector_detail::all_8_unsigned, 4);
  else
#endif
#if defined(__FMA__)
      if constexpr (bytes == 32 && single)
    return __builtin_ia32_vfmaddps256(a.v, b.v, c.v);
  else if constexpr (bytes == 32)
    return __builtin_ia32_vfmaddpd256(a.v, b.v, c.v);
  else if constexpr (bytes == 16 && single)
    return __builtin_ia32_vfmaddps(a.v, b.v, c.v);
  else if constexpr (bytes == 16)
    return __builtin_ia32_vfmaddpd(a.v, b.v, c.v);
  else
    return by_lane([](T x, T y, T z) { return std::fma(x, y, z); }, a, b, c);
#else
  return Pack<T, N>{a.v * b.v + c.v};
#endif
}

/// base[index] in each lane. nvcc does not know the instructions.
template <int N>
[[nodiscard]] TWILL_INLINE Pack<float, N> load_at(const float* base, const Pack<std::int32_t, N>& index) {
#if defined(__AVX512F__) && !TWILL_NVCC
  if constexpr (N == 16)
    return __builtin_ia32_gathersiv16sf(vector_detail::vector_t<float, 16>{}, base, index.v,
                                        vector_detail::all_16_unsigned, 4);
  else
#endif
#if defined(__AVX2__) && !TWILL_NVCC
      if constexpr (N == 8) {
    using Floats = vector_detail::vector_t<float, 8>;
    const Floats all = (Floats)(index.v == index.v);
#if defined(__clang__)
    return __builtin_ia32_gatherd_ps256(Floats{}, base, index.v, all, 4);
#else
    return __builtin_ia32_gathersiv8sf(Floats{}, base, index.v, all, 4);
#endif
  } else
#endif
  {
    Pack<float, N> loaded;
    for (int i = 0; i < N; ++i) loaded.v[i] = base[index.v[i]];
    return loaded;
  }
}

template <class T, int N> [[nodiscard]] TWILL_INLINE Pack<T, N> sqrt(const Pack<T, N>& a) {
  constexpr int bytes = N * static_cast<int>(sizeof(T));
  constexpr bool single = sizeof(T) == 4;
#if defined(__AVX512F__) && defined(__clang__)
  if constexpr (bytes == 64 && single)
    return __builtin_ia32_sqrtps512(a.v, 4);
  else if constexpr (bytes == 64)
    return __builtin_ia32_sqrtpd512(a.v, 4);
  else
#elif defined(__AVX512F__)
  if constexpr (bytes == 64 && single)
    return __builtin_ia32_sqrtps512_mask(a.v, a.v, vector_detail::all_16, 4);
  else if constexpr (bytes == 64)
    return __builtin_ia32_sqrtpd512_mask(a.v, a.v, vector_detail::all_8, 4);
  else
#endif
#if defined(__AVX__)
      if constexpr (bytes == 32 && single)
    return __builtin_ia32_sqrtps256(a.v);
  else if constexpr (bytes == 32)
    return __builtin_ia32_sqrtpd256(a.v);
  else
#endif
      if constexpr (bytes == 16 && single)
    return __builtin_ia32_sqrtps(a.v);
  else if constexpr (bytes == 16)
    return __builtin_ia32_sqrtpd(a.v);
  else
    return by_lane([](T x) { return std::sqrt(x); }, a);
}

/// How `round_to` rounds: the codes of the instruction.
enum class Rounding : int { even = 0, down = 1, up = 2, toward_zero = 3 };

template <Rounding R, class T, int N> [[nodiscard]] TWILL_INLINE Pack<T, N> round_to(const Pack<T, N>& a) {
  [[maybe_unused]] constexpr int bytes = N * static_cast<int>(sizeof(T));
  [[maybe_unused]] constexpr bool single = sizeof(T) == 4;
  [[maybe_unused]] constexpr int code = static_cast<int>(R) | 8; // 8: raise no flag for an inexact result
#if defined(__AVX512F__)
  if constexpr (bytes == 64 && single)
    return __builtin_ia32_rndscaleps_mask(a.v, code, a.v, vector_detail::all_16, 4);
  else if constexpr (bytes == 64)
    return __builtin_ia32_rndscalepd_mask(a.v, code, a.v, vector_detail::all_8, 4);
  else
#endif
#if defined(__AVX__)
      if constexpr (bytes == 32 && single)
    return __builtin_ia32_roundps256(a.v, code);
  else if constexpr (bytes == 32)
    return __builtin_ia32_roundpd256(a.v, code);
  else
#endif
#if defined(__SSE4_1__)
      if constexpr (bytes == 16 && single)
    return __builtin_ia32_roundps(a.v, code);
  else if constexpr (bytes == 16)
    return __builtin_ia32_roundpd(a.v, code);
  else
#endif
    return by_lane(
        [](T x) {
          if constexpr (R == Rounding::even)
            return std::nearbyint(x);
          else if constexpr (R == Rounding::down)
            return std::floor(x);
          else if constexpr (R == Rounding::up)
            return std::ceil(x);
          else
            return std::trunc(x);
        },
        a);
}

/// The larger by the hardware instruction: `a > b ? a : b`, so b when one of them is NaN.
template <class T, int N> [[nodiscard]] TWILL_INLINE Pack<T, N> larger(const Pack<T, N>& a, const Pack<T, N>& b) {
#if defined(__AVX512F__) && !defined(__clang__)
  if constexpr (std::is_same_v<T, float> && N == 16)
    return __builtin_ia32_maxps512_mask(a.v, b.v, a.v, vector_detail::all_16, 4);
  else if constexpr (std::is_same_v<T, double> && N == 8)
    return __builtin_ia32_maxpd512_mask(a.v, b.v, a.v, vector_detail::all_8_unsigned, 4);
  else
#endif
#if defined(__AVX__) && !defined(__clang__)
      if constexpr (std::is_same_v<T, float> && N == 8)
    return __builtin_ia32_maxps256(a.v, b.v);
  else if constexpr (std::is_same_v<T, double> && N == 4)
    return __builtin_ia32_maxpd256(a.v, b.v);
  else
#endif
    return select(a > b, a, b);
}

/// `a < b ? a : b`, so b when one of them is NaN.
template <class T, int N> [[nodiscard]] TWILL_INLINE Pack<T, N> smaller(const Pack<T, N>& a, const Pack<T, N>& b) {
#if defined(__AVX512F__) && !defined(__clang__)
  if constexpr (std::is_same_v<T, float> && N == 16)
    return __builtin_ia32_minps512_mask(a.v, b.v, a.v, vector_detail::all_16, 4);
  else if constexpr (std::is_same_v<T, double> && N == 8)
    return __builtin_ia32_minpd512_mask(a.v, b.v, a.v, vector_detail::all_8_unsigned, 4);
  else
#endif
#if defined(__AVX__) && !defined(__clang__)
      if constexpr (std::is_same_v<T, float> && N == 8)
    return __builtin_ia32_minps256(a.v, b.v);
  else if constexpr (std::is_same_v<T, double> && N == 4)
    return __builtin_ia32_minpd256(a.v, b.v);
  else
#endif
    return select(a < b, a, b);
}

/// The magnitude of the first with the sign of the second.
template <class T, int N>
[[nodiscard]] TWILL_INLINE Pack<T, N> copy_sign(const Pack<T, N>& magnitude, const Pack<T, N>& sign) {
  using Bits = Pack<integer_t<sizeof(T)>, N>;
  const auto bit = bits_as<Bits>(Pack<T, N>{T{-0.0}}).v;
  return bits_as<Pack<T, N>>(Bits{(bits_as<Bits>(magnitude).v & ~bit) | (bits_as<Bits>(sign).v & bit)});
}

template <class T, int N> [[nodiscard]] TWILL_INLINE Pack<T, N> magnitude(const Pack<T, N>& a) {
  using Bits = Pack<integer_t<sizeof(T)>, N>;
  return bits_as<Pack<T, N>>(Bits{bits_as<Bits>(a).v & ~bits_as<Bits>(Pack<T, N>{T{-0.0}}).v});
}

/// Stores past the caches. requires: an address that is a multiple of the pack's size
template <class T, int N> TWILL_INLINE void stream(T* to, const Pack<T, N>& pack) {
#if defined(__clang__)
  typedef T Aligned __attribute__((vector_size(N * sizeof(T)), may_alias));
  __builtin_nontemporal_store(pack.v, reinterpret_cast<Aligned*>(to));
#else
  [[maybe_unused]] constexpr int bytes = N * static_cast<int>(sizeof(T));
#if defined(__AVX512F__)
  if constexpr (bytes == 64)
    __builtin_ia32_movntps512(reinterpret_cast<float*>(to), (vector_detail::vector_t<float, 16>)pack.v);
  else
#endif
#if defined(__AVX__)
      if constexpr (bytes == 32)
    __builtin_ia32_movntps256(reinterpret_cast<float*>(to), (vector_detail::vector_t<float, 8>)pack.v);
  else
#endif
      if constexpr (bytes == 16)
    __builtin_ia32_movntps(reinterpret_cast<float*>(to), (vector_detail::vector_t<float, 4>)pack.v);
  else
    store(to, pack);
#endif
}

/// Streamed stores become visible to other threads.
TWILL_INLINE void finish_streams() { __builtin_ia32_sfence(); }

}}}} // namespace twill::v0::kernel::TWILL_ISA
