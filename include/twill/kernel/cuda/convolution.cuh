#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions on CUDA devices: cuDNN computes those that it has engines for, where it is installed (TWILL_WITH_CUDNN),
// twill's own kernel the rest. This overload is more special than that of kernel/gpu/convolution.hpp, so compiled
// functions and steps use it; their first run chooses engines, by timing where LibraryOptions::autotune says so, and a
// captured step keeps them. Weights keep PyTorch's order: cuDNN reorders them in the stream's working memory.
// Read next: kernel/gpu/convolution_choice.hpp, device/cuda/cudnn_convolution.cuh.

#include <twill/device/convolution.hpp>
#include <twill/device/cuda/convolution.hpp>
#include <twill/device/cuda/plan_choice.hpp>
#include <twill/device/cuda/runtime.cuh>
#include <twill/kernel/cuda/block.cuh>
#include <twill/kernel/gpu/convolution_choice.hpp>

#if defined(TWILL_WITH_CUDNN)
#include <twill/device/cuda/cudnn_convolution.cuh>
#endif

#include <string_view>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// cuDNN, in the form that `convolve` expects.
struct Cudnn {
  static constexpr std::string_view name = "cuDNN";

#if defined(TWILL_WITH_CUDNN)
  [[nodiscard]] static constexpr bool is_present() { return true; }

  [[nodiscard]] static nvidia::PlanSummary convolve(const twill::gpu::Queue<CudaRuntime>& queue, ConvolutionPart part,
                                                    const nvidia::Convolution& c, void* x, void* w, void* y) {
    using namespace nvidia::dnn;
    if (part == ConvolutionPart::output) return run_convolution_forward(queue, c, x, w, y);
    const bool is_of_input = part == ConvolutionPart::input_gradient;
    return run_convolution_gradient(queue, c, part, y, is_of_input ? w : x, is_of_input ? x : w);
  }
#else
  [[nodiscard]] static constexpr bool is_present() { return false; }

  [[nodiscard]] static nvidia::PlanSummary convolve(const twill::gpu::Queue<CudaRuntime>&, ConvolutionPart,
                                                    const nvidia::Convolution&, void*, void*, void*) {
    return {};
  }
#endif
};

}}}} // namespace twill::v0::kernel::gpu

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// Computes one part of a convolution, after the queue's earlier work; returns at once. throws: GpuError
template <class T>
void run_convolution(const twill::gpu::Queue<CudaRuntime>& queue, const Convolution<T>& convolution) {
  gpu::convolve<gpu::Cudnn>(queue, convolution);
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
