#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Padding of tensors: `pad(x, {{1, 2}, {0, 3}}, {.mode = PadMode::reflect})`. The middle is copied once; then each axis
// is filled outwards from its elements, so corners follow from edges as in NumPy. Read next: expr/repeat.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/gather.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/tensor/shapes.hpp>
#include <twill/tensor/tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The content around a padded tensor: one value, its outermost elements, its mirror image without or with the edge
/// itself, or its other end.
enum class PadMode : std::uint8_t { constant, edge, reflect, symmetric, wrap };

/// Options of padding.
struct PadOptions {
  PadMode mode = PadMode::constant; ///< content of the new places
  double value = 0;                 ///< of PadMode::constant
};

/// The numbers of elements put before and after an axis.
struct PadWidth {
  std::int64_t before = 0; ///< elements in front of the axis
  std::int64_t after = 0;  ///< elements after it
};

}}} // namespace twill::v0::TWILL_ISA

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// The source of the element at `place` relative to the source's begin. Mirrors and wraps as often as needed.
[[nodiscard]] constexpr std::int64_t pad_source(PadMode mode, std::int64_t place, std::int64_t extent) {
  const auto modulo = [](std::int64_t a, std::int64_t b) { return (a % b + b) % b; };
  if (mode == PadMode::edge) return std::clamp<std::int64_t>(place, 0, extent - 1);
  if (mode == PadMode::wrap) return modulo(place, extent);
  if (mode == PadMode::symmetric) {
    const std::int64_t turn = modulo(place, 2 * extent);
    return turn < extent ? turn : 2 * extent - 1 - turn;
  }
  if (extent == 1) return 0;
  const std::int64_t turn = modulo(place, 2 * (extent - 1));
  return turn < extent ? turn : 2 * (extent - 1) - turn;
}

template <class X>
void pad_axis(const X& result, Dims box, const Dims& origin, int axis, PadWidth width, PadMode mode) {
  // `box` starts at `origin` and is filled in all axes before this one, and with the source in this one and later ones
  using Box = Tensor<typename X::value_type, typename X::device_type, dynamic_shape_t<X::rank>>;
  const Dims strides = result.strides();
  const std::int64_t extent = box[axis];
  auto* corner = result.data();
  for (int other = 0; other < X::rank; ++other) corner += origin[other] * strides[other];
  const auto slab = [&](std::int64_t first, std::int64_t count, std::int64_t step) {
    Dims extents = box;
    extents[axis] = count;
    Dims along = strides;
    along[axis] *= step;
    return Box(result.storage(), corner + first * strides[axis], extents, along);
  };
  // stretches in which the source moves evenly: by 1, 0 or -1
  const auto fill = [&](std::int64_t first, std::int64_t last) {
    while (first < last) {
      const std::int64_t source = pad_source(mode, first, extent);
      const std::int64_t step = first + 1 < last ? pad_source(mode, first + 1, extent) - source : 0;
      std::int64_t end = first + 1;
      while (end < last && pad_source(mode, end, extent) - source == step * (end - first) && step * step <= 1) ++end;
      slab(first, end - first, 1).copy_from(slab(source, end - first, step));
      first = end;
    }
  };
  fill(-width.before, 0);
  fill(extent, extent + width.after);
}

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The tensor with these numbers of elements put before and after each axis, in new memory.
/// throws: ValueError for negative widths, and where there is nothing to repeat
template <TensorOperand X, std::size_t Rank>
requires(std::remove_cvref_t<X>::shape_type::rank == Rank)
    [[nodiscard]] auto pad(X&& x, const PadWidth (&widths)[Rank], PadOptions options = {}) {
  const auto source = expr::evaluated(std::forward<X>(x));
  using Source = std::remove_cvref_t<decltype(source)>;
  using T = typename Source::value_type;
  constexpr int rank = static_cast<int>(Rank);
  using S = dynamic_shape_t<rank>;
  const Dims inner = source.shape();
  Dims outer = inner;
  Dims origin = inner;
  for (int axis = 0; axis < rank; ++axis) {
    const PadWidth width = widths[axis];
    if (width.before < 0 || width.after < 0)
      throw ValueError("pad: widths " + std::to_string(width.before) + " and " + std::to_string(width.after) +
                       " of axis " + std::to_string(axis) + "; they are at least 0");
    if (options.mode != PadMode::constant && inner[axis] == 0 && width.before + width.after > 0)
      throw ValueError("pad: axis " + std::to_string(axis) + " of shape " + to_string(inner) +
                       " holds nothing to repeat; use PadMode::constant");
    outer[axis] += width.before + width.after;
    origin[axis] = width.before;
  }
  const Tensor<T, typename Source::device_type, S> result(source.device(), outer);
  if (result.elements() == 0) return result;
  if (options.mode == PadMode::constant) result.fill(static_cast<T>(options.value));
  if (source.elements() == 0) return result;
  std::int64_t offset = 0;
  for (int axis = 0; axis < rank; ++axis) offset += origin[axis] * result.strides()[axis];
  decltype(result)(result.storage(), result.data() + offset, inner, result.strides()).copy_from(source);
  if (options.mode == PadMode::constant) return result;
  Dims box = inner;
  for (int axis = 0; axis < rank; ++axis) {
    expr::pad_axis(result, box, origin, axis, widths[axis], options.mode);
    origin[axis] = 0;
    box[axis] = outer[axis];
  }
  return result;
}
/// Pads all axes by the same widths: `pad(x, {1, 1})`.
template <TensorOperand X>
requires(std::remove_cvref_t<X>::shape_type::rank > 1)
    [[nodiscard]] auto pad(X&& x, PadWidth width, PadOptions options = {}) {
  PadWidth widths[static_cast<std::size_t>(std::remove_cvref_t<X>::shape_type::rank)];
  for (PadWidth& own : widths) own = width;
  return pad(std::forward<X>(x), widths, options);
}

}}} // namespace twill::v0::TWILL_ISA
