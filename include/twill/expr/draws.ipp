#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/draws.hpp.

#include <twill/expr/draws.hpp>

namespace twill::inline v0::expr::inline TWILL_ISA {

TWILL_BODY void require_parameter(bool holds, const char* text, double found) {
  if (!holds) throw ValueError(text + std::to_string(found));
}

} // namespace twill::inline v0::expr::inline TWILL_ISA
