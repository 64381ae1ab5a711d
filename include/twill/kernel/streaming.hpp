#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Which outputs of a launch bypass the caches. Stores that do so need not read the line that they write, which is worth a
// third of the time where no cache would keep the output anyway. An output that the program reads as well, as `y += a * x`
// does, lies in the cache by the time it is stored: to bypass it then costs more than it saves. Decided for each launch,
// compiled once for all programs. Read next: kernel/rows.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/table.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace vector_detail {

inline constexpr std::int64_t worth_streaming = std::int64_t{8} << 20; ///< bytes of an output that no cache will keep

/// Whether the program loads every element of an output in the order in which it stores them: an update in place. Another
/// order, or a part of the elements, would not find them in the cache.
[[nodiscard]] bool is_updated(const ProgramTable& program, const Grid& grid, const Operand* bound, int output);

/// Lets the outputs bypass the caches for which that pays: large, side by side along the row (the others are scattered), and
/// not updated in place. Returns whether there are any. Where a row of theirs is not aligned, it is stored as usual.
[[nodiscard]] bool choose_streams(const ProgramTable& program, const Grid& grid, const Operand* bound, StoreMode* mode);

}}}}} // namespace twill::v0::kernel::TWILL_ISA::vector_detail

#if TWILL_HEADER_ONLY
#include <twill/kernel/streaming.ipp>
#endif
