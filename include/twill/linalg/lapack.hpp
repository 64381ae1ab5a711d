#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// LAPACK of host devices, for float and double: the routines by their own names, column-major and with a workspace
// that the caller gives. A row-major matrix is the transposed one to them; linalg/ chooses routines so that little is
// copied. Each works in the calling thread. A call needs a LAPACK library that CMake found (TWILL_WITH_LAPACK), which
// OpenBLAS and MKL are. Read next: linalg/lu.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/device/cpu/gemm.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace twill { inline namespace v0 { namespace linalg { namespace detail {

#if defined(TWILL_WITH_LAPACK)
inline constexpr bool has_lapack = true;
using OneThread = cpu::OneBlasThread; ///< while it lives, the library works only in the calling thread
#else
inline constexpr bool has_lapack = false;
struct OneThread {
  OneThread() {} // of user code, so that no object of it is unused
};
#endif

// Fortran's routines under names of their own: a program may include lapacke.h beside this. The lengths of character
// arguments come last, as gfortran passes them.
namespace lapack {
extern "C" {
void twill_sgetrf(const int* m, const int* n, float* a, const int* lda, int* pivots, int* info) __asm__("sgetrf_");
void twill_strsm(const char* side, const char* uplo, const char* trans, const char* diag, const int* m, const int* n,
                 const float* alpha, const float* a, const int* lda, float* b, const int* ldb, std::size_t, std::size_t,
                 std::size_t, std::size_t) __asm__("strsm_");
void twill_spotrf(const char* uplo, const int* n, float* a, const int* lda, int* info, std::size_t) __asm__("spotrf_");
void twill_sgelqf(const int* m, const int* n, float* a, const int* lda, float* tau, float* work, const int* lwork,
                  int* info) __asm__("sgelqf_");
void twill_sorglq(const int* m, const int* n, const int* k, float* a, const int* lda, const float* tau, float* work,
                  const int* lwork, int* info) __asm__("sorglq_");
void twill_ssyevd(const char* job, const char* uplo, const int* n, float* a, const int* lda, float* w, float* work,
                  const int* lwork, int* integers, const int* liwork, int* info, std::size_t,
                  std::size_t) __asm__("ssyevd_");
void twill_sgesdd(const char* job, const int* m, const int* n, float* a, const int* lda, float* s, float* u,
                  const int* ldu, float* vt, const int* ldvt, float* work, const int* lwork, int* integers, int* info,
                  std::size_t) __asm__("sgesdd_");
void twill_dgetrf(const int* m, const int* n, double* a, const int* lda, int* pivots, int* info) __asm__("dgetrf_");
void twill_dtrsm(const char* side, const char* uplo, const char* trans, const char* diag, const int* m, const int* n,
                 const double* alpha, const double* a, const int* lda, double* b, const int* ldb, std::size_t,
                 std::size_t, std::size_t, std::size_t) __asm__("dtrsm_");
void twill_dpotrf(const char* uplo, const int* n, double* a, const int* lda, int* info, std::size_t) __asm__("dpotrf_");
void twill_dgelqf(const int* m, const int* n, double* a, const int* lda, double* tau, double* work, const int* lwork,
                  int* info) __asm__("dgelqf_");
void twill_dorglq(const int* m, const int* n, const int* k, double* a, const int* lda, const double* tau, double* work,
                  const int* lwork, int* info) __asm__("dorglq_");
void twill_dsyevd(const char* job, const char* uplo, const int* n, double* a, const int* lda, double* w, double* work,
                  const int* lwork, int* integers, const int* liwork, int* info, std::size_t,
                  std::size_t) __asm__("dsyevd_");
void twill_dgesdd(const char* job, const int* m, const int* n, double* a, const int* lda, double* s, double* u,
                  const int* ldu, double* vt, const int* ldvt, double* work, const int* lwork, int* integers, int* info,
                  std::size_t) __asm__("dgesdd_");
}
} // namespace lapack

