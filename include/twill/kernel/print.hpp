#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A fused program as text, one line for each of its lines, for dumps and messages. Used where strings may cost something;
// kernels do not include it.

#include <twill/kernel/program.hpp>
#include <twill/kernel/summary.hpp>

#include <cstddef>
#include <string>

namespace twill::inline v0::kernel {

/// "%2 = multiply %0 %1 : float32" and the like, one line each, after a heading with the kernel shape.
template <class... Lines> [[nodiscard]] std::string to_string(Program<Lines...> program) {
  constexpr std::string_view access[] = {"contiguous", "uniform", "strided"};
  const auto summary = describe(program);
  std::string text = std::string{name(summary.shape)} + " kernel: " + std::to_string(summary.leaves) + " leaves, " +
                     std::to_string(summary.steps) + " steps, " + std::to_string(summary.reductions) + " reductions, " +
                     std::to_string(summary.outputs) + " outputs\n";
  int number = 0;
  for (const Line& line : summary.lines) {
    const std::string operand = line.operand >= 0 ? " #" + std::to_string(line.operand) : "";
    std::string arguments;
    for (int a = 0; a < line.arity; ++a)
      arguments += " %" + std::to_string(line.arguments[static_cast<std::size_t>(a)]);
    text += "  %" + std::to_string(number++) + " = ";
    switch (line.kind) {
    case LineKind::input:
      text += "in" + operand + " " + std::string{access[static_cast<int>(line.access)]};
      break;
    case LineKind::immediate:
      text += "immediate" + operand;
      break;
    case LineKind::iota:
      text += "iota" + operand;
      break;
    case LineKind::step:
      text += std::string{info(line.primitive).name} + arguments;
      break;
    case LineKind::cast:
      text += "cast" + arguments;
      break;
    case LineKind::reduce:
      text += "reduce " + std::string{name(line.reduction)} + arguments;
      break;
    case LineKind::reduce_columns:
      text += "reduce columns " + std::string{name(line.reduction)} + arguments;
      break;
    case LineKind::output:
      text += "out" + operand + arguments;
      break;
    }
    text += " : " + std::string{name(line.type)} + (line.uniform ? " uniform\n" : "\n");
  }
  return text;
}

} // namespace twill::inline v0::kernel
