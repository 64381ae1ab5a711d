#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// LAPACK of host devices, for float, double and complex numbers of both: the routines by their own names, column-major
// and with a workspace that the caller gives. A row-major matrix is the transposed one to them; linalg/ chooses
// routines so that little is copied. Each works in the calling thread. A call needs a LAPACK library that CMake found
// (TWILL_WITH_LAPACK), which OpenBLAS and MKL are. Read next: linalg/lu.hpp.

#include <twill/core/complex.hpp>
#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/promotion.hpp>
#include <twill/device/cpu/gemm.hpp>

#include <algorithm>
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
void twill_cgetrf(const int* m, const int* n, complex64* a, const int* lda, int* pivots, int* info) __asm__("cgetrf_");
void twill_ctrsm(const char* side, const char* uplo, const char* trans, const char* diag, const int* m, const int* n,
                 const complex64* alpha, const complex64* a, const int* lda, complex64* b, const int* ldb, std::size_t,
                 std::size_t, std::size_t, std::size_t) __asm__("ctrsm_");
void twill_cpotrf(const char* uplo, const int* n, complex64* a, const int* lda, int* info,
                  std::size_t) __asm__("cpotrf_");
void twill_cgelqf(const int* m, const int* n, complex64* a, const int* lda, complex64* tau, complex64* work,
                  const int* lwork, int* info) __asm__("cgelqf_");
void twill_cunglq(const int* m, const int* n, const int* k, complex64* a, const int* lda, const complex64* tau,
                  complex64* work, const int* lwork, int* info) __asm__("cunglq_");
void twill_cheevd(const char* job, const char* uplo, const int* n, complex64* a, const int* lda, float* w,
                  complex64* work, const int* lwork, float* reals, const int* lrwork, int* integers, const int* liwork,
                  int* info, std::size_t, std::size_t) __asm__("cheevd_");
void twill_cgesdd(const char* job, const int* m, const int* n, complex64* a, const int* lda, float* s, complex64* u,
                  const int* ldu, complex64* vt, const int* ldvt, complex64* work, const int* lwork, float* reals,
                  int* integers, int* info, std::size_t) __asm__("cgesdd_");
void twill_zgetrf(const int* m, const int* n, complex128* a, const int* lda, int* pivots, int* info) __asm__("zgetrf_");
void twill_ztrsm(const char* side, const char* uplo, const char* trans, const char* diag, const int* m, const int* n,
                 const complex128* alpha, const complex128* a, const int* lda, complex128* b, const int* ldb,
                 std::size_t, std::size_t, std::size_t, std::size_t) __asm__("ztrsm_");
void twill_zpotrf(const char* uplo, const int* n, complex128* a, const int* lda, int* info,
                  std::size_t) __asm__("zpotrf_");
void twill_zgelqf(const int* m, const int* n, complex128* a, const int* lda, complex128* tau, complex128* work,
                  const int* lwork, int* info) __asm__("zgelqf_");
void twill_zunglq(const int* m, const int* n, const int* k, complex128* a, const int* lda, const complex128* tau,
                  complex128* work, const int* lwork, int* info) __asm__("zunglq_");
void twill_zheevd(const char* job, const char* uplo, const int* n, complex128* a, const int* lda, double* w,
                  complex128* work, const int* lwork, double* reals, const int* lrwork, int* integers,
                  const int* liwork, int* info, std::size_t, std::size_t) __asm__("zheevd_");
void twill_zgesdd(const char* job, const int* m, const int* n, complex128* a, const int* lda, double* s, complex128* u,
                  const int* ldu, complex128* vt, const int* ldvt, complex128* work, const int* lwork, double* reals,
                  int* integers, int* info, std::size_t) __asm__("zgesdd_");
}
} // namespace lapack

