// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for the entry points of cuSOLVER and cuBLAS for dense matrices that programs on the CUDA runtime stand-in call:
// factorisations, triangular systems, eigenvalues and singular values of real and complex matrices in float64 by plain
// loops, run as operations of the stream. As the libraries may, it writes to its working memory, to the other triangle of batched Cholesky factors and to
// matrices whose singular values were found; it refuses null pointers, short distances and missing working memory.
#include <ptxrun/libraries/eigenvalues.hpp>
#include <ptxrun/libraries/matrices.hpp>
#include <ptxrun/libraries/numbers.hpp>
#include <ptxrun/runtime/streams.hpp>

#if __has_include(<cusolverDn.h>)

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <utility>
#include <vector>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>

namespace {

using ptxrun::libraries::NumberOf;
template <class T> using Matrix = ptxrun::libraries::Matrix<NumberOf<T>>;

/// What a handle of either library points to.
struct Handle {
  cudaStream_t stream = nullptr;
  int device = 0;
};

[[nodiscard]] Handle* new_handle() { return new Handle{nullptr, ptxrun::runtime::current_device()}; }

/// What becomes of a call, in both libraries' statuses below.
enum class Outcome { given, invalid, failed };
[[nodiscard]] cusolverStatus_t of_solver(Outcome outcome) {
  return outcome == Outcome::given     ? CUSOLVER_STATUS_SUCCESS
         : outcome == Outcome::invalid ? CUSOLVER_STATUS_INVALID_VALUE
                                       : CUSOLVER_STATUS_EXECUTION_FAILED;
}
[[nodiscard]] cublasStatus_t of_blas(Outcome outcome) {
  return outcome == Outcome::given     ? CUBLAS_STATUS_SUCCESS
         : outcome == Outcome::invalid ? CUBLAS_STATUS_INVALID_VALUE
                                       : CUBLAS_STATUS_EXECUTION_FAILED;
}

/// Gives work to the handle's stream if its arguments are valid.
template <class Pointer>
[[nodiscard]] Outcome give(Pointer opaque, bool is_valid, std::initializer_list<const void*> pointers,
                           std::function<void()> work) {
  ptxrun::runtime::Lock lock = ptxrun::runtime::lock_state();
  const auto* const handle = reinterpret_cast<const Handle*>(opaque);
  for (const void* const pointer : pointers) is_valid = is_valid && pointer != nullptr;
  if (!is_valid || handle == nullptr || handle->device != ptxrun::runtime::current_device()) return Outcome::invalid;
  return ptxrun::runtime::enqueue(handle->stream, lock, std::move(work)) == cudaSuccess ? Outcome::given
                                                                                        : Outcome::failed;
}

/// Working memory after its use: bytes of which all numbers are NaN.
template <class T> void spoil(T* work, int size) {
  std::memset(work, 0xff, static_cast<std::size_t>(size) * sizeof(T));
}
/// The elements that a routine asks for: as many as twill's plans count for it. cuSOLVER's own number is not known.
[[nodiscard]] int size_for(int m, int n, int count = 1) {
  return 4 * count * std::max(m, 32) * std::max(n, 32) + (1 << 18);
}

template <class T> void factorise(int n, T* a, int lda, int* info, bool spoils) {
  Matrix<T> matrix(n, n, a, lda);
  *info = ptxrun::libraries::cholesky_upper(matrix);
  if (spoils)
    for (int j = 0; j < n; ++j)
      for (int i = j + 1; i < n; ++i) matrix(i, j) = std::numeric_limits<double>::quiet_NaN();
  matrix.write(a, lda, [&](int i, int j) { return i <= j || spoils; });
}

template <class T>
cusolverStatus_t potrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* a, int lda, T* work, int size,
                       int* info) {
  if (uplo != CUBLAS_FILL_MODE_UPPER) return CUSOLVER_STATUS_NOT_SUPPORTED;
  return of_solver(give(handle, n >= 0 && lda >= std::max(1, n) && size >= size_for(n, n), {a, work, info}, [=] {
    spoil(work, size);
    factorise(n, a, lda, info, false);
  }));
}
template <class T>
cusolverStatus_t potrf_batched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* matrices[], int lda,
                               int* infos, int count) {
  if (uplo != CUBLAS_FILL_MODE_UPPER) return CUSOLVER_STATUS_NOT_SUPPORTED;
  return of_solver(give(handle, n >= 0 && lda >= std::max(1, n) && count >= 1, {matrices, infos}, [=] {
    for (int i = 0; i < count; ++i) factorise(n, matrices[i], lda, infos + i, true);
  }));
}

