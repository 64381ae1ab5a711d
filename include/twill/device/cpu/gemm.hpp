#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// One matrix product shared out among a team: each thread computes a block of C with a library that stays in that thread.
// Which library is the caller's choice. Read next: kernel/product.hpp.

#include <twill/device/cpu/blas.hpp>
#include <twill/device/cpu/onednn.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>

namespace twill::inline v0::cpu {

enum class Library : std::uint8_t { blas, onednn };

/// C = alpha * op(A) * op(B) + beta * C, where op(A) is m x k, op(B) is k x n, and `ld` is the distance between stored rows.
/// C is not read when beta is 0. The team splits the larger of m and n.
template <class Team, class T>
void gemm(const Team& team, Library library, bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n,
          std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c,
          std::int64_t ldc) {
  const auto block = [=](std::int64_t rows, std::int64_t columns, const T* left, const T* right, T* to) {
    if constexpr (std::same_as<T, float>)
      if (library == Library::onednn)
        return detail::gemm_by_onednn(transpose_a, transpose_b, rows, columns, k, alpha, left, lda, right, ldb, beta,
                                      to, ldc);
    detail::gemm_by_cblas(transpose_a, transpose_b, rows, columns, k, alpha, left, lda, right, ldb, beta, to, ldc);
  };
  constexpr std::int64_t worth_sharing = 64 * 64 * 64; // multiplications; below, waking the team costs more
  if (team.size() == 1 || m * n * k < worth_sharing) {
    block(m, n, a, b, c);
    return;
  }
  constexpr std::int64_t granule = 16; // whole vectors and register tiles
  team.parallel([&](int rank, int size) {
    const bool by_rows = m >= n;
    const std::int64_t granules = ((by_rows ? m : n) + granule - 1) / granule;
    const std::int64_t first = granules * rank / size * granule;
    const std::int64_t count = std::min(by_rows ? m : n, granules * (rank + 1) / size * granule) - first;
    if (count <= 0) return;
    if (by_rows)
      block(count, n, a + (transpose_a ? first : first * lda), b, c + first * ldc);
    else
      block(m, count, a, b + (transpose_b ? first * ldb : first), c + first);
  });
}

} // namespace twill::inline v0::cpu
