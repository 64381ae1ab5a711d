#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Stacks of complex matrices for tables of operations: arrays whose last axis are real and imaginary parts, as traced values and
// as the numbers that textbook algorithms take. Read next: tests/support/dense_matrix.hpp.

#include "tests/support/dense_matrix.hpp"

#include <twill/linalg/batch.hpp>
#include <twill/linalg/matrix_values.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace twill::test {

using graph::ComplexValue;
using Arrays = std::vector<Array>;

/// The matrices of a stack (..., m, n, 2).
inline std::vector<ComplexMatrix> complex_matrices_of(const Array& x) {
  const int rank = x.shape.rank;
  const std::int64_t rows = x.shape[rank - 3], columns = x.shape[rank - 2];
  std::int64_t count = 1;
  for (int axis = 0; axis < rank - 3; ++axis) count *= x.shape[axis];
  std::vector<ComplexMatrix> matrices{};
  for (std::int64_t k = 0; k < count; ++k)
    matrices.push_back(matrix_from(rows, columns, [&](std::int64_t i, std::int64_t j) {
      const auto at = static_cast<std::size_t>(2 * ((k * rows + i) * columns + j));
      return ComplexDouble{x.elements[at], x.elements[at + 1]};
    }));
  return matrices;
}

inline void append_numbers(Array& to, double x) { to.elements.push_back(x); }
inline void append_numbers(Array& to, const ComplexDouble& x) {
  to.elements.push_back(x.real());
  to.elements.push_back(x.imag());
}
template <class T> void append_numbers(Array& to, const std::vector<T>& numbers) {
  for (const T& number : numbers) append_numbers(to, number);
}
template <class T> void append_numbers(Array& to, const MatrixOf<T>& matrix) { append_numbers(to, matrix.elements); }

/// What f makes of each matrix of a stack: complex or real matrices, vectors or numbers of these extents, which are followed by
/// an axis of 2 where they are complex.
template <class F> Array of_complex_matrices(const Array& x, const Dims& extents, const F& f) {
  Array result{x.shape, {}};
  result.shape.rank -= 3;
  for (int axis = 0; axis < extents.rank; ++axis) result.shape[result.shape.rank++] = extents[axis];
  for (const ComplexMatrix& a : complex_matrices_of(x)) append_numbers(result, f(a));
  return result;
}
/// Complex matrices of the shape of those of a stack.
template <class F> Array of_complex_squares(const Array& x, const F& f) {
  const std::int64_t n = x.shape[x.shape.rank - 2];
  return of_complex_matrices(x, Dims(n, n, 2), f);
}

/// A matrix of full rank whose singular values are apart, of elements up to 2.
inline ComplexValue complex_apart(Value x) {
  const ComplexValue z = view_as_complex(x);
  const graph::Extent rows = linalg::rows_of(z.shape()), columns = linalg::columns_of(z.shape());
  const Value steps = cast(graph::iota(x.graph(), graph::Extents{columns}), x.dtype()) + 1;
  const Value diagonal = linalg::on_diagonal(x.graph(), rows, columns);
  return {z.re * 0.1 + where(diagonal, steps * 3, 0), z.im * 0.1 + where(diagonal, steps, 0)};
}
inline ComplexMatrix complex_apart(const ComplexMatrix& x) {
  return matrix_from(x.rows, x.columns, [&](std::int64_t i, std::int64_t j) {
    return 0.1 * x(i, j) + static_cast<double>(j + 1) * (i == j ? ComplexDouble{3, 1} : ComplexDouble{});
  });
}
/// The Hermitian part of such a matrix, which is positive definite.
inline ComplexValue complex_hermitian(Value x) { return linalg::detail::hermitian_part(complex_apart(x)); }
inline ComplexMatrix complex_hermitian(const ComplexMatrix& x) {
  const ComplexMatrix a = complex_apart(x);
  return matrix_from(x.rows, x.rows,
                     [&](std::int64_t i, std::int64_t j) { return 0.5 * (a(i, j) + std::conj(a(j, i))); });
}

/// f of the elements of a matrix and the number of their column.
template <class T, class F> MatrixOf<T> complex_mapped(MatrixOf<T> a, const F& f) {
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) a(i, j) = f(a(i, j), static_cast<std::size_t>(j));
  return a;
}
/// The squares of absolute values, which no phase changes.
inline DenseMatrix sizes_squared(const ComplexMatrix& a) {
  return matrix_from(a.rows, a.columns, [&](std::int64_t i, std::int64_t j) { return std::norm(a(i, j)); });
}
inline Value sizes_squared(const ComplexValue& a) { return linalg::detail::real_part(a * conj(a)); }

/// U diag(f(s)) V^H.
template <class F> ComplexMatrix with_values(const SingularPartsOf<ComplexDouble>& parts, const F& f) {
  return product(complex_mapped(parts.u, [&](const ComplexDouble& x, std::size_t j) { return x * f(parts.s[j]); }),
                 adjoint_of(parts.v));
}

// Differences are taken on those of up to 48 elements: of more, a test waits for them.
inline std::vector<std::vector<Dims>> complex_shapes() {
  return {{Dims(2, 5, 5, 2)},    {Dims(1, 1, 2)}, {Dims(3, 2, 2)}, {Dims(2, 3, 2)}, {Dims(0, 3, 2, 2)},
          {Dims(2, 1, 2, 2, 2)}, {Dims(7, 5, 2)}, {Dims(5, 7, 2)}, {Dims(1, 3, 2)}};
}
inline std::vector<std::vector<Dims>> complex_squares() {
  return {{Dims(2, 5, 5, 2)}, {Dims(1, 1, 2)}, {Dims(3, 3, 2)},
          {Dims(0, 3, 3, 2)}, {Dims(7, 7, 2)}, {Dims(2, 1, 1, 1, 2)}};
}
inline std::vector<std::vector<Dims>> complex_sides() {
  return {{Dims(3, 3, 2), Dims(3, 1, 2)},
          {Dims(2, 1, 1, 2), Dims(2, 1, 2, 2)},
          {Dims(3, 4, 4, 2), Dims(3, 4, 2, 2)},
          {Dims(0, 2, 2, 2), Dims(0, 2, 3, 2)},
          {Dims(7, 7, 2), Dims(7, 5, 2)}};
}

} // namespace twill::test