/// The routines for an element type.
template <class T> struct LapackRoutines {
  static_assert(sizeof(T) == 0,
                "twill: linalg: matrices are float32, float64 or complex numbers of these; convert with cast");
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
/// LAPACK's single precision of complex numbers.
template <> struct LapackRoutines<complex64> {
  static constexpr auto getrf = &lapack::twill_cgetrf; ///< LU factors
  static constexpr auto trsm = &lapack::twill_ctrsm;   ///< triangular systems
  static constexpr auto potrf = &lapack::twill_cpotrf; ///< Cholesky factors
  static constexpr auto gelqf = &lapack::twill_cgelqf; ///< LQ as reflectors
  static constexpr auto orglq = &lapack::twill_cunglq; ///< Q of reflectors
  static constexpr auto syevd = &lapack::twill_cheevd; ///< Hermitian eigenproblems
  static constexpr auto gesdd = &lapack::twill_cgesdd; ///< singular values
};
/// LAPACK's double precision of complex numbers.
template <> struct LapackRoutines<complex128> {
  static constexpr auto getrf = &lapack::twill_zgetrf; ///< LU factors
  static constexpr auto trsm = &lapack::twill_ztrsm;   ///< triangular systems
  static constexpr auto potrf = &lapack::twill_zpotrf; ///< Cholesky factors
  static constexpr auto gelqf = &lapack::twill_zgelqf; ///< LQ as reflectors
  static constexpr auto orglq = &lapack::twill_zunglq; ///< Q of reflectors
  static constexpr auto syevd = &lapack::twill_zheevd; ///< Hermitian eigenproblems
  static constexpr auto gesdd = &lapack::twill_zgesdd; ///< singular values
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
  using R = real_t<T>;
  static constexpr bool is_complex = ComplexScalar<T>;

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
    return std::max(whole(first), whole(second));
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
    std::int64_t elements = 0; ///< of the matrix's type, of which the last ones hold reals
    std::int64_t integers = 0; ///< of `int`
    std::int64_t reals = 0;    ///< of the type of the parts, for complex matrices
  };
  /// The workspace of `syevd`.
  [[nodiscard]] static Workspace syevd_workspace(Vectors vectors, std::int64_t n) {
    const int size = checked(n);
    T elements{};
    R reals{};
    int integers = 0;
    static_cast<void>(call_syevd(vectors, "U", size, nullptr, nullptr, &elements, -1, &reals, -1, &integers, -1));
    return with_reals(whole(elements), integers, is_complex ? whole(reals) : 0);
  }
  /// Eigenvalues of a symmetric or Hermitian matrix, ascending, and eigenvectors as columns in place of it. A positive
  /// result: no convergence.
  [[nodiscard]] static int syevd(Vectors vectors, Triangle triangle, std::int64_t n, T* a, R* values, T* work,
                                 int* integers, const Workspace& workspace) {
    const OneThread scope{};
    const int elements = checked(own_elements(workspace));
    return call_syevd(vectors, triangle == Triangle::upper ? "U" : "L", checked(n), a, values, work, elements,
                      reals_of(work, workspace), checked(workspace.reals), integers, checked(workspace.integers));
  }

  /// The workspace of `gesdd`.
  [[nodiscard]] static Workspace gesdd_workspace(Vectors vectors, std::int64_t m, std::int64_t n) {
    const std::int64_t rank = std::min(m, n);
    T elements{};
    static_cast<void>(call_gesdd(vectors, checked(m), checked(n), nullptr, nullptr, nullptr, nullptr, &elements, -1,
                                 nullptr, nullptr));
    const std::int64_t by_columns = 2 * std::max(m, n) * rank + 2 * rank * rank + rank;
    const std::int64_t reals = vectors == Vectors::yes ? std::max(5 * rank * rank + 5 * rank, by_columns) : 7 * rank;
    return with_reals(whole(elements), 8 * rank, is_complex ? reals : 0);
  }
  /// Singular values, descending, and the thin factors U (m x k), V^H (k x n). A positive result: no convergence.
  [[nodiscard]] static int gesdd(Vectors vectors, std::int64_t m, std::int64_t n, T* a, R* values, T* u, T* vt, T* work,
                                 int* integers, const Workspace& workspace) {
    const OneThread scope{};
    return call_gesdd(vectors, checked(m), checked(n), a, values, u, vt, work, checked(own_elements(workspace)),
                      reals_of(work, workspace), integers);
  }

private:
  [[nodiscard]] static const char* job(Vectors vectors) { return vectors == Vectors::yes ? "V" : "N"; }
  [[nodiscard]] static const char* thin(Vectors vectors) { return vectors == Vectors::yes ? "S" : "N"; }
  // Reals lie behind the elements that a complex routine asks for.
  [[nodiscard]] static Workspace with_reals(std::int64_t elements, std::int64_t integers, std::int64_t reals) {
    return {elements + (reals + 1) / 2, integers, reals};
  }
  [[nodiscard]] static std::int64_t own_elements(const Workspace& workspace) {
    return workspace.elements - (workspace.reals + 1) / 2;
  }
  [[nodiscard]] static R* reals_of(T* work, const Workspace& workspace) {
    return reinterpret_cast<R*>(work + own_elements(workspace));
  }

  static int call_syevd(Vectors vectors, const char* triangle, int n, T* a, R* values, T* work, int work_size,
                        [[maybe_unused]] R* reals, [[maybe_unused]] int reals_size, int* integers, int integers_size) {
    const int leading = at_least_one(n);
    int info = 0;
    if constexpr (is_complex)
      Routines::syevd(job(vectors), triangle, &n, a, &leading, values, work, &work_size, reals, &reals_size, integers,
                      &integers_size, &info, 1, 1);
    else
      Routines::syevd(job(vectors), triangle, &n, a, &leading, values, work, &work_size, integers, &integers_size,
                      &info, 1, 1);
    return info;
  }
  static int call_gesdd(Vectors vectors, int m, int n, T* a, R* values, T* u, T* vt, T* work, int work_size,
                        [[maybe_unused]] R* reals, int* integers) {
    const int leading = at_least_one(m);
    const int rank_leading = at_least_one(std::min(m, n));
    int info = 0;
    if constexpr (is_complex)
      Routines::gesdd(thin(vectors), &m, &n, a, &leading, values, u, &leading, vt, &rank_leading, work, &work_size,
                      reals, integers, &info, 1);
    else
      Routines::gesdd(thin(vectors), &m, &n, a, &leading, values, u, &leading, vt, &rank_leading, work, &work_size,
                      integers, &info, 1);
    return info;
  }

  /// A size that LAPACK gives as a floating number, which may have been rounded down.
  [[nodiscard]] static std::int64_t whole(T size) {
    R number{};
    if constexpr (is_complex)
      number = size.re;
    else
      number = size;
    return static_cast<std::int64_t>(std::nextafter(number, std::numeric_limits<R>::max()));
  }
  [[nodiscard]] static int at_least_one(int n) { return n > 1 ? n : 1; }
  [[nodiscard]] static int checked(std::int64_t n) {
    if (n > std::numeric_limits<int>::max())
      throw ValueError("linalg: LAPACK counts with 32 bits; got " + std::to_string(n));
    return static_cast<int>(n);
  }
};

}}}} // namespace twill::v0::linalg::detail
