#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and attention on CUDA devices: cuDNN computes those that it has engines for, where it is installed
// (TWILL_WITH_CUDNN), twill's own kernels the rest; attention only for 16-bit types. These overloads are more special
// than those of kernel/gpu/, so compiled functions and steps use them; their first run chooses engines, by timing where
// LibraryOptions::autotune says so, and a captured step keeps them. Weights keep PyTorch's order: cuDNN reorders them
// in the stream's working memory. Read next: kernel/gpu/convolution_choice.hpp, kernel/gpu/attention_choice.hpp,
// device/cuda/cudnn_convolution.cuh.

#include <twill/device/convolution.hpp>
#include <twill/device/cuda/attention.hpp>
#include <twill/device/cuda/convolution.hpp>
#include <twill/device/cuda/plan_choice.hpp>
#include <twill/device/cuda/runtime.cuh>
#include <twill/kernel/cuda/block.cuh>
#include <twill/kernel/gpu/attention_choice.hpp>
#include <twill/kernel/gpu/convolution_choice.hpp>

#if defined(TWILL_WITH_CUDNN)
#include <twill/device/cuda/cudnn_attention.cuh>
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

/// cuDNN, in the form that the choice of attention expects.
struct CudnnAttention : Cudnn {
  template <class T>
  [[nodiscard]] static nvidia::PlanSummary
  attend([[maybe_unused]] const twill::gpu::Queue<CudaRuntime>& queue, [[maybe_unused]] const nvidia::Attention& a,
         [[maybe_unused]] const AttentionInputs<T>& in, [[maybe_unused]] T* out, [[maybe_unused]] float* logsumexp) {
#if defined(TWILL_WITH_CUDNN)
    return nvidia::dnn::run_attention(queue, a, in.q, in.k, in.v, out, logsumexp);
#else
    return {};
#endif
  }

  template <class T>
  [[nodiscard]] static nvidia::PlanSummary attend_backward([[maybe_unused]] const twill::gpu::Queue<CudaRuntime>& queue,
                                                           [[maybe_unused]] const nvidia::Attention& a,
                                                           [[maybe_unused]] const AttentionInputs<T>& in,
                                                           [[maybe_unused]] const AttentionGradients<T>& to) {
#if defined(TWILL_WITH_CUDNN)
    const nvidia::dnn::AttentionGradients gradients{in.q, in.k, in.v, to.out, to.g, to.logsumexp, to.dq, to.dk, to.dv};
    return nvidia::dnn::run_attention_gradients(queue, a, gradients);
#else
    return {};
#endif
  }
};

}}}} // namespace twill::v0::kernel::gpu

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// Computes one part of a convolution, after the queue's earlier work; returns at once. throws: GpuError
template <class T>
void run_convolution(const twill::gpu::Queue<CudaRuntime>& queue, const Convolution<T>& convolution) {
  gpu::convolve<gpu::Cudnn>(queue, convolution);
}

/// out: (batches, queries, value width); logsumexp: (batches, queries), or null. Returns at once. throws: GpuError
template <class T>
void attention_forward(const twill::gpu::Queue<CudaRuntime>& queue, const AttentionInputs<T>& inputs, T* out,
                       compute_t<T>* logsumexp) {
  gpu::attend<gpu::CudnnAttention>(queue, inputs, out, logsumexp);
}

template <class T>
void attention_backward(const twill::gpu::Queue<CudaRuntime>& queue, const AttentionInputs<T>& inputs,
                        const AttentionGradients<T>& gradients) {
  gpu::attend_backward<gpu::CudnnAttention>(queue, inputs, gradients);
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
