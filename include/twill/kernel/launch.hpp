#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Launches of programs in the stream of a host-like device. Operands are copied by value, so the caller's array may go
// at once, unless the device runs a launch before it returns. On a device without memory the same code compiles but
// runs nothing. While a watch is set, launches are handed to it. Read next: kernel/run.hpp, kernel/launch_watch.hpp.

#include <twill/core/config.hpp>
#include <twill/device/cpu/cpu.hpp>
#include <twill/kernel/any_team.hpp>
#include <twill/kernel/launch_watch.hpp>
#include <twill/kernel/on_queue.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/record.hpp>
#include <twill/kernel/run.hpp>
#include <twill/kernel/summary.hpp>
#include <twill/kernel/table.hpp>
#include <twill/kernel/tabulate.hpp>

#include <cstddef>
#include <cstring>
#include <vector>

#if defined(TWILL_WITH_NVTX) && TWILL_WITH_NVTX
#include <twill/kernel/launch_ranges.hpp>
#endif

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// A program as its launches on host devices see it: a value, so that no launch is compiled for a program.
struct LaunchedProgram {
  const ProgramTable* table = nullptr;
  const Line* lines = nullptr;
  int line_count = 0;
  KernelShape shape = KernelShape::elementwise;
};
template <class P>
inline constexpr LaunchedProgram launched_program{&table_of<P>, summary_of<P>.lines.data(),
                                                  static_cast<int>(summary_of<P>.lines.size()), summary_of<P>.shape};

/// Whether a kind of device runs programs by their tables: hosts do.
template <class D> inline constexpr bool launches_tables = D::has_memory && !has_queue<D>;

}}}} // namespace twill::v0::kernel::TWILL_ISA

namespace twill { inline namespace v0 { namespace kernel { namespace detail { inline namespace TWILL_ISA {

/// A copy of a program's operands, as bytes, because an array of operands would be cleared before it is filled.
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

/// Launches a program through the watch.
template <class D>
TWILL_COLD void launch_watched_program(const LaunchedProgram& program, const D& device, const Grid& grid,
                                       const Operand* operands) {
  const WatchedLaunch what{.lines = program.lines,
                           .line_count = program.line_count,
                           .shape = program.shape,
                           .grid = &grid,
                           .operands = operands};
  launch_watched(device, what, [&](const Team& team) { run_table(*program.table, AnyTeam{team}, grid, operands); });
}

/// Launches a GPU's program through the watch.
template <class P, class D>
TWILL_COLD void launch_watched_kernel(const D& device, const Grid& grid, const Operand* operands) {
  const WatchedLaunch what{.lines = summary_of<P>.lines.data(),
                           .line_count = static_cast<int>(summary_of<P>.lines.size()),
                           .shape = summary_of<P>.shape,
                           .grid = &grid,
                           .operands = operands};
  launch_watched(device, what, [&](const team_t<D>& queue) { run(P{}, queue, grid, operands); });
}

}}}}} // namespace twill::v0::kernel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// Runs a program on a host device, in the order of its stream.
template <class D>
void launch(const LaunchedProgram& program, const D& device, const Grid& grid, const Operand* operands) {
  if constexpr (tells_of_launches<D>) {
    if (is_watched(device)) [[unlikely]]
      return detail::launch_watched_program(program, device, grid, operands);
    launch(device, [&](const Team& team) { run_table(*program.table, AnyTeam{team}, grid, operands); });
  } else {
    launch(device,
           [table = program.table, grid, bound = std::vector<Operand>(operands, operands + program.table->operands)](
               const Team& team) { run_table(*table, AnyTeam{team}, grid, bound.data()); });
  }
}

/// Runs the program on the device, in the order of its stream. Deduces the lines, so the code that made them may use
/// closures and local types. `launch(device, f)` of the device is found by its argument.
template <class... Lines, class D>
void launch(Program<Lines...> program, const D& device, const Grid& grid, const Operand* operands) {
  using P = Program<Lines...>;
  if constexpr (!D::has_memory) {
    if (launch_records != nullptr) record_launch(program, grid, operands);
    launch(device, [](const Team&) {});
  } else if constexpr (launches_tables<D>) {
    launch(launched_program<P>, device, grid, operands);
  } else if constexpr (tells_of_launches<D>) {
    if (is_watched(device)) [[unlikely]]
      return detail::launch_watched_kernel<P>(device, grid, operands);
    launch(device, [program, &grid, operands](const auto& queue) { run(program, queue, grid, operands); });
  } else {
    launch(device, [program, grid, bound = detail::BoundOperands<summary_of<P>.operands>(operands)](const auto& queue) {
      run(program, queue, grid, bound.data());
    });
  }
}

}}}} // namespace twill::v0::kernel::TWILL_ISA

#if !TWILL_HEADER_ONLY
namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {
TWILL_INSTANCE template void launch(const LaunchedProgram&, const Cpu&, const Grid&, const Operand*);
}}}} // namespace twill::v0::kernel::TWILL_ISA
#endif
