#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/quantile.hpp.

#include <twill/core/text.hpp>
#include <twill/expr/quantile.hpp>

namespace twill { inline namespace v0 { namespace expr { namespace quantiles { inline namespace TWILL_ISA {

TWILL_BODY Place place_of(double q, std::int64_t length, Interpolation method) {
  const Neighbours<double> place = neighbours(static_cast<double>(length), q, method);
  return {static_cast<std::int64_t>(place.below), static_cast<std::int64_t>(place.above), place.fraction};
}

TWILL_COLD TWILL_BODY void require_part(std::string_view operation, double part, double whole) {
  if (!(part >= 0 && part <= whole))
    throw ValueError(join_text({operation, whole == 1 ? ": q is " : ": p is ", number_text(part),
                                "; it is between 0 and ", number_text(whole)}));
}

}}}}} // namespace twill::v0::expr::quantiles::TWILL_ISA