template <class T> void eliminate(int n, T* a, int lda, int* exchanged, int* info) {
  Matrix<T> matrix(n, n, a, lda);
  *info = ptxrun::libraries::lu_in_place(matrix, exchanged);
  matrix.write(a, lda);
}
template <class T>
cusolverStatus_t getrf(cusolverDnHandle_t handle, int m, int n, T* a, int lda, T* work, int* exchanged, int* info) {
  if (m != n) return CUSOLVER_STATUS_NOT_SUPPORTED;
  return of_solver(give(handle, n >= 0 && lda >= std::max(1, n), {a, work, exchanged, info}, [=] {
    spoil(work, size_for(m, n));
    eliminate(n, a, lda, exchanged, info);
  }));
}
template <class T>
cublasStatus_t getrf_batched(cublasHandle_t handle, int n, T* const matrices[], int lda, int* exchanged, int* infos,
                             int count) {
  return of_blas(give(handle, n >= 0 && lda >= std::max(1, n) && count >= 1, {matrices, exchanged, infos}, [=] {
    for (int i = 0; i < count; ++i) eliminate(n, matrices[i], lda, exchanged + std::ptrdiff_t{i} * n, infos + i);
  }));
}

struct Triangle {
  cublasFillMode_t uplo;
  cublasOperation_t operation;
  cublasDiagType_t diagonal;
};
template <class T>
void substitute(const Triangle& triangle, int m, int n, NumberOf<T> alpha, const T* a, int lda, T* b, int ldb) {
  using ptxrun::libraries::Reading;
  const Matrix<T> matrix(n, n, a, lda);
  Matrix<T> sides(m, n, b, ldb);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) sides(i, j) *= alpha;
  const Reading reading = triangle.operation == CUBLAS_OP_N   ? Reading::plain
                          : triangle.operation == CUBLAS_OP_T ? Reading::transposed
                                                              : Reading::conjugate_transposed;
  ptxrun::libraries::solve_right(matrix, triangle.uplo == CUBLAS_FILL_MODE_UPPER, reading,
                                 triangle.diagonal == CUBLAS_DIAG_UNIT, sides);
  sides.write(b, ldb);
}
template <class T>
cublasStatus_t trsm(cublasHandle_t handle, cublasSideMode_t side, const Triangle& triangle, int m, int n,
                    const T* alpha, const T* a, int lda, T* b, int ldb) {
  if (side != CUBLAS_SIDE_RIGHT) return CUBLAS_STATUS_NOT_SUPPORTED;
  const auto factor = ptxrun::libraries::number_of(*alpha);
  return of_blas(give(handle, m >= 0 && n >= 0 && lda >= std::max(1, n) && ldb >= std::max(1, m), {a, b},
                      [=] { substitute(triangle, m, n, factor, a, lda, b, ldb); }));
}
template <class T>
cublasStatus_t trsm_batched(cublasHandle_t handle, cublasSideMode_t side, const Triangle& triangle, int m, int n,
                            const T* alpha, const T* const a[], int lda, T* const b[], int ldb, int count) {
  if (side != CUBLAS_SIDE_RIGHT) return CUBLAS_STATUS_NOT_SUPPORTED;
  const auto factor = ptxrun::libraries::number_of(*alpha);
  return of_blas(give(handle, m >= 0 && n >= 0 && lda >= std::max(1, n) && ldb >= std::max(1, m), {a, b}, [=] {
    for (int i = 0; i < count; ++i) substitute(triangle, m, n, factor, a[i], lda, b[i], ldb);
  }));
}

