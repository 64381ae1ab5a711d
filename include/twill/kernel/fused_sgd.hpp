#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Fused SGD updates of a matrix whose gradient is a product of thin factors: each element's sum stays in a register and
// changes the weight at once, so the gradient is neither written nor read. The sums have the order of the small
// product, and the update rounds like the rule's elementwise program. Read next: compile/run/launch.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/apply_pack.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>
#include <twill/kernel/small_product.hpp>

#include <cmath>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// W -= rate * (A' B + decay * W) for a dense m x n matrix W, a dense k x m matrix A and a dense k x n matrix B.
template <class T> struct FusedSgd {
  const T* left = nullptr;  ///< A
  const T* right = nullptr; ///< B
  T* weight = nullptr;      ///< W
  std::int64_t m = 0;       ///< rows of W
  std::int64_t n = 0;       ///< columns of W
  std::int64_t k = 0;       ///< rows of both factors
  T rate{};                 ///< of the rule
  T decay{};                ///< of the weights
};

namespace vector_detail {

/// w - rate * (sum + decay * w), each operation rounded by itself.
template <class V>
[[nodiscard]] TWILL_INLINE V descended(const V& sum, const V& weight, const V& rate, const V& decay) {
  const V gradient = kernel::apply<Primitive::add>(sum, kernel::apply<Primitive::multiply>(decay, weight));
  return kernel::apply<Primitive::subtract>(weight, kernel::apply<Primitive::multiply>(rate, gradient));
}

/// R rows of C packs of W columns, from row i and column j on.
template <int R, int W, int C, class T>
TWILL_INLINE void sgd_tile(const FusedSgd<T>& d, std::int64_t i, std::int64_t j) {
  using V = Pack<T, W>;
  V sum[R][C];
  for (int r = 0; r < R; ++r)
    for (int q = 0; q < C; ++q) sum[r][q] = V{T{0}};
  const T* a = d.left + i;
  const T* b = d.right + j;
  for (std::int64_t p = 0; p < d.k; ++p, a += d.m, b += d.n) {
    V right[C];
    for (int q = 0; q < C; ++q) right[q] = load<T, W>(b + q * W);
    for (int r = 0; r < R; ++r)
      for (int q = 0; q < C; ++q) sum[r][q] = kernel::fma(V{a[r]}, right[q], sum[r][q]);
  }
  for (int r = 0; r < R; ++r)
    for (int q = 0; q < C; ++q) {
      T* const w = d.weight + (i + r) * d.n + j + q * W;
      store(w, descended(sum[r][q], load<T, W>(w), V{d.rate}, V{d.decay}));
    }
}

template <int R, int W, class T>
TWILL_INLINE void sgd_panel(const FusedSgd<T>& d, std::int64_t i, std::int64_t j, std::int64_t end) {
  if constexpr (W == 1) {
    for (; j < end; ++j)
      for (int r = 0; r < R; ++r) {
        T sum{0};
        for (std::int64_t p = 0; p < d.k; ++p)
          sum = kernel::apply<Primitive::fma>(d.left[p * d.m + i + r], d.right[p * d.n + j], sum);
        T& w = d.weight[(i + r) * d.n + j];
        w = descended(sum, w, d.rate, d.decay);
      }
  } else {
    if constexpr (W * static_cast<int>(sizeof(T)) == vector_bytes) {
      constexpr int many = R == 1 || vector_bytes > 32 ? 4 : 2; // as many sums as registers hold
      for (; j + many * W <= end; j += many * W) sgd_tile<R, W, many>(d, i, j);
    }
    for (; j + W <= end; j += W) sgd_tile<R, W, 1>(d, i, j);
    if (j < end) sgd_panel<R, W / 2>(d, i, j, end);
  }
}

/// Whether a row of W whose factors are all zero stays as it is: nothing decays, and no factor is infinite or NaN.
template <class T> [[nodiscard]] bool keeps_rows_of_zeros(const FusedSgd<T>& d) {
  if (d.k != 1 || d.decay != T{0} || !(d.rate > T{0}) || !std::isfinite(d.rate)) return false;
  T all{0};
  for (std::int64_t j = 0; j < d.n; ++j) all += d.right[j] * T{0}; // NaN as soon as one is not finite
  return all == T{0};
}

} // namespace vector_detail

/// Updates `count` rows of W from row `first` on, in the calling thread. A row without a gradient, because one row of
/// factors has a zero for it, is not changed where nothing decays: an infinite weight stays infinite there, where a
/// decay of zero times infinity would make it NaN.
template <class T>
[[gnu::noinline]] void update_weight(const FusedSgd<T>& given, std::int64_t first, std::int64_t count) {
  FusedSgd<T> d = given;                     // copies stay in registers
  if (d.k == 0) d.left = d.right = d.weight; // nothing is read, and null pointers have no neighbours
  constexpr int width = vector_bytes / static_cast<int>(sizeof(T));
  const std::int64_t end = first + count;
  if (d.k == 1) { // memory decides: whole rows, one after the other
    const bool keeps_rows = vector_detail::keeps_rows_of_zeros(d);
    for (std::int64_t i = first; i < end; ++i)
      if (!keeps_rows || d.left[i] != T{0}) vector_detail::sgd_panel<1, width>(d, i, 0, d.n);
    return;
  }
  std::int64_t i = first;
  for (; i + 4 <= end; i += 4) vector_detail::sgd_panel<4, width>(d, i, 0, d.n);
  for (; i < end; ++i) vector_detail::sgd_panel<1, width>(d, i, 0, d.n);
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
