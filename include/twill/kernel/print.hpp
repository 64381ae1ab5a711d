#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Printed form of fused programs, one line of text for each line, for dumps and messages. Used where strings are
// affordable; kernels do not include it. Read next: kernel/program.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/summary.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace twill { inline namespace v0 { namespace kernel {

namespace detail {

/// The operation of a line, without its operands' numbers and its type.
[[nodiscard]] std::string verb(const Line& line);

[[nodiscard]] std::string line_text(int number, const Line& line);

} // namespace detail

/// Lines of the form "%2 = multiply %0 %1 : float32" after a heading with the kernel shape.
template <class... Lines> [[nodiscard]] std::string to_string(Program<Lines...> program) {
  const auto summary = describe(program);
  std::string text = join_text({name(summary.shape), " kernel: ", summary.leaves, " leaves, ", summary.steps,
                                " steps, ", summary.reductions, " reductions, ", summary.outputs, " outputs\n"});
  int number = 0;
  for (const Line& line : summary.lines) text += detail::line_text(number++, line);
  return text;
}

}}} // namespace twill::v0::kernel

#if TWILL_HEADER_ONLY
#include <twill/kernel/print.ipp>
#endif
