#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Eigenvalues and right eigenvectors of general matrices by cuSOLVER's Xgeev, which came with CUDA 12.8: one
// column-major matrix a call, with working memory on the device and on the host. Not in the umbrella. Read next:
// linalg/gpu/eigenpairs.hpp, device/cuda/cusolver.cuh.

#include <twill/core/complex.hpp>
#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/device/cuda/cusolver.cuh>
#include <twill/device/cuda/runtime.cuh>
#include <twill/device/gpu/queue.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <cusolverDn.h>
#include <library_types.h>

namespace twill { inline namespace v0 { namespace nvidia {

/// The working memory of a call.
struct GeevSizes {
  std::size_t device_bytes = 0;
  std::size_t host_bytes = 0;
};

/// The routine for float32, float64, complex64 and complex128. Eigenvalues are complex; vectors of real matrices are
/// real, in two columns for a conjugate pair. An `info` above 0: no convergence.
template <class T> class CusolverGeev : public CusolverCalls {
  using Z = Complex<real_t<T>>;

public:
  /// For a function on `count` matrices of n x n. throws: GpuError, ValueError for extents above 2^31 - 1
  CusolverGeev(const gpu::Queue<CudaRuntime>& queue, std::string_view function, std::int64_t count, std::int64_t n,
               std::int64_t columns)
      : CusolverCalls{queue, dtype_of<T>, function, count, n, columns} {
    check(cusolverDnCreateParams(&parameters_), "cusolverDnCreateParams");
  }
  ~CusolverGeev() { static_cast<void>(cusolverDnDestroyParams(parameters_)); }

  /// throws: GpuError
  [[nodiscard]] GeevSizes geev_sizes(CusolverVectors vectors, std::int64_t n, const T* a, const Z* values,
                                     const T* found) const {
    GeevSizes sizes{};
#if CUSOLVER_VERSION >= 11702
    check(cusolverDnXgeev_bufferSize(handles_.solver, parameters_, CUSOLVER_EIG_MODE_NOVECTOR, mode(vectors), n, type(),
                                     a, n, complex_type(), values, type(), nullptr, n, type(), found, n, type(),
                                     &sizes.device_bytes, &sizes.host_bytes),
          "cusolverDnXgeev_bufferSize");
#else
    static_assert(sizeof(T) == 0, "twill: eig: on CUDA devices it takes cuSOLVER 11.7.2, of CUDA 12.8, or a later one; "
                                  "compute on a host device, a.cpu(), and copy the result back");
#endif
    return sizes;
  }

  /// It destroys the matrix. `host_work` has to live until the call is done. throws: GpuError
  void geev(CusolverVectors vectors, std::int64_t n, T* a, Z* values, T* found, void* work, void* host_work,
            const GeevSizes& sizes, int* info) const {
#if CUSOLVER_VERSION >= 11702
    check(cusolverDnXgeev(handles_.solver, parameters_, CUSOLVER_EIG_MODE_NOVECTOR, mode(vectors), n, type(), a, n,
                          complex_type(), values, type(), nullptr, n, type(), found, n, type(), work,
                          sizes.device_bytes, host_work, sizes.host_bytes, info),
          "cusolverDnXgeev");
#endif
  }

private:
  static constexpr bool is_double = sizeof(real_t<T>) == sizeof(double);

  [[nodiscard]] static constexpr cudaDataType complex_type() { return is_double ? CUDA_C_64F : CUDA_C_32F; }
  [[nodiscard]] static constexpr cudaDataType type() {
    if constexpr (ComplexScalar<T>)
      return complex_type();
    else
      return is_double ? CUDA_R_64F : CUDA_R_32F;
  }

  cusolverDnParams_t parameters_ = nullptr;
};

}}} // namespace twill::v0::nvidia
