#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/run/integer_bounds.hpp.

#include <twill/compile/run/integer_bounds.hpp>
#include <twill/core/text.hpp>

#include <string>
#include <string_view>

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

[[noreturn]] TWILL_COLD TWILL_BODY void refuse_integer(const CallName& name, const graph::IntegerBounds& bounds,
                                                       std::int64_t least, std::int64_t end, std::int64_t value,
                                                       std::int64_t position) {
  const std::string_view layer = bounds.layer.view();
  const std::string exception = bounds.has_exception ? join_text({", or be ", bounds.exception}) : std::string{};
  throw IndexError(join_text({title_of(name), ": ", layer, layer.empty() ? "" : ": ", bounds.what,
                              " has to be between ", least, " and ", end - 1, exception, "; element ", position, " of ",
                              argument_of(name, static_cast<std::size_t>(bounds.input)), " is ", value}));
}

template <class T>
void check_integers(const CallName& name, const graph::IntegerBounds& bounds, std::int64_t end, const void* data,
                    std::int64_t count) {
  const auto* const values = static_cast<const T*>(data);
  const std::int64_t least = bounds.counts_from_end ? -end : bounds.least;
  const auto extent = static_cast<std::uint64_t>(end - least);
  const auto is_wrong = [&](std::int64_t value) {
    return static_cast<unsigned>(static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(least) >= extent) &
           static_cast<unsigned>(!bounds.has_exception || value != bounds.exception);
  };
  unsigned wrong = 0;
  for (std::int64_t i = 0; i < count; ++i) wrong |= is_wrong(static_cast<std::int64_t>(values[i]));
  if (wrong == 0) return;
  std::int64_t first = 0;
  while (is_wrong(static_cast<std::int64_t>(values[first])) == 0) ++first;
  refuse_integer(name, bounds, least, end, static_cast<std::int64_t>(values[first]), first);
}

TWILL_BODY void check_integers(const TableView& table, const graph::SymbolValues& symbols,
                               const graph::IntegerBounds& bounds, const void* data) {
  const graph::InputInfo& input = table.inputs[static_cast<std::size_t>(bounds.input)];
  const std::int64_t count = input.shape.elements().evaluate(symbols);
  const std::int64_t end = bounds.end.evaluate(symbols) + (bounds.may_be_end ? 1 : 0);
  if (input.dtype == DType::int64) check_integers<std::int64_t>(table.name, bounds, end, data, count);
  if (input.dtype == DType::int32) check_integers<std::int32_t>(table.name, bounds, end, data, count);
  if (input.dtype == DType::uint8) check_integers<std::uint8_t>(table.name, bounds, end, data, count);
}

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA
