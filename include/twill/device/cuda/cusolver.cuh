#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Decompositions and triangular systems by cuSOLVER and cuBLAS, for float, double and complex numbers of both: the
// routines by their own names, column-major and with working memory that the caller gives. Each stream of a device
// keeps handles, made with its first call and never destroyed; a `Cusolver` holds them for a sequence of calls, so host
// threads that share a stream take turns. Not in the umbrella. Read next: linalg/gpu/decompose.hpp,
// device/cuda/cusolver_geev.cuh.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/promotion.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cuda/cusolver_routines.cuh>
#include <twill/device/cuda/runtime.cuh>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/device/gpu/runtime.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include <cublas_v2.h>
#include <cusolverDn.h>

namespace twill { inline namespace v0 { namespace nvidia {
namespace detail {

/// The name of a status, which cuSOLVER has no function for.
[[nodiscard]] TWILL_COLD inline std::string_view status_name(cusolverStatus_t status) {
  switch (status) {
  case CUSOLVER_STATUS_NOT_INITIALIZED:
    return "CUSOLVER_STATUS_NOT_INITIALIZED";
  case CUSOLVER_STATUS_ALLOC_FAILED:
    return "CUSOLVER_STATUS_ALLOC_FAILED";
  case CUSOLVER_STATUS_INVALID_VALUE:
    return "CUSOLVER_STATUS_INVALID_VALUE";
  case CUSOLVER_STATUS_ARCH_MISMATCH:
    return "CUSOLVER_STATUS_ARCH_MISMATCH";
  case CUSOLVER_STATUS_EXECUTION_FAILED:
    return "CUSOLVER_STATUS_EXECUTION_FAILED";
  case CUSOLVER_STATUS_INTERNAL_ERROR:
    return "CUSOLVER_STATUS_INTERNAL_ERROR";
  case CUSOLVER_STATUS_NOT_SUPPORTED:
    return "CUSOLVER_STATUS_NOT_SUPPORTED";
  default:
    return "an unknown status";
  }
}
[[nodiscard]] TWILL_COLD inline std::string_view status_name(cublasStatus_t status) {
  return cublasGetStatusName(status);
}

} // namespace detail

/// The handles of a stream, null until its first call.
struct CusolverHandles {
  std::recursive_mutex in_use{};
  cublasHandle_t blas = nullptr;
  cusolverDnHandle_t solver = nullptr;
  gesvdjInfo_t gesvdj = nullptr;
  syevjInfo_t syevj = nullptr;
};

/// One for each stream, never destroyed. A new stream with the handle of an old one takes over what that had.
[[nodiscard]] TWILL_EXPORT inline CusolverHandles& cusolver_of(int device, cudaStream_t stream) {
  static auto* const mutex = new std::mutex;
  static auto* const all = new std::map<std::pair<int, cudaStream_t>, std::unique_ptr<CusolverHandles>>;
  const std::lock_guard lock(*mutex);
  auto& handles = (*all)[{device, stream}];
  if (handles == nullptr) handles = std::make_unique<CusolverHandles>();
  return *handles;
}

/// Whether a routine computes vectors beside the values.
enum class CusolverVectors : bool { no, yes };
/// A triangular matrix, column-major, and how it is read.
struct CusolverTriangle {
  bool is_upper = false;
  bool is_transposed = false;
  bool has_unit_diagonal = false;
};

/// A stream's handles, held for calls on matrices of one shape. Results named `info` are the library's: 0 for success,
/// in the device's memory. Without gaps, the distance between columns is the number of rows. All calls throw GpuError,
/// which names the call, the function and the matrices.
class CusolverCalls {
public:
  using Vectors = CusolverVectors;   ///< for code that any such library is a template argument of
  using Triangle = CusolverTriangle; ///< likewise
  static constexpr std::string_view library_name = "cuSOLVER";

