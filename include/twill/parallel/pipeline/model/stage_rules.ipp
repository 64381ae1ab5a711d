#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/pipeline/model/stage_rules.hpp.

#include <twill/parallel/pipeline/model/stage_rules.hpp>

namespace twill { inline namespace v0 { namespace pipeline { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY GradientSums& GradientSums::operator+=(const GradientSums& other) {
  squares += other.squares;
  not_finite += other.not_finite;
  return *this;
}

}}}}} // namespace twill::v0::pipeline::detail::TWILL_ISA
