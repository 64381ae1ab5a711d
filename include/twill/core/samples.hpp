#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Options of functions of samples, for tensors and for traced values. Not in twill.hpp. Read next:
// algorithms/sampled.hpp.

#include <cstdint>
#include <optional>

namespace twill { inline namespace v0 {

/// The side of equal elements: before the first that is not less.
struct LeftSide {};
/// After the last element that is not greater.
struct RightSide {};
/// Before equal elements, NumPy's side "left": the default.
inline constexpr LeftSide side_left{};
/// After equal elements.
inline constexpr RightSide side_right{};

/// The edge that belongs to a bin: its lower one, as by default in NumPy, or its upper one (`right=True`).
enum class BinEdge : bool { lower, upper };

/// Options of interpolation.
struct InterpOptions {
  std::optional<double> left{};  ///< below the first point; the first value unless given
  std::optional<double> right{}; ///< above the last point; the last value unless given
};

/// The part of a convolution: all sums, as many as the longer vector has elements, or those of whole overlaps.
enum class ConvolveMode : std::uint8_t { full, same, valid };

}} // namespace twill::v0
