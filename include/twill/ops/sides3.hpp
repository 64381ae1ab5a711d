#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Numbers for up to three spatial axes of (batch, channels, depth, height, width), one for all of them or one each.
// Where there are fewer axes, the first numbers are not read. Not in twill.hpp. Read next: ops/channels_last.hpp.

#include <twill/core/config.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace graph {

/// One number for all spatial axes, or one for each: depth, height and width, or height and width.
template <class T> struct AlongSides {
  T depth{};  ///< between images of a volume
  T height{}; ///< along rows
  T width{};  ///< along columns

  /// One number for all axes.
  constexpr AlongSides(T all) : depth{all}, height{all}, width{all} {}
  /// Of images.
  constexpr AlongSides(T height_, T width_) : depth{height_}, height{height_}, width{width_} {}
  /// Of volumes.
  constexpr AlongSides(T depth_, T height_, T width_) : depth{depth_}, height{height_}, width{width_} {}

  /// The number of an axis of (batch, channels, ...), of `rank` axes in all.
  [[nodiscard]] constexpr T of(int axis, int rank) const {
    return axis + 1 == rank ? width : axis + 2 == rank ? height : depth;
  }
};

/// Extents, strides and margins of up to three axes.
using Sides3 = AlongSides<std::int64_t>;
/// Factors of up to three axes.
using Scales3 = AlongSides<double>;

}}} // namespace twill::v0::graph
