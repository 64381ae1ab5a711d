#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/tabulate.hpp.

#include <twill/kernel/tabulate.hpp>

namespace twill::inline v0::kernel::inline TWILL_ISA {
namespace vector_detail {

TWILL_BODY void count_access(int operand, Touch touch, std::int64_t elements) {
  const auto o = static_cast<std::size_t>(operand);
  (touch == Touch::store ? access_counts().stores : access_counts().loads)[o] += elements;
  if (touch == Touch::reload) access_counts().reloads[o] += elements;
}

} // namespace vector_detail
} // namespace twill::inline v0::kernel::inline TWILL_ISA
