#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Running what compile/descents.hpp has found on a host device: in the place of a product its factors are kept, and the update
// multiplies them and changes the weight element by element. Threads share the rows of a weight, which are computed each by
// itself, so results do not depend on their number. Read next: kernel/product_descent.hpp.

#include <twill/compile/binding.hpp>
#include <twill/compile/descents.hpp>
#include <twill/core/config.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/kernel/product_descent.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace twill::inline v0::compile::detail::inline TWILL_ISA {

/// Copies a factor row by row: `rows` along the product's inner axis, `columns` along one of the result's.
template <class T>
void keep_factor(const kernel::Operand& from, std::size_t row_axis, std::size_t column_axis, std::int64_t rows,
                 std::int64_t columns, T* to) {
  const T* const data = static_cast<const T*>(from.data);
  const std::int64_t row = from.strides[row_axis];
  const std::int64_t column = from.strides[column_axis];
  for (std::int64_t p = 0; p < rows; ++p) {
    if (column == 1 || columns == 1)
      std::copy_n(data + p * row, columns, to + p * columns);
    else
      for (std::int64_t i = 0; i < columns; ++i) to[p * columns + i] = data[p * row + i * column];
  }
}

/// Puts the factors of a product where its result would lie: the left one turned, then the right one.
template <class T> void keep_factors(const kernel::Call& product) {
  const std::int64_t m = product.grid[0];
  const std::int64_t n = product.grid[1];
  const std::int64_t k = product.grid[2];
  T* const kept = static_cast<T*>(product.operands[2].data);
  keep_factor<T>(product.operands[0], 2, 0, k, m, kept);
  keep_factor<T>(product.operands[1], 2, 1, k, n, kept + k * m);
}

template <class T> void descend(const Team& team, const kernel::Call& product, const kernel::Call& update) {
  using At = DescentOperands;
  kernel::ProductDescent<T> descent{};
  descent.m = product.grid[0];
  descent.n = product.grid[1];
  descent.k = product.grid[2];
  descent.left = static_cast<const T*>(product.operands[2].data);
  descent.right = descent.left + descent.k * descent.m;
  descent.weight = static_cast<T*>(update.operands[At::result].data);
  descent.rate = *static_cast<const T*>(update.operands[At::rate].data);
  descent.decay = *static_cast<const T*>(update.operands[At::decay].data);
  constexpr std::int64_t worth_a_team = 32768; // elements, as for programs
  if (team.size() == 1 || descent.m * descent.n < worth_a_team) return kernel::descend(descent, 0, descent.m);
  team.parallel([&](int rank, int size) {
    constexpr std::int64_t tile = 4; // rows
    const std::int64_t tiles = (descent.m + tile - 1) / tile;
    const std::int64_t first = std::min(descent.m, tiles * rank / size * tile);
    const std::int64_t end = std::min(descent.m, tiles * (rank + 1) / size * tile);
    if (first < end) kernel::descend(descent, first, end - first);
  });
}

/// One instruction of a launch with such parts. requires: it is one of them
void run_descent(const Team& team, const Binding& binding, const BoundInstruction& instruction);

} // namespace twill::inline v0::compile::detail::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/run_descents.ipp>
#endif
