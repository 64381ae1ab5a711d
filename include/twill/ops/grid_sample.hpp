#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Images read at any places, as spatial transformers do (Jaderberg et al., 2015): `grid_sample` and `affine_grid`, like
// those of torch.nn.functional, with gradients by the images and by the places. Three operations, which are each
// other's gradients, read images, add to them, and give slopes along the axes. Not in twill.hpp. Read next:
// kernel/grid_sampling.hpp, ops/resample.hpp, where places form a regular grid.

#include <twill/compile/program_type.hpp>
#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/core/promotion.hpp>
#include <twill/graph/operation.hpp>
#include <twill/graph/shape_functions.hpp>
#include <twill/kernel/grid_sampling.hpp>
#include <twill/ops/gather.hpp>
#include <twill/ops/interpolate.hpp>
#include <twill/ops/sides3.hpp>
#include <twill/ops/slice.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The values outside of an image.
enum class GridPadding : std::uint8_t {
  zeros,      ///< 0
  border,     ///< the nearest pixel
  reflection, ///< the image mirrored at its edges, or at its corner pixels' centres where corners are aligned
};

/// Options of sampling: how pixels weigh, what lies outside, where -1 and 1 are.
struct GridSampleOptions {
  Interpolation mode = Interpolation::linear;    ///< of images bilinear or bicubic, of volumes trilinear
  GridPadding padding = GridPadding::zeros;      ///< outside
  AlignCorners align_corners = AlignCorners::no; ///< whether -1 and 1 are centres of pixels, or outer edges
};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void sample_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);
TWILL_CONSTEXPR void add_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);
TWILL_CONSTEXPR void slopes_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

// Images are (batch, channels, ...), places (batch, points, axes) in pixels, results (batch, channels, points).
// Attributes: whether it is linear, and the axes by which the shares of pixels are differentiated, as bits.
/// Results of images x at places: y[n, c, p] = the sum of share[n, p, k] x[n, c, pixel[n, p, k]] over neighbours k.
inline constexpr Operation sample_grid_operation{
    .name = "sample_grid", .vjp = &detail::sample_vjp, .wants_dense = true, .batching = Batching::first_axis};

/// Images of results u at places: each pixel has the sum of the u beside it by their shares.
inline constexpr Operation add_to_grid_operation{.name = "add_to_grid",
                                                 .vjp = &detail::add_vjp,
                                                 .typed_by = 0,
                                                 .wants_dense = true,
                                                 .batching = Batching::first_axis};

/// Slopes (batch, points, axes) of the sum of u y by the places of y, for results u, images x and places.
inline constexpr Operation grid_slopes_operation{.name = "grid_slopes",
                                                 .vjp = &detail::slopes_vjp,
                                                 .typed_by = 0,
                                                 .wants_dense = true,
                                                 .batching = Batching::first_axis};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// How a node of the three operations weighs pixels.
struct GridShares {
  std::int64_t is_linear = 1;
  std::int64_t differentiated = 0;

  [[nodiscard]] static TWILL_CONSTEXPR GridShares of(const Graph& graph, const Node& node) {
    return {graph.attribute(node, 0), graph.attribute(node, 1)};
  }
  [[nodiscard]] constexpr bool is_constant_along(int axis) const {
    return is_linear == 0 || (differentiated >> axis & 1) != 0;
  }
  [[nodiscard]] constexpr GridShares along(int axis) const {
    return {is_linear, differentiated | std::int64_t{1} << axis};
  }
};

[[nodiscard]] TWILL_CONSTEXPR Value sampled(Value x, Value places, GridShares by) {
  return add_operation(sample_grid_operation, {x, places}, x.dtype(), {x.shape()[0], x.shape()[1], places.shape()[1]},
                       {by.is_linear, by.differentiated});
}
[[nodiscard]] TWILL_CONSTEXPR Value added(Value u, Value places, const Extents& image, GridShares by) {
  return add_operation(add_to_grid_operation, {u, places}, places.dtype(), image, {by.is_linear, by.differentiated});
}
[[nodiscard]] TWILL_CONSTEXPR Value slopes_at(Value u, Value x, Value places, GridShares by) {
  if (by.is_linear == 0) return zeros_like(places);
  return add_operation(grid_slopes_operation, {u, x, places}, places.dtype(), places.shape(),
                       {by.is_linear, by.differentiated});
}

TWILL_CONSTEXPR void sample_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const Node self = graph.node(node);
  const Value x{graph, self.input(0)}, places{graph, self.input(1)}, u{graph, cotangents[0]};
  const GridShares by = GridShares::of(graph, self);
  if (gradients.wants(0)) gradients.set(0, cast(added(u, places, x.shape(), by), x.dtype()));
  if (gradients.wants(1)) gradients.set(1, slopes_at(u, x, places, by));
}

