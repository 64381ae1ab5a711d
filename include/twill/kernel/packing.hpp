#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Packing of operands that are not contiguous along the row although their program loads whole vectors: they are copied
// to a small buffer, a few hundred elements at a time, and the program's own loop runs over the buffer. One program
// serves every layout, and an operand with gaps costs one more pass through the first-level cache. Compiled once for
// all programs. Read next: kernel/tail.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/pack.hpp>
#include <twill/kernel/table.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace vector_detail {

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

}}}}} // namespace twill::v0::kernel::TWILL_ISA::vector_detail

#if TWILL_HEADER_ONLY
#include <twill/kernel/packing.ipp>
#endif
