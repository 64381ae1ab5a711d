#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Maximum and average pooling of one and two dimensions, and their adaptive forms, with PyTorch's shapes, options and
// choice among equals. Averages are linear: their gradient and its gradient are one pair of operations. A maximum picks
// from an array where a key is largest; both are the image. Its gradient scatters by that key, and the two are each
// other's gradients. Places are found again instead of stored. Read next: nn/convolution.hpp.

#include <twill/compile/program_type.hpp>
#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/operation.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/kernel/pooling.hpp>
#include <twill/ops/channels_last.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Whether a window may begin inside the image and end after it, past the padding.
enum class CeilMode : bool { no, yes };
/// Whether an average counts the zeros of the padding.
enum class CountPadding : bool { no, yes };

/// Options of maximum pooling.
struct MaxPoolOptions {
  Sides window = 2;             ///< extents of a window, which gives one maximum
  Sides stride = 0;             ///< 0: the window's
  Sides padding = 0;            ///< on each side; padded places never win
  Sides dilation = 1;           ///< between two elements of the window
  CeilMode ceil = CeilMode::no; ///< whether a window may reach beyond the end
};

/// Options of average pooling.
struct AveragePoolOptions {
  Sides window = 2;                               ///< extents of a window, which gives one mean
  Sides stride = 0;                               ///< 0: the window's
  Sides padding = 0;                              ///< zeros on each side
  CeilMode ceil = CeilMode::no;                   ///< whether a window may reach beyond the end
  CountPadding count_padding = CountPadding::yes; ///< whether padded places count in the divisor
  std::int64_t divisor = 0;                       ///< 0: the number of elements
};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void average_pool_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);
TWILL_CONSTEXPR void average_pool_gradient_vjp(Graph& graph, int node, const Cotangents& cotangents,
                                               InputGradients& gradients);
TWILL_CONSTEXPR void pick_largest_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);
TWILL_CONSTEXPR void scatter_largest_vjp(Graph& graph, int node, const Cotangents& cotangents,
                                         InputGradients& gradients);

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

// Images are (batch, height, width, channels), without the height in one dimension.
/// The mean of each window.
inline constexpr Operation average_pool_operation{.name = "average_pool",
                                                  .vjp = &detail::average_pool_vjp,
                                                  .wants_dense = true,
                                                  .channels_last = true,
                                                  .batching = Batching::first_axis};
/// The gradient of the mean: each element's share of its windows.
inline constexpr Operation average_pool_gradient_operation{.name = "average_pool_gradient",
                                                           .vjp = &detail::average_pool_gradient_vjp,
                                                           .wants_dense = true,
                                                           .channels_last = true,
                                                           .batching = Batching::first_axis};
/// The element of an array where the key is largest in each window; inputs: key, array.
inline constexpr Operation pick_largest_operation{.name = "pick_largest",
                                                  .vjp = &detail::pick_largest_vjp,
                                                  .wants_dense = true,
                                                  .channels_last = true,
                                                  .batching = Batching::first_axis};
/// The sum, for each element, over the windows in which the key is largest there; inputs: key, picked elements.
inline constexpr Operation scatter_largest_operation{.name = "scatter_largest",
                                                     .vjp = &detail::scatter_largest_vjp,
                                                     .wants_dense = true,
                                                     .channels_last = true,
                                                     .batching = Batching::first_axis};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// An operation on one or two arrays with the attributes of another one.
TWILL_CONSTEXPR Value pool(const Operation& operation, Value first, Value second, const Extents& shape,
                           int attributes) {
  Node node{};
  node.kind = Kind::operation;
  node.operation = &operation;
  node.dtype = first.dtype();
  node.shape = shape;
  node.index = attributes;
  node.inputs[node.arity++] = first.id();
  if (second.id() >= 0) node.inputs[node.arity++] = second.id();
  return {first.graph(), first.graph().add(node)};
}

