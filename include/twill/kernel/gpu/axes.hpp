#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Axes of a view on a GPU, which give the offset of element i in row-major order: extents and strides as numbers among
// a kernel's parameters. Axes that form one walk are merged, so that most views need no division, and others cheap
// ones. Kernels for single elements use them. Read next: kernel/gpu/divisor.hpp, kernel/gpu/tile.hpp.

#include <twill/core/shape.hpp>
#include <twill/kernel/gpu/divisor.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// Axes that are walked together, the last one fastest. None is empty.
struct Axes {
  int rank = 0;
  std::int64_t elements = 1;
  std::int64_t extents[max_rank]{};
  std::int64_t strides[max_rank]{};
  IndexDivisor divisors[max_rank]{};

  constexpr Axes() = default;
  constexpr Axes(const Dims& of_extents, const Dims& of_strides) {
    for (int axis = 0; axis < of_extents.rank; ++axis) append(of_extents[axis], of_strides[axis]);
  }

  constexpr void append(std::int64_t extent, std::int64_t stride) {
    extents[rank] = extent;
    strides[rank++] = stride;
    elements *= extent;
    for (int axis = 0; axis < rank; ++axis) divisors[axis] = IndexDivisor(extents[axis], elements);
  }

  /// The offset of element i, in elements.
  [[nodiscard]] constexpr std::int64_t offset(std::int64_t i) const {
    std::int64_t sum = 0;
    for (int axis = rank - 1; axis > 0; --axis) {
      const IndexDivisor::Parts parts = divisors[axis].parts(i);
      sum += parts.rest * strides[axis];
      i = parts.quotient;
    }
    return rank == 0 ? 0 : sum + i * strides[0];
  }
};

/// An equal walk with as few axes as possible.
[[nodiscard]] constexpr Axes merged(const Axes& axes) {
  Axes result{};
  std::int64_t extent = 1; // of axes that are one walk so far
  std::int64_t stride = 0;
  for (int axis = 0; axis < axes.rank; ++axis) {
    if (axes.extents[axis] == 1) continue;
    const bool is_one_walk = stride == axes.strides[axis] * axes.extents[axis];
    if (extent > 1 && !is_one_walk) result.append(extent, stride);
    extent = is_one_walk || extent == 1 ? extent * axes.extents[axis] : axes.extents[axis];
    stride = axes.strides[axis];
  }
  if (extent > 1) result.append(extent, stride);
  return result;
}

/// How many groups of `size` cover `count` items.
[[nodiscard]] constexpr std::int64_t groups_of(std::int64_t size, std::int64_t count) {
  return (count + size - 1) / size;
}

}}}} // namespace twill::v0::kernel::gpu
