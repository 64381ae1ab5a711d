#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Matrix products by oneDNN in raw pointers, where CMake found the library (TWILL_WITH_ONEDNN). As with BLAS, the team
// of the device splits the product and the library works only in the calling thread. The one function needed is
// declared here, so that its header costs nothing. It takes no scratchpad: packed operands are in the library's own
// memory, which, as with BLAS, is in no figure of twill's. Read next: device/cpu/blas.hpp, kernel/product.hpp.

#include <twill/core/config.hpp>
#include <twill/device/cpu/blas.hpp>
#if defined(TWILL_WITH_ONEDNN)
#include <twill/device/cpu/library_threads.hpp>
#endif

#include <cstdint>

namespace twill { inline namespace v0 { namespace cpu {

#if defined(TWILL_WITH_ONEDNN)
inline constexpr bool has_onednn = true;
namespace onednn {
extern "C" int twill_dnnl_sgemm(char transpose_a, char transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
                                float alpha, const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
                                float beta, float* c, std::int64_t ldc) __asm__("dnnl_sgemm");
} // namespace onednn
#else
inline constexpr bool has_onednn = false;
#endif

namespace detail {

/// By oneDNN in one thread; by BLAS if oneDNN is not installed or refuses.
void gemm_by_onednn(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                    const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c,
                    std::int64_t ldc);

} // namespace detail
}}} // namespace twill::v0::cpu

#if TWILL_HEADER_ONLY
#include <twill/device/cpu/onednn.ipp>
#endif