TWILL_CONSTEXPR void average_pool_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const Node of = graph.node(node);
  const Extents shape = graph.node(of.input(0)).shape;
  gradients.set(0, pool(average_pool_gradient_operation, {graph, cotangents[0]}, {}, shape, of.index));
}
TWILL_CONSTEXPR void average_pool_gradient_vjp(Graph& graph, int node, const Cotangents& cotangents,
                                               InputGradients& gradients) {
  const Node of = graph.node(node);
  const Extents shape = graph.node(of.input(0)).shape;
  gradients.set(0, pool(average_pool_operation, {graph, cotangents[0]}, {}, shape, of.index));
}
// The place where the key is largest does not change with the key, almost everywhere.
TWILL_CONSTEXPR void pick_largest_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const Node of = graph.node(node);
  const Extents shape = graph.node(of.input(0)).shape;
  const Value key{graph, of.input(0)};
  if (gradients.wants(1))
    gradients.set(1, pool(scatter_largest_operation, key, {graph, cotangents[0]}, shape, of.index));
}
TWILL_CONSTEXPR void scatter_largest_vjp(Graph& graph, int node, const Cotangents& cotangents,
                                         InputGradients& gradients) {
  const Node of = graph.node(node);
  const Extents shape = graph.node(of.input(1)).shape;
  const Value key{graph, of.input(0)};
  if (gradients.wants(1)) gradients.set(1, pool(pick_largest_operation, key, {graph, cotangents[0]}, shape, of.index));
}

TWILL_CONSTEXPR bool check_pooled(Value x, int dimensions, CallSite site) {
  if (x.rank() != dimensions + 2)
    x.graph().refuse(Problem::pooling_input_has_the_wrong_rank, x.rank(), dimensions + 2, site);
  else if (!is_floating(x.dtype()))
    x.graph().refuse(Problem::pooling_needs_a_floating_type, static_cast<int>(x.dtype()), 0, site);
  return !x.graph().fault.any();
}

/// Windows of a mean or a maximum, which move over the image.
struct Windows {
  Sides window;
  Sides stride;
  Sides padding;
  Sides dilation;
  CeilMode ceil;
  kernel::PoolingMode mode;
  std::int64_t divisor;
};

/// The result's shape, channels-last, and the attributes; refuses what PyTorch refuses.
TWILL_CONSTEXPR bool window_shape(Value x, int dimensions, const Windows& w, Extents& shape, int& attributes,
                                  CallSite site) {
  Graph& graph = x.graph();
  if (!check_pooled(x, dimensions, site)) return false;
  shape.append(x.shape()[0]);
  std::int64_t strides[2] = {1, 1};
  for (int axis = 2; axis < dimensions + 2; ++axis) {
    const bool is_width = axis == dimensions + 1;
    const auto of = [&](Sides sides) { return is_width ? sides.width : sides.height; };
    const std::int64_t stride = of(w.stride) == 0 ? of(w.window) : of(w.stride);
    const std::int64_t reach = of(w.dilation) * (of(w.window) - 1) + 1;
    const std::int64_t length = x.size(axis, site);
    if (of(w.window) < 1 || stride < 1 || of(w.dilation) < 1) {
      graph.refuse(Problem::pooling_window_or_stride_is_not_positive, of(w.window), stride, site);
      return false;
    }
    if (of(w.padding) < 0 || 2 * of(w.padding) > reach) {
      graph.refuse(Problem::pooling_padding_exceeds_half_the_window, of(w.padding), of(w.window), site);
      return false;
    }
    const std::int64_t room = length + 2 * of(w.padding) - reach;
    std::int64_t count = room < 0 ? 0 : room / stride + 1;
    if (w.ceil == CeilMode::yes) {
      count = room + stride - 1 < 0 ? 0 : (room + stride - 1) / stride + 1;
      if ((count - 1) * stride >= length + of(w.padding)) --count; // a window begins inside, or in the padding before
    }
    if (count < 1) {
      graph.refuse(Problem::pooling_window_is_larger_than_the_padded_input, reach, length + 2 * of(w.padding), site);
      return false;
    }
    strides[is_width ? 1 : 0] = stride;
    shape.append({count, 0});
  }
  shape.append(x.shape()[1]);
  const bool flat = dimensions == 1;
  attributes = graph.add_attributes({flat ? 1 : w.window.height, w.window.width, strides[0], strides[1],
                                     flat ? 0 : w.padding.height, w.padding.width, flat ? 1 : w.dilation.height,
                                     w.dilation.width, static_cast<std::int64_t>(w.mode), w.divisor});
  return !graph.fault.any();
}

