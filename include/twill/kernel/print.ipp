#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/print.hpp.

#include <twill/kernel/print.hpp>

namespace twill { inline namespace v0 { namespace kernel { namespace detail {

TWILL_BODY std::string verb(const Line& line) {
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

TWILL_BODY std::string line_text(int number, const Line& line) {
  std::string text = join_text({"  %", number, " = ", verb(line)});
  for (int a = 0; a < line.arity; ++a) text += join_text({" %", line.arguments[static_cast<std::size_t>(a)]});
  text += join_text({" : ", name(line.type), line.uniform ? " uniform\n" : "\n"});
  return text;
}

}}}} // namespace twill::v0::kernel::detail
