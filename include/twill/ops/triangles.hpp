#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Lower and upper triangles of the last two axes of a traced value: a comparison of positions, which fuses with its
// neighbours and costs no kernel and no memory.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/functions.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Whether element (row, column) has column - row <= offset, for the last two axes of a shape.
[[nodiscard]] TWILL_CONSTEXPR Value lower_triangle(Graph& graph, Extent rows, Extent columns, std::int64_t offset = 0) {
  Extents down{};
  down.append(rows);
  Extents across{};
  across.append(columns);
  return iota(graph, across) <= unsqueeze(iota(graph, down), -1) + offset;
}

/// The value with zeros above diagonal `offset` of its last two axes.
[[nodiscard]] TWILL_CONSTEXPR Value tril(Value x, std::int64_t offset = 0, CallSite site = CallSite::here()) {
  const int columns = checked_axis(x, -1, site);
  const int rows = checked_axis(x, -2, site);
  if (x.graph().fault.any()) return x;
  return where(lower_triangle(x.graph(), x.shape()[rows], x.shape()[columns], offset), x, 0);
}

/// The value with zeros below diagonal `offset` of its last two axes.
[[nodiscard]] TWILL_CONSTEXPR Value triu(Value x, std::int64_t offset = 0, CallSite site = CallSite::here()) {
  const int columns = checked_axis(x, -1, site);
  const int rows = checked_axis(x, -2, site);
  if (x.graph().fault.any()) return x;
  return where(lower_triangle(x.graph(), x.shape()[rows], x.shape()[columns], offset - 1), 0, x);
}

}}}} // namespace twill::v0::graph::TWILL_ISA
