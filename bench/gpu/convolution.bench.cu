// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of ResNet-50 in bfloat16 on 256 images, channels last, forward and with both gradients. Sums in double at many
// places are compared before anything is timed. Sizes are channels x extent k kernel.

#include "bench/gpu/programs.cuh"

#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

using namespace twill;

namespace bench::convolutions { // with a name: closures of templates have fields of its types

constexpr std::int64_t batch = 256;

/// As many channels come out as go in, and the padding keeps the extent.
template <std::int64_t Channels, std::int64_t Extent, std::int64_t Kernel> struct Size {
  static constexpr std::int64_t padding = Kernel / 2;
  using Images = Tensor<bfloat16, Cuda, Shape<dyn, Extent, Extent, Channels>>;
  using Weights = Tensor<bfloat16, Cuda, Shape<Channels, Channels, Kernel, Kernel>>;

  struct Forward {
    constexpr graph::Value operator()(graph::Value x, graph::Value w) const {
      const auto y = graph::conv2d(transpose(x, {0, 3, 1, 2}), w, {.padding = padding});
      return transpose(y, {0, 2, 3, 1});
    }
  };
  struct Weighted {
    constexpr graph::Value operator()(graph::Value x, graph::Value w, graph::Value g) const {
      return graph::sum(Forward{}(x, w) * g);
    }
  };

  static std::size_t pixel(std::int64_t image, std::int64_t row, std::int64_t column, std::int64_t channel) {
    return static_cast<std::size_t>(((image * Extent + row) * Extent + column) * Channels + channel);
  }
  static std::size_t weight(std::int64_t out, std::int64_t in, std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(((out * Channels + in) * Kernel + i) * Kernel + j);
  }
  static bool is_inside(std::int64_t row, std::int64_t column) {
    return row >= 0 && row < Extent && column >= 0 && column < Extent;
  }
};

template <class X> std::vector<double> on_host(const X& x) {
  const auto host = x.to(Cpu{0});
  std::vector<double> numbers(static_cast<std::size_t>(host.elements()));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(float{host.data()[i]});
  return numbers;
}

/// Sums of so many products of normal numbers, stored in bfloat16.
bool is_close(double found, double expected, double terms) {
  return std::abs(found - expected) <= 0.01 * (std::sqrt(terms) + std::abs(expected));
}

/// y = x * w at some places, or with `is_transposed` the gradient by x of sum(y g) from g: the kernel turned round.
template <class S>
bool is_convolution(const std::vector<double>& x, const std::vector<double>& w, const std::vector<double>& y,
                    bool is_transposed, std::int64_t channels, std::int64_t extent, std::int64_t kernel) {
  for (std::int64_t sample = 0; sample < 200; ++sample) {
    const std::int64_t image = sample * 7919 % batch, row = sample * 104729 % extent;
    const std::int64_t column = sample * 1299709 % extent, channel = sample * 15485863 % channels;
    double total = 0;
    for (std::int64_t i = 0; i < kernel; ++i)
      for (std::int64_t j = 0; j < kernel; ++j) {
        const std::int64_t r = is_transposed ? row - i + S::padding : row + i - S::padding;
        const std::int64_t c = is_transposed ? column - j + S::padding : column + j - S::padding;
        if (!S::is_inside(r, c)) continue;
        for (std::int64_t other = 0; other < channels; ++other)
          total += x[S::pixel(image, r, c, other)] *
                   w[is_transposed ? S::weight(other, channel, i, j) : S::weight(channel, other, i, j)];
      }
    if (!is_close(y[S::pixel(image, row, column, channel)], total, static_cast<double>(channels * kernel * kernel)))
      return false;
  }
  return true;
}

/// dw = sum over images and pixels of x g at some places.
template <class S>
bool is_weight_gradient(const std::vector<double>& x, const std::vector<double>& g, const std::vector<double>& dw,
                        std::int64_t channels, std::int64_t extent, std::int64_t kernel) {
  for (std::int64_t sample = 0; sample < 8; ++sample) {
    const std::int64_t out = sample * 7919 % channels, in = sample * 104729 % channels;
    const std::int64_t i = sample % kernel, j = sample / kernel % kernel;
    double total = 0;
    for (std::int64_t image = 0; image < batch; ++image)
      for (std::int64_t row = 0; row < extent; ++row)
        for (std::int64_t column = 0; column < extent; ++column)
          if (const std::int64_t r = row + i - S::padding, c = column + j - S::padding; S::is_inside(r, c))
            total += x[S::pixel(image, r, c, in)] * g[S::pixel(image, row, column, out)];
    if (!is_close(dw[S::weight(out, in, i, j)], total, static_cast<double>(batch * extent * extent))) return false;
  }
  return true;
}

template <std::int64_t Channels, std::int64_t Extent, std::int64_t Kernel> void convolution(bench::Report& report) {
  using S = Size<Channels, Extent, Kernel>;
  using Images = typename S::Images;
  using Weights = typename S::Weights;
  const std::string size = std::to_string(Channels) + "x" + std::to_string(Extent) + "k" + std::to_string(Kernel);
  const Dims pictures(batch, Extent, Extent, Channels);
  const Images x = randn<bfloat16, typename Images::shape_type>(pictures, Cuda{0});
  const Images g = randn<bfloat16, typename Images::shape_type>(pictures, Cuda{0});
  const Weights w = randn<bfloat16, typename Weights::shape_type>(Dims(Channels, Channels, Kernel, Kernel), Cuda{0});
  const auto forward = compiled(typename S::Forward{});
  const auto gradients = value_and_grad(typename S::Weighted{});
  Images y = forward(x, w);
  auto result = gradients(x, w, g);
  const auto hx = on_host(x), hw = on_host(w), hg = on_host(g);
  report.compare("gpu_convolution_bf16", size,
                 {{"twill", [&] { y = forward(x, w); },
                   [&] { return is_convolution<S>(hx, hw, on_host(y), false, Channels, Extent, Kernel); }}});
  report.compare("gpu_convolution_gradients_bf16", size,
                 {{"twill", [&] { result = gradients(x, w, g); },
                   [&] {
                     return is_convolution<S>(hg, hw, on_host(std::get<1>(result)), true, Channels, Extent, Kernel) &&
                            is_weight_gradient<S>(hx, hg, on_host(std::get<2>(result)), Channels, Extent, Kernel);
                   }}});
}

} // namespace bench::convolutions

void bench_convolution(bench::Report& report) {
  using bench::convolutions::convolution;
  convolution<64, 56, 3>(report);
  convolution<256, 14, 3>(report);
  convolution<256, 28, 1>(report);
}
