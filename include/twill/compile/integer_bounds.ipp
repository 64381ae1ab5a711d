#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/integer_bounds.hpp.

#include <twill/compile/integer_bounds.hpp>

namespace twill::inline v0::compile::detail::inline TWILL_ISA {

TWILL_COLD TWILL_BODY void refuse_integer(const graph::IntegerBounds& bounds, std::int64_t least, std::int64_t end,
                                          std::int64_t value, std::int64_t position) {
  const std::string layer{bounds.layer.view()};
  throw IndexError((layer.empty() ? "" : layer + ": ") + std::string{bounds.what} + " has to lie between " +
                   std::to_string(least) + " and " + std::to_string(end - 1) +
                   (bounds.has_exception ? ", or be " + std::to_string(bounds.exception) : "") + "; element " +
                   std::to_string(position) + " of input " + std::to_string(bounds.input) + " is " +
                   std::to_string(value));
}

TWILL_BODY void check_integers(const TableView& table, const graph::SymbolValues& symbols,
                               const graph::IntegerBounds& bounds, const void* data) {
  const graph::InputInfo& input = table.inputs[static_cast<std::size_t>(bounds.input)];
  const std::int64_t count = input.shape.elements().evaluate(symbols);
  const std::int64_t end = bounds.end.evaluate(symbols) + (bounds.may_be_end ? 1 : 0);
  if (input.dtype == DType::int64) check_integers<std::int64_t>(bounds, end, data, count);
  if (input.dtype == DType::int32) check_integers<std::int32_t>(bounds, end, data, count);
  if (input.dtype == DType::uint8) check_integers<std::uint8_t>(bounds, end, data, count);
}

} // namespace twill::inline v0::compile::detail::inline TWILL_ISA

namespace twill::inline v0::compile::inline TWILL_ISA {

TWILL_BODY void check_integers(const TableView& table, const graph::SymbolValues& symbols,
                               std::span<void* const> inputs) {
  for (const graph::IntegerBounds& bounds : table.bounds)
    detail::check_integers(table, symbols, bounds, inputs[static_cast<std::size_t>(bounds.input)]);
}

} // namespace twill::inline v0::compile::inline TWILL_ISA
