#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Coordinates as tensors: logspace and geomspace, meshgrid over vectors, and unravel_index and ravel_index between
// places in row-major order and indices of each axis. Read next: expr/take.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/functions.hpp>
#include <twill/expr/gather.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/tensor.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// base to the power of `count` numbers from begin to end, computed in double. throws: ValueError
template <FloatingScalar T = float, Device D = Cpu>
[[nodiscard]] Tensor<T, D, Shape<dyn>> logspace(double begin, double end, std::int64_t count, double base = 10,
                                                const D& device = current_device<D>()) {
  return eval(cast<T>(power(base, linspace<double>(begin, end, count, device))));
}
/// `count` numbers from begin to end, each the same multiple of the one before; the ends are exact. throws: ValueError
template <FloatingScalar T = float, Device D = Cpu>
[[nodiscard]] Tensor<T, D, Shape<dyn>> geomspace(double begin, double end, std::int64_t count,
                                                 const D& device = current_device<D>()) {
  if (!(begin * end > 0))
    throw ValueError("geomspace: from " + std::to_string(begin) + " to " + std::to_string(end) +
                     "; both ends are of one sign and not 0");
  const auto part = linspace<double>(0, 1, count, device);
  const Tensor<T, D, Shape<dyn>> result = cast<T>(power(end / begin, part) * begin);
  if (count > 1) result[count - 1] = static_cast<T>(end);
  return result;
}

/// Which axes the first two vectors of a meshgrid run along: columns and rows (NumPy's default), or rows and columns.
enum class Indexing : std::uint8_t { xy, ij };

}}} // namespace twill::v0::TWILL_ISA

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

[[nodiscard]] constexpr int grid_axis(Indexing indexing, int vector, int count) {
  return indexing == Indexing::xy && count > 1 && vector < 2 ? 1 - vector : vector;
}
template <class X> [[nodiscard]] auto spread(const X& vector, int axis, const Dims& extents, const auto& shape) {
  Dims strides{};
  strides.rank = extents.rank;
  strides[axis] = vector.strides()[0];
  using Wide = Tensor<typename X::value_type, typename X::device_type, std::remove_cvref_t<decltype(shape)>>;
  return Wide(vector.storage(), vector.data(), extents, strides).clone();
}

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Each vector as a tensor over the grid of all of them: `auto [x, y] = meshgrid(columns, rows)`.
template <Indexing Order = Indexing::xy, AnyTensor... X>
requires(sizeof...(X) > 0 && ((X::rank == 1) && ...)) [[nodiscard]] auto meshgrid(const X&... vectors) {
  constexpr int count = static_cast<int>(sizeof...(X));
  constexpr Dims known = [] {
    Dims dims{};
    dims.rank = count;
    int vector = 0;
    ((dims[expr::grid_axis(Order, vector++, count)] = X::shape_type::extent(0)), ...);
    return dims;
  }();
  Dims extents{};
  extents.rank = count;
  int vector = 0;
  ((extents[expr::grid_axis(Order, vector++, count)] = vectors.size(0)), ...);
  int next = 0;
  const auto whole = [&](const auto& x) {
    return expr::spread(x, expr::grid_axis(Order, next++, count), extents, shape_t<known>{});
  };
  return std::tuple{whole(vectors)...}; // in order: braces
}

/// The index of each axis of a tensor of these extents for places in row-major order: one tensor for each axis.
/// throws: IndexError
template <int Rank, TensorOperand X> [[nodiscard]] auto unravel_index(X&& places, const Dims& extents) {
  if (extents.rank != Rank)
    throw ShapeError("unravel_index: shape " + to_string(extents) + " has " + std::to_string(extents.rank) +
                     " axes, and " + std::to_string(Rank) + " were asked for");
  const auto source = expr::evaluated(std::forward<X>(places));
  expr::require_integers<typename decltype(source)::value_type>();
  const auto checked = expr::checked_indices("unravel_index", source, extents.elements(), 0);
  const Dims strides = contiguous_strides(extents);
  return [&]<std::size_t... Axis>(std::index_sequence<Axis...>) {
    return std::array{eval(remainder(floor_divide(cast<std::int64_t>(checked), strides[static_cast<int>(Axis)]),
                                     extents[static_cast<int>(Axis)]))...};
  }
  (std::make_index_sequence<static_cast<std::size_t>(Rank)>{});
}

/// The place in row-major order of a tensor of these extents for indices of each axis: an expression.
template <TensorOperand... I> [[nodiscard]] auto ravel_multi_index(const Dims& extents, I&&... indices) {
  if (extents.rank != static_cast<int>(sizeof...(I)))
    throw ShapeError("ravel_multi_index: shape " + to_string(extents) + " has " + std::to_string(extents.rank) +
                     " axes, and " + std::to_string(sizeof...(I)) + " indices were given");
  const Dims strides = contiguous_strides(extents);
  int axis = 0;
  const auto place = [&](const auto& index) {
    const int own = axis++;
    return eval(cast<std::int64_t>(expr::checked_indices("ravel_multi_index", index, extents[own], own)) *
                strides[own]);
  };
  const std::tuple places{place(expr::evaluated(std::forward<I>(indices)))...};
  return std::apply([](const auto&... part) { return eval((part + ...)); }, places);
}

}}} // namespace twill::v0::TWILL_ISA
