#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The matrix product of host devices: picks the small product or a library by what was measured for that class of
// shape. Element types that BLAS does not know are summed in float (16-bit types) or in their own type (integers).
// Read next: kernel/product_choice.hpp, kernel/small_product.hpp, device/cpu/gemm.hpp.

#include <twill/core/dtype.hpp>
#include <twill/device/cpu/gemm.hpp>
#include <twill/device/cpu/onednn_matmul.hpp>
#include <twill/kernel/apply.hpp>
#include <twill/kernel/product_choice.hpp>
#include <twill/kernel/small_product.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <vector>

namespace twill::inline v0::kernel::inline TWILL_ISA {

/// C = alpha * op(A) * op(B) + beta * C, where op transposes or not; op(A) is m x k, op(B) is k x n, row-major with `ld`
/// elements from row to row. C is not read when beta is 0.
template <Scalar T, class Team>
void product(const Team& team, bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
             compute_t<T> alpha, const T* a, std::int64_t lda, const T* b, std::int64_t ldb, compute_t<T> beta, T* c,
             std::int64_t ldc) {
  if constexpr (std::same_as<T, float> || std::same_as<T, double>) {
    if (n == 1 && m > 1 && ldc == 1) { // as one row, so that rows of A are read whole
      const bool is_dense = transpose_b || ldb == 1;
      product<T>(team, !is_dense, !transpose_a, 1, m, k, alpha, b, is_dense ? std::max<std::int64_t>(k, 1) : ldb, a,
                 lda, beta, c, m);
      return;
    }
    const ProductBy choice = choose_product<T>(transpose_a, transpose_b, m, n, k);
    if (choice == ProductBy::small_product) [[likely]]
      small_product<T>(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    else
      cpu::gemm(team, choice == ProductBy::onednn ? cpu::Library::onednn : cpu::Library::blas, transpose_a, transpose_b,
                m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  } else if constexpr (NarrowFloat<T>) {
    if constexpr (std::same_as<T, bfloat16>) {
      constexpr std::int64_t worth_a_plan = 32 * 32 * 32; // multiplications
      if (alpha == 1.0F && beta == 0.0F && m * n * k >= worth_a_plan &&
          cpu::bfloat16_product(team, transpose_a, transpose_b, m, n, k, a, lda, b, ldb, c, ldc))
        return;
    }
    const auto widened = [](const T* from, std::int64_t rows, std::int64_t columns, std::int64_t stride) {
      std::vector<float> to(static_cast<std::size_t>(rows * columns));
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
          to[static_cast<std::size_t>(i * columns + j)] = float{from[i * stride + j]};
      return to;
    };
    const auto left = transpose_a ? widened(a, k, m, lda) : widened(a, m, k, lda);
    const auto right = transpose_b ? widened(b, n, k, ldb) : widened(b, k, n, ldb);
    std::vector<float> sum = beta == 0.0F ? std::vector<float>(static_cast<std::size_t>(m * n)) : widened(c, m, n, ldc);
    product<float>(team, transpose_a, transpose_b, m, n, k, alpha, left.data(), transpose_a ? m : k, right.data(),
                   transpose_b ? k : n, beta, sum.data(), n);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) c[i * ldc + j] = T{sum[static_cast<std::size_t>(i * n + j)]};
  } else {
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        T sum{};
        for (std::int64_t p = 0; p < k; ++p)
          sum = kernel::combine<Reduction::sum>(
              sum, kernel::apply<Primitive::multiply>(transpose_a ? a[p * lda + i] : a[i * lda + p],
                                                      transpose_b ? b[j * ldb + p] : b[p * ldb + j]));
        const T scaled = kernel::apply<Primitive::multiply>(alpha, sum);
        c[i * ldc + j] =
            beta == T{}
                ? scaled
                : kernel::combine<Reduction::sum>(scaled, kernel::apply<Primitive::multiply>(beta, c[i * ldc + j]));
      }
  }
}

} // namespace twill::inline v0::kernel::inline TWILL_ISA
