#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/draws.hpp.

#include <twill/core/text.hpp>
#include <twill/expr/draws.hpp>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

TWILL_BODY void require_parameter(bool holds, const char* text, double found) {
  if (!holds) throw ValueError(text + number_text(found));
}

}}}} // namespace twill::v0::expr::TWILL_ISA
