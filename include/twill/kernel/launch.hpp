#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Puts a program into the stream of a host-like device. The operands travel by value, so the caller's array may go at
// once; on a device without memory nothing runs, though the same code compiles. Read next: kernel/run.hpp.

#include <twill/kernel/program.hpp>
#include <twill/kernel/run.hpp>
#include <twill/kernel/summary.hpp>

#include <algorithm>
#include <array>

namespace twill::inline v0::kernel {

/// Runs the program on the device, in the order of its stream. Deduces the lines, so closures and local types are welcome
/// in whatever made them. `launch(device, f)` of the device is found by its argument.
template <class... Lines, class D>
void launch(Program<Lines...> program, const D& device, const Grid& grid, const Operand* operands) {
  constexpr int count = summary_of<Program<Lines...>>.operands;
  std::array<Operand, static_cast<std::size_t>(count > 0 ? count : 1)> bound{};
  std::copy(operands, operands + count, bound.begin());
  launch(device, [program, grid, bound](const auto& team) { run(program, team, grid, bound.data()); });
}

} // namespace twill::inline v0::kernel
