#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/gather.hpp.

#include <twill/expr/gather.hpp>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

[[gnu::noinline]] TWILL_BODY void throw_index(std::string_view operation, IndexRange found, std::int64_t extent,
                                              int axis) {
  const std::int64_t wrong = found.greatest >= extent ? found.greatest : found.least;
  throw IndexError(std::string(operation) + ": " + std::to_string(wrong) + " is outside axis " + std::to_string(axis) +
                   " of extent " + std::to_string(extent));
}

}}}} // namespace twill::v0::expr::TWILL_ISA
