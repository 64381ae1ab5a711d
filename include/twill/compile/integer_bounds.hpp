#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Refuses indices, labels and lengths that point outside, before a run that reads them begins, so that nothing has changed.
// Only inputs of the function are looked at: a kernel cannot stop in its middle, and what a model computes itself reads zeros
// and adds nothing, see ops/gather.hpp. Host devices look in every run, GPUs in runs that are watched (`step.checked`).

#include <twill/compile/binding.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace twill::inline v0::compile::detail::inline TWILL_ISA {

[[noreturn]] void refuse_integer(const graph::IntegerBounds& bounds, std::int64_t least, std::int64_t end,
                                 std::int64_t value, std::int64_t position);

/// All of them in one pass without branches, and only then which.
template <class T>
void check_integers(const graph::IntegerBounds& bounds, std::int64_t end, const void* data, std::int64_t count) {
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
  refuse_integer(bounds, least, end, static_cast<std::int64_t>(values[first]), first);
}

/// One input, dense in the host's memory.
void check_integers(const TableView& table, const graph::SymbolValues& symbols, const graph::IntegerBounds& bounds,
                    const void* data);

} // namespace twill::inline v0::compile::detail::inline TWILL_ISA

namespace twill::inline v0::compile::inline TWILL_ISA {

/// Looks at the inputs of a run, which lie in the host's memory.
/// throws: IndexError naming the layer, the bounds and the value    cost: one pass over indices, labels and lengths
void check_integers(const TableView& table, const graph::SymbolValues& symbols, std::span<void* const> inputs);

} // namespace twill::inline v0::compile::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/integer_bounds.ipp>
#endif
