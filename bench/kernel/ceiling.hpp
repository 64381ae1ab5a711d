#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Hand-written AVX-512 code that the benchmarks of the kernels are measured against: what a person would write for each
// workload alone, with inlined polynomials and streaming stores for outputs that no cache keeps. Other instruction sets have
// no ceiling here.

#include <immintrin.h>

#include <cstdint>

namespace ceiling {

inline __m512 splat(float x) { return _mm512_set1_ps(x); }

inline __m512 tanh(__m512 a) {
  const __m512 x = _mm512_min_ps(splat(9.02F), _mm512_max_ps(splat(-9.02F), a));
  const __m512 t = _mm512_mul_ps(x, x);
  __m512 p = _mm512_fmadd_ps(splat(0x1.cbe16cp-27F), t, splat(0x1.5a362ap-16F));
  p = _mm512_fmadd_ps(p, t, splat(0x1.ca6b32p-9F));
  p = _mm512_fmadd_ps(p, t, splat(0x1.1213d2p-3F));
  p = _mm512_fmadd_ps(p, t, splat(1.0F));
  __m512 q = _mm512_fmadd_ps(splat(0x1.a23c58p-21F), t, splat(0x1.58d374p-12F));
  q = _mm512_fmadd_ps(q, t, splat(0x1.a816e0p-6F));
  q = _mm512_fmadd_ps(q, t, splat(0x1.de5f36p-2F));
  q = _mm512_fmadd_ps(q, t, splat(1.0F));
  return _mm512_div_ps(_mm512_mul_ps(x, p), q);
}

/// Without the special cases: arguments of a softmax are at most 0.
inline __m512 exp(__m512 a) {
  const __m512 x = _mm512_max_ps(splat(-104.5F), a);
  const __m512 magic = splat(0x1.8p23F);
  const __m512 n = _mm512_sub_ps(_mm512_fmadd_ps(x, splat(0x1.715476p+0F), magic), magic);
  __m512 r = _mm512_fnmadd_ps(n, splat(0x1.62ep-1F), x);
  r = _mm512_fnmadd_ps(n, splat(0x1.0bfbe8p-15F), r);
  __m512 q = _mm512_fmadd_ps(splat(0x1.6c6a18p-10F), r, splat(0x1.120b1ep-7F));
  q = _mm512_fmadd_ps(q, r, splat(0x1.5555bap-5F));
  q = _mm512_fmadd_ps(q, r, splat(0x1.5554dep-3F));
  q = _mm512_fmadd_ps(q, r, splat(0.5F));
  q = _mm512_fmadd_ps(_mm512_mul_ps(r, r), q, r);
  return _mm512_scalef_ps(_mm512_add_ps(q, splat(1.0F)), n);
}

inline __m512 erf(__m512 a) {
  const __m512 x = _mm512_min_ps(splat(3.93F), _mm512_max_ps(splat(-3.93F), a));
  const __m512 t = _mm512_mul_ps(x, x);
  __m512 p = _mm512_fmadd_ps(splat(0x1.1211a2p-19F), t, splat(0x1.2aa4c4p-12F));
  p = _mm512_fmadd_ps(p, t, splat(0x1.ef66bap-9F));
  p = _mm512_fmadd_ps(p, t, splat(0x1.b07546p-5F));
  p = _mm512_fmadd_ps(p, t, splat(0x1.86b9b8p-3F));
  p = _mm512_fmadd_ps(p, t, splat(0x1.20dd74p+0F));
  __m512 q = _mm512_fmadd_ps(splat(0x1.3ecd2ap-15F), t, splat(0x1.317428p-10F));
  q = _mm512_fmadd_ps(q, t, splat(0x1.eb6facp-7F));
  q = _mm512_fmadd_ps(q, t, splat(0x1.d3ffbcp-4F));
  q = _mm512_fmadd_ps(q, t, splat(0x1.013bf2p-1F));
  q = _mm512_fmadd_ps(q, t, splat(1.0F));
  return _mm512_div_ps(_mm512_mul_ps(x, p), q);
}

/// y += factor * x; n a multiple of 16.
inline void axpy(float factor, const float* x, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += 16)
    _mm512_storeu_ps(y + i, _mm512_fmadd_ps(splat(factor), _mm512_loadu_ps(x + i), _mm512_loadu_ps(y + i)));
}

/// The sum of n numbers, n a multiple of 128: in blocks, so that ten million of them keep their digits.
inline double sum(const float* x, std::int64_t n) {
  double total = 0;
  for (std::int64_t begin = 0; begin < n; begin += 16384) {
    const std::int64_t end = n - begin < 16384 ? n : begin + 16384;
    __m512 s[8] = {};
    for (std::int64_t j = begin; j < end; j += 128)
      for (int k = 0; k < 8; ++k) s[k] = _mm512_add_ps(s[k], _mm512_loadu_ps(x + j + 16 * k));
    for (int k = 0; k < 4; ++k) s[k] = _mm512_add_ps(s[k], s[k + 4]);
    total +=
        static_cast<double>(_mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(s[0], s[1]), _mm512_add_ps(s[2], s[3]))));
  }
  return total;
}

