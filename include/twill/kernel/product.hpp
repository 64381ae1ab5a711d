#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Matrix products of host devices: the small product or a library, chosen by measurements for that class of shape.
// Element types that BLAS does not have are summed in float (16-bit types) or in their own type (integers). Libraries
// pack operands into memory of their own, which oneDNN and BLAS manage; where it is missing, another way is taken.
// Read next: kernel/small_product.hpp, device/cpu/gemm.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/device/cpu/gemm.hpp>
#include <twill/device/cpu/onednn_matmul.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/kernel/apply.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/scratch.hpp>
#include <twill/kernel/small_product.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// Choice of the product for a shape: the small product or a library. The rules come from a grid of 1,446 shapes
/// (bench/kernel/product_grid.cpp; numbers in bench/results/latest/product_grid.md): in one thread, float32, AVX-512.
/// Over it the choice takes 2% (transposed right side: 5%) longer than the fastest of all on average, and as long in
/// the median. For squares of 48 and more oneDNN 2.6 is 1.3 to 2.1 times as fast as OpenBLAS 0.3.21; below, a library
/// call costs more than the small product. Narrower vectors lower the limits.
enum class ProductBy : std::uint8_t { small_product, blas, onednn };

/// Whether the small product beats oneDNN's sgemm for op(A) m x k times op(B) k x n.
[[nodiscard]] constexpr bool is_small_for_onednn(bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
                                                 std::int64_t work) {
  if (transpose_b) {
    if (k < 16) return (k <= 8 && m > 2) || work <= 4096;
    if (k < 48) return work <= 1024; // rows of one or two packs: sums across lanes cost more than the products
    return work <= 10'240 || m == 1 || (k >= 256 && (n <= 4 || m * n <= 128));
  }
  if (k <= 2 || (k <= 4 && n >= 1024)) return true; // memory bandwidth decides
  return m * k <= 1024 && work <= (n * k <= 4096 ? 32'000 : 16'384);
}

