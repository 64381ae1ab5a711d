#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of graph/extent.hpp.

#include <twill/graph/extent.hpp>

#include <twill/core/error.hpp>

#include <string>

namespace twill { inline namespace v0 { namespace graph {

TWILL_COLD TWILL_BODY void Extent::throw_too_large(const SymbolValues& values) const {
  std::string product = std::to_string(factor);
  for (int i = 0; i < max_symbols; ++i)
    for (int k = 0; k < power(i); ++k) product += " * " + std::to_string(values[static_cast<std::size_t>(i)]);
  throw ShapeError("sizes: " + product + " is more than 64 bits can count");
}

}}} // namespace twill::v0::graph
