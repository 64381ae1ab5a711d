#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/packing.hpp.

#include <twill/kernel/packing.hpp>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace vector_detail {

[[gnu::noinline]] TWILL_BODY void pack_elements(std::byte* to, const std::byte* from, std::int64_t stride,
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

TWILL_BODY PackedBlocks::PackedBlocks(const ProgramTable& program, int stage, const Cursor& where)
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

TWILL_BODY void PackedBlocks::pack(Cursor& to, std::int64_t begin, std::int64_t count) {
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

TWILL_BODY bool PackedBlocks::is_packed(int operand) const {
  const OperandInfo& info = program_.operand[operand];
  return needs_packing(info, where_.stride[operand]) && ((info.stages >> stage_) & 1U) != 0;
}

}}}}} // namespace twill::v0::kernel::TWILL_ISA::vector_detail
