#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Images read at any places, as spatial transformers do (Jaderberg et al., 2015): `grid_sample` and `affine_grid`, like
// those of torch.nn.functional, with gradients by the images and by the places. A pixel of the result gathers its
// neighbours with all their channels at once and weighs them in one kernel; their gradient adds up in a fixed order.
// Not in twill.hpp. Read next: ops/resample.hpp, where places form a regular grid.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
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
  Interpolation mode = Interpolation::linear;    ///< linear: bilinear of images, trilinear of volumes
  GridPadding padding = GridPadding::zeros;      ///< outside
  AlignCorners align_corners = AlignCorners::no; ///< whether -1 and 1 are centres of pixels, or outer edges
};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// A place c in [-1, 1] in pixels of an axis of `extent`, and for paddings but zeros moved into the image. Slopes at
/// the bounds are PyTorch's: 0 at and beyond a border.
[[nodiscard]] TWILL_CONSTEXPR Value pixel_place(Value c, std::int64_t extent, const GridSampleOptions& options) {
  const bool align = options.align_corners == AlignCorners::yes;
  const double n = static_cast<double>(extent), last = n - 1;
  Value place = align ? (c + 1.0) * (last / 2) : ((c + 1.0) * n - 1.0) * 0.5;
  if (options.padding == GridPadding::zeros) return place;
  if (options.padding == GridPadding::reflection) {
    const double low = align ? 0 : -0.5, span = align ? last : n;
    if (span <= 0) return place * 0.0;
    const Value from_low = place - low;
    const Value distance = where(from_low < 0, -from_low, from_low);
    const Value extra = fmod(distance, span);
    const Value is_odd = equal(floor(distance / span) % 2.0, 1.0);
    place = where(is_odd, span - extra, extra) + low;
  }
  return where(place <= 0, 0.0, where(place >= last, last, place));
}

/// The sums (batch, channels, points) of the neighbours (batch, 1, neighbours, points) by their shares, or the only
/// neighbour where there are no shares. Each pixel is read with all its channels.
[[nodiscard]] TWILL_CONSTEXPR Value sums_by_pixel(Value x, Value index, Value share, std::int64_t pixels) {
  const Extents image = x.shape(), each = index.shape();
  const Value rows = transpose(reshape(x, {image[0], image[1], {pixels, 0}}), {0, 2, 1});
  const Extent count = each[2] * each[3];
  const Value line = reshape(index, {each[0], count, {}});
  const Value gathered = add_operation(gather_operation, {rows, line}, x.dtype(), {image[0], count, image[1]});
  if (share.id() < 0) return transpose(gathered, {0, 2, 1});
  const Value apart = reshape(gathered, {image[0], each[2], each[3], image[1]});
  const Value weighed = widened(apart) * reshape(share, {each[0], each[2], each[3], {}});
  return transpose(sum(weighed, {1}), {0, 2, 1});
}

/// The same sums channel by channel, where there are few.
[[nodiscard]] TWILL_CONSTEXPR Value sums_by_channel(Value x, Value index, Value share, std::int64_t pixels) {
  const Extents image = x.shape(), each = index.shape();
  const Value rows = reshape(x, {image[0] * image[1], {pixels, 0}, {}});
  const Extents all{image[0], image[1], each[2], each[3]};
  const Extents line{image[0] * image[1], each[2] * each[3], {}};
  const Value gathered =
      add_operation(gather_operation, {rows, reshape(broadcast_to(index, all), line)}, x.dtype(), line);
  if (share.id() < 0) return reshape(gathered, {image[0], image[1], each[3]});
  return sum(widened(reshape(gathered, all)) * share, {2});
}

/// Refuses images and grids that do not fit each other.
TWILL_CONSTEXPR bool check_grid(Value x, Value grid, CallSite site) {
  Graph& graph = x.graph();
  const int rank = x.rank();
  if (rank != 4 && rank != 5) graph.refuse(Problem::interpolation_input_has_the_wrong_rank, rank, 4, site);
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
/// cost: a gather of 4 neighbours, 8 in volumes, 1 where the mode is nearest, whose gradient by places is 0
[[nodiscard]] TWILL_CONSTEXPR Value grid_sample(Value x, Value grid, const GridSampleOptions& options = {},
                                                CallSite site = CallSite::here()) {
  if (!detail::check_grid(x, grid, site)) return x;
  Graph& graph = x.graph();
  const int axes = x.rank() - 2;
  const Extents image = x.shape(), places = grid.shape();
  Extent points{};
  std::int64_t pixels = 1;
  for (int axis = 1; axis <= axes; ++axis) {
    points = points * places[axis];
    pixels *= image[axis + 1].factor;
  }
  // Neighbours are numbered by bits, one an axis; numbers of pixels and shares are (batch, 1, neighbours, points).
  const bool is_linear = options.mode == Interpolation::linear;
  const Extent count{is_linear ? std::int64_t{1} << axes : 1, 0};
  const Value bits = iota(graph, {count, {}});
  const Value flat = widened(reshape(grid, {places[0], points, {axes, 0}}, site));
  Value pixel{}, is_inside{}, share{};
  for (int axis = 0; axis < axes; ++axis) {
    const std::int64_t extent = image[axis + 2].factor;
    const Value c = reshape(narrow(flat, 2, axes - 1 - axis, 1, site), {places[0], {}, {}, points}, site);
    const Value place = detail::pixel_place(c, extent, options);
    const Value is_above = equal((bits >> axis) & 1, 1);
    const Value below = is_linear ? floor(place) : round(place);
    const Value number = is_linear ? where(is_above, below + 1.0, below) : below;
    const Value inside = logical_and(number >= 0, number <= static_cast<double>(extent - 1));
    const Value index = cast(where(inside, number, 0.0), DType::int64);
    pixel = axis == 0 ? index : pixel * extent + index;
    is_inside = axis == 0 ? inside : logical_and(is_inside, inside);
    if (!is_linear) continue;
    const Value beyond = place - below; // of slope 1 at pixels, too, as PyTorch's
    const Value part = where(is_above, beyond, 1.0 - beyond);
    share = axis == 0 ? part : share * part;
  }
  const Value index = where(is_inside, pixel, pixels); // a gather reads 0 outside, and its gradient adds nothing
  const Value sums = image[1].is_static() && image[1].factor < 16 ? detail::sums_by_channel(x, index, share, pixels)
                                                                  : detail::sums_by_pixel(x, index, share, pixels);
  Extents result{image[0], image[1]};
  for (int axis = 1; axis <= axes; ++axis) result.append(places[axis]);
  return reshape(cast(sums, x.dtype()), result, site);
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
