#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A library of matrix products for emulated GPUs, as cuBLASLt is for CUDA: it takes what cuBLASLt takes, epilogues included, and
// computes by three loops in float64 when the stream gets there. It is absent until a test installs it.

#include <tests/support/emulated_device.hpp>

#include <twill/device/cuda/gemm.hpp>
#include <twill/kernel/epilogue_product.hpp>
#include <twill/kernel/gpu/product_choice.hpp>

#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace emulation {

struct ProductKernel {
  static constexpr int most_threads = 32;

  template <class Block> void operator()(const Block&, const nvidia::Gemm& gemm) const {
    switch (gemm.dtype) {
    case DType::float32:
      return compute<float>(gemm);
    case DType::float64:
      return compute<double>(gemm);
    case DType::float16:
      return compute<twill::half>(gemm);
    default:
      return compute<bfloat16>(gemm);
    }
  }

private:
  using Epilogue = nvidia::GemmEpilogue;

  template <class T>
  static double element(const nvidia::GemmFactor& of, std::int64_t batch, std::int64_t row, std::int64_t column) {
    const T* const first = static_cast<const T*>(of.data) + batch * of.batch_stride;
    return static_cast<double>(first[of.is_transposed ? column * of.leading + row : row * of.leading + column]);
  }

  template <class T> static void compute(const nvidia::Gemm& gemm) {
    T* const bias = static_cast<T*>(gemm.bias);
    std::vector<double> sums(static_cast<std::size_t>(gemm.epilogue == Epilogue::sum_left ? gemm.m : gemm.n));
    for (std::int64_t batch = 0; batch < gemm.batch; ++batch)
      for (std::int64_t i = 0; i < gemm.m; ++i)
        for (std::int64_t j = 0; j < gemm.n; ++j) {
          double sum = 0;
          for (std::int64_t p = 0; p < gemm.k; ++p) {
            const double left = element<T>(gemm.a, batch, i, p);
            const double right = element<T>(gemm.b, batch, p, j);
            sum += left * right;
            if (gemm.epilogue == Epilogue::sum_left && j == 0) sums[static_cast<std::size_t>(i)] += left;
            if (gemm.epilogue == Epilogue::sum_right && i == 0) sums[static_cast<std::size_t>(j)] += right;
          }
          T& to = static_cast<T*>(gemm.c)[batch * gemm.c_batch_stride + i * gemm.c_leading + j];
          double value = gemm.alpha * sum;
          if (gemm.beta != 0) value += gemm.beta * static_cast<double>(to);
          value = finished<T>(gemm, value, i, j);
          if (gemm.epilogue == Epilogue::gelu_gradient_bias) sums[static_cast<std::size_t>(j)] += value;
          to = static_cast<T>(value);
        }
    if (gemm.epilogue < Epilogue::gelu_gradient_bias) return;
    for (std::size_t j = 0; j < sums.size(); ++j) bias[j] = static_cast<T>(sums[j]);
  }

  template <class T> static double finished(const nvidia::Gemm& gemm, double value, std::int64_t i, std::int64_t j) {
    T* const auxiliary = static_cast<T*>(gemm.auxiliary);
    if (gemm.epilogue == Epilogue::gelu_gradient_bias)
      return value * gelu_slope(static_cast<double>(auxiliary[i * gemm.n + j]));
    if (gemm.epilogue == Epilogue::none || gemm.epilogue > Epilogue::gelu_bias_keep) return value;
    value += static_cast<double>(static_cast<const T*>(gemm.bias)[j]);
    if (gemm.epilogue == Epilogue::gelu_bias_keep) auxiliary[i * gemm.n + j] = static_cast<T>(value);
    if (gemm.epilogue == Epilogue::bias) return value;
    return gemm.epilogue == Epilogue::relu_bias ? std::fmax(value, 0.0) : gelu(value);
  }

  static double tanh_of(double x) { return std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)); }
  static double gelu(double x) { return 0.5 * x * (1 + tanh_of(x)); }
  static double gelu_slope(double x) {
    const double t = tanh_of(x);
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
  }
};

struct ProductLibrary {
  static constexpr std::string_view name = "the emulated library";

  static bool& is_installed() {
    static bool installed = false;
    return installed;
  }

  [[nodiscard]] static bool multiply(const gpu::Queue<EmulatedRuntime>& queue, const nvidia::Gemm& gemm) {
    if (!is_installed() || !nvidia::refusal(gemm).empty() || is_complex(gemm.dtype)) return false;
    if (gemm.dtype == DType::float64 && gemm.epilogue != nvidia::GemmEpilogue::none) return false; // as cuBLASLt
    enqueue(queue, ProductKernel{}, gpu::LaunchShape{}, gemm);
    return true;
  }
};

}}} // namespace twill::v0::emulation

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// Products as kernel/cuda/product.cuh computes them on CUDA.
template <Scalar T>
void run_products(const twill::gpu::Queue<EmulatedRuntime>& queue, const ProductStack<T>& stack,
                  compute_t<T> alpha = compute_t<T>{1}, compute_t<T> beta = compute_t<T>{}) {
  gpu::multiply<emulation::ProductLibrary>(queue, stack, alpha, beta);
}
template <FloatingScalar T>
[[nodiscard]] bool run_epilogue_product(const twill::gpu::Queue<EmulatedRuntime>& queue,
                                        const EpilogueProduct<T>& wanted) {
  return gpu::multiply_with_epilogue<emulation::ProductLibrary>(queue, wanted);
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
