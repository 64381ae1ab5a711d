#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/scatter.hpp.

#include <twill/expr/scatter.hpp>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

TWILL_BODY void ScatterPlan::add(const std::int64_t* data, const Dims& own, const Dims& strides,
                                 std::int64_t step_of_it) {
  index[count] = data;
  index_strides[count] = layout::expanded("index", {own, strides, 0}, extents).strides;
  step[count++] = step_of_it;
}

}}}} // namespace twill::v0::expr::TWILL_ISA