/// The result's shape and attributes for windows that follow from their wanted number.
TWILL_CONSTEXPR bool adaptive_shape(Value x, int dimensions, Sides output, Extents& shape, int& attributes,
                                    CallSite site) {
  Graph& graph = x.graph();
  if (!check_pooled(x, dimensions, site)) return false;
  shape.append(x.shape()[0]);
  for (int axis = 2; axis < dimensions + 2; ++axis) {
    const std::int64_t count = axis == dimensions + 1 ? output.width : output.height;
    if (count < 1 || x.size(axis, site) < 1) {
      graph.refuse(Problem::adaptive_pooling_needs_an_output_and_an_input, count, x.size(axis, site), site);
      return false;
    }
    shape.append({count, 0});
  }
  shape.append(x.shape()[1]);
  attributes =
      graph.add_attributes({1, 1, 1, 1, 0, 0, 1, 1, static_cast<std::int64_t>(kernel::PoolingMode::adaptive), 1});
  return !graph.fault.any();
}

TWILL_CONSTEXPR Value pick_largest(Value x, const Extents& shape, int attributes) {
  const Value image = channels_last(x);
  return channels_first(pool(pick_largest_operation, image, image, shape, attributes));
}

TWILL_CONSTEXPR Value max_pool(Value x, int dimensions, const MaxPoolOptions& o, CallSite site) {
  Extents shape{};
  int attributes = 0;
  const Windows windows{o.window, o.stride, o.padding, o.dilation, o.ceil, kernel::PoolingMode::inside, 1};
  if (!window_shape(x, dimensions, windows, shape, attributes, site)) return x;
  return pick_largest(x, shape, attributes);
}

TWILL_CONSTEXPR Value average_pool(Value x, int dimensions, const AveragePoolOptions& o, CallSite site) {
  Extents shape{};
  int attributes = 0;
  const kernel::PoolingMode mode = o.divisor != 0                         ? kernel::PoolingMode::fixed
                                   : o.count_padding == CountPadding::yes ? kernel::PoolingMode::padded
                                                                          : kernel::PoolingMode::inside;
  if (!window_shape(x, dimensions, {o.window, o.stride, o.padding, 1, o.ceil, mode, o.divisor}, shape, attributes,
                    site))
    return x;
  return channels_first(pool(average_pool_operation, channels_last(x), {}, shape, attributes));
}

TWILL_CONSTEXPR Value adaptive_average_pool(Value x, int dimensions, Sides output, CallSite site) {
  Extents shape{};
  int attributes = 0;
  if (!adaptive_shape(x, dimensions, output, shape, attributes, site)) return x;
  if (output.width == 1 && dimensions == 1) return mean(x, {2}, KeepDims::yes, site);
  if (output.width == 1 && output.height == 1) return mean(x, {2, 3}, KeepDims::yes, site); // fuses with its neighbours
  return channels_first(pool(average_pool_operation, channels_last(x), {}, shape, attributes));
}

