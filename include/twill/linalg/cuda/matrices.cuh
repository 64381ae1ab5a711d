#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra on CUDA devices, by cuSOLVER and cuBLAS where they are installed (TWILL_WITH_CUSOLVER): a program
// includes this file, and the functions of linalg/ take such tensors, also in models and with gradients. Read next:
// linalg/gpu/decompose.hpp, linalg/gpu/eigenpairs.hpp, device/cuda/cusolver.cuh.

#include <twill/compile/run/gpu/capture.hpp>
#include <twill/compile/run/gpu/numbers.hpp>
#include <twill/compile/run/gpu/observer.hpp>
#include <twill/core/config.hpp>
#include <twill/device/cuda/cuda.cuh>
#include <twill/kernel/cuda/block.cuh>
#include <twill/kernel/cuda/product.cuh>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/gpu/decompose.hpp>
#include <twill/linalg/gpu/eigenpairs.hpp>

#if defined(TWILL_WITH_CUSOLVER)
#include <twill/device/cuda/cusolver.cuh>
#include <twill/device/cuda/cusolver_geev.cuh>
#endif

#include <string_view>

#if defined(TWILL_WITH_CUSOLVER)

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

template <> struct MatricesOn<twill::gpu::Queue<CudaRuntime>> {
  template <const graph::Operation* O, class T>
  static void run(const twill::gpu::Queue<CudaRuntime>& queue, const kernel::Launch& launch) {
    decompose_on<nvidia::Cusolver, Cuda, O, T>(queue, launch);
  }
  template <class T, class Z>
  static void eigenpairs(const twill::gpu::Queue<CudaRuntime>& queue, std::string_view function, const Stack& stack,
                         const T* from, Z* values, Z* vectors) {
    const GpuEigenpairs<nvidia::CusolverGeev, Cuda, T> pairs(queue, function);
    pairs(stack, from, values, vectors);
  }
};

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA

#endif
