#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/product.hpp.

#include <twill/expr/product.hpp>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

[[gnu::noinline]] TWILL_BODY void throw_extents(std::string_view name, const Pattern& pattern,
                                                const LabelExtents& extents, const Dims* shapes) {
  const int label = extents.conflict;
  std::string text(name);
  if ((pattern.stretched >> label & 1U) != 0) {
    const auto leading = [&](int operand) {
      Dims dims{};
      for (int axis = 0; axis < pattern[operand].rank; ++axis)
        if ((pattern.stretched >> pattern[operand][axis] & 1U) != 0) dims[dims.rank++] = shapes[operand][axis];
      return to_string(dims);
    };
    text += ": the leading axes " + leading(0) + " and " + leading(extents.operand) + " do not broadcast";
  } else if (const char letter = pattern.letters[static_cast<std::size_t>(label)]; letter != 0) {
    text += std::string(": letter ") + letter + " has extent " + std::to_string(extents.left) + " and, in operand " +
            std::to_string(extents.operand) + ", " + std::to_string(extents.right);
  } else if (name == "matmul") {
    text +=
        ": left has " + std::to_string(extents.left) + " columns, right has " + std::to_string(extents.right) + " rows";
  } else {
    text +=
        ": the axes to contract have extents " + std::to_string(extents.left) + " and " + std::to_string(extents.right);
  }
  throw ShapeError(text);
}

}}}} // namespace twill::v0::expr::TWILL_ISA
