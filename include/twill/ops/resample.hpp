#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Resampling of sequences, images and volumes: the modes of torch.nn.functional.interpolate beyond ops/interpolate.hpp,
// bicubic, trilinear, area, exact nearest and antialiased ones, by PyTorch's formulas. An output along an axis is a
// weighted sum of inputs, so each axis is a product with a banded matrix computed in float64; gradients of all orders
// are those of the products. Not in twill.hpp. Read next: ops/interpolate.hpp, nearest and bilinear by a kernel.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/ops/gather.hpp>
#include <twill/ops/interpolate.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/ops/sides3.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The weights of input elements in an output element.
enum class Resampling : std::uint8_t {
  nearest,       ///< the element at floor(place * scale)
  nearest_exact, ///< the element whose centre is nearest
  linear,        ///< bilinear of images, trilinear of volumes
  cubic,         ///< Keys' kernel with a = -0.75, -0.5 where antialiased (1981); bicubic of images
  area,          ///< the mean of the elements that an output covers, as adaptive pooling
};

/// Whether shrinking averages over all elements that an output covers, by a kernel that is as many times wider.
enum class Antialias : bool { no, yes };

/// Options of resampling: the size of the result and how its elements are found.
struct ResampleOptions {
  Sides3 size = 0;                               ///< of the result; 0: set by the scale
  Scales3 scale = 1;                             ///< if no size is given: floor(extent * scale)
  Resampling mode = Resampling::nearest;         ///< the weights
  AlignCorners align_corners = AlignCorners::no; ///< whether corner centres coincide, of linear and cubic
  Antialias antialias = Antialias::no;           ///< of linear and cubic
};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// One axis to resample: from `in` elements to `out`, which are `step` inputs apart.
struct ResampledAxis {
  std::int64_t in = 1;
  std::int64_t out = 1;
  double step = 0; ///< of a given scale; 0: that of the extents
  bool align = false;

  /// in / out, or (in - 1) / (out - 1) from corner to corner.
  [[nodiscard]] constexpr double scale() const {
    if (align) return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
    return step > 0 ? step : static_cast<double>(in) / static_cast<double>(out);
  }
};

/// 0, 1, 2, ... along the first or the last of two axes, in float64.
[[nodiscard]] TWILL_CONSTEXPR Value counted(Graph& graph, std::int64_t rows, std::int64_t columns) {
  return cast(iota(graph, {{rows, 0}, {columns, 0}}), DType::float64);
}

/// ((a + 2) x - (a + 3)) x^2 + 1 up to 1, ((a x - 5 a) x + 8 a) x - 4 a up to 2, 0 beyond.
[[nodiscard]] TWILL_CONSTEXPR Value cubic_weight(Value distance, double a) {
  const Value x = abs(distance);
  const Value near = ((a + 2) * x - (a + 3)) * x * x + 1;
  const Value far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return where(x < 1, near, where(x < 2, far, 0.0));
}

/// The weights (out, in) of a kernel that is as many times wider as there are inputs for one output.
[[nodiscard]] TWILL_CONSTEXPR Value antialiased_weights(Graph& graph, const ResampledAxis& axis, Resampling mode) {
  const double scale = axis.scale();
  const double wider = scale > 1 ? scale : 1;
  const double support = (mode == Resampling::linear ? 1 : 2) * wider;
  const Value centre = scale * (counted(graph, axis.out, 1) + 0.5);
  const Value input = counted(graph, 1, axis.in);
  const Value first = maximum(floor(centre - support + 0.5), 0.0); // centres within the support, as PyTorch rounds
  const Value end = floor(centre + support + 0.5);
  const Value distance = (input - centre + 0.5) / wider;
  const Value weight = mode == Resampling::linear ? maximum(1.0 - abs(distance), 0.0) : cubic_weight(distance, -0.5);
  const Value inside = where(logical_and(input >= first, input < end), weight, 0.0);
  return inside / sum(inside, {1}, KeepDims::yes);
}

/// The weights (out, in) of linear, cubic and area.
[[nodiscard]] TWILL_CONSTEXPR Value resampling_weights(Graph& graph, const ResampledAxis& axis, Resampling mode) {
  const Value output = counted(graph, axis.out, 1);
  const Value input = counted(graph, 1, axis.in);
  if (mode == Resampling::area) { // from floor(i in / out) to ceil((i + 1) in / out)
    const Value place = cast(output, DType::int64);
    const Value first = cast(floor_divide(place * axis.in, axis.out), DType::float64);
    const Value end = cast(floor_divide((place + 1) * axis.in + (axis.out - 1), axis.out), DType::float64);
    return where(logical_and(input >= first, input < end), 1.0 / (end - first), 0.0);
  }
  const double last = static_cast<double>(axis.in - 1);
  Value source = axis.align ? output * axis.scale() : (output + 0.5) * axis.scale() - 0.5;
  if (mode == Resampling::linear) {
    source = maximum(source, 0.0);
    const Value first = minimum(floor(source), last);
    const Value share = source - first;
    return where(equal(input, first), 1.0 - share, 0.0) +
           where(equal(input, minimum(first + 1.0, last)), share, 0.0); // both, where the last element is its neighbour
  }
  const Value first = floor(source);
  const Value share = source - first;
  Value weights{};
  for (int tap = -1; tap <= 2; ++tap) {
    const Value place = clamp(first + static_cast<double>(tap), 0.0, last);
    const Value part = where(equal(input, place), cubic_weight(share - static_cast<double>(tap), -0.75), 0.0);
    weights = tap == -1 ? part : weights + part;
  }
  return weights;
}

