#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Patches of images and pixels of channels: `unfold` and `fold`, of which each is the gradient of the other, and the
// shuffles of channels into pixels and back (Shi et al., 2016). All are made of slices, placements and transposes.
// Layouts are PyTorch's. Not in twill.hpp. Read next: ops/slice.hpp, ops/convolution.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/ops/channels_last.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/slice.hpp>

#include <bit>
#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Options of patches: how a window moves over an image.
struct PatchOptions {
  Sides kernel = 1;   ///< extents of the window
  Sides stride = 1;   ///< between two places of the window
  Sides padding = 0;  ///< zeros on each side
  Sides dilation = 1; ///< between two elements of the window
};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// The number of places of a window along a side of an image; refuses windows that do not fit.
[[nodiscard]] TWILL_CONSTEXPR std::int64_t places_of_window(Graph& graph, std::int64_t image, std::int64_t kernel,
                                                            std::int64_t stride, std::int64_t padding,
                                                            std::int64_t dilation, CallSite site) {
  const std::int64_t window = dilation * (kernel - 1) + 1;
  if (kernel < 1) graph.refuse(Problem::convolution_kernel_is_not_positive, kernel, 0, site);
  if (stride < 1) graph.refuse(Problem::convolution_stride_is_not_positive, stride, 0, site);
  if (dilation < 1) graph.refuse(Problem::convolution_dilation_is_not_positive, dilation, 0, site);
  if (padding < 0) graph.refuse(Problem::convolution_padding_is_negative, padding, 0, site);
  if (graph.fault.any()) return 0;
  if (window > image + 2 * padding)
    graph.refuse(Problem::convolution_kernel_is_larger_than_the_padded_input, window, image + 2 * padding, site);
  return (image + 2 * padding - window) / stride + 1;
}

