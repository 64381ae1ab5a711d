#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/pipeline/model/stage_rules.hpp.

#include <twill/parallel/pipeline/model/stage_rules.hpp>

namespace twill::inline v0::pipeline::detail::inline TWILL_ISA {

TWILL_BODY GradientSums& GradientSums::operator+=(const GradientSums& other) {
  squares += other.squares;
  not_finite += other.not_finite;
  return *this;
}

} // namespace twill::inline v0::pipeline::detail::inline TWILL_ISA