/// One row of gelu(x + bias), by erf; n a multiple of 16.
inline void bias_gelu_row(const float* x, const float* bias, float* y, std::int64_t n) {
  for (std::int64_t j = 0; j < n; j += 16) {
    const __m512 v = _mm512_add_ps(_mm512_loadu_ps(x + j), _mm512_loadu_ps(bias + j));
    const __m512 h = _mm512_mul_ps(v, splat(0.5F));
    _mm512_storeu_ps(y + j, _mm512_fmadd_ps(h, erf(_mm512_mul_ps(v, splat(0.70710678F))), h));
  }
}

/// y = tanh(a * b + c) * d - 0.5 * a, of n elements among `of`.
inline void chain(const float* a, const float* b, const float* c, const float* d, float* y, std::int64_t n,
                  std::int64_t of = 0) {
  const bool streams = (of > n ? of : n) * 4 >= (8 << 20) && reinterpret_cast<std::uintptr_t>(y) % 64 == 0;
  const auto one = [&](__m512 va, __m512 vb, __m512 vc, __m512 vd) {
    const __m512 h = tanh(_mm512_fmadd_ps(va, vb, vc));
    return _mm512_fmsub_ps(h, vd, _mm512_mul_ps(splat(0.5F), va));
  };
  std::int64_t i = 0;
  if (streams)
    for (; i + 16 <= n; i += 16)
      _mm512_stream_ps(
          y + i, one(_mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i), _mm512_loadu_ps(c + i), _mm512_loadu_ps(d + i)));
  else
    for (; i + 16 <= n; i += 16)
      _mm512_storeu_ps(
          y + i, one(_mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i), _mm512_loadu_ps(c + i), _mm512_loadu_ps(d + i)));
  if (i < n) {
    const auto m = static_cast<__mmask16>((1U << (n - i)) - 1);
    _mm512_mask_storeu_ps(y + i, m,
                          one(_mm512_maskz_loadu_ps(m, a + i), _mm512_maskz_loadu_ps(m, b + i),
                              _mm512_maskz_loadu_ps(m, c + i), _mm512_maskz_loadu_ps(m, d + i)));
  }
  if (streams) _mm_sfence();
}

/// One row of softmax; n a multiple of 64.
inline void softmax_row(const float* x, float* y, std::int64_t n) {
  __m512 m[4] = {splat(-1e38F), splat(-1e38F), splat(-1e38F), splat(-1e38F)};
  for (std::int64_t j = 0; j < n; j += 64)
    for (int k = 0; k < 4; ++k) m[k] = _mm512_max_ps(m[k], _mm512_loadu_ps(x + j + 16 * k));
  const __m512 top = splat(_mm512_reduce_max_ps(_mm512_max_ps(_mm512_max_ps(m[0], m[1]), _mm512_max_ps(m[2], m[3]))));
  __m512 s[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
  for (std::int64_t j = 0; j < n; j += 32)
    for (int k = 0; k < 2; ++k) {
      const __m512 e = exp(_mm512_sub_ps(_mm512_loadu_ps(x + j + 16 * k), top));
      _mm512_storeu_ps(y + j + 16 * k, e);
      s[k] = _mm512_add_ps(s[k], e);
    }
  const __m512 factor = splat(1.0F / _mm512_reduce_add_ps(_mm512_add_ps(s[0], s[1])));
  for (std::int64_t j = 0; j < n; j += 16) _mm512_storeu_ps(y + j, _mm512_mul_ps(_mm512_loadu_ps(y + j), factor));
}

/// One row of layer norm with scale and shift; n a multiple of 64.
inline void layer_norm_row(const float* x, const float* scale, const float* shift, float* y, std::int64_t n) {
  __m512 s[4] = {};
  for (std::int64_t j = 0; j < n; j += 64)
    for (int k = 0; k < 4; ++k) s[k] = _mm512_add_ps(s[k], _mm512_loadu_ps(x + j + 16 * k));
  const float inverse = 1.0F / static_cast<float>(n);
  const float mean =
      _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(s[0], s[1]), _mm512_add_ps(s[2], s[3]))) * inverse;
  const __m512 m = splat(mean);
  __m512 v[4] = {};
  for (std::int64_t j = 0; j < n; j += 64)
    for (int k = 0; k < 4; ++k) {
      const __m512 d = _mm512_sub_ps(_mm512_loadu_ps(x + j + 16 * k), m);
      v[k] = _mm512_fmadd_ps(d, d, v[k]);
    }
  const float variance =
      _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(v[0], v[1]), _mm512_add_ps(v[2], v[3]))) * inverse;
  const __m512 r = splat(1.0F / __builtin_sqrtf(variance + 1e-5F));
  for (std::int64_t j = 0; j < n; j += 16) {
    const __m512 d = _mm512_mul_ps(_mm512_sub_ps(_mm512_loadu_ps(x + j), m), r);
    _mm512_storeu_ps(y + j, _mm512_fmadd_ps(d, _mm512_loadu_ps(scale + j), _mm512_loadu_ps(shift + j)));
  }
}

} // namespace ceiling
