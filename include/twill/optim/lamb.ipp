#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of optim/lamb.hpp.

#include <twill/optim/lamb.hpp>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

TWILL_BODY std::array<double, 12> Lamb::values(std::int64_t step) const {
  return detail::joined(AdamRule::values(step, options.weight_decay, 1), std::array<double, 1>{options.rate});
}

}}}} // namespace twill::v0::optim::TWILL_ISA
