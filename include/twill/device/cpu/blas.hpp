#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Matrix products of row-major matrices in raw pointers, over CBLAS if CMake found it (TWILL_WITH_CBLAS) and over plain
// loops otherwise. The library works only in the calling thread; a team splits the product itself, in blocks that do
// not depend on other running work. Read next: device/cpu/gemm.hpp.

#include <twill/core/config.hpp>

#if defined(TWILL_WITH_CBLAS)
#include <twill/device/cpu/library_threads.hpp>
#endif

#include <algorithm>
#include <cstdint>

namespace twill { inline namespace v0 { namespace cpu {

#if defined(TWILL_WITH_CBLAS)
inline constexpr bool has_blas = true;
#else
inline constexpr bool has_blas = false;
#endif

#if defined(TWILL_WITH_CBLAS)
// The few functions needed, declared here under separate names: OpenBLAS's header defines a global `bfloat16`.
namespace blas {
enum : int { row_major = 101, no_transpose = 111, transpose = 112 };
extern "C" {
void twill_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float* a, int lda,
                 const float* b, int ldb, float beta, float* c, int ldc) __asm__("cblas_sgemm");
void twill_dgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha, const double* a,
                 int lda, const double* b, int ldb, double beta, double* c, int ldc) __asm__("cblas_dgemm");
__attribute__((weak)) int twill_mkl_local_threads(int count) __asm__("MKL_Set_Num_Threads_Local");
__attribute__((weak)) void twill_openblas_threads(int count) __asm__("openblas_set_num_threads");
}
} // namespace blas
#endif

namespace detail {

/// C = alpha * op(A) * op(B) + beta * C in one thread, where op transposes or not.
template <class T>
void gemm_plain(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* a,
                std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
  constexpr std::int64_t depth = 256; // a block of B's rows stays in the second-level cache
  for (std::int64_t i = 0; i < m; ++i) {
    T* row = c + i * ldc;
    for (std::int64_t j = 0; j < n; ++j) row[j] = beta == T{0} ? T{0} : beta * row[j];
  }
  for (std::int64_t start = 0; start < k; start += depth) {
    const std::int64_t stop = std::min(k, start + depth);
    for (std::int64_t i = 0; i < m; ++i) {
      T* row = c + i * ldc;
      if (transpose_b) {
        for (std::int64_t j = 0; j < n; ++j) {
          T sum{0};
          for (std::int64_t p = start; p < stop; ++p)
            sum += (transpose_a ? a[p * lda + i] : a[i * lda + p]) * b[j * ldb + p];
          row[j] += alpha * sum;
        }
      } else {
        for (std::int64_t p = start; p < stop; ++p) {
          const T factor = alpha * (transpose_a ? a[p * lda + i] : a[i * lda + p]);
          for (std::int64_t j = 0; j < n; ++j) row[j] += factor * b[p * ldb + j];
        }
      }
    }
  }
}

#if defined(TWILL_WITH_CBLAS)
/// While it lives, the library works only in the calling thread. MKL has a setting for the calling thread; builds of
/// OpenBLAS without OpenMP are set once for the process.
class OneBlasThread {
public:
  OneBlasThread() {
    if (blas::twill_mkl_local_threads != nullptr) {
      previous_ = blas::twill_mkl_local_threads(1);
    } else if (blas::twill_openblas_threads != nullptr) {
      static const bool done = (blas::twill_openblas_threads(1), true);
      static_cast<void>(done);
    }
  }
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;
  ~OneBlasThread();

private:
  OneOpenMpThread open_mp_{};
  int previous_ = 1;
};

void gemm_block(int ta, int tb, int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
                float beta, float* c, int ldc);
void gemm_block(int ta, int tb, int m, int n, int k, double alpha, const double* a, int lda, const double* b, int ldb,
                double beta, double* c, int ldc);
#endif

/// By the BLAS library in one thread; by plain loops without a library, or where sizes exceed its int.
template <class T>
void gemm_by_cblas(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, T alpha,
                   const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
  if (m <= 0 || n <= 0) return;
#if defined(TWILL_WITH_CBLAS)
  constexpr std::int64_t limit = 0x7fffffff;
  if (k > 0 && std::max({m, n, k, lda, ldb, ldc}) <= limit) {
    const OneBlasThread scope{};
    gemm_block(transpose_a ? blas::transpose : blas::no_transpose, transpose_b ? blas::transpose : blas::no_transpose,
               static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), alpha, a, static_cast<int>(lda), b,
               static_cast<int>(ldb), beta, c, static_cast<int>(ldc));
    return;
  }
#endif
  gemm_plain(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

} // namespace detail

}}} // namespace twill::v0::cpu

#if TWILL_HEADER_ONLY
#include <twill/device/cpu/blas.ipp>
#endif
