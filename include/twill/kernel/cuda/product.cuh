#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Matrix products on CUDA devices: cuBLASLt computes those that it supports, with bias, activation and sums in one
// kernel, twill's tiled kernel the rest. Overloads more special than those of kernel/gpu/product.hpp: generic calls of
// `run_products` or `product` use them. Read next: kernel/gpu/product_choice.hpp, device/cuda/cublas.cuh.

#include <twill/core/dtype.hpp>
#include <twill/device/cuda/cublas.cuh>
#include <twill/kernel/cuda/block.cuh>
#include <twill/kernel/epilogue_product.hpp>
#include <twill/kernel/gpu/product.hpp>
#include <twill/kernel/gpu/product_choice.hpp>

#include <string_view>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// cuBLASLt, in the form that the choice of products expects.
struct CublasLt {
  static constexpr std::string_view name = "cuBLASLt";

  [[nodiscard]] static bool multiply(const twill::gpu::Queue<CudaRuntime>& queue, const nvidia::Gemm& gemm) {
    return nvidia::try_gemm(queue, gemm);
  }
};

}}}} // namespace twill::v0::kernel::gpu

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// C = alpha A B + beta C for every product of a stack. throws: GpuError
template <Scalar T>
void run_products(const twill::gpu::Queue<CudaRuntime>& queue, const ProductStack<T>& stack,
                  compute_t<T> alpha = compute_t<T>{1}, compute_t<T> beta = compute_t<T>{}) {
  gpu::multiply<gpu::CublasLt>(queue, stack, alpha, beta);
}

/// Computes a product with its epilogue if cuBLASLt can; returns whether it did. throws: GpuError
template <FloatingScalar T>
[[nodiscard]] bool run_epilogue_product(const twill::gpu::Queue<CudaRuntime>& queue, const EpilogueProduct<T>& wanted) {
  return gpu::multiply_with_epilogue<gpu::CublasLt>(queue, wanted);
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
