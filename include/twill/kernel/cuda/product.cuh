#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Matrix products on CUDA devices: cuBLASLt computes what it knows, twill's tiled kernel the rest. These overloads are more
// special than those of kernel/gpu/product.hpp, so generic code that calls `run_products` or `product` on a queue comes
// here. Read next: device/cuda/cublas.cuh.

#include <twill/core/dtype.hpp>
#include <twill/device/cuda/cublas.cuh>
#include <twill/kernel/cuda/block.cuh>
#include <twill/kernel/gpu/product.hpp>
#include <twill/kernel/gpu/product_gemm.hpp>

#include <cstdint>

namespace twill::inline v0::kernel::inline TWILL_ISA {

/// C = alpha A B + beta C for every product of a stack.
/// throws: GpuError
template <Scalar T>
void run_products(const twill::gpu::Queue<CudaRuntime>& queue, const ProductStack<T>& stack,
                  compute_t<T> alpha = compute_t<T>{1}, compute_t<T> beta = compute_t<T>{}) {
  if constexpr (FloatingScalar<T>) {
    const gpu::StackedGemm stacked = gpu::stacked_gemm(stack, double{alpha}, double{beta});
    std::int64_t done = 0;
    // what the library refuses once it refuses always: the shapes are those of the first
    while (done < stacked.count && twill::nvidia::try_gemm(queue, stacked.template batch<T>(done))) ++done;
    if (stacked.count > 0 && done == stacked.count) return;
  }
  gpu::tiled_products(queue, stack, alpha, beta);
}

} // namespace twill::inline v0::kernel::inline TWILL_ISA
