#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Operands that do not lie side by side along the row, although their program loads whole vectors: they are copied to a small
// buffer, a few hundred elements at a time, and the program's own loop runs over the buffer. So one program serves every
// layout, and an operand with gaps costs one more pass through the first-level cache. Compiled once for all programs.
// Read next: kernel/tail.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/pack.hpp>
#include <twill/kernel/table.hpp>

#include <cstddef>
#include <cstdint>

namespace twill::inline v0::kernel::inline TWILL_ISA::vector_detail {

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

/// `count` elements, each `stride` elements from the last, side by side.
[[gnu::noinline]] inline void pack_elements(std::byte* to, const std::byte* from, std::int64_t stride,
                                            std::int64_t count, int size) {
  switch (size) {
  case 1:
    return pack_words<std::uint8_t>(to, from, stride, count);
  case 2:
    return pack_words<std::uint16_t>(to, from, stride, count);
  case 4:
    return pack_words<std::uint32_t>(to, from, stride, count);
  default:
    return pack_words<std::uint64_t>(to, from, stride, count);
  }
}

/// The buffer of the operands that a stage packs, and how many elements of each fit.
class PackedBlocks {
public:
  PackedBlocks(const ProgramTable& program, int stage, const Cursor& where)
      : program_{program}, stage_{stage}, where_{where} {
    std::int64_t bytes = 0;
    for (int o = 0; o < program.operands; ++o)
      if (is_packed(o)) bytes += program.operand[o].bytes;
    // a multiple of what the loop takes at once, so that sums run in the order in which they run without a buffer
    const std::int64_t granule = std::int64_t{8} * program.lanes;
    const std::int64_t fitting = room / (bytes > 0 ? bytes : 1);
    elements_ = fitting < granule ? program.lanes : fitting / granule * granule;
    if (elements_ > most_elements) elements_ = most_elements / granule * granule;
  }

  /// How many elements are packed at once: whole packs.
  [[nodiscard]] std::int64_t elements() const { return elements_; }

  /// A cursor over elements [begin, begin + count), which are copied.
  void pack(Cursor& to, std::int64_t begin, std::int64_t count) {
    std::byte* next = buffer_;
    for (int o = 0; o < program_.operands; ++o) {
      const OperandInfo& info = program_.operand[o];
      to.at[o] = where_.at[o];
      to.stride[o] = where_.stride[o];
      to.mode[o] = where_.mode[o];
      if (!is_packed(o)) continue;
      const std::int64_t stride = where_.stride[o];
      pack_elements(next, reinterpret_cast<const std::byte*>(where_.at[o] + begin * stride * info.bytes), stride, count,
                    info.bytes);
      to.at[o] = reinterpret_cast<std::int64_t>(next) - begin * info.bytes;
      to.stride[o] = 1;
      next += elements_ * info.bytes;
    }
  }

private:
  static constexpr std::int64_t room = 32768;         ///< bytes of all operands together
  static constexpr std::int64_t most_elements = 2048; ///< of each

  [[nodiscard]] bool is_packed(int operand) const {
    const OperandInfo& info = program_.operand[operand];
    return needs_packing(info, where_.stride[operand]) && ((info.stages >> stage_) & 1U) != 0;
  }

  const ProgramTable& program_;
  int stage_;
  const Cursor& where_;
  std::int64_t elements_ = 0;
  // a whole pack of every operand fits in any case
  alignas(64) std::byte
      buffer_[(max_operands * 8 * vector_bytes > room ? max_operands * 8 * vector_bytes : room) + vector_bytes];
};

} // namespace twill::inline v0::kernel::inline TWILL_ISA::vector_detail
