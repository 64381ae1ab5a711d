#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Convolution as a value, with or without a GPU: extents, padding, strides, dilation and groups, the resulting output,
// and the channels-last layout of the three tensors: input (N, H, W, C), filter (K, R, S, C / groups), output (N, P, Q,
// K). One dimension is two with a height of 1. It is correlation, as in neural networks: the filter is not flipped.
// Not in the umbrella. Read next: device/cuda/cudnn_convolution.cuh.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/convolution.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace twill { inline namespace v0 { namespace nvidia {

/// Height and width.
using Space = std::array<std::int64_t, 2>;

/// The position of the channels in a filter.
enum class FilterOrder : std::uint8_t {
  channels_last,  ///< (K, R, S, C / groups)
  channels_first, ///< (K, C / groups, R, S), as PyTorch stores them
};

struct Convolution {
  DType dtype = DType::float32;
  std::int64_t batch = 1;
  std::int64_t in_channels = 1;
  std::int64_t out_channels = 1;
  std::int64_t groups = 1;
  Space input{1, 1};
  Space kernel{1, 1};
  Space stride{1, 1};
  Space padding_before{0, 0};
  Space padding_after{0, 0};
  Space dilation{1, 1};
  FilterOrder filter_order = FilterOrder::channels_last;
  std::int64_t alignment_bytes = 16; ///< of the first element of each tensor

  /// floor((input + padding - dilation * (kernel - 1) - 1) / stride) + 1 along each axis.
  [[nodiscard]] constexpr Space output() const {
    Space result{};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const std::int64_t room =
          input[axis] + padding_before[axis] + padding_after[axis] - dilation[axis] * (kernel[axis] - 1) - 1;
      result[axis] = room < 0 ? 0 : room / stride[axis] + 1;
    }
    return result;
  }

  friend constexpr bool operator==(const Convolution&, const Convolution&) = default;
};

/// "convolution of 8 x 56 x 56 x 64 by 128 filters of 3 x 3 x 64 float32".
[[nodiscard]] TWILL_COLD inline std::string to_string(const Convolution& c) {
  return join_text({"convolution of ", c.batch, " x ", c.input[0], " x ", c.input[1], " x ", c.in_channels, " by ",
                    c.out_channels, " filters of ", c.kernel[0], " x ", c.kernel[1], " x ", c.in_channels / c.groups,
                    " ", name(c.dtype)});
}

/// Refuses an invalid convolution. throws: ValueError with the numbers
inline void check(const Convolution& c) {
  const auto refuse = [&](const char* what, std::int64_t first, std::int64_t second) {
    throw ValueError(join_text({"convolution: ", what, ", got ", first, " and ", second}));
  };
  if (c.groups < 1 || c.in_channels < 1 || c.in_channels % c.groups != 0)
    refuse("groups divide the input channels", c.groups, c.in_channels);
  if (c.out_channels < 1 || c.out_channels % c.groups != 0)
    refuse("groups divide the output channels", c.groups, c.out_channels);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    if (c.kernel[axis] < 1 || c.input[axis] < 0) refuse("kernel and input have extents", c.kernel[axis], c.input[axis]);
    if (c.stride[axis] < 1 || c.dilation[axis] < 1)
      refuse("stride and dilation are at least 1", c.stride[axis], c.dilation[axis]);
    if (c.padding_before[axis] < 0 || c.padding_after[axis] < 0)
      refuse("padding is not negative", c.padding_before[axis], c.padding_after[axis]);
    const std::int64_t reach = c.dilation[axis] * (c.kernel[axis] - 1) + 1;
    const std::int64_t padded = c.input[axis] + c.padding_before[axis] + c.padding_after[axis];
    if (reach > padded) refuse("the kernel's reach fits the padded input", reach, padded);
  }
}

/// Extents (batch, channels, height, width) of a channels-last tensor, and its strides.
struct ChannelsLast {
  std::array<std::int64_t, 4> extents{};
  [[nodiscard]] constexpr std::array<std::int64_t, 4> strides() const {
    return {extents[1] * extents[2] * extents[3], 1, extents[1] * extents[3], extents[1]};
  }
  [[nodiscard]] constexpr std::int64_t elements() const { return extents[0] * extents[1] * extents[2] * extents[3]; }
};

[[nodiscard]] constexpr ChannelsLast input_of(const Convolution& c) {
  return {{c.batch, c.in_channels, c.input[0], c.input[1]}};
}
[[nodiscard]] constexpr ChannelsLast filter_of(const Convolution& c) {
  return {{c.out_channels, c.in_channels / c.groups, c.kernel[0], c.kernel[1]}};
}
/// The strides of a filter along (filter, channel, height, width).
[[nodiscard]] constexpr std::array<std::int64_t, 4> filter_strides(const Convolution& c) {
  const ChannelsLast filter = filter_of(c);
  if (c.filter_order == FilterOrder::channels_last) return filter.strides();
  const std::int64_t area = filter.extents[2] * filter.extents[3];
  return {filter.extents[1] * area, area, filter.extents[3], 1};
}
[[nodiscard]] constexpr ChannelsLast output_of(const Convolution& c) {
  const Space out = c.output();
  return {{c.batch, c.out_channels, out[0], out[1]}};
}

/// Padding on both sides that keeps the extent at stride 1; the odd one comes after.
[[nodiscard]] constexpr Convolution with_same_padding(Convolution c) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t wanted = (c.input[axis] + c.stride[axis] - 1) / c.stride[axis];
    const std::int64_t reach = (wanted - 1) * c.stride[axis] + c.dilation[axis] * (c.kernel[axis] - 1) + 1;
    const std::int64_t total = reach > c.input[axis] ? reach - c.input[axis] : 0;
    c.padding_before[axis] = total / 2;
    c.padding_after[axis] = total - total / 2;
  }
  return c;
}

/// A convolution of a network, with filters in PyTorch's order. The padding after is set to that before where the
/// output does not change, because libraries support more of such convolutions.
[[nodiscard]] constexpr Convolution convolution_of(DType dtype, const ConvolutionShape& shape) {
  Convolution c{.dtype = dtype,
                .batch = shape.batch,
                .in_channels = shape.in_channels,
                .out_channels = shape.out_channels,
                .groups = shape.groups,
                .input = shape.input,
                .kernel = shape.kernel,
                .stride = shape.stride,
                .padding_before = shape.padding,
                .padding_after = shape.padding,
                .dilation = shape.dilation,
                .filter_order = FilterOrder::channels_first};
  for (std::size_t axis = 0; axis < 2; ++axis)
    if (c.output()[axis] != shape.output[axis]) c.padding_after[axis] = shape.padding_behind(axis);
  return c;
}

inline constexpr std::size_t convolution_key_words = 16;
/// All inputs to the choice of an engine.
[[nodiscard]] constexpr std::array<std::uint64_t, convolution_key_words> key_of(const Convolution& c) {
  const auto word = [](auto number) { return static_cast<std::uint64_t>(number); };
  const auto both = [&](const Space& space) { return word(space[0]) << 32 | word(space[1]); };
  return {word(c.dtype),         word(c.batch),    word(c.in_channels),
          word(c.out_channels),  word(c.groups),   both(c.input),
          both(c.kernel),        both(c.stride),   both(c.padding_before),
          both(c.padding_after), both(c.dilation), word(c.filter_order) << 32 | word(c.alignment_bytes)};
}

}}} // namespace twill::v0::nvidia