/// The routines for an element type.
template <class T> struct LapackRoutines {
  static_assert(sizeof(T) == 0, "twill: linalg: matrices are float32 or float64; convert with cast");
};
/// LAPACK's single precision.
template <> struct LapackRoutines<float> {
  static constexpr auto getrf = &lapack::twill_sgetrf; ///< LU factors
  static constexpr auto trsm = &lapack::twill_strsm;   ///< triangular systems
  static constexpr auto potrf = &lapack::twill_spotrf; ///< Cholesky factors
  static constexpr auto gelqf = &lapack::twill_sgelqf; ///< LQ as reflectors
  static constexpr auto orglq = &lapack::twill_sorglq; ///< Q of reflectors
  static constexpr auto syevd = &lapack::twill_ssyevd; ///< symmetric eigenproblems
  static constexpr auto gesdd = &lapack::twill_sgesdd; ///< singular values
};
/// LAPACK's double precision.
template <> struct LapackRoutines<double> {
  static constexpr auto getrf = &lapack::twill_dgetrf; ///< LU factors
  static constexpr auto trsm = &lapack::twill_dtrsm;   ///< triangular systems
  static constexpr auto potrf = &lapack::twill_dpotrf; ///< Cholesky factors
  static constexpr auto gelqf = &lapack::twill_dgelqf; ///< LQ as reflectors
  static constexpr auto orglq = &lapack::twill_dorglq; ///< Q of reflectors
  static constexpr auto syevd = &lapack::twill_dsyevd; ///< symmetric eigenproblems
  static constexpr auto gesdd = &lapack::twill_dgesdd; ///< singular values
};

/// Whether a triangle is the upper one, in column-major order.
enum class Triangle : bool { lower, upper };
/// Whether a routine reads a matrix transposed.
enum class Transposed : bool { no, yes };
/// Whether a triangular matrix has ones on its diagonal, which are not stored.
enum class UnitDiagonal : bool { no, yes };
/// Whether a decomposition finds vectors beside the values.
enum class Vectors : bool { no, yes };