template <class T>
cusolverStatus_t geqrf(cusolverDnHandle_t handle, int m, int n, T* a, int lda, T* tau, T* work, int size, int* info) {
  return of_solver(
      give(handle, m >= 0 && n >= 0 && lda >= std::max(1, m) && size >= size_for(m, n), {a, tau, work, info}, [=] {
        spoil(work, size);
        Matrix<T> matrix(m, n, a, lda);
        std::vector<NumberOf<T>> factors(static_cast<std::size_t>(std::min(m, n)));
        ptxrun::libraries::qr_in_place(matrix, factors.data());
        matrix.write(a, lda);
        for (std::size_t k = 0; k < factors.size(); ++k) ptxrun::libraries::set_element(tau[k], factors[k]);
        *info = 0;
      }));
}
template <class T>
cusolverStatus_t orgqr(cusolverDnHandle_t handle, int m, int n, int k, T* a, int lda, const T* tau, T* work, int size,
                       int* info) {
  if (n != k) return CUSOLVER_STATUS_NOT_SUPPORTED;
  return of_solver(give(handle, m >= n && lda >= std::max(1, m) && size >= size_for(m, n), {a, tau, work, info}, [=] {
    spoil(work, size);
    std::vector<NumberOf<T>> factors;
    for (int i = 0; i < k; ++i) factors.push_back(ptxrun::libraries::number_of(tau[i]));
    ptxrun::libraries::columns_of_q(Matrix<T>(m, n, a, lda), factors.data()).write(a, lda);
    *info = 0;
  }));
}

template <class T, class R> void find_eigenvalues(bool wants_vectors, int n, T* a, int lda, R* values, int* info) {
  Matrix<T> matrix(n, n, a, lda);
  std::vector<double> found;
  *info = ptxrun::libraries::eigenvalues(matrix, found) ? 0 : n + 1;
  for (std::size_t i = 0; i < found.size(); ++i) values[i] = static_cast<R>(found[i]);
  if (!wants_vectors)
    for (int i = 0; i < n; ++i) matrix(i, i) = std::numeric_limits<double>::quiet_NaN(); // the contents are destroyed
  matrix.write(a, lda);
}
template <class T, class R>
cusolverStatus_t syevd(cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t uplo, int n, T* a, int lda,
                       R* values, T* work, int size, int* infos, int count) {
  if (uplo != CUBLAS_FILL_MODE_UPPER) return CUSOLVER_STATUS_NOT_SUPPORTED;
  return of_solver(give(handle, n >= 0 && lda >= std::max(1, n) && size >= size_for(n, n, count) && count >= 1,
                        {a, values, work, infos}, [=] {
                          spoil(work, size);
                          for (int i = 0; i < count; ++i)
                            find_eigenvalues(mode == CUSOLVER_EIG_MODE_VECTOR, n, a + std::ptrdiff_t{i} * n * lda, lda,
                                             values + std::ptrdiff_t{i} * n, infos + i);
                        }));
}

template <class T> struct SingularVectors {
  T* u;
  int ldu;
  T* v;
  int ldv;
};
/// Writes min(m, n) columns of U and V, or all.
template <class T, class R>
void find_singular_values(bool wants_vectors, bool wants_all, int m, int n, T* a, int lda, R* values,
                          const SingularVectors<T>& to, int* info) {
  const auto found = ptxrun::libraries::singular_values(Matrix<T>(m, n, a, lda));
  const int k = std::min(m, n);
  *info = found.is_found ? 0 : k + 1;
  for (std::size_t i = 0; i < found.values.size(); ++i) values[i] = static_cast<R>(found.values[i]);
  for (int j = 0; j < n; ++j) spoil(a + std::ptrdiff_t{j} * lda, m);
  if (!wants_vectors) return;
  found.u.write(to.u, to.ldu, [&](int, int j) { return wants_all || j < k; });
  found.v.write(to.v, to.ldv, [&](int, int j) { return wants_all || j < k; });
}
template <class T, class R>
cusolverStatus_t gesvdj(cusolverDnHandle_t handle, cusolverEigMode_t mode, int econ, int m, int n, T* a, int lda,
                        R* values, T* u, int ldu, T* v, int ldv, T* work, int size, int* info) {
  const bool is_valid = m >= 0 && n >= 0 && lda >= std::max(1, m) && ldu >= std::max(1, m) && ldv >= std::max(1, n) &&
                        size >= size_for(m, n);
  return of_solver(give(handle, is_valid, {a, values, u, v, work, info}, [=] {
    spoil(work, size);
    find_singular_values<T, R>(mode == CUSOLVER_EIG_MODE_VECTOR, econ == 0, m, n, a, lda, values, {u, ldu, v, ldv},
                               info);
  }));
}
template <class T, class R>
cusolverStatus_t gesvdj_batched(cusolverDnHandle_t handle, cusolverEigMode_t mode, int m, int n, T* a, int lda,
                                R* values, T* u, int ldu, T* v, int ldv, T* work, int size, int* infos, int count) {
  const bool is_valid = m >= 0 && n >= 0 && m <= 32 && n <= 32 && lda >= std::max(1, m) && ldu >= std::max(1, m) &&
                        ldv >= std::max(1, n) && size >= size_for(m, n, count) && count >= 1;
  return of_solver(give(handle, is_valid, {a, values, u, v, work, infos}, [=] {
    spoil(work, size);
    for (int i = 0; i < count; ++i)
      find_singular_values<T, R>(mode == CUSOLVER_EIG_MODE_VECTOR, true, m, n, a + std::ptrdiff_t{i} * n * lda, lda,
                                 values + std::ptrdiff_t{i} * std::min(m, n),
                                 {u + std::ptrdiff_t{i} * m * ldu, ldu, v + std::ptrdiff_t{i} * n * ldv, ldv},
                                 infos + i);
  }));
}

