#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Fourier and cosine transforms on CUDA devices, by cuFFT where it is installed (TWILL_WITH_CUFFT): a program includes
// this file, and the functions of fft/ take tensors of such devices, those of models run on them. Read next:
// fft/gpu/transform_lines.hpp, device/cuda/cufft.cuh.

#include <twill/core/config.hpp>
#include <twill/device/cuda/cuda.cuh>
#include <twill/fft/gpu/transform_lines.hpp>
#include <twill/fft/lines.hpp>
#include <twill/kernel/cuda/block.cuh>

#if defined(TWILL_WITH_CUFFT)
#include <twill/device/cuda/cufft.cuh>
#endif

#include <memory>
#include <string_view>

#if defined(TWILL_WITH_CUFFT)

namespace twill { inline namespace v0 { namespace fft { namespace detail {

/// cuFFT, in the form that `transform_lines` expects.
struct Cufft {
  static constexpr std::string_view name = "cuFFT";

  [[nodiscard]] static std::shared_ptr<nvidia::CufftPlan> plan(const twill::gpu::Queue<CudaRuntime>& queue,
                                                               const nvidia::Fft& described) {
    return nvidia::cufft_plan(queue, described);
  }
};

template <> struct LinesOn<twill::gpu::Queue<CudaRuntime>> {
  template <class T> static void run(const twill::gpu::Queue<CudaRuntime>& queue, const Job<T>& job) {
    transform_lines<Cufft, Cuda>(queue, job);
  }
};

}}}} // namespace twill::v0::fft::detail

#endif
