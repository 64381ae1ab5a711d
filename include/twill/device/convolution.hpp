#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Convolution parameters for kernels and libraries: data are channels-last, input (N, H, W, C) and output (N, P, Q, K),
// weights as PyTorch stores them, (K, C / groups, R, S). One dimension is two with a height of 1. It is correlation, as
// in neural networks: the weights are not flipped. Read next: kernel/convolution.hpp.

#include <twill/core/config.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 {

/// The computed part of a convolution; each part is linear in the two operands that it reads.
enum class ConvolutionPart : std::uint8_t { output, input_gradient, weight_gradient };

struct ConvolutionShape {
  /// Height and width.
  using Space = std::array<std::int64_t, 2>;

  std::int64_t batch = 1;
  std::int64_t in_channels = 1;
  std::int64_t out_channels = 1;
  std::int64_t groups = 1;
  Space input{1, 1};
  Space output{1, 1};
  Space kernel{1, 1};
  Space stride{1, 1};
  Space padding{0, 0}; ///< before the input; after it there is as much as the output needs
  Space dilation{1, 1};

  [[nodiscard]] constexpr std::int64_t in_pixels() const { return input[0] * input[1]; }
  [[nodiscard]] constexpr std::int64_t out_pixels() const { return output[0] * output[1]; }
  [[nodiscard]] constexpr std::int64_t x_elements() const { return batch * in_pixels() * in_channels; }
  [[nodiscard]] constexpr std::int64_t y_elements() const { return batch * out_pixels() * out_channels; }
  /// The weights of one output channel.
  [[nodiscard]] constexpr std::int64_t taps() const { return in_channels / groups * kernel[0] * kernel[1]; }
  [[nodiscard]] constexpr std::int64_t w_elements() const { return out_channels * taps(); }
  [[nodiscard]] constexpr std::int64_t multiply_adds() const { return y_elements() * taps(); }
  /// The extent of the kernel along an axis, dilation included.
  [[nodiscard]] constexpr std::int64_t reach(std::size_t axis) const { return dilation[axis] * (kernel[axis] - 1) + 1; }
  /// The padding after the input, at least 0.
  [[nodiscard]] constexpr std::int64_t padding_behind(std::size_t axis) const {
    return std::max<std::int64_t>(0, (output[axis] - 1) * stride[axis] + reach(axis) - input[axis] - padding[axis]);
  }

  friend constexpr bool operator==(const ConvolutionShape&, const ConvolutionShape&) = default;
};

}} // namespace twill::v0