TWILL_CONSTEXPR Value adaptive_max_pool(Value x, int dimensions, Sides output, CallSite site) {
  Extents shape{};
  int attributes = 0;
  if (!adaptive_shape(x, dimensions, output, shape, attributes, site)) return x;
  return pick_largest(x, shape, attributes);
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The largest element of each window of x (batch, channels, length) or (batch, channels, height, width). NaN passes
/// on; the gradient goes to the first of equals.
[[nodiscard]] TWILL_CONSTEXPR Value max_pool1d(Value x, const MaxPoolOptions& options,
                                               CallSite site = CallSite::here()) {
  return detail::max_pool(x, 1, options, site);
}
/// The largest element of each window of images (batch, channels, height, width).
[[nodiscard]] TWILL_CONSTEXPR Value max_pool2d(Value x, const MaxPoolOptions& options,
                                               CallSite site = CallSite::here()) {
  return detail::max_pool(x, 2, options, site);
}

/// The mean of each window.
[[nodiscard]] TWILL_CONSTEXPR Value avg_pool1d(Value x, const AveragePoolOptions& options,
                                               CallSite site = CallSite::here()) {
  return detail::average_pool(x, 1, options, site);
}
/// The mean of each window of images (batch, channels, height, width).
[[nodiscard]] TWILL_CONSTEXPR Value avg_pool2d(Value x, const AveragePoolOptions& options,
                                               CallSite site = CallSite::here()) {
  return detail::average_pool(x, 2, options, site);
}

/// The means of as many windows as the output has elements, which divide the image evenly.
[[nodiscard]] TWILL_CONSTEXPR Value adaptive_avg_pool1d(Value x, std::int64_t output,
                                                        CallSite site = CallSite::here()) {
  return detail::adaptive_average_pool(x, 1, output, site);
}
/// The means of `output` windows, which cover images (batch, channels, height, width).
[[nodiscard]] TWILL_CONSTEXPR Value adaptive_avg_pool2d(Value x, Sides output, CallSite site = CallSite::here()) {
  return detail::adaptive_average_pool(x, 2, output, site);
}

/// The largest elements of windows that divide the sequence evenly, one for each element of the output.
[[nodiscard]] TWILL_CONSTEXPR Value adaptive_max_pool1d(Value x, std::int64_t output,
                                                        CallSite site = CallSite::here()) {
  return detail::adaptive_max_pool(x, 1, output, site);
}
/// The maxima of `output` windows, which cover images (batch, channels, height, width).
[[nodiscard]] TWILL_CONSTEXPR Value adaptive_max_pool2d(Value x, Sides output, CallSite site = CallSite::here()) {
  return detail::adaptive_max_pool(x, 2, output, site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

/// The kernel of all four operations: operand `in` is the image or its gradient, `out` the windows', `key` -1 for none.
template <kernel::PoolingPart Part, int key, int in, int out> struct PoolingKernel {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    const auto data = [&](int operand) { return static_cast<T*>(launch.operands[operand < 0 ? 0 : operand].data); };
    run_pooling(team, kernel::Pooling<T>{Part, shape_of(launch), data(key), data(in), data(out)});
  }

  template <class T> static void reserve(const Team& team, const kernel::Launch& launch) {
    kernel::reserve_pooling<T>(team, shape_of(launch));
  }

private:
  [[nodiscard]] static kernel::PoolingShape shape_of(const kernel::Launch& launch) {
    const Dims& image = launch.shapes[in];
    const Dims& windows = launch.shapes[out];
    const std::int64_t* const a = launch.attributes;
    const auto space = [](const Dims& dims) {
      return kernel::PoolingShape::Space{dims.rank == 3 ? 1 : dims[1], dims[dims.rank - 2]};
    };
    return {.batch = image[0],
            .channels = image[image.rank - 1],
            .input = space(image),
            .output = space(windows),
            .window = {a[0], a[1]},
            .stride = {a[2], a[3]},
            .padding = {a[4], a[5]},
            .dilation = {a[6], a[7]},
            .mode = static_cast<kernel::PoolingMode>(a[8]),
            .divisor = a[9]};
  }
};

}}}} // namespace twill::v0::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <>
struct KernelOf<&graph::average_pool_operation> : detail::PoolingKernel<kernel::PoolingPart::average, -1, 0, 1> {};
template <>
struct KernelOf<&graph::average_pool_gradient_operation>
    : detail::PoolingKernel<kernel::PoolingPart::average_gradient, -1, 1, 0> {};
template <>
struct KernelOf<&graph::pick_largest_operation> : detail::PoolingKernel<kernel::PoolingPart::pick, 0, 1, 2> {};
template <>
struct KernelOf<&graph::scatter_largest_operation> : detail::PoolingKernel<kernel::PoolingPart::scatter, 0, 2, 1> {};

}}} // namespace twill::v0::TWILL_ISA