TWILL_CONSTEXPR void add_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const Node self = graph.node(node);
  const Value u{graph, self.input(0)}, places{graph, self.input(1)}, image{graph, cotangents[0]};
  const GridShares by = GridShares::of(graph, self);
  if (gradients.wants(0)) gradients.set(0, cast(sampled(image, places, by), u.dtype()));
  if (gradients.wants(1)) gradients.set(1, slopes_at(cast(u, image.dtype()), image, places, by));
}

TWILL_CONSTEXPR void slopes_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const Node self = graph.node(node);
  const Value u{graph, self.input(0)}, x{graph, self.input(1)}, places{graph, self.input(2)};
  const GridShares by = GridShares::of(graph, self);
  const Extents shape = self.shape;
  Value of_u = cast(zeros_like(u), self.dtype), of_x = cast(zeros_like(x), self.dtype), of_places = zeros_like(places);
  for (int axis = 0; axis < static_cast<int>(shape[2].factor); ++axis) {
    if (by.is_constant_along(axis)) continue;
    const Value along = narrow({graph, cotangents[0]}, 2, axis, 1), weights = reshape(along, {shape[0], {}, shape[1]});
    const GridShares next = by.along(axis);
    if (gradients.wants(0)) of_u = of_u + weights * cast(sampled(x, places, next), self.dtype);
    if (gradients.wants(1)) of_x = of_x + added(weights * cast(u, self.dtype), places, x.shape(), next);
    if (gradients.wants(2)) of_places = of_places + along * slopes_at(u, x, places, next);
  }
  if (gradients.wants(0)) gradients.set(0, cast(of_u, u.dtype()));
  if (gradients.wants(1)) gradients.set(1, cast(of_x, x.dtype()));
  if (gradients.wants(2)) gradients.set(2, of_places);
}

/// A number of each axis of images, x first, for the last axis of a grid.
template <class F> [[nodiscard]] constexpr Value by_axis(Value grid, const Extents& image, const F& number) {
  const int axes = image.rank - 2;
  const auto of = [&](int axis) { return number(static_cast<double>(image[image.rank - 1 - axis].factor)); };
  Value result = constant(grid.graph(), grid.dtype(), of(0));
  const Value axis_of = iota(grid.graph(), {{}, {}, {axes, 0}});
  for (int axis = 1; axis < axes; ++axis)
    if (of(axis) != of(0)) result = where(equal(axis_of, axis), constant(grid.graph(), grid.dtype(), of(axis)), result);
  return result;
}

/// Places of a grid (batch, points, axes) of numbers in [-1, 1], in pixels.
[[nodiscard]] TWILL_CONSTEXPR Value pixel_places(Value grid, const Extents& image, AlignCorners align) {
  if (align == AlignCorners::yes)
    return (grid + 1.0) * by_axis(grid, image, [](double extent) { return (extent - 1) / 2; });
  return ((grid + 1.0) * by_axis(grid, image, [](double extent) { return extent; }) - 1.0) * 0.5;
}

/// Places (batch, points, axes) in pixels, for paddings but zeros moved into the image. Slopes at the bounds are
/// PyTorch's: 0 at and beyond a border.
[[nodiscard]] TWILL_CONSTEXPR Value padded_places(Value place, const Extents& image, const GridSampleOptions& options) {
  if (options.padding == GridPadding::zeros) return place;
  const bool align = options.align_corners == AlignCorners::yes;
  const Value last = by_axis(place, image, [](double extent) { return extent - 1; });
  Value inside = place;
  if (options.padding == GridPadding::reflection) {
    const double low = align ? 0 : -0.5;
    // An axis of one pixel, whose places are 0 where corners are aligned, may have any span.
    const Value span = by_axis(place, image, [&](double extent) { return align && extent > 1 ? extent - 1 : extent; });
    const Value from_low = place - low;
    const Value distance = where(from_low < 0, -from_low, from_low);
    const Value extra = fmod(distance, span);
    const Value is_odd = equal(floor(distance / span) % 2.0, 1.0);
    inside = where(is_odd, span - extra, extra) + low;
  }
  return where(inside <= 0, 0.0, where(inside >= last, last, inside));
}

