#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Calls of groups of ranks within a program. They come between launches and are made by the thread that starts the run,
// so that a group may wait for its peers, copy through the host, or put work into the device's stream. All ranks run
// one program, whose order the compiler has fixed, so they make the same calls in the same order. Read next:
// compile/run/executor.hpp.

#include <twill/compile/run/bindings.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/graph/ranks.hpp>
#include <twill/kernel/rank_group.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The group along an axis. throws: ValueError when none is bound, or one of another size
[[nodiscard]] kernel::RankGroup& group_along(const kernel::AxisId& axis, const kernel::RankGroups* groups);

/// The axis of a collective instruction.
[[nodiscard]] kernel::AxisId axis_of(const BoundInstruction& instruction);

/// Makes one call. throws: what the group throws
void call_group(const Binding& binding, const BoundInstruction& instruction, const kernel::RankGroups* groups);

/// Finds the groups of all calls before a run. throws: ValueError when one is not bound, or has another size
void require_groups(const Binding& binding, const kernel::RankGroups* groups);

/// Run-time scalars of a table that are the rank along an axis. The group knows them, not the caller.
class RankNumbers {
public:
  explicit RankNumbers(const TableView& table);

  /// A run's numbers with these filled in, valid until the next run. throws: ValueError when no group is bound
  [[nodiscard]] std::span<const std::uint64_t> added_to(std::span<const std::uint64_t> run_scalars,
                                                        const kernel::RankGroups* groups);

private:
  struct Number {
    std::size_t run_scalar = 0;
    kernel::AxisId axis{};
  };
  std::vector<Number> numbers_{};
  std::vector<std::uint64_t> with_ranks_{}; ///< the numbers of the current run
};

}}}} // namespace twill::v0::compile::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/run/groups.ipp>
#endif
