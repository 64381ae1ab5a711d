#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Matrix products of bfloat16 by oneDNN 2, with the processor's own instructions where it has them: sums are float32,
// the result is rounded once. Each thread of a team computes a block and keeps its plans; scratch is the library's own
// memory, which is in no figure of twill's. If the library is missing or refuses, the caller computes in float32.
// Read next: kernel/product.hpp.

#include <twill/core/config.hpp>
#include <twill/core/half.hpp>
#include <twill/device/cpu/gemm.hpp>
#include <twill/device/cpu/onednn.hpp>
#include <twill/device/cpu/recent_plans.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace cpu {

#if defined(TWILL_WITH_ONEDNN) && DNNL_VERSION_MAJOR == 2

namespace detail {

/// A product of fixed sizes and strides, ready to run.
class DnnlMatmul {
public:
  /// m, n, k, whether each operand is transposed, the distances between stored rows
  using Key = std::array<std::int64_t, 8>;

  explicit DnnlMatmul(const Key& key) : key_{key} { is_ready_ = prepare(); }

  [[nodiscard]] bool is_for(const Key& key) const { return key == key_; }
  [[nodiscard]] bool is_ready() const { return is_ready_; }

  [[nodiscard]] bool run(const void* a, const void* b, void* c) const;

private:
  [[nodiscard]] bool prepare();

  Key key_;
  bool is_ready_ = false;
  Dnnl<dnnl_primitive_t> multiply_{};
  Dnnl<dnnl_memory_t> a_{}, b_{}, c_{};
};

/// The plan of one block, made if the calling thread has none. throws: std::bad_alloc
[[nodiscard]] const DnnlMatmul& find_matmul(const DnnlMatmul::Key& key);

/// Calls `f(plan, row, column)` for the block of C of each thread. Returns whether all calls returned true.
template <class Team, class F>
[[nodiscard]] bool for_each_block(const Team& team, bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n,
                                  std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc, const F& f) {
  std::atomic<bool> is_done{true};
  share_product(team, m, n, k, [&](std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
    const DnnlMatmul& plan = find_matmul({rows, columns, k, transpose_a, transpose_b, lda, ldb, ldc});
    if (!f(plan, row, column)) is_done = false;
  });
  return is_done;
}

} // namespace detail

/// C = op(A) * op(B), split among the team. False, and C undefined, where the library refuses.
template <class Team>
[[nodiscard]] bool bfloat16_product(const Team& team, bool transpose_a, bool transpose_b, std::int64_t m,
                                    std::int64_t n, std::int64_t k, const bfloat16* a, std::int64_t lda,
                                    const bfloat16* b, std::int64_t ldb, bfloat16* c, std::int64_t ldc) {
  return detail::for_each_block(team, transpose_a, transpose_b, m, n, k, lda, ldb, ldc,
                                [=](const detail::DnnlMatmul& plan, std::int64_t row, std::int64_t column) {
                                  return plan.run(a + (transpose_a ? row : row * lda),
                                                  b + (transpose_b ? column * ldb : column), c + row * ldc + column);
                                });
}

/// Makes the plans of such a product in the threads that will need them. False where the library refuses.
template <class Team>
[[nodiscard]] bool plan_bfloat16_product(const Team& team, bool transpose_a, bool transpose_b, std::int64_t m,
                                         std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                                         std::int64_t ldc) {
  return detail::for_each_block(
      team, transpose_a, transpose_b, m, n, k, lda, ldb, ldc,
      [](const detail::DnnlMatmul& plan, std::int64_t, std::int64_t) { return plan.is_ready(); });
}

#else

template <class Team>
[[nodiscard]] bool bfloat16_product(const Team&, bool, bool, std::int64_t, std::int64_t, std::int64_t, const bfloat16*,
                                    std::int64_t, const bfloat16*, std::int64_t, bfloat16*, std::int64_t) {
  return false;
}
template <class Team>
[[nodiscard]] bool plan_bfloat16_product(const Team&, bool, bool, std::int64_t, std::int64_t, std::int64_t,
                                         std::int64_t, std::int64_t, std::int64_t) {
  return false;
}

#endif

}}} // namespace twill::v0::cpu

#if TWILL_HEADER_ONLY
#include <twill/device/cpu/onednn_matmul.ipp>
#endif
