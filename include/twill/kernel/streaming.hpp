#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Choice of the outputs of a launch that bypass the caches. Such stores need not read the line that they write, which
// saves a third of the time where no cache would keep the output anyway. An output that the program also reads, as in
// `y += a * x`, is in the cache when it is stored: bypassing then costs more than it saves. Decided for each launch,
// compiled once for all programs. Read next: kernel/rows.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/table.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace vector_detail {

inline constexpr std::int64_t worth_streaming = std::int64_t{8} << 20; ///< bytes of an output that no cache will keep

/// Whether the program loads every element of an output in the order in which it stores them: an update in place.
/// Another order, or a part of the elements, would not find them in the cache.
[[nodiscard]] bool is_updated(const ProgramTable& program, const Grid& grid, const Operand* bound, int output);

/// Marks the outputs that gain from bypassing the caches: large, contiguous along the row (the others are scattered),
/// and not updated in place. Returns whether there are any. Rows that are not aligned are stored as usual.
[[nodiscard]] bool choose_streams(const ProgramTable& program, const Grid& grid, const Operand* bound, StoreMode* mode);

}}}}} // namespace twill::v0::kernel::TWILL_ISA::vector_detail

#if TWILL_HEADER_ONLY
#include <twill/kernel/streaming.ipp>
#endif