/// The elements along an axis at first, first + step and so on of an axis of zeros.
[[nodiscard]] TWILL_CONSTEXPR Value placed(Value x, int axis, std::int64_t first, std::int64_t step,
                                           std::int64_t extent) {
  const Value parts = around_axis(x, axis);
  const Extent wide{extent, 0};
  const Value y = add_operation(place_operation, {parts}, x.dtype(), with_extent(parts.shape(), 1, wide),
                                {first, step, std::bit_cast<std::int64_t>(0.0)});
  return reshape(y, with_extent(x.shape(), axis, wide));
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The patches of x (batch, channels, height, width) under a window: (batch, channels * window, places), PyTorch's
/// unfold. errors: a window larger than the padded image, an image known only at run time
/// cost: a slice for each element of the window
[[nodiscard]] TWILL_CONSTEXPR Value unfold(Value x, const PatchOptions& o, CallSite site = CallSite::here()) {
  Graph& graph = x.graph();
  if (x.rank() != 4) {
    graph.refuse(Problem::convolution_input_has_the_wrong_rank, x.rank(), 4, site);
    return x;
  }
  const std::int64_t rows = detail::places_of_window(graph, x.size(2, site), o.kernel.height, o.stride.height,
                                                     o.padding.height, o.dilation.height, site);
  const std::int64_t columns = detail::places_of_window(graph, x.size(3, site), o.kernel.width, o.stride.width,
                                                        o.padding.width, o.dilation.width, site);
  if (graph.fault.any()) return x;
  const Extents shape = x.shape();
  x = pad(pad(x, 2, {o.padding.height, o.padding.height}), 3, {o.padding.width, o.padding.width});
  const auto under = [](Value image, int axis, std::int64_t first, std::int64_t stride, std::int64_t count) {
    return detail::cut(image, axis, first, stride, {count, 0});
  };
  List<Value> patches{};
  for (std::int64_t i = 0; i < o.kernel.height; ++i) {
    const Value lines = under(x, 2, i * o.dilation.height, o.stride.height, rows);
    for (std::int64_t j = 0; j < o.kernel.width; ++j)
      patches.push_back(under(lines, 3, j * o.dilation.width, o.stride.width, columns));
  }
  const Value all = stack(std::span<const Value>{patches.data(), patches.size()}, 2, site);
  Extents flat{};
  flat.append(shape[0]);
  flat.append(shape[1] * Extent{o.kernel.height * o.kernel.width, 0});
  flat.append({rows * columns, 0});
  return reshape(all, flat, site);
}

/// The sum of patches (batch, channels * window, places) at their places in images (batch, channels, height, width) of
/// this size, PyTorch's fold. errors: patches that do not fit the images
/// cost: a placement for each element of the window
[[nodiscard]] TWILL_CONSTEXPR Value fold(Value x, Sides size, const PatchOptions& o, CallSite site = CallSite::here()) {
  Graph& graph = x.graph();
  const std::int64_t rows = detail::places_of_window(graph, size.height, o.kernel.height, o.stride.height,
                                                     o.padding.height, o.dilation.height, site);
  const std::int64_t columns = detail::places_of_window(graph, size.width, o.kernel.width, o.stride.width,
                                                        o.padding.width, o.dilation.width, site);
  const std::int64_t window = o.kernel.height * o.kernel.width;
  if (x.rank() != 3) graph.refuse(Problem::convolution_input_has_the_wrong_rank, x.rank(), 3, site);
  if (graph.fault.any()) return x;
  const std::int64_t channels = x.size(1, site);
  if (channels % window != 0 || x.size(2, site) != rows * columns)
    graph.refuse(Problem::patches_do_not_fit_the_image, channels % window != 0 ? channels : x.size(2, site),
                 channels % window != 0 ? window : rows * columns, site);
  if (graph.fault.any()) return x;
  Extents apart{};
  apart.append(x.shape()[0]);
  apart.append({channels / window, 0});
  apart.append({window, 0});
  apart.append({rows, 0});
  apart.append({columns, 0});
  const Value patches = reshape(x, apart);
  const std::int64_t height = size.height + 2 * o.padding.height, width = size.width + 2 * o.padding.width;
  Value image{};
  for (std::int64_t i = 0; i < o.kernel.height; ++i) {
    Value lines{};
    for (std::int64_t j = 0; j < o.kernel.width; ++j) {
      const Value part =
          detail::placed(select(patches, 2, i * o.kernel.width + j), 3, j * o.dilation.width, o.stride.width, width);
      lines = j == 0 ? part : lines + part;
    }
    lines = detail::placed(lines, 2, i * o.dilation.height, o.stride.height, height);
    image = i == 0 ? lines : image + lines;
  }
  return narrow(narrow(image, 2, o.padding.height, size.height), 3, o.padding.width, size.width);
}

/// Channels as pixels: (batch, channels * factor^2, height, width) to (batch, channels, height * factor, width *
/// factor). errors: channels that factor^2 does not divide
[[nodiscard]] TWILL_CONSTEXPR Value pixel_shuffle(Value x, std::int64_t factor, CallSite site = CallSite::here()) {
  Graph& graph = x.graph();
  if (x.rank() != 4) graph.refuse(Problem::convolution_input_has_the_wrong_rank, x.rank(), 4, site);
  if (graph.fault.any()) return x;
  if (factor < 1 || x.size(1, site) % (factor * factor) != 0)
    graph.refuse(Problem::patches_do_not_fit_the_image, x.size(1, site), factor * factor, site);
  if (graph.fault.any()) return x;
  const Extents shape = x.shape();
  const Extent side{factor, 0};
  Extents apart{}, together{};
  for (const Extent extent : {shape[0], Extent{x.size(1, site) / (factor * factor), 0}, side, side, shape[2], shape[3]})
    apart.append(extent);
  for (const Extent extent : {shape[0], apart[1], shape[2] * side, shape[3] * side}) together.append(extent);
  return reshape(transpose(reshape(x, apart), {0, 1, 4, 2, 5, 3}), together, site);
}

/// Pixels as channels, the reverse of `pixel_shuffle`. errors: sides that the factor does not divide
[[nodiscard]] TWILL_CONSTEXPR Value pixel_unshuffle(Value x, std::int64_t factor, CallSite site = CallSite::here()) {
  Graph& graph = x.graph();
  if (x.rank() != 4) graph.refuse(Problem::convolution_input_has_the_wrong_rank, x.rank(), 4, site);
  if (graph.fault.any()) return x;
  for (const int axis : {2, 3})
    if (factor < 1 || x.size(axis, site) % factor != 0)
      graph.refuse(Problem::patches_do_not_fit_the_image, x.size(axis, site), factor, site);
  if (graph.fault.any()) return x;
  const Extents shape = x.shape();
  const Extent side{factor, 0}, height{x.size(2, site) / factor, 0}, width{x.size(3, site) / factor, 0};
  Extents apart{}, together{};
  for (const Extent extent : {shape[0], shape[1], height, side, width, side}) apart.append(extent);
  for (const Extent extent : {shape[0], shape[1] * Extent{factor * factor, 0}, height, width}) together.append(extent);
  return reshape(transpose(reshape(x, apart), {0, 1, 3, 5, 2, 4}), together, site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA
