#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The entry points of cuSOLVER and cuBLAS for an element type, under LAPACK's names of the real ones: of complex
// numbers `orgqr` is `ungqr`, and `syevd` is `heevd`. Not in the umbrella. Read next: device/cuda/cusolver.cuh.

#include <twill/core/dtype.hpp>

#include <cublas_v2.h>
#include <cusolverDn.h>

namespace twill { inline namespace v0 { namespace nvidia { namespace detail {

/// The routines for an element type, and what they call it.
template <class T> struct CusolverRoutines;
/// Single precision.
template <> struct CusolverRoutines<float> {
  using Element = float;
  static constexpr auto potrf_size = &cusolverDnSpotrf_bufferSize;
  static constexpr auto potrf = &cusolverDnSpotrf;
  static constexpr auto potrf_batched = &cusolverDnSpotrfBatched;
  static constexpr auto getrf_size = &cusolverDnSgetrf_bufferSize;
  static constexpr auto getrf = &cusolverDnSgetrf;
  static constexpr auto getrf_batched = &cublasSgetrfBatched;
  static constexpr auto trsm = &cublasStrsm_v2;
  static constexpr auto trsm_batched = &cublasStrsmBatched;
  static constexpr auto geqrf_size = &cusolverDnSgeqrf_bufferSize;
  static constexpr auto geqrf = &cusolverDnSgeqrf;
  static constexpr auto orgqr_size = &cusolverDnSorgqr_bufferSize;
  static constexpr auto orgqr = &cusolverDnSorgqr;
  static constexpr auto syevd_size = &cusolverDnSsyevd_bufferSize;
  static constexpr auto syevd = &cusolverDnSsyevd;
  static constexpr auto syevj_batched_size = &cusolverDnSsyevjBatched_bufferSize;
  static constexpr auto syevj_batched = &cusolverDnSsyevjBatched;
  static constexpr auto gesvdj_size = &cusolverDnSgesvdj_bufferSize;
  static constexpr auto gesvdj = &cusolverDnSgesvdj;
  static constexpr auto gesvdj_batched_size = &cusolverDnSgesvdjBatched_bufferSize;
  static constexpr auto gesvdj_batched = &cusolverDnSgesvdjBatched;
};
/// Double precision.
template <> struct CusolverRoutines<double> {
  using Element = double;
  static constexpr auto potrf_size = &cusolverDnDpotrf_bufferSize;
  static constexpr auto potrf = &cusolverDnDpotrf;
  static constexpr auto potrf_batched = &cusolverDnDpotrfBatched;
  static constexpr auto getrf_size = &cusolverDnDgetrf_bufferSize;
  static constexpr auto getrf = &cusolverDnDgetrf;
  static constexpr auto getrf_batched = &cublasDgetrfBatched;
  static constexpr auto trsm = &cublasDtrsm_v2;
  static constexpr auto trsm_batched = &cublasDtrsmBatched;
  static constexpr auto geqrf_size = &cusolverDnDgeqrf_bufferSize;
  static constexpr auto geqrf = &cusolverDnDgeqrf;
  static constexpr auto orgqr_size = &cusolverDnDorgqr_bufferSize;
  static constexpr auto orgqr = &cusolverDnDorgqr;
  static constexpr auto syevd_size = &cusolverDnDsyevd_bufferSize;
  static constexpr auto syevd = &cusolverDnDsyevd;
  static constexpr auto syevj_batched_size = &cusolverDnDsyevjBatched_bufferSize;
  static constexpr auto syevj_batched = &cusolverDnDsyevjBatched;
  static constexpr auto gesvdj_size = &cusolverDnDgesvdj_bufferSize;
  static constexpr auto gesvdj = &cusolverDnDgesvdj;
  static constexpr auto gesvdj_batched_size = &cusolverDnDgesvdjBatched_bufferSize;
  static constexpr auto gesvdj_batched = &cusolverDnDgesvdjBatched;
};
/// Single precision of complex numbers.
template <> struct CusolverRoutines<complex64> {
  using Element = cuComplex;
  static constexpr auto potrf_size = &cusolverDnCpotrf_bufferSize;
  static constexpr auto potrf = &cusolverDnCpotrf;
  static constexpr auto potrf_batched = &cusolverDnCpotrfBatched;
  static constexpr auto getrf_size = &cusolverDnCgetrf_bufferSize;
  static constexpr auto getrf = &cusolverDnCgetrf;
  static constexpr auto getrf_batched = &cublasCgetrfBatched;
  static constexpr auto trsm = &cublasCtrsm_v2;
  static constexpr auto trsm_batched = &cublasCtrsmBatched;
  static constexpr auto geqrf_size = &cusolverDnCgeqrf_bufferSize;
  static constexpr auto geqrf = &cusolverDnCgeqrf;
  static constexpr auto orgqr_size = &cusolverDnCungqr_bufferSize;
  static constexpr auto orgqr = &cusolverDnCungqr;
  static constexpr auto syevd_size = &cusolverDnCheevd_bufferSize;
  static constexpr auto syevd = &cusolverDnCheevd;
  static constexpr auto syevj_batched_size = &cusolverDnCheevjBatched_bufferSize;
  static constexpr auto syevj_batched = &cusolverDnCheevjBatched;
  static constexpr auto gesvdj_size = &cusolverDnCgesvdj_bufferSize;
  static constexpr auto gesvdj = &cusolverDnCgesvdj;
  static constexpr auto gesvdj_batched_size = &cusolverDnCgesvdjBatched_bufferSize;
  static constexpr auto gesvdj_batched = &cusolverDnCgesvdjBatched;
};
/// Double precision of complex numbers.
template <> struct CusolverRoutines<complex128> {
  using Element = cuDoubleComplex;
  static constexpr auto potrf_size = &cusolverDnZpotrf_bufferSize;
  static constexpr auto potrf = &cusolverDnZpotrf;
  static constexpr auto potrf_batched = &cusolverDnZpotrfBatched;
  static constexpr auto getrf_size = &cusolverDnZgetrf_bufferSize;
  static constexpr auto getrf = &cusolverDnZgetrf;
  static constexpr auto getrf_batched = &cublasZgetrfBatched;
  static constexpr auto trsm = &cublasZtrsm_v2;
  static constexpr auto trsm_batched = &cublasZtrsmBatched;
  static constexpr auto geqrf_size = &cusolverDnZgeqrf_bufferSize;
  static constexpr auto geqrf = &cusolverDnZgeqrf;
  static constexpr auto orgqr_size = &cusolverDnZungqr_bufferSize;
  static constexpr auto orgqr = &cusolverDnZungqr;
  static constexpr auto syevd_size = &cusolverDnZheevd_bufferSize;
  static constexpr auto syevd = &cusolverDnZheevd;
  static constexpr auto syevj_batched_size = &cusolverDnZheevjBatched_bufferSize;
  static constexpr auto syevj_batched = &cusolverDnZheevjBatched;
  static constexpr auto gesvdj_size = &cusolverDnZgesvdj_bufferSize;
  static constexpr auto gesvdj = &cusolverDnZgesvdj;
  static constexpr auto gesvdj_batched_size = &cusolverDnZgesvdjBatched_bufferSize;
  static constexpr auto gesvdj_batched = &cusolverDnZgesvdjBatched;
};

}}}} // namespace twill::v0::nvidia::detail