/// A call of Xgeev on one matrix.
struct Geev {
  bool wants_vectors = false;
  int n = 0;
  cudaDataType type = CUDA_R_32F; ///< of the matrix and its vectors; values are complex
  void* a = nullptr;
  std::int64_t lda = 0;
  void* values = nullptr;
  void* vectors = nullptr;
  std::int64_t vectors_lda = 0;

  /// Of what twill asks for: no left vectors, complex values.
  [[nodiscard]] bool is_valid(cusolverEigMode_t left, cudaDataType values_type, cudaDataType vectors_type,
                              cudaDataType compute_type) const {
    const bool is_double = type == CUDA_R_64F || type == CUDA_C_64F;
    return left == CUSOLVER_EIG_MODE_NOVECTOR && n >= 0 && lda >= std::max(1, n) &&
           (!wants_vectors || vectors_lda >= std::max(1, n)) && vectors_type == type && compute_type == type &&
           values_type == (is_double ? CUDA_C_64F : CUDA_C_32F);
  }
  [[nodiscard]] std::size_t device_bytes() const { return static_cast<std::size_t>(3 * n + 5) * 16; }
  [[nodiscard]] std::size_t host_bytes() const { return static_cast<std::size_t>(n + 3) * 16; }

  void operator()(int* info) const {
    using namespace ptxrun::libraries;
    NumberMatrix matrix(n, n);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) matrix(i, j) = element(a, i + j * lda);
    for (std::int64_t place = 0; place < n * lda; ++place) set(a, type, place, Number{NAN, NAN});
    std::vector<Eigenpair> pairs = eigenpairs(matrix);
    *info = pairs.empty() && n > 0 ? n : 0;
    if (*info != 0) return;
    if (!is_complex(type)) pairs = in_conjugate_pairs(std::move(pairs));
    const cudaDataType values_type = type == CUDA_R_64F || type == CUDA_C_64F ? CUDA_C_64F : CUDA_C_32F;
    for (int j = 0; j < n; ++j) {
      const Eigenpair& pair = pairs[static_cast<std::size_t>(j)];
      set(values, values_type, j, pair.value);
      for (int i = 0; i < n && wants_vectors; ++i) {
        const Number number = pair.vector[static_cast<std::size_t>(i)];
        // of a real matrix the second column of a pair has the imaginary parts of the first vector
        const bool is_second = !is_complex(type) && pair.value.imag() < 0;
        set(vectors, type, i + j * vectors_lda, is_second ? Number{-number.imag()} : number);
      }
    }
  }

private:
  [[nodiscard]] ptxrun::libraries::Number element(const void* first, std::int64_t place) const {
    using namespace ptxrun::libraries;
    return is_complex(type) ? read_complex(first, type, place) : Number{read_number(first, type, place)};
  }
  static void set(void* first, cudaDataType to, std::int64_t place, ptxrun::libraries::Number number) {
    using namespace ptxrun::libraries;
    is_complex(to) ? write_complex(first, to, place, number) : write_number(first, to, place, number.real());
  }
};

