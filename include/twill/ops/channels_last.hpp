#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Channels-last layout of images: shapes are PyTorch's, (batch, channels, height, width), but memory is channels-last,
// on which convolutions and pooling are several times as fast. They are traced between two transpositions, which
// compile/passes/channels_last.hpp moves until opposite ones meet. Read next: ops/convolution.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/shape_functions.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// One number for both axes of an image, or height and width; for one axis, the width.
struct Sides {
  std::int64_t height = 1; ///< along rows
  std::int64_t width = 1;  ///< along columns

  /// Height and width equal to one number.
  constexpr Sides(std::int64_t both) : height{both}, width{both} {}
  /// Height, then width.
  constexpr Sides(std::int64_t height_, std::int64_t width_) : height{height_}, width{width_} {}
};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// x with its channels moved from axis 1 to the end.
[[nodiscard]] TWILL_CONSTEXPR Value channels_last(Value x) {
  const Node source = x.node();
  const int rank = source.shape.rank;
  Node node{};
  node.kind = Kind::transpose;
  node.dtype = source.dtype;
  node.arity = 1;
  node.inputs[0] = x.id();
  for (int axis = 0; axis < rank; ++axis) {
    const int from = axis == 0 ? 0 : axis + 1 < rank ? axis + 1 : 1;
    node.permutation[static_cast<std::size_t>(axis)] = static_cast<std::int8_t>(from);
    node.shape.append(source.shape[from]);
  }
  return {x.graph(), x.graph().add(node)};
}

/// x with its channels moved from the end to axis 1.
[[nodiscard]] TWILL_CONSTEXPR Value channels_first(Value x) {
  const Node source = x.node();
  const int rank = source.shape.rank;
  Node node{};
  node.kind = Kind::transpose;
  node.dtype = source.dtype;
  node.arity = 1;
  node.inputs[0] = x.id();
  for (int axis = 0; axis < rank; ++axis) {
    const int from = axis == 0 ? 0 : axis == 1 ? rank - 1 : axis - 1;
    node.permutation[static_cast<std::size_t>(axis)] = static_cast<std::int8_t>(from);
    node.shape.append(source.shape[from]);
  }
  return {x.graph(), x.graph().add(node)};
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA
