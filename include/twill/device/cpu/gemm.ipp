#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/cpu/gemm.hpp.

#include <twill/device/cpu/gemm.hpp>

namespace twill { inline namespace v0 { namespace cpu { namespace detail {

TWILL_BODY OneOpenMpThread::OneOpenMpThread() {
  if (open_mp().set == nullptr) return;
  previous_ = open_mp().get();
  if (previous_ != 1) open_mp().set(1);
}

TWILL_BODY OneOpenMpThread::~OneOpenMpThread() {
  if (previous_ > 1) open_mp().set(previous_);
}

#if defined(TWILL_WITH_CBLAS)
TWILL_BODY void gemm_block(int ta, int tb, int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                           int ldb, float beta, float* c, int ldc) {
  blas::twill_sgemm(blas::row_major, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

TWILL_BODY void gemm_block(int ta, int tb, int m, int n, int k, double alpha, const double* a, int lda, const double* b,
                           int ldb, double beta, double* c, int ldc) {
  blas::twill_dgemm(blas::row_major, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

TWILL_BODY void gemm_block(int ta, int tb, int m, int n, int k, Complex<float> alpha, const Complex<float>* a, int lda,
                           const Complex<float>* b, int ldb, Complex<float> beta, Complex<float>* c, int ldc) {
  blas::twill_cgemm(blas::row_major, ta, tb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
}

TWILL_BODY void gemm_block(int ta, int tb, int m, int n, int k, Complex<double> alpha, const Complex<double>* a,
                           int lda, const Complex<double>* b, int ldb, Complex<double> beta, Complex<double>* c,
                           int ldc) {
  blas::twill_zgemm(blas::row_major, ta, tb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
}
#endif

TWILL_BODY void gemm_by_onednn(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
                               float alpha, const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
                               float beta, float* c, std::int64_t ldc) {
  if (m <= 0 || n <= 0) return;
#if defined(TWILL_WITH_ONEDNN)
  if (k > 0) {
    const OneOpenMpThread scope{};
    if (onednn::twill_dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, alpha, a, lda, b, ldb, beta,
                                 c, ldc) == 0)
      return;
  }
#endif
  gemm_by_cblas(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

}}}} // namespace twill::v0::cpu::detail

#if defined(TWILL_WITH_CBLAS)
namespace twill { inline namespace v0 { namespace cpu {

TWILL_BODY OneBlasThread::~OneBlasThread() {
  if (blas::twill_mkl_local_threads != nullptr) blas::twill_mkl_local_threads(previous_);
}

}}} // namespace twill::v0::cpu
#endif
