#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Choice of the matrix product for a shape: twill's small product or a library. The rules come from a grid of 1,446
// shapes (bench/kernel/product_grid.cpp; numbers in bench/results/latest/product_grid.md): in one thread, float32,
// AVX-512. Over it the choice takes 2% (transposed right side: 5%) longer than the fastest of all on average, and as
// long in the median. For squares of 48 and more oneDNN 2.6 is 1.3 to 2.1 times as fast as OpenBLAS 0.3.21; below, a
// library call costs more than the small product. Narrower vectors lower the limits. Read next: kernel/product.hpp.

#include <twill/core/config.hpp>
#include <twill/device/cpu/gemm.hpp>
#include <twill/kernel/native.hpp>

#include <concepts>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

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

}}}} // namespace twill::v0::kernel::TWILL_ISA
