#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of tensor/split.hpp.

#include <twill/tensor/split.hpp>

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY void throw_sections(const char* operation, std::int64_t sections, std::int64_t extent, int axis) {
  throw ValueError(std::string(operation) + ": " + std::to_string(sections) + " sections do not divide axis " +
                   std::to_string(axis) + " of extent " + std::to_string(extent) +
                   (sections < 1 ? "; there is at least one" : "; array_split allows unequal ones"));
}

}}}} // namespace twill::v0::detail::TWILL_ISA
