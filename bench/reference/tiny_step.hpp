#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A training step of a 2-8-8-1 network with tanh, mean squared error and plain SGD on four rows, by hand: two rows of a
// hidden layer share a register of 16 floats, nothing but weights goes through memory.

#include "bench/kernel/ceiling.hpp"

#include <cstddef>
#include <cstring>
#include <vector>

namespace reference {

class TinyStep {
public:
  static constexpr std::size_t weights = 2 * 8 + 8 + 8 * 8 + 8 + 8 + 1;

  /// Weights in the order of layers, each a matrix (outputs x inputs) and a bias.
  explicit TinyStep(const std::vector<float>& from) {
    const float* at = from.data();
    for (int j = 0; j < 8; ++j)
      for (int i = 0; i < 2; ++i) first_[i][j] = *at++;
    std::memcpy(first_bias_, at, sizeof first_bias_);
    at += 8;
    for (int j = 0; j < 8; ++j)
      for (int i = 0; i < 8; ++i) second_turned_[i][j] = second_[j][i] = *at++;
    std::memcpy(second_bias_, at, sizeof second_bias_);
    at += 8;
    std::memcpy(output_, at, sizeof output_);
    output_bias_ = at[8];
  }

  std::vector<float> values() const {
    std::vector<float> all;
    for (int j = 0; j < 8; ++j)
      for (int i = 0; i < 2; ++i) all.push_back(first_[i][j]);
    all.insert(all.end(), first_bias_, first_bias_ + 8);
    for (const auto& row : second_) all.insert(all.end(), row, row + 8);
    all.insert(all.end(), second_bias_, second_bias_ + 8);
    all.insert(all.end(), output_, output_ + 8);
    all.push_back(output_bias_);
    return all;
  }

