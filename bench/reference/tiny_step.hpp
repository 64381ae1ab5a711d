#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A training step of a 2-8-8-1 network with tanh, mean squared error and plain SGD on four rows, by hand: a register holds
// one row of a hidden layer, or two where it has 16 floats; nothing but weights goes through memory.

#include "bench/kernel/ceiling.hpp"

#include <cstddef>
#include <cstring>
#include <vector>

namespace reference {

using namespace ceiling;

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
    const Register one = splat(1.0F);
    const Register inputs = of_eight(_mm256_loadu_ps(x));
    Register x0[parts], x1[parts];
    for (int p = 0; p < parts; ++p) {
      x0[p] = of_rows(inputs, 2 * together * p, 2);
      x1[p] = of_rows(inputs, 2 * together * p + 1, 2);
    }

    // h1 = tanh(x W1' + b1), h2 = tanh(h1 W2' + b2), y = h2 w3 + b3
    Register h1[parts], h2[parts], spread[8][parts];
    for (int p = 0; p < parts; ++p) {
      const Register z = fma(x0[p], for_each(first_[0]), for_each(first_bias_));
      h1[p] = ceiling::tanh(fma(x1[p], for_each(first_[1]), z));
    }
    for (int p = 0; p < parts; ++p) {
      Register even = for_each(second_bias_), odd = {};
      for (int k = 0; k < 8; k += 2) {
        spread[k][p] = of_rows(h1[p], k, 8);
        spread[k + 1][p] = of_rows(h1[p], k + 1, 8);
        even = fma(spread[k][p], for_each(second_turned_[k]), even);
        odd = fma(spread[k + 1][p], for_each(second_turned_[k + 1]), odd);
      }
      h2[p] = ceiling::tanh(even + odd);
    }
    const Register w3 = for_each(output_);
    __m256 u[4]; // h2 w3 of each row
    for (int row = 0; row < 4; ++row) u[row] = eight_of(h2[row / together] * w3, row % together);
    const __m256 quarters = _mm256_hadd_ps(_mm256_hadd_ps(u[0], u[1]), _mm256_hadd_ps(u[2], u[3]));
    const __m128 y = _mm_add_ps(_mm256_castps256_ps128(quarters), _mm256_extractf128_ps(quarters, 1));
    const __m128 d = _mm_sub_ps(_mm_add_ps(y, _mm_set1_ps(output_bias_)), _mm_loadu_ps(target));
    const float loss = sum(_mm_mul_ps(d, d)) * 0.25F;

    // backwards from dy = 2 (y - target) / 4
    const Register step_size = splat(-rate);
    const __m128 dy = _mm_mul_ps(d, _mm_set1_ps(0.5F));
    const Register all = of_eight(_mm256_castps128_ps256(dy));
    Register dys[parts], dz2[parts], dz1[parts], turned[8][parts];
    for (int p = 0; p < parts; ++p) {
      dys[p] = of_rows(all, together * p, 1);
      dz2[p] = dys[p] * w3 * fnma(h2[p], h2[p], one);
    }
    for (int p = 0; p < parts; ++p) {
      Register even = {}, odd = {};
      for (int j = 0; j < 8; j += 2) {
        turned[j][p] = of_rows(dz2[p], j, 8);
        turned[j + 1][p] = of_rows(dz2[p], j + 1, 8);
        even = fma(turned[j][p], for_each(second_[j]), even);
        odd = fma(turned[j + 1][p], for_each(second_[j + 1]), odd);
      }
      dz1[p] = (even + odd) * fnma(h1[p], h1[p], one);
    }

    // w -= rate * gradient, summed over the rows
    const auto update = [&](float* w, const Register* a, const Register* b) {
      Register g = a[parts - 1] * b[parts - 1];
      for (int p = parts - 2; p >= 0; --p) g = fma(a[p], b[p], g);
      add(w, g * step_size);
    };
    const auto update_bias = [&](float* w, const Register* gradient) {
      Register g = gradient[0];
      for (int p = 1; p < parts; ++p) g = g + gradient[p];
      add(w, g * step_size);
    };
    update(output_, dys, h2);
    output_bias_ -= rate * sum(dy);
    update_bias(second_bias_, dz2);
    update_bias(first_bias_, dz1);
    for (int k = 0; k < 8; ++k) update(second_turned_[k], spread[k], dz2);
    for (int j = 0; j < 8; ++j) update(second_[j], turned[j], h1);
    update(first_[0], x0, dz1);
    update(first_[1], x1, dz1);
    return loss;
  }

private:
  static constexpr int together = width / 8; ///< rows of a hidden layer in one register
  static constexpr int parts = 4 / together;

#if defined(__AVX512F__) && defined(__AVX512DQ__)
  /// Element `first` in the lower half, the one `step` behind it in the upper.
  static Register of_rows(Register of, int first, int step) {
    const int a = first, b = first + step;
    return _mm512_permutexvar_ps(_mm512_set_epi32(b, b, b, b, b, b, b, b, a, a, a, a, a, a, a, a), of);
  }
  static Register for_each(const float* eight) { return _mm512_broadcast_f32x8(_mm256_load_ps(eight)); }
  static Register of_eight(__m256 eight) { return _mm512_castps256_ps512(eight); } ///< the upper half is anything
  static __m256 eight_of(Register of, int half) {
    return half == 0 ? _mm512_castps512_ps256(of) : _mm512_extractf32x8_ps(of, 1);
  }
  static void add(float* to, Register x) {
    _mm256_store_ps(to, _mm256_load_ps(to) + (eight_of(x, 0) + eight_of(x, 1)));
  }
#else
  /// One element everywhere.
  static Register of_rows(Register of, int first, int) {
    return _mm256_permutevar8x32_ps(of, _mm256_set1_epi32(first));
  }
  static Register for_each(const float* eight) { return _mm256_load_ps(eight); }
  static Register of_eight(__m256 eight) { return eight; }
  static __m256 eight_of(Register of, int) { return of; }
  static void add(float* to, Register x) { _mm256_store_ps(to, _mm256_load_ps(to) + x); }
#endif
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
