#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Attention on CUDA devices: cuDNN's fused engines compute it for 16-bit types, forward and backward, where cuDNN is
// installed (TWILL_WITH_CUDNN), twill's streamed kernels otherwise. These overloads are more special than those of
// kernel/gpu/attention.hpp, so compiled functions and steps use them. Read next: kernel/gpu/attention_choice.hpp,
// device/cuda/cudnn_attention.cuh.

#include <twill/device/cuda/attention.hpp>
#include <twill/device/cuda/plan_choice.hpp>
#include <twill/device/cuda/runtime.cuh>
#include <twill/kernel/cuda/block.cuh>
#include <twill/kernel/cuda/convolution.cuh>
#include <twill/kernel/gpu/attention_choice.hpp>

#if defined(TWILL_WITH_CUDNN)
#include <twill/device/cuda/cudnn_attention.cuh>
#endif

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

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
