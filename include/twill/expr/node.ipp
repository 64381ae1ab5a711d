#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/node.hpp.

#include <twill/expr/node.hpp>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

[[gnu::noinline]] TWILL_BODY void join_extents(std::string_view operation, Dims& result, const Dims& other) {
  if (other.rank == 0 || result == other) return;
  if (detail::broadcast_conflict(result, other) >= 0)
    throw ShapeError(std::string(operation) + ": shapes " + to_string(result) + " and " + to_string(other) +
                     " do not broadcast");
  result = detail::broadcast_dims(result, other);
}

}}}} // namespace twill::v0::expr::TWILL_ISA
