#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Strided batches of a vendor's library from a stack of products: which factors are dense, as stored or transposed, and
// which axes of the batch the library walks by itself. Decided on the host, without CUDA. Read next:
// kernel/cuda/product.cuh.

#include <twill/core/dtype.hpp>
#include <twill/device/cuda/gemm.hpp>
#include <twill/kernel/gpu/product_plan.hpp>
#include <twill/kernel/product_stack.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu { inline namespace TWILL_ISA {

/// The products of a stack as `count` batches that differ in their start only; 0 when twill's own kernel is to compute
/// them.
struct StackedGemm {
  nvidia::Gemm first{};
  BatchWalk walk{};
  std::int64_t count = 0;

  /// Batch number `index`, in [0, count).
  template <class T> [[nodiscard]] nvidia::Gemm batch(std::int64_t index) const {
    const BatchOffsets offsets = offsets_of(walk, index * walk.inner());
    nvidia::Gemm gemm = first;
    gemm.a.data = static_cast<const T*>(first.a.data) + offsets.a;
    gemm.b.data = static_cast<const T*>(first.b.data) + offsets.b;
    gemm.c = static_cast<T*>(first.c) + offsets.c;
    return gemm;
  }
};

/// Whether one block of the narrow kernel computes a product in a few steps: a library's general kernel does no better.
[[nodiscard]] constexpr bool is_small_product(std::int64_t m, std::int64_t n, std::int64_t k) {
  return std::max(m, n) <= 16 && k <= 64;
}

template <class T>
[[nodiscard]] StackedGemm stacked_gemm(const ProductStack<T>& stack, double alpha = 1, double beta = 0) {
  StackedGemm result{};
  if (!is_floating(dtype_of<T>) || stack.batch.elements() == 0 || is_small_product(stack.m, stack.n, stack.k))
    return {};
  const MatrixLayout a = layout_of(stack.a, stack.m, stack.k);
  const MatrixLayout b = layout_of(stack.b, stack.k, stack.n);
  if (!a.is_dense || !b.is_dense) return {};
  result.walk = walk_batch(stack);
  const auto inner = static_cast<std::size_t>(result.walk.rank - 1);
  nvidia::Gemm& gemm = result.first;
  gemm.dtype = dtype_of<T>;
  gemm.m = stack.m;
  gemm.n = stack.n;
  gemm.k = stack.k;
  gemm.batch = result.walk.inner();
  gemm.a = {stack.a.data, a.leading, a.is_transposed, result.walk.a[inner]};
  gemm.b = {stack.b.data, b.leading, b.is_transposed, result.walk.b[inner]};
  gemm.c = stack.c;
  gemm.c_leading = std::max(stack.c_row_stride, std::max<std::int64_t>(stack.n, 1));
  gemm.c_batch_stride = result.walk.c[inner];
  gemm.alpha = alpha;
  gemm.beta = beta;
  if (!nvidia::refusal(gemm).empty()) return {};
  result.count = result.walk.count() / result.walk.inner();
  return result;
}

}}}}} // namespace twill::v0::kernel::gpu::TWILL_ISA
