#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Arenas of a program: an offset for each temporary value in the memory of its device slot, for given sizes. Two values
// share bytes when no instruction needs both. Read next: memory/offsets.hpp, compile/plan/binding.hpp.

#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>
#include <twill/memory/offsets.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The part of all temporaries' memory that belongs to a slot.
struct SlotArena {
  std::size_t first = 0; ///< byte
  std::size_t bytes = 0;
};

/// The arenas of all slots, one after the other.
struct ArenaPlan {
  List<std::size_t> value_bytes{};
  List<std::int64_t> offsets{}; ///< of each value, -1 for those outside
  List<SlotArena> arenas{};
  std::size_t bytes = 0;

  ArenaPlan() = default;
};

/// Bytes between the beginnings of values, which do not share a cache line.
inline constexpr std::int64_t arena_alignment = 64;

/// The bytes of a shape's elements, for these sizes of its symbols. throws: ShapeError where they exceed 64 bits
[[nodiscard]] TWILL_CONSTEXPR std::int64_t bytes_of(DType dtype, const Extents& shape,
                                                    const graph::SymbolValues& symbols) {
  graph::Extent elements = shape.elements();
  elements.factor *= static_cast<std::int64_t>(size_of(dtype));
  return elements.evaluate(symbols);
}

/// The offsets of the temporaries of a slot; `planned` gives each value's index among them.
[[nodiscard]] TWILL_CONSTEXPR memory::OffsetPlan plan_arena(const TableView& table, const graph::SymbolValues& symbols,
                                                            List<std::size_t>& value_bytes, List<int>& planned,
                                                            int slot = 0) {
  List<memory::Lifetime> lifetimes{};
  for (std::size_t v = 0; v < table.values.size(); ++v) {
    const ValueInfo& value = table.values[v];
    value_bytes[v] = static_cast<std::size_t>(bytes_of(value.dtype, value.shape, symbols));
    if (value.storage != Storage::temporary || value.first_use < 0 || value.slot != slot) continue;
    planned[v] = static_cast<int>(lifetimes.size());
    lifetimes.push_back({static_cast<std::int64_t>(value_bytes[v]), value.first_use, value.last_use});
  }
  return memory::plan_offsets(lifetimes, arena_alignment);
}

[[nodiscard]] ArenaPlan plan_arenas(const TableView& table, const graph::SymbolValues& symbols);

}}}} // namespace twill::v0::compile::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/plan/arenas.ipp>
#endif
