#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Choice between libraries and twill's kernel for matrix products on a GPU: a vendor's library where it supports the
// types and strides, otherwise twill's tiled kernel. Only libraries compute products with epilogues; without one their
// callers launch a product and a program. Each choice is noted once, for library_choices(). The library is a template
// argument, so the choice is tested without CUDA. Read next: kernel/cuda/product.cuh.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/device/cuda/gemm.hpp>
#include <twill/device/cuda/plan_choice.hpp>
#include <twill/device/gpu/library_choices.hpp>
#include <twill/device/gpu/library_options.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/epilogue_product.hpp>
#include <twill/kernel/gpu/product.hpp>
#include <twill/kernel/gpu/product_plan.hpp>
#include <twill/kernel/product_stack.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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

/// A factor of a product as libraries are given it: real.
template <class C> [[nodiscard]] constexpr bool is_real(C factor) {
  if constexpr (ComplexScalar<C>)
    return factor.im == 0;
  else
    return true;
}
template <class C> [[nodiscard]] constexpr double real_part(C factor) {
  if constexpr (ComplexScalar<C>)
    return double{factor.re};
  else
    return double{factor};
}

template <class T>
[[nodiscard]] StackedGemm stacked_gemm(const ProductStack<T>& stack, double alpha = 1, double beta = 0) {
  StackedGemm result{};
  if (!is_fractional(dtype_of<T>) || stack.batch.elements() == 0 || is_small_product(stack.m, stack.n, stack.k))
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

/// A library that may compute products: its `name`, and multiply(queue, gemm), which computes it or returns false.
template <class L, class Queue>
concept ProductLibrary = requires(const Queue& queue, const nvidia::Gemm& gemm) {
  {std::string_view{L::name}};
  { L::multiply(queue, gemm) } -> std::same_as<bool>;
};

/// Notes the choice for a product, once for each problem: the library, or twill for this reason.
template <class Library, twill::gpu::Runtime R>
void note_product(const twill::gpu::Queue<R>& queue, const nvidia::Gemm& gemm, bool is_done, std::string_view refused) {
  constexpr std::uint64_t of_products = std::uint64_t{1} << 63; // beside the parts of convolutions
  const LibraryOptions options = library_options();
  const auto words = nvidia::key_of(gemm, static_cast<unsigned>(nvidia::key_bits(options, options.autotune)));
  static_assert(words.size() < twill::gpu::choice_key_words);
  twill::gpu::ChoiceKey key{of_products};
  for (std::size_t i = 0; i < words.size(); ++i) key[i + 1] = words[i];
  twill::gpu::choice_log<R>(queue.device()).note(key, [&] {
    return LibraryChoice{.problem = to_string(gemm),
                         .by = std::string{is_done ? std::string_view{Library::name} : "twill"},
                         .reason = !is_done           ? std::string{refused}
                                   : options.autotune ? "the fastest of its proposals"
                                                      : "its first proposal",
                         .options = options};
  });
}

/// C = alpha A B + beta C for every product of a stack. throws: GpuError
template <class Library, twill::gpu::Runtime R, Scalar T>
requires ProductLibrary<Library, twill::gpu::Queue<R>>
void multiply(const twill::gpu::Queue<R>& queue, const ProductStack<T>& stack, compute_t<T> alpha, compute_t<T> beta) {
  if constexpr (is_fractional(dtype_of<T>)) {
    StackedGemm stacked{};
    if (is_real(alpha) && is_real(beta)) stacked = stacked_gemm(stack, real_part(alpha), real_part(beta));
    std::int64_t done = 0;
    // a refusal of the library is final: the shapes are those of the first
    while (done < stacked.count && Library::multiply(queue, stacked.template batch<T>(done))) ++done;
    const bool is_done = stacked.count > 0 && done == stacked.count;
    if (stacked.count > 0) note_product<Library>(queue, stacked.first, is_done, "the library has no algorithm for it");
    if (is_done) return;
  }
  tiled_products(queue, stack, alpha, beta);
}

/// Computes a product with its epilogue if the library can; returns whether it did. throws: GpuError
template <class Library, twill::gpu::Runtime R, FloatingScalar T>
requires ProductLibrary<Library, twill::gpu::Queue<R>>
[[nodiscard]] bool multiply_with_epilogue(const twill::gpu::Queue<R>& queue, const EpilogueProduct<T>& wanted) {
  const StackedGemm stacked = stacked_gemm(wanted.product);
  if (stacked.count != 1) return false;
  nvidia::Gemm gemm = stacked.first;
  gemm.epilogue = wanted.epilogue;
  gemm.bias = wanted.bias;
  gemm.auxiliary = wanted.auxiliary;
  const std::string_view refused = nvidia::refusal(gemm);
  const bool is_done = refused.empty() && Library::multiply(queue, gemm);
  note_product<Library>(queue, gemm, is_done,
                        refused.empty() ? "the library has no algorithm with this epilogue" : refused);
  return is_done;
}

}}}}} // namespace twill::v0::kernel::gpu::TWILL_ISA