/// The places of the nearest elements, (out).
[[nodiscard]] TWILL_CONSTEXPR Value nearest_places(Graph& graph, const ResampledAxis& axis, bool is_exact) {
  const Value place = iota(graph, {{axis.out, 0}});
  if (axis.step <= 0)
    return is_exact ? floor_divide((place * 2 + 1) * axis.in, 2 * axis.out) : floor_divide(place * axis.in, axis.out);
  const Value source = floor((cast(place, DType::float64) + (is_exact ? 0.5 : 0.0)) * axis.step);
  return cast(minimum(source, static_cast<double>(axis.in - 1)), DType::int64);
}

/// x with an axis multiplied by a matrix (extent of the result, extent of x).
[[nodiscard]] TWILL_CONSTEXPR Value multiplied_along(Value x, int axis, Value matrix, CallSite site) {
  Extents shape = x.shape();
  if (axis + 1 == shape.rank) return matmul(x, transpose(matrix), site);
  const Value parts = around_axis(x, axis);
  shape[axis] = matrix.shape()[0];
  return reshape(matmul(matrix, parts, site), shape);
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// x (batch, channels, length), (batch, channels, height, width) or (batch, channels, depth, height, width) with other
/// extents: `resample(x, {.size = 224, .mode = Resampling::cubic, .antialias = Antialias::yes})`. Half precision is
/// computed in float32.
/// errors: another number of axes, integers, extents of 0 or unknown ones, corners aligned in a mode without them
/// cost: a product of extents for each axis that changes; the nearest element is copied
/// source: PyTorch's upsample kernels; Keys, Cubic convolution interpolation for digital image processing, 1981
[[nodiscard]] TWILL_CONSTEXPR Value resample(Value x, const ResampleOptions& options,
                                             CallSite site = CallSite::here()) {
  Graph& graph = x.graph();
  const int rank = x.rank();
  const bool has_corners = options.mode == Resampling::linear || options.mode == Resampling::cubic;
  if (rank < 3 || rank > 5) graph.refuse(Problem::interpolation_input_has_the_wrong_rank, rank, 5, site);
  if (!is_floating(x.dtype()))
    graph.refuse(Problem::interpolation_needs_a_floating_type, static_cast<int>(x.dtype()), 0, site);
  if (!has_corners && (options.align_corners == AlignCorners::yes || options.antialias == Antialias::yes))
    graph.refuse(Problem::interpolation_aligns_corners_only_if_linear, 1, 0, site);
  if (graph.fault.any()) return x;
  const Value given = x;
  for (const bool shrinks : {true, false}) // first the axes that leave less to do for the others
    for (int axis = rank - 1; axis >= 2; --axis) {
      const std::int64_t size = options.size.of(axis, rank);
      const double scale = options.scale.of(axis, rank);
      const std::int64_t in = given.size(axis, site);
      if (graph.fault.any()) return x;
      const std::int64_t out = size != 0 ? size : static_cast<std::int64_t>(static_cast<double>(in) * scale);
      if (in < 1 || out < 1) {
        graph.refuse(Problem::interpolation_needs_an_output_and_an_input, out, in, site);
        return x;
      }
      const bool is_scaled = size == 0 && options.mode != Resampling::area;
      if (shrinks != (out < in) || (out == in && (!is_scaled || scale == 1))) continue;
      const detail::ResampledAxis along{in, out, is_scaled ? 1 / scale : 0, options.align_corners == AlignCorners::yes};
      if (options.mode == Resampling::nearest || options.mode == Resampling::nearest_exact) {
        x = take(x, detail::nearest_places(graph, along, options.mode == Resampling::nearest_exact), axis, site);
        continue;
      }
      x = widened(x);
      const Value weights = options.antialias == Antialias::yes
                                ? detail::antialiased_weights(graph, along, options.mode)
                                : detail::resampling_weights(graph, along, options.mode);
      x = detail::multiplied_along(x, axis, cast(weights, x.dtype()), site);
    }
  return cast(x, given.dtype());
}

}}}} // namespace twill::v0::graph::TWILL_ISA
