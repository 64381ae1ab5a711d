#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Hand-written code that the benchmarks of the kernels are measured against: what a person would write for each workload
// alone, with inlined polynomials and streaming stores for outputs that no cache keeps.

#include "bench/kernel/registers.hpp"

#include <cstdint>

namespace ceiling {

inline Register tanh(Register a) {
  const Register x = min(splat(9.02F), max(splat(-9.02F), a));
  const Register t = x * x;
  Register p = fma(splat(0x1.cbe16cp-27F), t, splat(0x1.5a362ap-16F));
  p = fma(p, t, splat(0x1.ca6b32p-9F));
  p = fma(p, t, splat(0x1.1213d2p-3F));
  p = fma(p, t, splat(1.0F));
  Register q = fma(splat(0x1.a23c58p-21F), t, splat(0x1.58d374p-12F));
  q = fma(q, t, splat(0x1.a816e0p-6F));
  q = fma(q, t, splat(0x1.de5f36p-2F));
  q = fma(q, t, splat(1.0F));
  return x * p / q;
}

/// Without the special cases: arguments of a softmax are at most 0.
inline Register exp(Register a) {
  const Register x = max(splat(0.693F * least_exponent), a);
  const Register magic = splat(0x1.8p23F);
  const Register n = fma(x, splat(0x1.715476p+0F), magic) - magic;
  Register r = fnma(n, splat(0x1.62ep-1F), x);
  r = fnma(n, splat(0x1.0bfbe8p-15F), r);
  Register q = fma(splat(0x1.6c6a18p-10F), r, splat(0x1.120b1ep-7F));
  q = fma(q, r, splat(0x1.5555bap-5F));
  q = fma(q, r, splat(0x1.5554dep-3F));
  q = fma(q, r, splat(0.5F));
  q = fma(r * r, q, r);
  return scale(q + splat(1.0F), n);
}

inline Register erf(Register a) {
  const Register x = min(splat(3.93F), max(splat(-3.93F), a));
  const Register t = x * x;
  Register p = fma(splat(0x1.1211a2p-19F), t, splat(0x1.2aa4c4p-12F));
  p = fma(p, t, splat(0x1.ef66bap-9F));
  p = fma(p, t, splat(0x1.b07546p-5F));
  p = fma(p, t, splat(0x1.86b9b8p-3F));
  p = fma(p, t, splat(0x1.20dd74p+0F));
  Register q = fma(splat(0x1.3ecd2ap-15F), t, splat(0x1.317428p-10F));
  q = fma(q, t, splat(0x1.eb6facp-7F));
  q = fma(q, t, splat(0x1.d3ffbcp-4F));
  q = fma(q, t, splat(0x1.013bf2p-1F));
  q = fma(q, t, splat(1.0F));
  return x * p / q;
}

/// y += factor * x; n a multiple of 16.
inline void axpy(float factor, const float* x, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += width) store(y + i, fma(splat(factor), load(x + i), load(y + i)));
}

/// The sum of n numbers, n a multiple of 128: in blocks, so that ten million of them keep their digits.
inline double sum(const float* x, std::int64_t n) {
  double all = 0;
  for (std::int64_t begin = 0; begin < n; begin += 16384) {
    const std::int64_t end = n - begin < 16384 ? n : begin + 16384;
    Register s[8] = {};
    for (std::int64_t j = begin; j < end; j += 8 * width)
      for (int k = 0; k < 8; ++k) s[k] = s[k] + load(x + j + width * k);
    for (int k = 0; k < 4; ++k) s[k] = s[k] + s[k + 4];
    all += static_cast<double>(total((s[0] + s[1]) + (s[2] + s[3])));
  }
  return all;
}

/// One row of gelu(x + bias), by erf; n a multiple of 16.
inline void bias_gelu_row(const float* x, const float* bias, float* y, std::int64_t n) {
  for (std::int64_t j = 0; j < n; j += width) {
    const Register v = load(x + j) + load(bias + j);
    const Register h = v * splat(0.5F);
    store(y + j, fma(h, erf(v * splat(0.70710678F)), h));
  }
}

/// y = tanh(a * b + c) * d - 0.5 * a, of n elements among `of`.
inline void chain(const float* a, const float* b, const float* c, const float* d, float* y, std::int64_t n,
                  std::int64_t of = 0) {
  const bool streams = (of > n ? of : n) * 4 >= (8 << 20) && reinterpret_cast<std::uintptr_t>(y) % 64 == 0;
  const auto one = [&](Register va, Register vb, Register vc, Register vd) {
    const Register h = tanh(fma(va, vb, vc));
    return fms(h, vd, splat(0.5F) * va);
  };
  std::int64_t i = 0;
  if (streams)
    for (; i + width <= n; i += width) stream(y + i, one(load(a + i), load(b + i), load(c + i), load(d + i)));
  else
    for (; i + width <= n; i += width) store(y + i, one(load(a + i), load(b + i), load(c + i), load(d + i)));
  if (const std::int64_t rest = n - i; rest > 0)
    store_first(
        y + i, rest,
        one(load_first(a + i, rest), load_first(b + i, rest), load_first(c + i, rest), load_first(d + i, rest)));
  if (streams) _mm_sfence();
}

/// One row of softmax; n a multiple of 64.
inline void softmax_row(const float* x, float* y, std::int64_t n) {
  Register m[4] = {splat(-1e38F), splat(-1e38F), splat(-1e38F), splat(-1e38F)};
  for (std::int64_t j = 0; j < n; j += 4 * width)
    for (int k = 0; k < 4; ++k) m[k] = max(m[k], load(x + j + width * k));
  const Register top = splat(largest(max(max(m[0], m[1]), max(m[2], m[3]))));
  Register s[2] = {Register{}, Register{}};
  for (std::int64_t j = 0; j < n; j += 2 * width)
    for (int k = 0; k < 2; ++k) {
      const Register e = exp(load(x + j + width * k) - top);
      store(y + j + width * k, e);
      s[k] = s[k] + e;
    }
  const Register factor = splat(1.0F / total(s[0] + s[1]));
  for (std::int64_t j = 0; j < n; j += width) store(y + j, load(y + j) * factor);
}

/// One row of layer norm with scale and shift; n a multiple of 64.
inline void layer_norm_row(const float* x, const float* scale, const float* shift, float* y, std::int64_t n) {
  Register s[4] = {};
  for (std::int64_t j = 0; j < n; j += 4 * width)
    for (int k = 0; k < 4; ++k) s[k] = s[k] + load(x + j + width * k);
  const float inverse = 1.0F / static_cast<float>(n);
  const float mean = total((s[0] + s[1]) + (s[2] + s[3])) * inverse;
  const Register m = splat(mean);
  Register v[4] = {};
  for (std::int64_t j = 0; j < n; j += 4 * width)
    for (int k = 0; k < 4; ++k) {
      const Register d = load(x + j + width * k) - m;
      v[k] = fma(d, d, v[k]);
    }
  const float variance = total((v[0] + v[1]) + (v[2] + v[3])) * inverse;
  const Register r = splat(1.0F / __builtin_sqrtf(variance + 1e-5F));
  for (std::int64_t j = 0; j < n; j += width) {
    const Register d = (load(x + j) - m) * r;
    store(y + j, fma(d, load(scale + j), load(shift + j)));
  }
}

} // namespace ceiling
