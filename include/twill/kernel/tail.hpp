#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Stages over any number of elements. The last few, which do not fill a pack, are copied to a small buffer, go through
// the same loop there, and are copied back: no second body, and nothing outside the row is touched.
// Read next: kernel/rows.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/bytes.hpp>
#include <twill/kernel/pack.hpp>
#include <twill/kernel/packing.hpp>
#include <twill/kernel/table.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

namespace vector_detail {

inline constexpr int pack_room = vector_bytes * 8; ///< bytes that hold a pack of any type: at most 64 lanes of 8 bytes

/// The first entries of a cursor.
TWILL_INLINE void copy_cursor(Cursor& to, const Cursor& from, int operands) {
  for (int o = 0; o < operands; ++o) {
    to.at[o] = from.at[o];
    to.stride[o] = from.stride[o];
    to.mode[o] = from.mode[o];
  }
}

/// The stride with which a stage walks an input or output.
[[nodiscard]] std::int64_t stride_of(const OperandInfo& info, const Cursor& where, int operand);

/// Whether the last elements of a row may be computed twice: everything is contiguous, and no output overlaps an input.
[[nodiscard]] bool may_repeat(const ProgramTable& program, const Cursor& where, std::int64_t end);

/// The last `rest` elements before `end`.
void run_tail(const ProgramTable& program, int stage, const Cursor& where, const std::byte* shared, std::byte* partial,
              const ScratchRows& scratch, std::int64_t begin, std::int64_t end, std::int64_t rest);

/// Whether a stage finds an operand's row in the cache: an earlier stage touched it, through this operand or an
/// overlapping one, or another operand did in this stage.
[[nodiscard]] bool is_cached(const ProgramTable& program, int stage, const Cursor& where, int operand);

/// Counts the elements of each operand that a stage touches; those of a short row stay in the cache for the next stage.
void count_stage(const ProgramTable& program, int stage, std::int64_t elements, const Cursor* short_row = nullptr);

} // namespace vector_detail

/// Whether a stage has to pack operands along this row.
[[nodiscard]] bool needs_packing(const ProgramTable& program, const Cursor& where);

namespace vector_detail {
/// A stage over whole packs, some operands of which are packed first.
void run_packed(const ProgramTable& program, int stage, const Cursor& where, const std::byte* shared,
                std::byte* partial, const ScratchRows& scratch, std::int64_t begin, std::int64_t end);
} // namespace vector_detail

/// A stage without reductions over the elements [begin, end) of a row. `packs`: see `needs_packing`.
void run_map(const ProgramTable& program, const Cursor& where, const std::byte* shared, std::int64_t begin,
             std::int64_t end, bool packs);

/// A stage over the elements [begin, end) of a row; leaves its reductions among the values that the row shares.
void run_stage(const ProgramTable& program, int stage, const Cursor& where, const std::byte* shared, std::byte* result,
               const ScratchRows& scratch, std::int64_t begin, std::int64_t end, bool packs, bool is_short_row);

}}}} // namespace twill::v0::kernel::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/kernel/tail.ipp>
#endif