template <class Settings> cusolverStatus_t make_settings(Settings* settings) {
  *settings = reinterpret_cast<Settings>(new_handle());
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t tell(int* size, int m, int n, int count = 1) {
  *size = size_for(m, n, count);
  return CUSOLVER_STATUS_SUCCESS;
}

} // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  *handle = reinterpret_cast<cublasHandle_t>(new_handle());
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  delete reinterpret_cast<Handle*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  reinterpret_cast<Handle*>(handle)->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusName(cublasStatus_t status) {
  return status == CUBLAS_STATUS_INVALID_VALUE ? "CUBLAS_STATUS_INVALID_VALUE" : "a status of the stand-in for cuBLAS";
}

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  *handle = reinterpret_cast<cusolverDnHandle_t>(new_handle());
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  delete reinterpret_cast<Handle*>(handle);
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  reinterpret_cast<Handle*>(handle)->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnCreateGesvdjInfo(gesvdjInfo_t* settings) { return make_settings(settings); }
cusolverStatus_t cusolverDnCreateSyevjInfo(syevjInfo_t* settings) { return make_settings(settings); }
cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* settings) { return make_settings(settings); }
cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t settings) {
  delete reinterpret_cast<Handle*>(settings);
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXgeev_bufferSize(cusolverDnHandle_t, cusolverDnParams_t parameters, cusolverEigMode_t left,
                                            cusolverEigMode_t right, std::int64_t n, cudaDataType type, const void*,
                                            std::int64_t lda, cudaDataType values_type, const void*, cudaDataType,
                                            const void*, std::int64_t, cudaDataType vectors_type, const void*,
                                            std::int64_t vectors_lda, cudaDataType compute_type,
                                            std::size_t* device_bytes, std::size_t* host_bytes) {
  const Geev geev{
      right == CUSOLVER_EIG_MODE_VECTOR, static_cast<int>(n), type, nullptr, lda, nullptr, nullptr, vectors_lda};
  if (parameters == nullptr || !geev.is_valid(left, values_type, vectors_type, compute_type))
    return CUSOLVER_STATUS_INVALID_VALUE;
  *device_bytes = geev.device_bytes();
  *host_bytes = geev.host_bytes();
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t parameters, cusolverEigMode_t left,
                                 cusolverEigMode_t right, std::int64_t n, cudaDataType type, void* a, std::int64_t lda,
                                 cudaDataType values_type, void* values, cudaDataType, void*, std::int64_t,
                                 cudaDataType vectors_type, void* vectors, std::int64_t vectors_lda,
                                 cudaDataType compute_type, void* work, std::size_t device_bytes, void* host_work,
                                 std::size_t host_bytes, int* info) {
  const Geev geev{right == CUSOLVER_EIG_MODE_VECTOR, static_cast<int>(n), type, a, lda, values, vectors, vectors_lda};
  const bool is_valid = geev.is_valid(left, values_type, vectors_type, compute_type) &&
                        device_bytes >= geev.device_bytes() && host_bytes >= geev.host_bytes() &&
                        (!geev.wants_vectors || vectors != nullptr);
  return of_solver(give(handle, is_valid, {parameters, a, values, work, host_work, info}, [=] {
    std::memset(work, 0xff, device_bytes);
    std::memset(host_work, 0xff, host_bytes);
    geev(info);
  }));
}

// Entry points for an element type: its letter, itself, the type of its parts, and the names of orthogonal and of symmetric
// or Hermitian matrices.
#define PTXRUN_ROUTINES(X, T, R, Q, H)                                                                                 \
  cusolverStatus_t cusolverDn##X##potrf_bufferSize(cusolverDnHandle_t, cublasFillMode_t, int n, T*, int, int* size) {  \
    return tell(size, n, n);                                                                                           \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##potrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* a, int lda,        \
                                        T* work, int size, int* info) {                                                \
    return potrf(handle, uplo, n, a, lda, work, size, info);                                                           \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##potrfBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* a[],        \
                                               int lda, int* infos, int count) {                                       \
    return potrf_batched(handle, uplo, n, a, lda, infos, count);                                                       \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##getrf_bufferSize(cusolverDnHandle_t, int m, int n, T*, int, int* size) {             \
    return tell(size, m, n);                                                                                           \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##getrf(cusolverDnHandle_t handle, int m, int n, T* a, int lda, T* work,               \
                                        int* exchanged, int* info) {                                                   \
    return getrf(handle, m, n, a, lda, work, exchanged, info);                                                         \
  }                                                                                                                    \
  cublasStatus_t cublas##X##getrfBatched(cublasHandle_t handle, int n, T* const a[], int lda, int* exchanged,          \
                                         int* infos, int count) {                                                      \
    return getrf_batched(handle, n, a, lda, exchanged, infos, count);                                                  \
  }                                                                                                                    \
  cublasStatus_t cublas##X##trsm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,               \
                                    cublasOperation_t operation, cublasDiagType_t diagonal, int m, int n,              \
                                    const T* alpha, const T* a, int lda, T* b, int ldb) {                              \
    return trsm(handle, side, {uplo, operation, diagonal}, m, n, alpha, a, lda, b, ldb);                               \
  }                                                                                                                    \
  cublasStatus_t cublas##X##trsmBatched(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,           \
                                        cublasOperation_t operation, cublasDiagType_t diagonal, int m, int n,          \
                                        const T* alpha, const T* const a[], int lda, T* const b[], int ldb,            \
                                        int count) {                                                                   \
    return trsm_batched(handle, side, {uplo, operation, diagonal}, m, n, alpha, a, lda, b, ldb, count);                \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##geqrf_bufferSize(cusolverDnHandle_t, int m, int n, T*, int, int* size) {             \
    return tell(size, m, n);                                                                                           \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##geqrf(cusolverDnHandle_t handle, int m, int n, T* a, int lda, T* tau, T* work,       \
                                        int size, int* info) {                                                         \
    return geqrf(handle, m, n, a, lda, tau, work, size, info);                                                         \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##Q##qr_bufferSize(cusolverDnHandle_t, int m, int n, int, const T*, int, const T*,     \
                                                   int* size) {                                                        \
    return tell(size, m, n);                                                                                           \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##Q##qr(cusolverDnHandle_t handle, int m, int n, int k, T* a, int lda, const T* tau,   \
                                        T* work, int size, int* info) {                                                \
    return orgqr(handle, m, n, k, a, lda, tau, work, size, info);                                                      \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##H##evd_bufferSize(cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, int n,    \
                                                    const T*, int, const R*, int* size) {                              \
    return tell(size, n, n);                                                                                           \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##H##evd(cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t uplo,     \
                                         int n, T* a, int lda, R* values, T* work, int size, int* info) {              \
    return syevd(handle, mode, uplo, n, a, lda, values, work, size, info, 1);                                          \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##H##evjBatched_bufferSize(cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t,    \
                                                           int n, const T*, int, const R*, int* size, syevjInfo_t,     \
                                                           int count) {                                                \
    return tell(size, n, n, count);                                                                                    \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##H##evjBatched(cusolverDnHandle_t handle, cusolverEigMode_t mode,                     \
                                                cublasFillMode_t uplo, int n, T* a, int lda, R* values, T* work,       \
                                                int size, int* infos, syevjInfo_t, int count) {                        \
    return syevd(handle, mode, uplo, n, a, lda, values, work, size, infos, count);                                     \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##gesvdj_bufferSize(cusolverDnHandle_t, cusolverEigMode_t, int, int m, int n,          \
                                                    const T*, int, const R*, const T*, int, const T*, int, int* size,  \
                                                    gesvdjInfo_t) {                                                    \
    return tell(size, m, n);                                                                                           \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##gesvdj(cusolverDnHandle_t handle, cusolverEigMode_t mode, int econ, int m, int n,    \
                                         T* a, int lda, R* values, T* u, int ldu, T* v, int ldv, T* work, int size,    \
                                         int* info, gesvdjInfo_t) {                                                    \
    return gesvdj(handle, mode, econ, m, n, a, lda, values, u, ldu, v, ldv, work, size, info);                         \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##gesvdjBatched_bufferSize(cusolverDnHandle_t, cusolverEigMode_t, int m, int n,        \
                                                           const T*, int, const R*, const T*, int, const T*, int,      \
                                                           int* size, gesvdjInfo_t, int count) {                       \
    return tell(size, m, n, count);                                                                                    \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##X##gesvdjBatched(cusolverDnHandle_t handle, cusolverEigMode_t mode, int m, int n, T* a, \
                                                int lda, R* values, T* u, int ldu, T* v, int ldv, T* work, int size,   \
                                                int* infos, gesvdjInfo_t, int count) {                                 \
    return gesvdj_batched(handle, mode, m, n, a, lda, values, u, ldu, v, ldv, work, size, infos, count);               \
  }

PTXRUN_ROUTINES(S, float, float, org, sy)
PTXRUN_ROUTINES(D, double, double, org, sy)
PTXRUN_ROUTINES(C, cuComplex, float, ung, he)
PTXRUN_ROUTINES(Z, cuDoubleComplex, double, ung, he)
#undef PTXRUN_ROUTINES
}

#endif
