#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of tensor/source.hpp.

#include <twill/tensor/source.hpp>

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY std::string_view type_in_source(DType type) {
  constexpr std::string_view names[] = {"bool",        "std::uint8_t",    "int",   "std::int64_t",
                                        "twill::half", "twill::bfloat16", "float", "double"};
  return names[static_cast<int>(type)];
}

}}}} // namespace twill::v0::detail::TWILL_ISA