  CusolverCalls(const CusolverCalls&) = delete;
  CusolverCalls& operator=(const CusolverCalls&) = delete;

protected:
  /// For a function on `count` matrices of rows x columns. throws: ValueError for extents above 2^31 - 1
  CusolverCalls(const gpu::Queue<CudaRuntime>& queue, DType dtype, std::string_view function, std::int64_t count,
                std::int64_t rows, std::int64_t columns)
      : handles_{cusolver_of(queue.device(), queue.stream())},
        held_{handles_.in_use},
        device_{queue.device()},
        dtype_{dtype},
        function_{function},
        count_{count},
        rows_{rows},
        columns_{columns} {
    for (const std::int64_t extent : {count, rows, columns}) static_cast<void>(whole(extent));
    const gpu::Using<CudaRuntime> scope{device_};
    if (handles_.blas == nullptr) check(cublasCreate_v2(&handles_.blas), "cublasCreate");
    if (handles_.solver == nullptr) check(cusolverDnCreate(&handles_.solver), "cusolverDnCreate");
    if (handles_.gesvdj == nullptr) check(cusolverDnCreateGesvdjInfo(&handles_.gesvdj), "cusolverDnCreateGesvdjInfo");
    if (handles_.syevj == nullptr) check(cusolverDnCreateSyevjInfo(&handles_.syevj), "cusolverDnCreateSyevjInfo");
    check(cublasSetStream_v2(handles_.blas, queue.stream()), "cublasSetStream");
    check(cusolverDnSetStream(handles_.solver, queue.stream()), "cusolverDnSetStream");
  }
  ~CusolverCalls() = default;

  template <class Status> void check(Status status, std::string_view call) const {
    if (static_cast<int>(status) != 0) [[unlikely]]
      fail(detail::status_name(status), static_cast<int>(status), call);
  }
  [[noreturn]] TWILL_COLD void fail(std::string_view text, int status, std::string_view call) const {
    throw GpuError(
        join_text({call, " on ", CudaRuntime::name, ":", device_, ": ", text, " (", status, "); ", function_, " of ",
                   count_, count_ == 1 ? " matrix of " : " matrices of ", rows_, " x ", columns_, " ", name(dtype_)}),
        status, false);
  }

  [[nodiscard]] static int whole(std::int64_t n) {
    if (n > std::numeric_limits<int>::max())
      throw ValueError(join_text({"linalg: cuSOLVER counts with 32 bits; got ", n}));
    return static_cast<int>(n);
  }
  [[nodiscard]] static cusolverEigMode_t mode(CusolverVectors vectors) {
    return vectors == CusolverVectors::yes ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  }

