#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of tensor/copy.hpp.

#include <twill/tensor/copy.hpp>

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY kernel::Operand memory_operand(const void* data, const Dims& strides) {
  kernel::Operand operand{.data = const_cast<void*>(data)};
  for (int axis = 0; axis < strides.rank; ++axis) operand.strides[static_cast<std::size_t>(axis)] = strides[axis];
  return operand;
}

TWILL_BODY bool ranges_overlap(const void* a, std::size_t a_size, layout::Span a_span, const void* b,
                               std::size_t b_size, layout::Span b_span) {
  if (a_span.last < a_span.first || b_span.last < b_span.first) return false;
  const auto address = [](const void* base, std::int64_t offset, std::size_t size) {
    return std::bit_cast<std::intptr_t>(base) + offset * static_cast<std::int64_t>(size);
  };
  const auto a_end = address(a, a_span.last + 1, a_size);
  const auto b_end = address(b, b_span.last + 1, b_size);
  return address(a, a_span.first, a_size) < b_end && address(b, b_span.first, b_size) < a_end;
}

}}}} // namespace twill::v0::detail::TWILL_ISA
