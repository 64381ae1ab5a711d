#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/norms.hpp.

#include <twill/expr/norms.hpp>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

TWILL_BODY double checked_order(double p) {
  if (p == 0 || p - p != 0)
    throw ValueError("norm: the order " + std::to_string(p) +
                     " has a formula of its own; pass order<0>, order_inf or order_negative_inf");
  return p;
}

}}}} // namespace twill::v0::expr::TWILL_ISA
