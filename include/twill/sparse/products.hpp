#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Loops of products with CSR matrices on a host's threads. Each sum has the order of the entries, whatever the number
// of threads, so its bits do not depend on them. GPUs have overloads in a header of their own, sparse/cuda/
// products.cuh. Read next: sparse/csr_value.hpp, sparse/arithmetic.hpp.

#include <twill/core/config.hpp>
#include <twill/core/promotion.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/kernel/blocks.hpp>
#include <twill/sparse/structure.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace twill { inline namespace v0 { namespace sparse {

/// Whether there are products for teams of a type: for those of hosts, and those of GPUs whose header is included.
template <class TeamType> inline constexpr bool has_products = std::is_same_v<TeamType, Team>;

}}} // namespace twill::v0::sparse

namespace twill { inline namespace v0 { namespace sparse { namespace detail { inline namespace TWILL_ISA {

/// Elements that are added up together: their sums stay in registers.
inline constexpr std::int64_t block_elements = 32;

/// y[i] = sum over the entries of a row of values[entry] x[column, i], for `count` elements from `first` on.
template <std::int64_t Count, class T>
void multiply_row(const Structure& a, std::int64_t matrix, Entries row, const T* values, const T* x, std::int64_t width,
                  T* y, std::int64_t count = Count) {
  using C = compute_t<T>;
  C sums[Count]{};
  const std::int64_t elements = Count == block_elements ? Count : count;
  for (std::int64_t entry = row.begin; entry < row.end; ++entry) {
    const std::int64_t column = a.column(matrix, entry);
    if (column < 0) continue;
    const auto value = static_cast<C>(values[entry]);
    const T* const from = x + column * width;
    for (std::int64_t i = 0; i < elements; ++i) sums[i] += value * static_cast<C>(from[i]);
  }
  for (std::int64_t i = 0; i < elements; ++i) y[i] = static_cast<T>(sums[i]);
}

/// The sum of products of two vectors, over 16 partial sums.
template <class T> [[nodiscard]] compute_t<T> inner_product(const T* x, const T* y, std::int64_t length) {
  using C = compute_t<T>;
  constexpr std::int64_t lanes = 16;
  C sums[lanes]{};
  std::int64_t i = 0;
  for (; i + lanes <= length; i += lanes)
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      sums[lane] += static_cast<C>(x[i + lane]) * static_cast<C>(y[i + lane]);
  for (std::int64_t lane = 0; i < length; ++i, ++lane) sums[lane] += static_cast<C>(x[i]) * static_cast<C>(y[i]);
  for (std::int64_t half = lanes / 2; half > 0; half /= 2)
    for (std::int64_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  return sums[0];
}

/// The bytes of the dense operand that an entry reads.
template <class T> [[nodiscard]] constexpr std::int64_t bytes_of(std::int64_t width) {
  return (width + 2) * static_cast<std::int64_t>(sizeof(T));
}

}}}}} // namespace twill::v0::sparse::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace sparse { inline namespace TWILL_ISA {

/// y = A x for matrices x (columns, width) and y (rows, width). Rows are shared out by their entries.
template <class T>
void multiply(const Team& team, const Structure& a, const T* values, const T* x, std::int64_t width, T* y) {
  if (a.count * a.rows * width == 0) return;
  if (a.columns == 0) return kernel::fill_elements(team, y, kernel::Filling<T>{a.count * a.rows * width, T{}});
  for_each_row(team, a, detail::bytes_of<T>(width), [&](std::int64_t matrix, std::int64_t r) {
    const Entries row = a.row(matrix, r);
    const T* const own = values + matrix * a.entries;
    const T* const from = x + matrix * a.columns * width;
    T* const to = y + (matrix * a.rows + r) * width;
    std::int64_t i = 0;
    for (; i + detail::block_elements <= width; i += detail::block_elements)
      detail::multiply_row<detail::block_elements>(a, matrix, row, own, from + i, width, to + i);
    if (const std::int64_t rest = width - i; rest == 1)
      detail::multiply_row<1>(a, matrix, row, own, from + i, width, to + i);
    else if (rest > 0)
      detail::multiply_row<detail::block_elements - 1>(a, matrix, row, own, from + i, width, to + i, rest);
  });
}

/// y = A^T x for matrices x (rows, width) and y (columns, width), without a transposed matrix. Threads have columns of
/// x where there are many, rows of y otherwise. requires: T computes in its own precision
template <class T>
void multiply_transposed(const Team& team, const Structure& a, const T* values, const T* x, std::int64_t width, T* y) {
  kernel::fill_elements(team, y, kernel::Filling<T>{a.count * a.columns * width, T{}});
  if (a.count * a.columns * width == 0) return;
  const auto add = [&](std::int64_t first_row, std::int64_t last_row, std::int64_t begin, std::int64_t end) {
    for (std::int64_t matrix = 0; matrix < a.count; ++matrix)
      for (std::int64_t r = 0; r < a.rows; ++r) {
        const Entries row = a.row(matrix, r);
        const T* const from = x + (matrix * a.rows + r) * width;
        for (std::int64_t entry = row.begin; entry < row.end; ++entry) {
          const std::int64_t column = a.column(matrix, entry);
          if (column < first_row || column >= last_row) continue;
          const T value = values[matrix * a.entries + entry];
          T* const to = y + (matrix * a.columns + column) * width;
          for (std::int64_t i = begin; i < end; ++i) to[i] += value * from[i];
        }
      }
  };
  constexpr std::int64_t worth_a_thread = 16; // elements, a line of the cache for float
  if (team.size() == 1 || a.count * a.entries * detail::bytes_of<T>(width) < kernel::worth_sharing_bytes)
    return add(0, a.columns, 0, width);
  team.parallel([&](int rank, int size) {
    if (width >= worth_a_thread * size) {
      const kernel::Share mine = kernel::share_of(width, worth_a_thread, rank, size);
      return add(0, a.columns, mine.begin, mine.end);
    }
    const kernel::Share mine = kernel::share_of(a.columns, 1, rank, size);
    add(mine.begin, mine.end, 0, width);
  });
}

/// s[entry] = sum over i of x[row, i] y[column, i] for the row and the column of each entry: the elements of x y^T at
/// A's non-zeros. x is (rows, width), y is (columns, width). 0 for entries outside of the columns.
/// requires: each entry belongs to one row, as `check_offsets` finds
template <class T>
void multiply_sampled(const Team& team, const Structure& a, const T* x, const T* y, std::int64_t width, T* s) {
  if (a.count * a.entries * a.rows == 0) return;
  for_each_row(team, a, detail::bytes_of<T>(2 * width), [&](std::int64_t matrix, std::int64_t r) {
    const Entries row = a.row(matrix, r);
    for (std::int64_t entry = row.begin; entry < row.end; ++entry) {
      const std::int64_t column = a.column(matrix, entry);
      s[matrix * a.entries + entry] =
          column < 0 ? T{}
                     : static_cast<T>(detail::inner_product(x + (matrix * a.rows + r) * width,
                                                            y + (matrix * a.columns + column) * width, width));
    }
  });
}

}}}} // namespace twill::v0::sparse::TWILL_ISA
