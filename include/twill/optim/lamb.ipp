#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of optim/lamb.hpp.

#include <twill/optim/lamb.hpp>

namespace twill::inline v0::optim::inline TWILL_ISA {

TWILL_BODY std::array<double, 12> Lamb::values(std::int64_t step) const {
  return detail::joined(AdamRule::values(step, options.weight_decay, 1), std::array<double, 1>{options.rate});
}

} // namespace twill::inline v0::optim::inline TWILL_ISA
