#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Matrix products of row-major matrices in raw pointers, over CBLAS and oneDNN where CMake found them
// (TWILL_WITH_CBLAS, TWILL_WITH_ONEDNN) and over plain loops otherwise. A team splits the product in blocks that do not
// depend on other running work; a library works only in the calling thread, since additional threads would cost more
// than they give, and several devices would each start them. oneDNN's packed operands are in its own memory, which, as
// with BLAS, is in no figure of twill's. The caller chooses the library. Read next: kernel/product.hpp.

#include <twill/core/complex.hpp>
#include <twill/core/config.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>

#include <dlfcn.h>

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
void twill_cgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, const void* alpha, const void* a,
                 int lda, const void* b, int ldb, const void* beta, void* c, int ldc) __asm__("cblas_cgemm");
void twill_zgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, const void* alpha, const void* a,
                 int lda, const void* b, int ldb, const void* beta, void* c, int ldc) __asm__("cblas_zgemm");
__attribute__((weak)) int twill_mkl_local_threads(int count) __asm__("MKL_Set_Num_Threads_Local");
__attribute__((weak)) void twill_openblas_threads(int count) __asm__("openblas_set_num_threads");
}
} // namespace blas
#endif

#if defined(TWILL_WITH_ONEDNN)
inline constexpr bool has_onednn = true;
namespace onednn {
extern "C" int twill_dnnl_sgemm(char transpose_a, char transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
                                float alpha, const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
                                float beta, float* c, std::int64_t ldc) __asm__("dnnl_sgemm");
} // namespace onednn
#else
inline constexpr bool has_onednn = false;
#endif

namespace detail {

/// While it lives, a parallel region that this thread opens has one thread; afterwards the previous number.
class OneOpenMpThread {
public:
  OneOpenMpThread();
  OneOpenMpThread(const OneOpenMpThread&) = delete;
  OneOpenMpThread& operator=(const OneOpenMpThread&) = delete;
  ~OneOpenMpThread();

private:
  /// The functions of the loaded OpenMP library, if any.
  struct OpenMp {
    int (*get)() = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
    void (*set)(int) = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  };
  [[nodiscard]] static const OpenMp& open_mp() {
    static const OpenMp functions{};
    return functions;
  }

  int previous_ = 1;
};

} // namespace detail

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
  detail::OneOpenMpThread open_mp_{};
  int previous_ = 1;
};
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
void gemm_block(int ta, int tb, int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
                float beta, float* c, int ldc);
void gemm_block(int ta, int tb, int m, int n, int k, double alpha, const double* a, int lda, const double* b, int ldb,
                double beta, double* c, int ldc);
void gemm_block(int ta, int tb, int m, int n, int k, Complex<float> alpha, const Complex<float>* a, int lda,
                const Complex<float>* b, int ldb, Complex<float> beta, Complex<float>* c, int ldc);
void gemm_block(int ta, int tb, int m, int n, int k, Complex<double> alpha, const Complex<double>* a, int lda,
                const Complex<double>* b, int ldb, Complex<double> beta, Complex<double>* c, int ldc);
#endif

} // namespace detail

/// By the BLAS library in one thread; by plain loops without a library, or where sizes exceed its int.
template <class T>
void gemm_by_cblas(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, T alpha,
                   const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
  if (m <= 0 || n <= 0) return;
#if defined(TWILL_WITH_CBLAS)
  constexpr std::int64_t limit = 0x7fffffff;
  if (k > 0 && std::max({m, n, k, lda, ldb, ldc}) <= limit) {
    const OneBlasThread scope{};
    detail::gemm_block(transpose_a ? blas::transpose : blas::no_transpose,
                       transpose_b ? blas::transpose : blas::no_transpose, static_cast<int>(m), static_cast<int>(n),
                       static_cast<int>(k), alpha, a, static_cast<int>(lda), b, static_cast<int>(ldb), beta, c,
                       static_cast<int>(ldc));
    return;
  }
#endif
  detail::gemm_plain(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

namespace detail {

/// By oneDNN in one thread; by BLAS if oneDNN is not installed or refuses.
void gemm_by_onednn(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                    const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c,
                    std::int64_t ldc);

} // namespace detail

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
    gemm_by_cblas(transpose_a, transpose_b, rows, columns, k, alpha, left, lda, right, ldb, beta, to, ldc);
  });
}

}}} // namespace twill::v0::cpu

#if TWILL_HEADER_ONLY
#include <twill/device/cpu/gemm.ipp>
#endif
