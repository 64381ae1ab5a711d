#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A library of attention for emulated GPUs, as cuDNN is for CUDA, beside that of products: there where that is installed. It
// computes by twill's own kernels, so only who computes differs.

#include <tests/support/emulated_device.hpp>
#include <tests/support/emulated_products.hpp>

#include <twill/device/cuda/attention.hpp>
#include <twill/device/cuda/plan_choice.hpp>
#include <twill/kernel/gpu/attention_choice.hpp>

namespace twill { inline namespace v0 { namespace emulation {

struct AttentionLibrary : ProductLibrary {
  using Queue = gpu::Queue<EmulatedRuntime>;
  [[nodiscard]] static bool is_present() { return is_installed(); }

  template <class T>
  [[nodiscard]] static nvidia::PlanSummary attend(const Queue& queue, const nvidia::Attention&,
                                                  const kernel::AttentionInputs<T>& inputs, T* out, float* logsumexp) {
    kernel::gpu::attend_directly(queue, inputs, out, logsumexp);
    return {.exists = true};
  }
  template <class T>
  [[nodiscard]] static nvidia::PlanSummary attend_backward(const Queue& queue, const nvidia::Attention&,
                                                           const kernel::AttentionInputs<T>& inputs,
                                                           const kernel::AttentionGradients<T>& gradients) {
    kernel::gpu::attend_backward_directly(queue, inputs, gradients);
    return {.exists = gradients.out != nullptr}; // what cuDNN reads
  }
};

}}} // namespace twill::v0::emulation

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// Attention as kernel/cuda/cudnn.cuh computes it on CUDA.
template <class T>
void attention_forward(const twill::gpu::Queue<EmulatedRuntime>& queue, const AttentionInputs<T>& inputs, T* out,
                       compute_t<T>* logsumexp) {
  gpu::attend<emulation::AttentionLibrary>(queue, inputs, out, logsumexp);
}
template <class T>
void attention_backward(const twill::gpu::Queue<EmulatedRuntime>& queue, const AttentionInputs<T>& inputs,
                        const AttentionGradients<T>& gradients) {
  gpu::attend_backward<emulation::AttentionLibrary>(queue, inputs, gradients);
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
