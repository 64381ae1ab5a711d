#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// LAPACK's geev on hosts: eigenvalues and right eigenvectors of one general matrix of float32, float64, complex64 or
// complex128, row-major on both sides. It works in the calling thread, with memory that the caller gives. Read next:
// linalg/eig.hpp.

#include <twill/core/complex.hpp>
#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/promotion.hpp>
#include <twill/linalg/lapack.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace twill { inline namespace v0 { namespace linalg { namespace detail {

namespace lapack {
extern "C" {
void twill_sgeev(const char* left, const char* right, const int* n, float* a, const int* lda, float* re, float* im,
                 float* vl, const int* ldvl, float* vr, const int* ldvr, float* work, const int* lwork, int* info,
                 std::size_t, std::size_t) __asm__("sgeev_");
void twill_dgeev(const char* left, const char* right, const int* n, double* a, const int* lda, double* re, double* im,
                 double* vl, const int* ldvl, double* vr, const int* ldvr, double* work, const int* lwork, int* info,
                 std::size_t, std::size_t) __asm__("dgeev_");
void twill_cgeev(const char* left, const char* right, const int* n, complex64* a, const int* lda, complex64* w,
                 complex64* vl, const int* ldvl, complex64* vr, const int* ldvr, complex64* work, const int* lwork,
                 float* reals, int* info, std::size_t, std::size_t) __asm__("cgeev_");
void twill_zgeev(const char* left, const char* right, const int* n, complex128* a, const int* lda, complex128* w,
                 complex128* vl, const int* ldvl, complex128* vr, const int* ldvr, complex128* work, const int* lwork,
                 double* reals, int* info, std::size_t, std::size_t) __asm__("zgeev_");
}
} // namespace lapack

/// The eigenproblem of general n x n matrices of type T. throws: ValueError for n above 2^31 - 1
template <Scalar T> class Geev {
  static_assert(has_lapack && sizeof(T) != 0,
                "twill: linalg: no LAPACK library was found when twill was configured; install "
                "libopenblas-openmp-dev or liblapack-dev");
  static constexpr bool is_complex = ComplexScalar<T>;
  using R = real_t<T>;
  using Z = Complex<R>;

public:
  Geev(Vectors vectors, std::int64_t n) : wanted_{vectors == Vectors::yes}, n_{checked(n)} {
    T size{};
    T reals{}; // to which the complex routines write also when they are only asked for the size
    [[maybe_unused]] const int info = call(nullptr, &reals, nullptr, nullptr, nullptr, &size, -1);
    R length{};
    if constexpr (is_complex)
      length = size.re;
    else
      length = size;
    // LAPACK gives the size as a floating number, which may have been rounded down.
    work_ = checked(static_cast<std::int64_t>(std::nextafter(length, std::numeric_limits<R>::max())));
  }

  /// How many elements of memory `operator()` needs.
  [[nodiscard]] std::int64_t elements() const { return (wanted_ ? 2 : 1) * square() + 2 * std::int64_t{n_} + work_; }

  /// Eigenvalues of the row-major matrix at `from`, and eigenvectors as columns of a row-major one unless there is no
  /// place for them. The result is LAPACK's info: positive without convergence.
  [[nodiscard]] int operator()(const T* from, Z* values, Z* vectors, T* memory) const {
    T* const a = memory;
    T* const beside = a + square(); // both parts of eigenvalues, or the reals that the complex routines need
    T* const columns = beside + 2 * n_;
    T* const work = wanted_ ? columns + square() : columns;
    for (std::int64_t i = 0; i < n_; ++i)
      for (std::int64_t j = 0; j < n_; ++j) a[j * n_ + i] = from[i * n_ + j];
    const int info = call(a, beside, values, columns, beside + n_, work, work_);
    if constexpr (!is_complex)
      for (std::int64_t j = 0; j < n_; ++j) values[j] = {beside[j], beside[n_ + j]};
    if (wanted_)
      for (std::int64_t j = 0; j < n_; ++j) j += write_vector(columns, values, vectors, j);
    return info;
  }

private:
  [[nodiscard]] std::int64_t square() const { return std::int64_t{n_} * n_; }

  /// Writes the eigenvector at column j. Two columns of reals are the parts of the vector of the eigenvalue that has a
  /// positive imaginary part; its conjugate follows. The result is 1 for such a pair.
  [[nodiscard]] int write_vector(const T* columns, [[maybe_unused]] const Z* values, Z* to, std::int64_t j) const {
    const T* const column = columns + j * n_;
    if constexpr (is_complex) {
      for (std::int64_t i = 0; i < n_; ++i) to[i * n_ + j] = column[i];
    } else if (values[j].im == 0 || j + 1 == n_) {
      for (std::int64_t i = 0; i < n_; ++i) to[i * n_ + j] = column[i];
    } else {
      for (std::int64_t i = 0; i < n_; ++i) {
        to[i * n_ + j] = {column[i], column[n_ + i]};
        to[i * n_ + j + 1] = {column[i], -column[n_ + i]};
      }
      return 1;
    }
    return 0;
  }

  /// The routine for the element type.
  int call(T* a, T* first, Z* values, T* columns, T* second, T* work, int work_size) const {
    const OneThread scope{};
    const int leading = n_ > 1 ? n_ : 1;
    const char* const right = wanted_ ? "V" : "N";
    int info = 0;
    if constexpr (is_complex) {
      constexpr auto geev = [] {
        if constexpr (sizeof(R) == sizeof(float))
          return &lapack::twill_cgeev;
        else
          return &lapack::twill_zgeev;
      }();
      geev("N", right, &n_, a, &leading, values, nullptr, &leading, columns, &leading, work, &work_size,
           reinterpret_cast<R*>(first), &info, 1, 1);
    } else {
      constexpr auto geev = [] {
        if constexpr (sizeof(R) == sizeof(float))
          return &lapack::twill_sgeev;
        else
          return &lapack::twill_dgeev;
      }();
      geev("N", right, &n_, a, &leading, first, second, nullptr, &leading, columns, &leading, work, &work_size, &info,
           1, 1);
    }
    return info;
  }

  [[nodiscard]] static int checked(std::int64_t n) {
    if (n > std::numeric_limits<int>::max())
      throw ValueError("linalg: LAPACK counts with 32 bits; got " + std::to_string(n));
    return static_cast<int>(n);
  }

  bool wanted_;
  int n_;
  int work_ = 0;
};

}}}} // namespace twill::v0::linalg::detail
