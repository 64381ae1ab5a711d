#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A fused program as text, one line for each of its lines, for dumps and messages. Used where strings may cost something;
// kernels do not include it.

#include <twill/core/text.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/summary.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace twill::inline v0::kernel {

namespace detail {

/// What a line does, without its operands' numbers and its type.
[[nodiscard]] inline std::string verb(const Line& line) {
  constexpr std::string_view access[] = {"contiguous", "uniform", "strided"};
  switch (line.kind) {
  case LineKind::input:
    return join_text({"in #", line.operand, " ", access[static_cast<int>(line.access)]});
  case LineKind::immediate:
    return join_text({"immediate #", line.operand});
  case LineKind::iota:
    return join_text({"iota #", line.operand});
  case LineKind::gather:
    return join_text({"gather #", line.operand, " ", access[static_cast<int>(line.access)]});
  case LineKind::step:
    return std::string{info(line.primitive).name};
  case LineKind::cast:
    return "cast";
  case LineKind::reduce:
    return join_text({"reduce ", name(line.reduction)});
  case LineKind::reduce_columns:
    return join_text({"reduce columns ", name(line.reduction)});
  case LineKind::output:
    return join_text({"out #", line.operand});
  }
  return {};
}

[[nodiscard]] inline std::string line_text(int number, const Line& line) {
  std::string text = join_text({"  %", number, " = ", verb(line)});
  for (int a = 0; a < line.arity; ++a) text += join_text({" %", line.arguments[static_cast<std::size_t>(a)]});
  text += join_text({" : ", name(line.type), line.uniform ? " uniform\n" : "\n"});
  return text;
}

} // namespace detail

/// "%2 = multiply %0 %1 : float32" and the like, one line each, after a heading with the kernel shape.
template <class... Lines> [[nodiscard]] std::string to_string(Program<Lines...> program) {
  const auto summary = describe(program);
  std::string text = join_text({name(summary.shape), " kernel: ", summary.leaves, " leaves, ", summary.steps,
                                " steps, ", summary.reductions, " reductions, ", summary.outputs, " outputs\n"});
  int number = 0;
  for (const Line& line : summary.lines) text += detail::line_text(number++, line);
  return text;
}

} // namespace twill::inline v0::kernel