  CusolverHandles& handles_;
  std::unique_lock<std::recursive_mutex> held_;
  RelaxedCapture relaxed_{}; ///< a first call may load kernels
  int device_;
  DType dtype_;
  std::string_view function_;
  std::int64_t count_;
  std::int64_t rows_;
  std::int64_t columns_;
};

/// The routines for float, double, complex64 and complex128. Sizes of working memory count elements.
template <class T> class Cusolver : public CusolverCalls {
  using R = real_t<T>;
  using Routines = detail::CusolverRoutines<T>;
  using Element = typename Routines::Element;
  static_assert(sizeof(Element) == sizeof(T) && alignof(Element) == alignof(T));

public:
  /// For a function on `count` matrices of rows x columns. throws: ValueError for extents above 2^31 - 1
  Cusolver(const gpu::Queue<CudaRuntime>& queue, std::string_view function, std::int64_t count, std::int64_t rows,
           std::int64_t columns)
      : CusolverCalls{queue, dtype_of<T>, function, count, rows, columns} {}

  /// The Cholesky factor U in place of the upper triangle of n x n. An `info` above 0: that minor is not positive.
  [[nodiscard]] std::int64_t potrf_size(std::int64_t n, T* a) const {
    return asked("potrf_bufferSize", [&](int* size) {
      return Routines::potrf_size(handles_.solver, CUBLAS_FILL_MODE_UPPER, whole(n), native(a), whole(n), size);
    });
  }
  void potrf(std::int64_t n, T* a, T* work, std::int64_t size, int* info) const {
    check(Routines::potrf(handles_.solver, CUBLAS_FILL_MODE_UPPER, whole(n), native(a), whole(n), native(work),
                          whole(size), info),
          "potrf");
  }
  /// It destroys the other triangle.
  void potrf_batched(std::int64_t n, T** matrices, int* infos) const {
    check(Routines::potrf_batched(handles_.solver, CUBLAS_FILL_MODE_UPPER, whole(n), native(matrices), whole(n), infos,
                                  whole(count_)),
          "potrfBatched");
  }

  /// LU factors in place, with the rows that were exchanged, from 1. An `info` above 0: that pivot is zero.
  [[nodiscard]] std::int64_t getrf_size(std::int64_t n, T* a) const {
    return asked("getrf_bufferSize", [&](int* size) {
      return Routines::getrf_size(handles_.solver, whole(n), whole(n), native(a), whole(n), size);
    });
  }
  void getrf(std::int64_t n, T* a, T* work, int* pivots, int* info) const {
    check(Routines::getrf(handles_.solver, whole(n), whole(n), native(a), whole(n), native(work), pivots, info),
          "getrf");
  }
  void getrf_batched(std::int64_t n, T** matrices, int* pivots, int* infos) const {
    check(Routines::getrf_batched(handles_.blas, whole(n), native(matrices), whole(n), pivots, infos, whole(count_)),
          "getrfBatched");
  }

  /// Solves X op(A) = B for triangular A (n x n), in place of B (m x n).
  void trsm_right(const CusolverTriangle& triangle, std::int64_t m, std::int64_t n, const T* a, T* b) const {
    const T one{1};
    check(Routines::trsm(handles_.blas, CUBLAS_SIDE_RIGHT, fill(triangle), operation(triangle), diagonal(triangle),
                         whole(m), whole(n), native(&one), native(a), whole(n), native(b), whole(m)),
          "trsm");
  }
  void trsm_right_batched(const CusolverTriangle& triangle, std::int64_t m, std::int64_t n, T* const* a, T** b) const {
    const T one{1};
    check(Routines::trsm_batched(handles_.blas, CUBLAS_SIDE_RIGHT, fill(triangle), operation(triangle),
                                 diagonal(triangle), whole(m), whole(n), native(&one), native(a), whole(n), native(b),
                                 whole(m), whole(count_)),
          "trsmBatched");
  }

  /// A = Q R in place, m x n: R in the upper trapezoid, Q as reflectors; then the first k columns of Q in their place.
  [[nodiscard]] std::int64_t qr_size(std::int64_t m, std::int64_t n, std::int64_t k, T* a, const T* tau) const {
    const std::int64_t first = asked("geqrf_bufferSize", [&](int* size) {
      return Routines::geqrf_size(handles_.solver, whole(m), whole(n), native(a), whole(m), size);
    });
    const std::int64_t second = asked("orgqr_bufferSize", [&](int* size) {
      return Routines::orgqr_size(handles_.solver, whole(m), whole(k), whole(k), native(a), whole(m), native(tau),
                                  size);
    });
    return first > second ? first : second;
  }
  void geqrf(std::int64_t m, std::int64_t n, T* a, T* tau, T* work, std::int64_t size, int* info) const {
    check(Routines::geqrf(handles_.solver, whole(m), whole(n), native(a), whole(m), native(tau), native(work),
                          whole(size), info),
          "geqrf");
  }
  void orgqr(std::int64_t m, std::int64_t k, T* a, const T* tau, T* work, std::int64_t size, int* info) const {
    check(Routines::orgqr(handles_.solver, whole(m), whole(k), whole(k), native(a), whole(m), native(tau), native(work),
                          whole(size), info),
          "orgqr");
  }

  /// Eigenvalues of a symmetric matrix whose upper triangle is read, ascending, and eigenvectors as columns in place of
  /// it. An `info` above 0: no convergence. The batched form is Jacobi's method, for small matrices.
  [[nodiscard]] std::int64_t syevd_size(CusolverVectors vectors, std::int64_t n, const T* a, const R* values) const {
    return asked("syevd_bufferSize", [&](int* size) {
      return Routines::syevd_size(handles_.solver, mode(vectors), CUBLAS_FILL_MODE_UPPER, whole(n), native(a), whole(n),
                                  values, size);
    });
  }
  void syevd(CusolverVectors vectors, std::int64_t n, T* a, R* values, T* work, std::int64_t size, int* info) const {
    check(Routines::syevd(handles_.solver, mode(vectors), CUBLAS_FILL_MODE_UPPER, whole(n), native(a), whole(n), values,
                          native(work), whole(size), info),
          "syevd");
  }
  [[nodiscard]] std::int64_t syevj_batched_size(CusolverVectors vectors, std::int64_t n, const T* a,
                                                const R* values) const {
    return asked("syevjBatched_bufferSize", [&](int* size) {
      return Routines::syevj_batched_size(handles_.solver, mode(vectors), CUBLAS_FILL_MODE_UPPER, whole(n), native(a),
                                          whole(n), values, size, handles_.syevj, whole(count_));
    });
  }
  void syevj_batched(CusolverVectors vectors, std::int64_t n, T* a, R* values, T* work, std::int64_t size,
                     int* infos) const {
    check(Routines::syevj_batched(handles_.solver, mode(vectors), CUBLAS_FILL_MODE_UPPER, whole(n), native(a), whole(n),
                                  values, native(work), whole(size), infos, handles_.syevj, whole(count_)),
          "syevjBatched");
  }

  /// Singular values of m x n, descending, by Jacobi's method, with k = min(m, n) columns of U and V; the batched form,
  /// for small matrices, gives all columns. An `info` above 0: no convergence. It destroys the matrix.
  [[nodiscard]] std::int64_t gesvdj_size(CusolverVectors vectors, std::int64_t m, std::int64_t n, const T* a,
                                         const R* values, const T* u, const T* v) const {
    return asked("gesvdj_bufferSize", [&](int* size) {
      return Routines::gesvdj_size(handles_.solver, mode(vectors), 1, whole(m), whole(n), native(a), whole(m), values,
                                   native(u), whole(m), native(v), whole(n), size, handles_.gesvdj);
    });
  }
  void gesvdj(CusolverVectors vectors, std::int64_t m, std::int64_t n, T* a, R* values, T* u, T* v, T* work,
              std::int64_t size, int* info) const {
    check(Routines::gesvdj(handles_.solver, mode(vectors), 1, whole(m), whole(n), native(a), whole(m), values,
                           native(u), whole(m), native(v), whole(n), native(work), whole(size), info, handles_.gesvdj),
          "gesvdj");
  }
  [[nodiscard]] std::int64_t gesvdj_batched_size(CusolverVectors vectors, std::int64_t m, std::int64_t n, const T* a,
                                                 const R* values, const T* u, const T* v) const {
    return asked("gesvdjBatched_bufferSize", [&](int* size) {
      return Routines::gesvdj_batched_size(handles_.solver, mode(vectors), whole(m), whole(n), native(a), whole(m),
                                           values, native(u), whole(m), native(v), whole(n), size, handles_.gesvdj,
                                           whole(count_));
    });
  }
  void gesvdj_batched(CusolverVectors vectors, std::int64_t m, std::int64_t n, T* a, R* values, T* u, T* v, T* work,
                      std::int64_t size, int* infos) const {
    check(Routines::gesvdj_batched(handles_.solver, mode(vectors), whole(m), whole(n), native(a), whole(m), values,
                                   native(u), whole(m), native(v), whole(n), native(work), whole(size), infos,
                                   handles_.gesvdj, whole(count_)),
          "gesvdjBatched");
  }

private:
  template <class F> [[nodiscard]] std::int64_t asked(std::string_view routine, const F& ask) const {
    int size = 0;
    check(ask(&size), routine);
    return size;
  }

  // Elements as the library calls them, of equal size and alignment.
  [[nodiscard]] static Element* native(T* elements) { return reinterpret_cast<Element*>(elements); }
  [[nodiscard]] static const Element* native(const T* elements) { return reinterpret_cast<const Element*>(elements); }
  [[nodiscard]] static Element** native(T** matrices) { return reinterpret_cast<Element**>(matrices); }
  [[nodiscard]] static Element* const* native(T* const* matrices) {
    return reinterpret_cast<Element* const*>(matrices);
  }

  [[nodiscard]] static cublasFillMode_t fill(const CusolverTriangle& triangle) {
    return triangle.is_upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  }
  [[nodiscard]] static cublasOperation_t operation(const CusolverTriangle& triangle) {
    return triangle.is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  }
  [[nodiscard]] static cublasDiagType_t diagonal(const CusolverTriangle& triangle) {
    return triangle.has_unit_diagonal ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
  }
};

}}} // namespace twill::v0::nvidia
