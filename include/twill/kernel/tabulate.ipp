#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/tabulate.hpp.

#include <twill/kernel/tabulate.hpp>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace vector_detail {

TWILL_BODY void count_access(int operand, Touch touch, std::int64_t elements) {
  const auto o = static_cast<std::size_t>(operand);
  (touch == Touch::store ? access_counts().stores : access_counts().loads)[o] += elements;
  if (touch == Touch::reload) access_counts().reloads[o] += elements;
}

}}}}} // namespace twill::v0::kernel::TWILL_ISA::vector_detail
