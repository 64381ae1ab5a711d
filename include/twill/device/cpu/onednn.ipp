#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/cpu/onednn.hpp.

#include <twill/device/cpu/onednn.hpp>

namespace twill { inline namespace v0 { namespace cpu { namespace detail {

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