  /// Four rows of two inputs and four targets; returns the loss before the update.
  [[gnu::noinline]] float step(const float* x, const float* target, float rate) {
    const __m512 one = ceiling::splat(1.0F);
    const __m512 inputs = _mm512_castps256_ps512(_mm256_loadu_ps(x));
    const __m512 x0[2] = {pair(inputs, 0, 2), pair(inputs, 4, 6)};
    const __m512 x1[2] = {pair(inputs, 1, 3), pair(inputs, 5, 7)};

    // h1 = tanh(x W1' + b1), h2 = tanh(h1 W2' + b2), y = h2 w3 + b3
    __m512 h1[2], h2[2], spread[2][8];
    for (int p = 0; p < 2; ++p) {
      const __m512 z = _mm512_fmadd_ps(x0[p], twice(first_[0]), twice(first_bias_));
      h1[p] = ceiling::tanh(_mm512_fmadd_ps(x1[p], twice(first_[1]), z));
    }
    for (int p = 0; p < 2; ++p) {
      __m512 even = twice(second_bias_), odd = _mm512_setzero_ps();
      for (int k = 0; k < 8; k += 2) {
        spread[p][k] = pair(h1[p], k, k + 8);
        spread[p][k + 1] = pair(h1[p], k + 1, k + 9);
        even = _mm512_fmadd_ps(spread[p][k], twice(second_turned_[k]), even);
        odd = _mm512_fmadd_ps(spread[p][k + 1], twice(second_turned_[k + 1]), odd);
      }
      h2[p] = ceiling::tanh(_mm512_add_ps(even, odd));
    }
    const __m512 w3 = twice(output_);
    const __m512 u = _mm512_mul_ps(h2[0], w3), v = _mm512_mul_ps(h2[1], w3);
    const __m256 quarters = _mm256_hadd_ps(_mm256_hadd_ps(low(u), high(u)), _mm256_hadd_ps(low(v), high(v)));
    const __m128 y = _mm_add_ps(_mm256_castps256_ps128(quarters), _mm256_extractf128_ps(quarters, 1));
    const __m128 d = _mm_sub_ps(_mm_add_ps(y, _mm_set1_ps(output_bias_)), _mm_loadu_ps(target));
    const float loss = sum(_mm_mul_ps(d, d)) * 0.25F;

    // backwards from dy = 2 (y - target) / 4
    const __m512 step_size = ceiling::splat(-rate);
    const __m128 dy = _mm_mul_ps(d, _mm_set1_ps(0.5F));
    const __m512 all = _mm512_castps128_ps512(dy);
    const __m512 dys[2] = {pair(all, 0, 1), pair(all, 2, 3)};
    __m512 dz2[2], dz1[2], turned[2][8];
    for (int p = 0; p < 2; ++p) dz2[p] = _mm512_mul_ps(_mm512_mul_ps(dys[p], w3), _mm512_fnmadd_ps(h2[p], h2[p], one));
    for (int p = 0; p < 2; ++p) {
      __m512 even = _mm512_setzero_ps(), odd = _mm512_setzero_ps();
      for (int j = 0; j < 8; j += 2) {
        turned[p][j] = pair(dz2[p], j, j + 8);
        turned[p][j + 1] = pair(dz2[p], j + 1, j + 9);
        even = _mm512_fmadd_ps(turned[p][j], twice(second_[j]), even);
        odd = _mm512_fmadd_ps(turned[p][j + 1], twice(second_[j + 1]), odd);
      }
      dz1[p] = _mm512_mul_ps(_mm512_add_ps(even, odd), _mm512_fnmadd_ps(h1[p], h1[p], one));
    }

    // w -= rate * gradient, summed over the rows
    const auto update = [&](float* w, __m512 a0, __m512 b0, __m512 a1, __m512 b1) {
      const __m512 g = _mm512_fmadd_ps(a0, b0, _mm512_mul_ps(a1, b1));
      add(w, _mm512_mul_ps(g, step_size));
    };
    update(output_, dys[0], h2[0], dys[1], h2[1]);
    output_bias_ -= rate * sum(dy);
    add(second_bias_, _mm512_mul_ps(_mm512_add_ps(dz2[0], dz2[1]), step_size));
    add(first_bias_, _mm512_mul_ps(_mm512_add_ps(dz1[0], dz1[1]), step_size));
    for (int k = 0; k < 8; ++k) update(second_turned_[k], spread[0][k], dz2[0], spread[1][k], dz2[1]);
    for (int j = 0; j < 8; ++j) update(second_[j], turned[0][j], h1[0], turned[1][j], h1[1]);
    update(first_[0], x0[0], dz1[0], x0[1], dz1[1]);
    update(first_[1], x1[0], dz1[0], x1[1], dz1[1]);
    return loss;
  }

private:
  /// Element a in the lower half, element b in the upper.
  static __m512 pair(__m512 of, int a, int b) {
    return _mm512_permutexvar_ps(_mm512_set_epi32(b, b, b, b, b, b, b, b, a, a, a, a, a, a, a, a), of);
  }
  static __m512 twice(const float* eight) { return _mm512_broadcast_f32x8(_mm256_load_ps(eight)); }
  static __m256 low(__m512 of) { return _mm512_castps512_ps256(of); }
  static __m256 high(__m512 of) { return _mm512_extractf32x8_ps(of, 1); }
  static void add(float* to, __m512 halves) {
    _mm256_store_ps(to, _mm256_add_ps(_mm256_load_ps(to), _mm256_add_ps(low(halves), high(halves))));
  }
  static float sum(__m128 of) {
    const __m128 two = _mm_add_ps(of, _mm_movehl_ps(of, of));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }

  alignas(64) float first_[2][8]; ///< inputs x outputs
  alignas(64) float first_bias_[8];
  alignas(64) float second_[8][8];        ///< outputs x inputs
  alignas(64) float second_turned_[8][8]; ///< the same, turned: cheaper to keep than to make
  alignas(64) float second_bias_[8];
  alignas(64) float output_[8];
  float output_bias_;
};

} // namespace reference
