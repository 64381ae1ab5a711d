#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Matrices whose singular values or eigenvalues are apart, so that the gradients of their vectors are finite, as traced values
// and as the numbers that textbook algorithms take. Read next: tests/support/dense_matrix.hpp.

#include "tests/support/dense_matrix.hpp"

#include <twill/linalg/batch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace twill::test {

using Arrays = std::vector<Array>;

/// A matrix of full rank whose singular values are apart, of elements up to 2.
inline Value parts_apart(Value x) {
  const graph::Extent rows = linalg::rows_of(x.shape());
  const graph::Extent columns = linalg::columns_of(x.shape());
  const Value steps = cast(graph::iota(x.graph(), graph::Extents{columns}), x.dtype());
  return x * 0.1 + where(linalg::on_diagonal(x.graph(), rows, columns), steps * 3 + 3, 0);
}
inline DenseMatrix parts_apart(const DenseMatrix& x) {
  return matrix_from(x.rows, x.columns, [&](std::int64_t i, std::int64_t j) {
    return 0.1 * x(i, j) + (i == j ? 3.0 * static_cast<double>(j) + 3 : 0);
  });
}
/// The symmetric part of such a matrix.
inline Value parts_symmetric(Value x) {
  const Value a = parts_apart(x);
  return (a + transpose(a)) * 0.5;
}
inline DenseMatrix parts_symmetric(const DenseMatrix& x) {
  const DenseMatrix a = parts_apart(x);
  return matrix_from(x.rows, x.rows, [&](std::int64_t i, std::int64_t j) { return (a(i, j) + a(j, i)) / 2; });
}

/// f of the elements of a matrix and the number of their column.
template <class F> DenseMatrix parts_mapped(DenseMatrix a, const F& f) {
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) a(i, j) = f(a(i, j), j);
  return a;
}
inline DenseMatrix parts_squared(const DenseMatrix& a) {
  return parts_mapped(a, [](double x, std::int64_t) { return x * x; });
}
inline DenseMatrix parts_columns_times(const DenseMatrix& a, const std::vector<double>& factors) {
  return parts_mapped(a, [&](double x, std::int64_t j) { return x * factors[static_cast<std::size_t>(j)]; });
}
/// Eigenvalues ascending, with vectors as columns.
inline SingularParts parts_eigen(const DenseMatrix& x) {
  SingularParts parts = singular_parts(parts_symmetric(x)); // positive definite
  const DenseMatrix v = parts.v;
  std::reverse(parts.s.begin(), parts.s.end());
  parts.v = matrix_from(v.rows, v.columns, [&](std::int64_t i, std::int64_t j) { return v(i, v.columns - 1 - j); });
  return parts;
}

/// A stack of matrices, vectors or numbers whose extents are m, n or the smaller of both.
enum class PartsExtent { none, m, n, k };
template <class F> Array parts_of(const Arrays& x, PartsExtent first, PartsExtent second, const F& f) {
  const Dims& shape = x[0].shape;
  const std::int64_t m = shape[shape.rank - 2];
  const std::int64_t n = shape[shape.rank - 1];
  Dims extents{};
  for (const PartsExtent extent : {first, second})
    if (extent != PartsExtent::none)
      extents[extents.rank++] = extent == PartsExtent::m ? m : extent == PartsExtent::n ? n : std::min(m, n);
  return of_each_matrix(x[0], extents, f);
}
inline std::vector<std::vector<Dims>> parts_shapes() {
  return {{Dims(2, 3, 3)}, {Dims(1, 1)},       {Dims(4, 2)}, {Dims(2, 4)},
          {Dims(0, 3, 2)}, {Dims(2, 1, 3, 2)}, {Dims(7, 5)}, {Dims(1, 3)}};
}
inline std::vector<std::vector<Dims>> parts_squares() {
  return {{Dims(2, 3, 3)}, {Dims(1, 1)}, {Dims(4, 4)}, {Dims(0, 3, 3)}, {Dims(7, 7)}, {Dims(2, 1, 2, 2)}};
}

/// The largest or the smallest sum of absolute values of a column.
inline double parts_column_sum(const DenseMatrix& a, bool is_largest) {
  std::vector<double> sums(static_cast<std::size_t>(a.columns));
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) sums[static_cast<std::size_t>(j)] += std::abs(a(i, j));
  return is_largest ? *std::max_element(sums.begin(), sums.end()) : *std::min_element(sums.begin(), sums.end());
}
inline double parts_sum(const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0); }

} // namespace twill::test
