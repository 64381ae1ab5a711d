#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/node.hpp.

#include <twill/core/text.hpp>
#include <twill/expr/node.hpp>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

[[gnu::noinline]] TWILL_BODY void join_extents(std::string_view operation, Dims& result, const Dims& other) {
  if (other.rank == 0 || result == other) return;
  const bool conflicts = detail::broadcast_conflict(result, other) >= 0;
  const Dims joined = conflicts ? Dims{} : detail::broadcast_dims(result, other);
  if (conflicts || counted_bytes(joined, 1) < 0) [[unlikely]]
    throw ShapeError(
        join_text({operation, ": shapes ", to_string(result), " and ", to_string(other),
                   conflicts ? " do not broadcast" : " broadcast to more elements than 64 bits can count"}));
  result = joined;
}

[[gnu::noinline]] TWILL_BODY Dims joined_extents(std::string_view operation, const Dims& left, const Dims& right) {
  Dims result = left;
  join_extents(operation, result, right);
  return result;
}

}}}} // namespace twill::v0::expr::TWILL_ISA
