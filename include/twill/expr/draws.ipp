#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/draws.hpp.

#include <twill/expr/draws.hpp>

#include <charconv>
#include <string>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

TWILL_BODY void require_parameter(bool holds, const char* text, double found) {
  if (holds) return;
  char digits[40];
  throw ValueError(text + std::string(digits, std::to_chars(digits, digits + sizeof(digits), found).ptr));
}

}}}} // namespace twill::v0::expr::TWILL_ISA