/// LAPACK for one element type. Results of `int` are LAPACK's info: 0 for success. throws: ValueError for extents above
/// 2^31 - 1
template <class T> class Lapack {
  static_assert(has_lapack && sizeof(T) != 0,
                "twill: linalg: no LAPACK library was found when twill was configured; install "
                "libopenblas-openmp-dev or liblapack-dev");
  using Routines = LapackRoutines<T>;

public:
  /// LU factors in place, with the rows that were exchanged, from 1. A positive result: that pivot is zero.
  [[nodiscard]] static int getrf(std::int64_t n, T* a, int* pivots) {
    const OneThread scope{};
    const int size = checked(n);
    const int leading = at_least_one(size);
    int info = 0;
    Routines::getrf(&size, &size, a, &leading, pivots, &info);
    return info;
  }

  /// Solves X op(A) = B for triangular A (n x n), in place of B (m x n).
  static void trsm_right(Triangle triangle, Transposed transposed, UnitDiagonal unit, std::int64_t m, std::int64_t n,
                         const T* a, T* b) {
    if (m == 0 || n == 0) return;
    const OneThread scope{};
    const int rows = checked(m);
    const int columns = checked(n);
    const T one{1};
    Routines::trsm("R", triangle == Triangle::upper ? "U" : "L", transposed == Transposed::yes ? "T" : "N",
                   unit == UnitDiagonal::yes ? "U" : "N", &rows, &columns, &one, a, &columns, b, &rows, 1, 1, 1, 1);
  }

  /// The Cholesky factor in place of a triangle. A positive result: that leading minor is not positive.
  [[nodiscard]] static int potrf(Triangle triangle, std::int64_t n, T* a) {
    const OneThread scope{};
    const int size = checked(n);
    const int leading = at_least_one(size);
    int info = 0;
    Routines::potrf(triangle == Triangle::upper ? "U" : "L", &size, a, &leading, &info, 1);
    return info;
  }

  /// How many elements `gelqf` and `orglq` want as workspace.
  [[nodiscard]] static std::int64_t lq_workspace(std::int64_t m, std::int64_t n) {
    T first{};
    T second{};
    const int rows = checked(m);
    const int columns = checked(n);
    const int rank = rows < columns ? rows : columns;
    const int leading = at_least_one(rows);
    const int ask = -1;
    int info = 0;
    Routines::gelqf(&rows, &columns, nullptr, &leading, nullptr, &first, &ask, &info);
    Routines::orglq(&rank, &columns, &rank, nullptr, &leading, nullptr, &second, &ask, &info);
    return whole(first > second ? first : second);
  }
  /// A = L Q in place, m x n: L in the lower trapezoid, Q as reflectors.
  static void gelqf(std::int64_t m, std::int64_t n, T* a, T* tau, T* work, std::int64_t work_size) {
    const OneThread scope{};
    const int rows = checked(m);
    const int columns = checked(n);
    const int leading = at_least_one(rows);
    const int size = checked(work_size);
    int info = 0;
    Routines::gelqf(&rows, &columns, a, &leading, tau, work, &size, &info);
  }
  /// The first m rows of Q (m x n) in place of k reflectors; `leading` is the distance between columns.
  static void orglq(std::int64_t m, std::int64_t n, std::int64_t k, T* a, std::int64_t leading, const T* tau, T* work,
                    std::int64_t work_size) {
    const OneThread scope{};
    const int rows = checked(m);
    const int columns = checked(n);
    const int reflectors = checked(k);
    const int distance = at_least_one(checked(leading));
    const int size = checked(work_size);
    int info = 0;
    Routines::orglq(&rows, &columns, &reflectors, a, &distance, tau, work, &size, &info);
  }

  /// How many elements and integers a routine wants as workspace.
  struct Workspace {
    std::int64_t elements = 0; ///< of the matrix's type
    std::int64_t integers = 0; ///< of `int`
  };
  /// The workspace of `syevd`.
  [[nodiscard]] static Workspace syevd_workspace(Vectors vectors, std::int64_t n) {
    const int size = checked(n);
    const int leading = at_least_one(size);
    const int ask = -1;
    T elements{};
    int integers = 0;
    int info = 0;
    Routines::syevd(job(vectors), "U", &size, nullptr, &leading, nullptr, &elements, &ask, &integers, &ask, &info, 1,
                    1);
    return {whole(elements), integers};
  }
  /// Eigenvalues of a symmetric matrix, ascending, and eigenvectors as columns in place of it. A positive result: no
  /// convergence.
  [[nodiscard]] static int syevd(Vectors vectors, Triangle triangle, std::int64_t n, T* a, T* values, T* work,
                                 int* integers, const Workspace& workspace) {
    const OneThread scope{};
    const int size = checked(n);
    const int leading = at_least_one(size);
    const int elements = checked(workspace.elements);
    const int count = checked(workspace.integers);
    int info = 0;
    Routines::syevd(job(vectors), triangle == Triangle::upper ? "U" : "L", &size, a, &leading, values, work, &elements,
                    integers, &count, &info, 1, 1);
    return info;
  }

  /// The workspace of `gesdd`.
  [[nodiscard]] static Workspace gesdd_workspace(Vectors vectors, std::int64_t m, std::int64_t n) {
    const int rows = checked(m);
    const int columns = checked(n);
    const int rank = rows < columns ? rows : columns;
    const int leading = at_least_one(rows);
    const int rank_leading = at_least_one(rank);
    const int ask = -1;
    T elements{};
    int integers = 0;
    int info = 0;
    Routines::gesdd(thin(vectors), &rows, &columns, nullptr, &leading, nullptr, nullptr, &leading, nullptr,
                    &rank_leading, &elements, &ask, &integers, &info, 1);
    return {whole(elements), std::int64_t{8} * rank};
  }
  /// Singular values, descending, and the thin factors U (m x k), V^T (k x n). A positive result: no convergence.
  [[nodiscard]] static int gesdd(Vectors vectors, std::int64_t m, std::int64_t n, T* a, T* values, T* u, T* vt, T* work,
                                 int* integers, const Workspace& workspace) {
    const OneThread scope{};
    const int rows = checked(m);
    const int columns = checked(n);
    const int leading = at_least_one(rows);
    const int rank_leading = at_least_one(rows < columns ? rows : columns);
    const int elements = checked(workspace.elements);
    int info = 0;
    Routines::gesdd(thin(vectors), &rows, &columns, a, &leading, values, u, &leading, vt, &rank_leading, work,
                    &elements, integers, &info, 1);
    return info;
  }

private:
  [[nodiscard]] static const char* job(Vectors vectors) { return vectors == Vectors::yes ? "V" : "N"; }
  [[nodiscard]] static const char* thin(Vectors vectors) { return vectors == Vectors::yes ? "S" : "N"; }
  /// A size that LAPACK gives as a floating number, which may have been rounded down.
  [[nodiscard]] static std::int64_t whole(T size) {
    return static_cast<std::int64_t>(std::nextafter(size, std::numeric_limits<T>::max()));
  }
  [[nodiscard]] static int at_least_one(int n) { return n > 1 ? n : 1; }
  [[nodiscard]] static int checked(std::int64_t n) {
    if (n > std::numeric_limits<int>::max())
      throw ValueError("linalg: LAPACK counts with 32 bits; got " + std::to_string(n));
    return static_cast<int>(n);
  }
};

}}}} // namespace twill::v0::linalg::detail
