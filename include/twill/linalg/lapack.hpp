#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// LAPACK of host devices, for float and double: the routines by their own names, column-major and with a workspace
// that the caller gives. A row-major matrix is the transposed one to them; linalg/ chooses routines so that little is
// copied. Each works in the calling thread. A call needs a LAPACK library that CMake found (TWILL_WITH_LAPACK): OpenBLAS
// and MKL have it, else liblapack. Read next: linalg/lu.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/device/cpu/gemm.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace twill { inline namespace v0 { namespace linalg {

#if defined(TWILL_WITH_LAPACK)
inline constexpr bool has_lapack = true;
using OneThread = cpu::OneBlasThread; ///< while it lives, the library works only in the calling thread
#else
inline constexpr bool has_lapack = false;
struct OneThread {};
#endif

// Fortran's routines under names of their own: a program may include lapacke.h beside this. The lengths of character
// arguments come last, as gfortran passes them.
namespace lapack {
extern "C" {
#define TWILL_LAPACK_ROUTINES(T, t)                                                                                    \
  void twill_##t##getrf(const int* m, const int* n, T* a, const int* lda, int* pivots,                                 \
                        int* info) __asm__(#t "getrf_");                                                               \
  void twill_##t##trsm(const char* side, const char* uplo, const char* trans, const char* diag, const int* m,          \
                       const int* n, const T* alpha, const T* a, const int* lda, T* b, const int* ldb, std::size_t,    \
                       std::size_t, std::size_t, std::size_t) __asm__(#t "trsm_");                                     \
  void twill_##t##potrf(const char* uplo, const int* n, T* a, const int* lda, int* info,                               \
                        std::size_t) __asm__(#t "potrf_");                                                             \
  void twill_##t##gelqf(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork,           \
                        int* info) __asm__(#t "gelqf_");                                                               \
  void twill_##t##orglq(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work,         \
                        const int* lwork, int* info) __asm__(#t "orglq_");                                             \
  void twill_##t##syevd(const char* job, const char* uplo, const int* n, T* a, const int* lda, T* w, T* work,          \
                        const int* lwork, int* integers, const int* liwork, int* info, std::size_t,                    \
                        std::size_t) __asm__(#t "syevd_");                                                             \
  void twill_##t##gesdd(const char* job, const int* m, const int* n, T* a, const int* lda, T* s, T* u, const int* ldu, \
                        T* vt, const int* ldvt, T* work, const int* lwork, int* integers, int* info,                   \
                        std::size_t) __asm__(#t "gesdd_");
TWILL_LAPACK_ROUTINES(float, s)
TWILL_LAPACK_ROUTINES(double, d)
#undef TWILL_LAPACK_ROUTINES
}
} // namespace lapack

/// The routines for an element type.
template <class T> struct LapackRoutines {
  static_assert(sizeof(T) == 0, "twill: linalg: matrices are float32 or float64; convert with cast");
};
template <> struct LapackRoutines<float> {
  static constexpr auto getrf = &lapack::twill_sgetrf;
  static constexpr auto trsm = &lapack::twill_strsm;
  static constexpr auto potrf = &lapack::twill_spotrf;
  static constexpr auto gelqf = &lapack::twill_sgelqf;
  static constexpr auto orglq = &lapack::twill_sorglq;
  static constexpr auto syevd = &lapack::twill_ssyevd;
  static constexpr auto gesdd = &lapack::twill_sgesdd;
};
template <> struct LapackRoutines<double> {
  static constexpr auto getrf = &lapack::twill_dgetrf;
  static constexpr auto trsm = &lapack::twill_dtrsm;
  static constexpr auto potrf = &lapack::twill_dpotrf;
  static constexpr auto gelqf = &lapack::twill_dgelqf;
  static constexpr auto orglq = &lapack::twill_dorglq;
  static constexpr auto syevd = &lapack::twill_dsyevd;
  static constexpr auto gesdd = &lapack::twill_dgesdd;
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
  static_assert(has_lapack, "twill: linalg: no LAPACK library was found when twill was configured; install "
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
    std::int64_t elements = 0;
    std::int64_t integers = 0;
  };
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
  /// Eigenvalues of a symmetric matrix, ascending, and eigenvectors as columns in place of it. A positive result: it did
  /// not converge.
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
  /// Singular values, descending, and the thin factors U (m x k) and V^T (k x n). A positive result: it did not converge.
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

}}} // namespace twill::v0::linalg
