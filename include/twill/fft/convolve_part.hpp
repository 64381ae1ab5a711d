#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Parts of a convolution by Fourier transforms, and their extents, for tensors and for traced values. Not in twill.hpp.
// Read next: fft/convolve.hpp.

#include <twill/core/config.hpp>
#include <twill/core/shape.hpp>
#include <twill/fft/plan.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace fft {

/// The part of a convolution that is wanted: all, a part as large as the first operand around the middle, or those
/// elements for which the smaller operand is inside of the larger one.
enum class Part : std::uint8_t { full, same, valid };

/// A part by its name.
template <Part P> struct ConvolveMode {};
/// All elements of a convolution: a + b - 1 of axes of extents a and b.
inline constexpr ConvolveMode<Part::full> full{};
/// As many elements as the first operand has, those around the middle.
inline constexpr ConvolveMode<Part::same> same{};
/// Elements for which the smaller operand is inside of the larger one.
inline constexpr ConvolveMode<Part::valid> valid{};

}}} // namespace twill::v0::fft

namespace twill { inline namespace v0 { namespace fft { namespace detail {

/// The extent of a part of the convolution of two axes; `dyn` where one is not known.
[[nodiscard]] constexpr std::int64_t convolved_extent(Part part, std::int64_t a, std::int64_t b) {
  if (part == Part::same) return a;
  if (a == dyn || b == dyn) return dyn;
  if (part == Part::full) return a + b - 1;
  return (a > b ? a - b : b - a) + 1;
}

/// The extents of a convolution over the axes of a mask; the others broadcast.
[[nodiscard]] constexpr Dims convolved_dims(Part part, Dims a, const Dims& b, unsigned mask) {
  for (int axis = 0; axis < a.rank; ++axis)
    if ((mask >> axis & 1U) != 0)
      a[axis] = convolved_extent(part, a[axis], b[axis]);
    else if (a[axis] == 1 || (a[axis] == dyn && b[axis] != 1))
      a[axis] = b[axis];
  return a;
}

/// A convolution's extents along its axes.
struct Convolution {
  Dims points{};        ///< of the transforms, one for each axis that is convolved
  Dims extents{};       ///< of the result
  Dims first{};         ///< its first element in the full convolution
  int empty_axis = -1;  ///< the first axis without elements, if there is one
  bool is_whole = true; ///< whether one operand is inside of the other, where the part needs that
};

/// The extents of a part of the convolution of a and b over the axes of a mask.
[[nodiscard]] constexpr Convolution convolution_sizes(Part part, const Dims& a, const Dims& b, unsigned mask) {
  Convolution result{.extents = convolved_dims(part, a, b, mask)};
  result.first.rank = a.rank;
  bool a_is_inside = true;
  bool b_is_inside = true;
  for (int axis = 0; axis < a.rank; ++axis) {
    if ((mask >> axis & 1U) == 0) continue;
    if (a[axis] == 0 || b[axis] == 0) {
      result.empty_axis = axis;
      return result;
    }
    const std::int64_t full = a[axis] + b[axis] - 1;
    result.points[result.points.rank++] = fast_length(full);
    if (part == Part::same) result.first[axis] = (full - a[axis]) / 2;
    if (part == Part::valid) result.first[axis] = (a[axis] < b[axis] ? a[axis] : b[axis]) - 1;
    a_is_inside = a_is_inside && a[axis] <= b[axis];
    b_is_inside = b_is_inside && b[axis] <= a[axis];
  }
  result.is_whole = part != Part::valid || a_is_inside || b_is_inside;
  return result;
}

}}}} // namespace twill::v0::fft::detail
