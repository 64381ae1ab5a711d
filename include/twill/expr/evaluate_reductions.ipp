#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/evaluate_reductions.hpp.

#include <twill/expr/evaluate_reductions.hpp>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

[[gnu::noinline]] TWILL_BODY void rows_differ(std::string_view operation, const Dims& own, const Dims& domain) {
  throw ShapeError(std::string(operation) + ": it reduces shape " + to_string(own) + " in a statement over shape " +
                   to_string(domain) + "; evaluate the reduction in a statement of its own");
}

[[gnu::noinline]] TWILL_BODY void no_elements(std::string_view operation, const Dims& own) {
  throw ValueError(std::string(operation) + ": the reduced axes of shape " + to_string(own) + " hold no elements");
}

TWILL_BODY bool is_one_axis(const Dims& extents, const Dims& strides, unsigned mask) {
  std::int64_t expected = 0;
  for (int axis = extents.rank - 1; axis >= 0; --axis) {
    if ((mask >> axis & 1U) == 0 || extents[axis] == 1) continue;
    if (expected != 0 && strides[axis] != expected) return false;
    expected = strides[axis] * extents[axis];
  }
  return true;
}

}}}} // namespace twill::v0::expr::TWILL_ISA
