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
  const Dims joined = detail::broadcast_dims(result, other);
  if (counted_bytes(joined, 1) < 0)
    throw ShapeError(std::string(operation) + ": shapes " + to_string(result) + " and " + to_string(other) +
                     " broadcast to more elements than 64 bits can count");
  result = joined;
}

}}}} // namespace twill::v0::expr::TWILL_ISA
