#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// How kernels on a GPU find element i of a view, for i in row-major order: extents and strides as plain numbers among a
// kernel's parameters, with axes merged that are one walk, so that most views need no division. Every kernel that takes
// elements one by one uses them. Read next: kernel/gpu/tile.hpp.

#include <twill/core/shape.hpp>

#include <cstdint>

namespace twill::inline v0::kernel::gpu {

/// Axes that are walked together, the last one fastest.
struct Axes {
  int rank = 0;
  std::int64_t extents[max_rank]{};
  std::int64_t strides[max_rank]{};

  constexpr Axes() = default;
  constexpr Axes(const Dims& of_extents, const Dims& of_strides) {
    for (int axis = 0; axis < of_extents.rank; ++axis) append(of_extents[axis], of_strides[axis]);
  }

  constexpr void append(std::int64_t extent, std::int64_t stride) {
    extents[rank] = extent;
    strides[rank++] = stride;
  }

  /// Where element i lies, in elements.
  [[nodiscard]] constexpr std::int64_t offset(std::int64_t i) const {
    std::int64_t sum = 0;
    for (int axis = rank - 1; axis > 0; --axis) {
      const std::int64_t rest = i / extents[axis];
      sum += (i - rest * extents[axis]) * strides[axis];
      i = rest;
    }
    return rank == 0 ? 0 : sum + i * strides[0];
  }
};

/// The same walk with as few axes as can be. requires: no extent is 0
[[nodiscard]] constexpr Axes merged(const Axes& axes) {
  Axes result{};
  for (int axis = 0; axis < axes.rank; ++axis) {
    if (axes.extents[axis] == 1) continue;
    const int last = result.rank - 1;
    if (last >= 0 && result.strides[last] == axes.strides[axis] * axes.extents[axis]) {
      result.extents[last] *= axes.extents[axis];
      result.strides[last] = axes.strides[axis];
    } else {
      result.append(axes.extents[axis], axes.strides[axis]);
    }
  }
  return result;
}

/// How many groups of `size` it takes for `count` things.
[[nodiscard]] constexpr std::int64_t groups_of(std::int64_t size, std::int64_t count) {
  return (count + size - 1) / size;
}

} // namespace twill::inline v0::kernel::gpu