/// Shares of the pixels one before a place to two after it, at a distance t from the one before: Keys' convolution with
/// a = -0.75 (1981), as PyTorch's.
[[nodiscard]] TWILL_CONSTEXPR Value cubic_share(Value t, int tap) {
  constexpr double a = -0.75;
  const auto near = [](Value d) { return ((a + 2) * d - (a + 3)) * d * d + 1.0; };
  const auto far = [](Value d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return tap == 0 ? far(t + 1.0) : tap == 1 ? near(t) : tap == 2 ? near(1.0 - t) : far(2.0 - t);
}

/// Images x (batch, channels, height, width) at places (batch, points, 2) in pixels, of the type of the shares; each of
/// the 16 pixels around a place is padded by itself, as in PyTorch.
[[nodiscard]] TWILL_CONSTEXPR Value cubic_sampled(Value x, Value places, const GridSampleOptions& options) {
  const Extents image = x.shape();
  const Extent batch = image[0], points = places.shape()[1];
  const Value base = floor(places), distance = places - base;
  const auto column = [&](Value pairs, int axis) { return reshape(narrow(pairs, 2, axis, 1), {batch, {}, points}); };
  Value index[2][4]{}, is_inside[2][4]{}, share[2][4]{}; // of columns, then of rows
  for (int tap = 0; tap < 4; ++tap) {
    const Value pixel = stop_gradient(padded_places(base + (tap - 1.0), image, options));
    for (int axis = 0; axis < 2; ++axis) {
      const Value along = column(pixel, axis);
      const Extent extent = image[3 - axis];
      is_inside[axis][tap] = logical_and(along >= 0, along < static_cast<double>(extent.factor));
      index[axis][tap] = cast(where(is_inside[axis][tap], along, 0), DType::int64);
      share[axis][tap] = cubic_share(column(distance, axis), tap);
    }
  }
  const Value flat = cast(reshape(x, {batch, image[1], image[2] * image[3]}), places.dtype());
  Value sum = constant(x.graph(), places.dtype(), 0);
  for (int row = 0; row < 4; ++row)
    for (int col = 0; col < 4; ++col) {
      const Value pixel = take_along_axis(flat, index[1][row] * image[3].factor + index[0][col], 2);
      const Value is_there = logical_and(is_inside[1][row], is_inside[0][col]);
      sum = sum + where(is_there, pixel, 0) * (share[1][row] * share[0][col]);
    }
  return cast(sum, x.dtype());
}

/// Refuses images and grids that do not fit each other.
TWILL_CONSTEXPR bool check_grid(Value x, Value grid, Interpolation mode, CallSite site) {
  Graph& graph = x.graph();
  const int rank = x.rank();
  if (rank != 4 && (rank != 5 || mode == Interpolation::cubic))
    graph.refuse(Problem::interpolation_input_has_the_wrong_rank, rank, 4, site);
  if (!is_floating(x.dtype()))
    graph.refuse(Problem::interpolation_needs_a_floating_type, static_cast<int>(x.dtype()), 0, site);
  if (!is_floating(grid.dtype()))
    graph.refuse(Problem::interpolation_needs_a_floating_type, static_cast<int>(grid.dtype()), 0, site);
  if (grid.rank() != rank) graph.refuse(Problem::index_has_another_rank, grid.rank(), rank, site);
  if (graph.fault.any()) return false;
  if (!unify(graph, x.shape()[0], grid.shape()[0]))
    graph.refuse(Problem::index_has_another_extent, grid.shape()[0].factor, x.shape()[0].factor, site);
  if (grid.size(-1, site) != rank - 2)
    graph.refuse(Problem::index_has_another_extent, grid.size(-1, site), rank - 2, site);
  for (int axis = 2; axis < rank; ++axis)
    if (x.size(axis, site) < 1) graph.refuse(Problem::interpolation_needs_an_output_and_an_input, 1, 0, site);
  return !graph.fault.any();
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The pixels of x at the places of a grid: images (batch, channels, height, width) at (batch, rows, columns, 2) give
/// (batch, channels, rows, columns); volumes (batch, channels, depth, height, width) take (batch, slices, rows,
/// columns, 3). The last axis holds x, y and z, each -1 to 1 across the image. Half precision is computed in float32.
/// errors: another number of axes, batches that differ, extents of images unknown until run time
/// cost: a pass over 4 neighbours of each place, 8 in volumes, 1 where the mode is nearest, whose slope by places is 0;
/// 16 gathers where it is cubic, which volumes do not have
[[nodiscard]] TWILL_CONSTEXPR Value grid_sample(Value x, Value grid, const GridSampleOptions& options = {},
                                                CallSite site = CallSite::here()) {
  if (!detail::check_grid(x, grid, options.mode, site)) return x;
  const int axes = x.rank() - 2;
  const Extents image = x.shape(), places = grid.shape();
  Extents result{image[0], image[1]};
  Extent points{};
  for (int axis = 1; axis <= axes; ++axis) {
    points = points * places[axis];
    result.append(places[axis]);
  }
  const Value flat = widened(reshape(grid, {places[0], points, {axes, 0}}, site));
  const Value place = cast(detail::pixel_places(flat, image, options.align_corners), widened(x).dtype());
  if (options.mode == Interpolation::cubic) return reshape(detail::cubic_sampled(x, place, options), result, site);
  const Value in_pixels = detail::padded_places(place, image, options);
  return reshape(detail::sampled(x, in_pixels, {options.mode == Interpolation::linear ? 1 : 0, 0}), result, site);
}

/// The grid of an affine map for `grid_sample`: theta (batch, 2, 3) gives (batch, height, width, 2), and (batch, 3, 4)
/// gives (batch, depth, height, width, 3). A place of the result is theta (x, y, 1) for x and y from -1 to 1.
/// errors: matrices of other extents, a size below 1
[[nodiscard]] TWILL_CONSTEXPR Value affine_grid(Value theta, Sides3 size, AlignCorners align_corners = AlignCorners::no,
                                                CallSite site = CallSite::here()) {
  Graph& graph = theta.graph();
  if (theta.rank() != 3) graph.refuse(Problem::index_has_another_rank, theta.rank(), 3, site);
  if (!is_floating(theta.dtype()))
    graph.refuse(Problem::interpolation_needs_a_floating_type, static_cast<int>(theta.dtype()), 0, site);
  if (graph.fault.any()) return theta;
  const std::int64_t axes = theta.size(1, site);
  if ((axes != 2 && axes != 3) || theta.size(2, site) != axes + 1)
    graph.refuse(Problem::index_has_another_extent, theta.size(2, site), axes + 1, site);
  if (graph.fault.any()) return theta;
  const Extent batch = theta.shape()[0];
  const int rank = static_cast<int>(axes) + 2;
  const auto column = [&](std::int64_t k) { // (batch, 1, ..., axes)
    Extents shape{batch};
    for (std::int64_t axis = 0; axis < axes; ++axis) shape.append({});
    shape.append({axes, 0});
    return reshape(narrow(widened(theta), 2, k, 1, site), shape, site);
  };
  Value grid = column(axes);
  for (int axis = rank - 1; axis >= 2; --axis) { // x, which is along the last axis, is the first coordinate
    const std::int64_t extent = size.of(axis, rank);
    if (extent < 1) graph.refuse(Problem::interpolation_needs_an_output_and_an_input, extent, 1, site);
    if (graph.fault.any()) return theta;
    Extents along{};
    for (int k = 1; k < rank; ++k) along.append(k == axis - 1 ? Extent{extent, 0} : Extent{});
    const double n = static_cast<double>(extent);
    const Value number = cast(iota(graph, along), DType::float64);
    // Centres (2 i + 1) / n - 1, or from corner to corner 2 i / (n - 1) - 1; 0 where there is one.
    const bool align = align_corners == AlignCorners::yes;
    const Value place = extent == 1 ? number : align ? number * (2 / (n - 1)) - 1.0 : (number * 2.0 + 1.0) / n - 1.0;
    grid = grid + column(rank - 1 - axis) * cast(place, grid.dtype());
  }
  return cast(grid, theta.dtype());
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

/// The sampling of a launch whose operands have these shapes.
[[nodiscard]] constexpr kernel::GridSampling grid_sampling(const Dims& image, const Dims& places,
                                                           const std::int64_t* attributes) {
  kernel::GridSampling sampling{.batch = image[0],
                                .channels = image[1],
                                .points = places[1],
                                .axes = image.rank - 2,
                                .is_linear = attributes[0] != 0,
                                .differentiated = static_cast<unsigned>(attributes[1])};
  for (int axis = 0; axis < sampling.axes; ++axis) sampling.extents[axis] = image[image.rank - 1 - axis];
  return sampling;
}

}}}} // namespace twill::v0::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <> struct KernelOf<&graph::sample_grid_operation> {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    sample_grid(team, detail::grid_sampling(launch.shapes[0], launch.shapes[1], launch.attributes),
                static_cast<const T*>(launch.operands[0].data),
                static_cast<const compute_t<T>*>(launch.operands[1].data), static_cast<T*>(launch.operands[2].data));
  }
};

template <> struct KernelOf<&graph::add_to_grid_operation> {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    using C = compute_t<T>;
    add_to_grid(team, detail::grid_sampling(launch.shapes[2], launch.shapes[1], launch.attributes),
                static_cast<const T*>(launch.operands[0].data), static_cast<const C*>(launch.operands[1].data),
                static_cast<C*>(launch.operands[2].data));
  }
};

template <> struct KernelOf<&graph::grid_slopes_operation> {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    using C = compute_t<T>;
    grid_slopes(team, detail::grid_sampling(launch.shapes[1], launch.shapes[2], launch.attributes),
                static_cast<const T*>(launch.operands[0].data), static_cast<const T*>(launch.operands[1].data),
                static_cast<const C*>(launch.operands[2].data), static_cast<C*>(launch.operands[3].data));
  }
};

}}} // namespace twill::v0::TWILL_ISA
