#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of ops/detail/epilogue_programs.hpp.

#include <twill/ops/detail/epilogue_programs.hpp>

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY kernel::Operand over_grid(const void* data, std::int64_t row_stride, std::int64_t column_stride) {
  kernel::Operand operand{};
  operand.data = const_cast<void*>(data);
  operand.strides[0] = row_stride;
  operand.strides[1] = column_stride;
  return operand;
}

}}}} // namespace twill::v0::detail::TWILL_ISA
