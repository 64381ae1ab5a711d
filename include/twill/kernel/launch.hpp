#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Puts a program into the stream of a host-like device. The caller's array of operands may go at once: they travel by
// value, unless the device runs a launch before it returns. On a device without memory nothing runs, though the same code
// compiles. While somebody watches launches, this one is handed over. Read next: kernel/run.hpp, kernel/launch_watch.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/any_team.hpp>
#include <twill/kernel/columns.hpp>
#include <twill/kernel/launch_watch.hpp>
#include <twill/kernel/on_queue.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/record.hpp>
#include <twill/kernel/rows.hpp>
#include <twill/kernel/run.hpp>
#include <twill/kernel/summary.hpp>
#include <twill/kernel/table.hpp>
#include <twill/kernel/tabulate.hpp>

#include <cstddef>
#include <cstring>

#if defined(TWILL_WITH_NVTX) && TWILL_WITH_NVTX
#include <twill/kernel/launch_ranges.hpp>
#endif

namespace twill::inline v0::kernel::detail::inline TWILL_ISA {

/// A copy of a program's operands. Bytes, because an array of operands would be cleared before it is filled.
template <int Count> class BoundOperands {
public:
  explicit BoundOperands(const Operand* operands) { std::memcpy(bytes_, operands, Count * sizeof(Operand)); }
  [[nodiscard]] const Operand* data() const { return reinterpret_cast<const Operand*>(bytes_); }

private:
  alignas(Operand) std::byte bytes_[Count * sizeof(Operand)];
};
template <> class BoundOperands<0> {
public:
  explicit BoundOperands(const Operand*) {}
  [[nodiscard]] const Operand* data() const { return nullptr; }
};

/// The loops of a program, whose functions are data: the same code for all programs.
template <bool IsColumn> struct HostLoops {
  const ProgramTable& table;
  const Grid& grid;
  const Operand* operands;

  void operator()(const Team& team) const {
    if constexpr (IsColumn)
      run_columns(table, AnyTeam{team}, grid, operands);
    else
      run_rows(table, AnyTeam{team}, grid, operands);
  }
};

/// Launches a program for who watches.
template <class P, class D>
TWILL_COLD void launch_program_watched(const D& device, const Grid& grid, const Operand* operands) {
  constexpr KernelShape shape = summary_of<P>.shape;
  const WatchedLaunch what{.lines = summary_of<P>.lines.data(),
                           .line_count = static_cast<int>(summary_of<P>.lines.size()),
                           .shape = shape,
                           .grid = &grid,
                           .operands = operands};
  if constexpr (has_queue<D>)
    launch_watched(device, what, [&](const team_t<D>& queue) { run(P{}, queue, grid, operands); });
  else
    launch_watched(device, what, HostLoops<shape == KernelShape::column>{table_of<P>, grid, operands});
}

} // namespace twill::inline v0::kernel::detail::inline TWILL_ISA

namespace twill::inline v0::kernel::inline TWILL_ISA {

/// Runs the program on the device, in the order of its stream. Deduces the lines, so closures and local types are welcome
/// in whatever made them. `launch(device, f)` of the device is found by its argument.
template <class... Lines, class D>
void launch(Program<Lines...> program, const D& device, const Grid& grid, const Operand* operands) {
  if constexpr (!D::has_memory)
    if (launch_records != nullptr) record_launch(program, grid, operands);
  if constexpr (requires { requires D::launches_at_once; }) {
    if (is_watched(device)) [[unlikely]]
      return detail::launch_program_watched<Program<Lines...>>(device, grid, operands);
    launch(device, [program, &grid, operands](const auto& team) { run(program, team, grid, operands); });
  } else {
    using Bound = detail::BoundOperands<summary_of<Program<Lines...>>.operands>;
    launch(device,
           [program, grid, bound = Bound(operands)](const auto& team) { run(program, team, grid, bound.data()); });
  }
}

} // namespace twill::inline v0::kernel::inline TWILL_ISA
