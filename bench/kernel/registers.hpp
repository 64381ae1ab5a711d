#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What the hand-written references are written in: registers of 16 floats with AVX-512, of 8 with AVX2, and the instructions that
// C++ has no operators for. Where the compiler may use neither, BENCH_HAS_REGISTERS is 0, and the benchmarks go without
// those references.

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define BENCH_HAS_REGISTERS 1
#elif defined(__AVX2__) && defined(__FMA__)
#define BENCH_HAS_REGISTERS 1
#else
#define BENCH_HAS_REGISTERS 0
#endif

#if BENCH_HAS_REGISTERS

#include <cstdint>

#include <immintrin.h>

namespace ceiling {

#if defined(__AVX512F__) && defined(__AVX512DQ__)

inline constexpr int width = 16;
using Register = __m512;

inline Register splat(float x) { return _mm512_set1_ps(x); }
inline Register load(const float* from) { return _mm512_loadu_ps(from); }
inline void store(float* to, Register x) { _mm512_storeu_ps(to, x); }
inline void stream(float* to, Register x) { _mm512_stream_ps(to, x); }
inline Register fma(Register a, Register b, Register c) { return _mm512_fmadd_ps(a, b, c); }   // a b + c
inline Register fms(Register a, Register b, Register c) { return _mm512_fmsub_ps(a, b, c); }   // a b - c
inline Register fnma(Register a, Register b, Register c) { return _mm512_fnmadd_ps(a, b, c); } // c - a b
inline Register min(Register a, Register b) { return _mm512_min_ps(a, b); }
inline Register max(Register a, Register b) { return _mm512_max_ps(a, b); }
inline float total(Register x) { return _mm512_reduce_add_ps(x); }
inline float largest(Register x) { return _mm512_reduce_max_ps(x); }

/// The first elements, at most as many as a register has; the others are 0.
inline Register load_first(const float* from, std::int64_t count) {
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << count) - 1), from);
}
inline void store_first(float* to, std::int64_t count, Register x) {
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1U << count) - 1), x);
}
/// x, and another value behind the first elements.
inline Register first_or(Register x, std::int64_t count, float other) {
  return _mm512_mask_mov_ps(splat(other), static_cast<__mmask16>((1U << count) - 1), x);
}

/// x times 2 to the power of n, which is whole.
inline Register scale(Register x, Register n) { return _mm512_scalef_ps(x, n); }
inline constexpr float least_exponent = -151; ///< that `scale` takes

#else

inline constexpr int width = 8;
using Register = __m256;

inline Register splat(float x) { return _mm256_set1_ps(x); }
inline Register load(const float* from) { return _mm256_loadu_ps(from); }
inline void store(float* to, Register x) { _mm256_storeu_ps(to, x); }
inline void stream(float* to, Register x) { _mm256_stream_ps(to, x); }
inline Register fma(Register a, Register b, Register c) { return _mm256_fmadd_ps(a, b, c); }   // a b + c
inline Register fms(Register a, Register b, Register c) { return _mm256_fmsub_ps(a, b, c); }   // a b - c
inline Register fnma(Register a, Register b, Register c) { return _mm256_fnmadd_ps(a, b, c); } // c - a b
inline Register min(Register a, Register b) { return _mm256_min_ps(a, b); }
inline Register max(Register a, Register b) { return _mm256_max_ps(a, b); }
inline float total(Register x) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
inline float largest(Register x) {
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

inline __m256i first(std::int64_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0));
}
/// The first elements, at most as many as a register has; the others are 0.
inline Register load_first(const float* from, std::int64_t count) { return _mm256_maskload_ps(from, first(count)); }
inline void store_first(float* to, std::int64_t count, Register x) { _mm256_maskstore_ps(to, first(count), x); }
/// x, and another value behind the first elements.
inline Register first_or(Register x, std::int64_t count, float other) {
  return _mm256_blendv_ps(splat(other), x, _mm256_castsi256_ps(first(count)));
}

/// x times 2 to the power of n, which is whole: normal numbers only.
inline Register scale(Register x, Register n) {
  return x *
         _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23));
}
inline constexpr float least_exponent = -126; ///< that `scale` takes

#endif

} // namespace ceiling

#endif
