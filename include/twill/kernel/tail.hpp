#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Stages over any number of elements and any layout. The last few, which do not fill a pack, are copied to a small
// buffer, go through the same loop there, and are copied back: no second body, and nothing outside the row is touched.
// Operands that are not contiguous along the row although their program loads whole vectors are copied to a buffer too,
// a few hundred elements at a time: one more pass through the first-level cache. Compiled once for all programs.
// Read next: kernel/rows.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/bytes.hpp>
#include <twill/kernel/pack.hpp>
#include <twill/kernel/table.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

namespace vector_detail {

inline constexpr int pack_room = vector_bytes * 8; ///< bytes that hold a pack of any type: at most 64 lanes of 8 bytes

/// Whether an operand is copied before a stage can load it.
[[nodiscard]] TWILL_INLINE bool needs_packing(const OperandInfo& info, std::int64_t stride) {
  return info.contiguous && stride != 1 && info.stages != 0 && info.role == OperandInfo::Role::input;
}

template <class Word>
inline void pack_words(std::byte* to, const std::byte* from, std::int64_t stride, std::int64_t count) {
  Word* packed = reinterpret_cast<Word*>(to);
  const Word* word = reinterpret_cast<const Word*>(from);
  for (std::int64_t i = 0; i < count; ++i, word += stride) packed[i] = *word;
}

/// Copies `count` elements, each `stride` elements after the last, side by side.
void pack_elements(std::byte* to, const std::byte* from, std::int64_t stride, std::int64_t count, int size);

/// The buffer of the operands that a stage packs, and how many elements of each fit.
class PackedBlocks {
public:
  PackedBlocks(const ProgramTable& program, int stage, const Cursor& where);

  /// How many elements are packed at once: whole packs.
  [[nodiscard]] std::int64_t elements() const { return elements_; }

  /// A cursor over elements [begin, begin + count), which are copied.
  void pack(Cursor& to, std::int64_t begin, std::int64_t count);

private:
  static constexpr std::int64_t room = 32768;         ///< bytes of all operands together
  static constexpr std::int64_t most_elements = 2048; ///< of each

  [[nodiscard]] bool is_packed(int operand) const;

  const ProgramTable& program_;
  int stage_;
  const Cursor& where_;
  std::int64_t elements_ = 0;
  // a whole pack of every operand fits in any case
  alignas(64) std::byte
      buffer_[(max_operands * 8 * vector_bytes > room ? max_operands * 8 * vector_bytes : room) + vector_bytes];
};

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

} // namespace vector_detail

/// Whether a stage has to pack operands along this row.
[[nodiscard]] bool needs_packing(const ProgramTable& program, const Cursor& where);

namespace vector_detail {
/// A stage over whole packs, some operands of which are packed first.
void run_packed(const ProgramTable& program, int stage, const Cursor& where, const std::byte* shared,
                std::byte* partial, const ScratchRows& scratch, std::int64_t begin, std::int64_t end);
} // namespace vector_detail

/// Combines the accumulators of a stage's reductions, each into the slot of its line.
void finish_reductions(const ProgramTable& program, int stage, const std::byte* accumulators, std::byte* result);

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