/// Whether the small product beats CBLAS. OpenBLAS packs first for any shape, so it gets few rows only if long.
[[nodiscard]] constexpr bool is_small_for_blas(bool transpose_b, std::int64_t m, std::int64_t k, std::int64_t work) {
  if (m <= 2) return true;
  if (transpose_b) {
    if (k < 16) return k <= 8 || work <= 8192;
    return work <= (k < 48 ? 1024 : 16'384);
  }
  return k <= 2 || (m * k <= 4096 && work <= 60'000);
}

/// The fastest installed product for this shape.
template <std::floating_point T>
[[nodiscard]] constexpr ProductBy choose_product(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n,
                                                 std::int64_t k) {
  constexpr std::int64_t lanes = vector_bytes / static_cast<int>(sizeof(T));
  const std::int64_t work = m * n * k * (16 / lanes);
  if (transpose_a && transpose_b) // slow in all of them: B would be transposed in pieces
    return work <= 1024                                ? ProductBy::small_product
           : cpu::has_onednn && std::same_as<T, float> ? ProductBy::onednn
                                                       : ProductBy::blas;
  if constexpr (cpu::has_onednn && std::same_as<T, float>) {
    if (is_small_for_onednn(transpose_b, m, n, k, work)) return ProductBy::small_product;
    const bool is_for_blas = cpu::has_blas && transpose_b && k < 48 && work <= 16'000;
    return is_for_blas ? ProductBy::blas : ProductBy::onednn;
  }
  return is_small_for_blas(transpose_b, m, k, work) ? ProductBy::small_product : ProductBy::blas;
}

inline constexpr std::int64_t worth_a_bfloat16_plan = 32 * 32 * 32; ///< multiplications

/// C = alpha * op(A) * op(B) + beta * C, where op transposes or not; op(A) is m x k, op(B) is k x n, row-major with
/// `ld` elements from row to row. C is not read when beta is 0.
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
    if constexpr (std::same_as<T, bfloat16>)
      if (alpha == 1.0F && beta == 0.0F && m * n * k >= worth_a_bfloat16_plan &&
          cpu::bfloat16_product(team, transpose_a, transpose_b, m, n, k, a, lda, b, ldb, c, ldc))
        return;
    float* const left = Scratch::of_thread<float, ScratchSlot::widened>(m * k + k * n + m * n);
    float* const right = left + m * k;
    float* const sum = right + k * n;
    const auto widen = [&](const T* from, std::int64_t rows, std::int64_t columns, std::int64_t stride, float* to) {
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) to[i * columns + j] = float{from[i * stride + j]};
    };
    transpose_a ? widen(a, k, m, lda, left) : widen(a, m, k, lda, left);
    transpose_b ? widen(b, n, k, ldb, right) : widen(b, k, n, ldb, right);
    if (beta != 0.0F) widen(c, m, n, ldc, sum);
    product<float>(team, transpose_a, transpose_b, m, n, k, alpha, left, transpose_a ? m : k, right,
                   transpose_b ? k : n, beta, sum, n);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) c[i * ldc + j] = T{sum[i * n + j]};
  } else if constexpr (ComplexScalar<T>) {
    cpu::gemm(team, cpu::Library::blas, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
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

/// The small launch of such a product with alpha 1, beta 0 and a dense result; one without `run` where it is not small.
/// The left factor is operand `left`, see `resolved_product`.
template <Scalar T>
[[nodiscard]] SmallLaunch resolve_product(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n,
                                          std::int64_t k, std::int64_t lda, std::int64_t ldb, int left = 0) {
  if constexpr (std::same_as<T, float> || std::same_as<T, double>) {
    if (m == 0 || n == 0 || k == 0) return {};
    if (n == 1 && m > 1) {
      const bool is_dense = transpose_b || ldb == 1;
      return resolve_product<T>(!is_dense, !transpose_a, 1, m, k, is_dense ? k : ldb, lda, 1 - left);
    }
    if (choose_product<T>(transpose_a, transpose_b, m, n, k) == ProductBy::small_product)
      return resolved_product<T>(transpose_a, transpose_b, m, n, k, lda, ldb, left);
  }
  return {};
}

/// Takes the working memory of such a product with alpha 1 and beta 0, makes libraries' plans, starts the threads.
template <Scalar T, class Team>
TWILL_COLD void reserve_product(const Team& team, bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n,
                                std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc) {
  if constexpr (std::same_as<T, float> || std::same_as<T, double>) {
    if (n == 1 && m > 1 && ldc == 1)
      reserve_product<T>(team, !(transpose_b || ldb == 1), !transpose_a, 1, m, k, ldb, lda, m);
    else if (choose_product<T>(transpose_a, transpose_b, m, n, k) != ProductBy::small_product)
      cpu::share_product(team, m, n, k, [](auto...) {});
  } else if constexpr (NarrowFloat<T>) {
    if constexpr (std::same_as<T, bfloat16>)
      if (m * n * k >= worth_a_bfloat16_plan &&
          cpu::plan_bfloat16_product(team, transpose_a, transpose_b, m, n, k, lda, ldb, ldc))
        return;
    Scratch::reserve<float, ScratchSlot::widened>(m * k + k * n + m * n);
    reserve_product<float>(team, transpose_a, transpose_b, m, n, k, transpose_a ? m : k, transpose_b ? k : n, n);
  }
}

}}}} // namespace twill::v0::kernel::TWILL_ISA

#if !TWILL_HEADER_ONLY
namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {
TWILL_INSTANCE template void product(const Team&, bool, bool, std::int64_t, std::int64_t, std::int64_t, float,
                                     const float*, std::int64_t, const float*, std::int64_t, float, float*,
                                     std::int64_t);
TWILL_INSTANCE template void product(const Team&, bool, bool, std::int64_t, std::int64_t, std::int64_t, double,
                                     const double*, std::int64_t, const double*, std::int64_t, double, double*,
                                     std::int64_t);
TWILL_INSTANCE template void product(const Team&, bool, bool, std::int64_t, std::int64_t, std::int64_t, float,
                                     const half*, std::int64_t, const half*, std::int64_t, float, half*, std::int64_t);
TWILL_INSTANCE template void product(const Team&, bool, bool, std::int64_t, std::int64_t, std::int64_t, float,
                                     const bfloat16*, std::int64_t, const bfloat16*, std::int64_t, float, bfloat16*,
                                     std::int64_t);
}}}} // namespace twill::v0::kernel::TWILL_ISA
#endif
