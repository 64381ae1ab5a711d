#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Matrix product split among a team: each thread computes a block of C with a library that stays in that thread. The
// caller chooses the library. Read next: kernel/product.hpp.

#include <twill/device/cpu/blas.hpp>
#include <twill/device/cpu/onednn.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>

namespace twill { inline namespace v0 { namespace cpu {

enum class Library : std::uint8_t { blas, onednn };

/// Multiplications below which waking a team's threads costs more than they save.
inline constexpr std::int64_t multiply_adds_worth_sharing = 64 * 64 * 64;

/// Calls `f(row, rows, column, columns)` for the blocks of an m x n result that sums over k; each thread of the team
/// has one block. The team splits the larger of m and n.
template <class Team, class F>
void share_product(const Team& team, std::int64_t m, std::int64_t n, std::int64_t k, const F& f) {
  if (team.size() == 1 || m * n * k < multiply_adds_worth_sharing) return f(std::int64_t{0}, m, std::int64_t{0}, n);
  constexpr std::int64_t granule = 16; // whole vectors and register tiles
  team.parallel([&](int rank, int size) {
    const bool by_rows = m >= n;
    const std::int64_t granules = ((by_rows ? m : n) + granule - 1) / granule;
    const std::int64_t first = granules * rank / size * granule;
    const std::int64_t count = std::min(by_rows ? m : n, granules * (rank + 1) / size * granule) - first;
    if (count <= 0) return;
    if (by_rows)
      f(first, count, std::int64_t{0}, n);
    else
      f(std::int64_t{0}, m, first, count);
  });
}

/// C = alpha * op(A) * op(B) + beta * C, where op(A) is m x k, op(B) is k x n, and `ld` is the distance between stored
/// rows. C is not read when beta is 0.
template <class Team, class T>
void gemm(const Team& team, Library library, bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n,
          std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c,
          std::int64_t ldc) {
  share_product(team, m, n, k, [=](std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
    const T* const left = a + (transpose_a ? row : row * lda);
    const T* const right = b + (transpose_b ? column * ldb : column);
    T* const to = c + row * ldc + column;
    if constexpr (std::same_as<T, float>)
      if (library == Library::onednn)
        return detail::gemm_by_onednn(transpose_a, transpose_b, rows, columns, k, alpha, left, lda, right, ldb, beta,
                                      to, ldc);
    detail::gemm_by_cblas(transpose_a, transpose_b, rows, columns, k, alpha, left, lda, right, ldb, beta, to, ldc);
  });
}

}}} // namespace twill::v0::cpu
