#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/cpu/blas.hpp.

#include <twill/device/cpu/blas.hpp>

#if defined(TWILL_WITH_CBLAS)
namespace twill { inline namespace v0 { namespace cpu { namespace detail {

TWILL_BODY OneBlasThread::~OneBlasThread() {
  if (blas::twill_mkl_local_threads != nullptr) blas::twill_mkl_local_threads(previous_);
}

TWILL_BODY void gemm_block(int ta, int tb, int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                           int ldb, float beta, float* c, int ldc) {
  blas::twill_sgemm(blas::row_major, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

TWILL_BODY void gemm_block(int ta, int tb, int m, int n, int k, double alpha, const double* a, int lda, const double* b,
                           int ldb, double beta, double* c, int ldc) {
  blas::twill_dgemm(blas::row_major, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

}}}}   // namespace twill::v0::cpu::detail
#endif // defined(TWILL_WITH_CBLAS)
