#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/blocks.hpp.

#include <twill/kernel/blocks.hpp>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

TWILL_BODY void move_bytes(const Team& team, const std::byte* from, std::byte* to, Blocks b, std::int64_t size) {
  if (b.from_count == b.run && b.to_count == b.run) {
    b.run *= b.count;
    b.count = 1;
  }
  const std::int64_t total = b.outer * b.count * b.run * size;
  if (total == 0) return;
  const auto rows = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r)
      std::memcpy(to + (r / b.count * b.to_outer + r % b.count * b.to_count) * size,
                  from + (r / b.count * b.from_outer + r % b.count * b.from_count) * size,
                  static_cast<std::size_t>(b.run * size));
  };
  const auto singles = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t o = begin; o < end; ++o) {
      std::byte* const row = to + o * b.to_outer * size;
      const std::byte* const source = from + o * b.from_outer * size;
      const auto move = size == 8   ? move_single<8>
                        : size == 4 ? move_single<4>
                        : size == 2 ? move_single<2>
                                    : move_single<1>;
      move(row, b.to_count * size, source, b.from_count * size, b.count);
    }
  };
  if (b.run == 1 && b.count > 1) return share_out(team, b.outer, total, singles);
  if (b.outer * b.count > 1) return share_out(team, b.outer * b.count, total, rows);
  share_out(team, b.run * size, total, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
  });
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
