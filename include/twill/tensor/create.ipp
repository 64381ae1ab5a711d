#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of tensor/create.hpp.

#include <twill/tensor/create.hpp>

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY kernel::Operand counting_operand(std::int64_t first) {
  kernel::Operand operand{.bits = static_cast<std::uint64_t>(first)};
  operand.strides[0] = 1;
  return operand;
}

}}}} // namespace twill::v0::detail::TWILL_ISA
