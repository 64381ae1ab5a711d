#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/join.hpp.

#include <twill/expr/join.hpp>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

[[gnu::noinline]] TWILL_BODY void join_at_run_time(const char* operation, Dims& result, bool& first, const Dims& part,
                                                   int axis) {
  if (first) {
    result = part;
  } else {
    if (joint_conflict(result, part, axis) != -1)
      throw ShapeError(std::string(operation) + ": shapes " + to_string(result) + " and " + to_string(part) +
                       " differ beside axis " + std::to_string(axis));
    result[axis] += part[axis];
  }
  first = false;
}

}}}} // namespace twill::v0::expr::TWILL_ISA
