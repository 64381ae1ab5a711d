#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Matrices of double, or of complex numbers, and textbook algorithms on them, for the tables of linear algebra: elimination,
// Cholesky factors, orthonormal bases by Gram and Schmidt, singular values by one-sided Jacobi rotations.

#include "tests/support/operation_table.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

namespace twill::test {

template <class T> struct MatrixOf {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<T> elements = std::vector<T>(static_cast<std::size_t>(rows * columns));

  [[nodiscard]] T& operator()(std::int64_t i, std::int64_t j) {
    return elements[static_cast<std::size_t>(i * columns + j)];
  }
  [[nodiscard]] const T& operator()(std::int64_t i, std::int64_t j) const {
    return elements[static_cast<std::size_t>(i * columns + j)];
  }
};
using DenseMatrix = MatrixOf<double>;
using ComplexDouble = std::complex<double>;
using ComplexMatrix = MatrixOf<ComplexDouble>;

inline double conjugate_of(double x) { return x; }
inline ComplexDouble conjugate_of(const ComplexDouble& x) { return std::conj(x); }
/// What LAPACK finds pivots by: it takes no roots.
inline double size_of_pivot(double x) { return std::abs(x); }
inline double size_of_pivot(const ComplexDouble& x) { return std::abs(x.real()) + std::abs(x.imag()); }

template <class F> auto matrix_from(std::int64_t rows, std::int64_t columns, const F& element) {
  using T = std::conditional_t<std::is_same_v<decltype(element(rows, columns)), ComplexDouble>, ComplexDouble, double>;
  MatrixOf<T> a{rows, columns};
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) a(i, j) = element(i, j);
  return a;
}

template <class T = double> MatrixOf<T> identity_matrix(std::int64_t n) {
  return matrix_from(n, n, [](std::int64_t i, std::int64_t j) { return T(i == j ? 1.0 : 0.0); });
}
inline DenseMatrix transposed(const DenseMatrix& a) {
  return matrix_from(a.columns, a.rows, [&](std::int64_t i, std::int64_t j) { return a(j, i); });
}
template <class T> MatrixOf<T> adjoint_of(const MatrixOf<T>& a) {
  return matrix_from(a.columns, a.rows, [&](std::int64_t i, std::int64_t j) { return conjugate_of(a(j, i)); });
}
template <class T> MatrixOf<T> product(const MatrixOf<T>& a, const MatrixOf<T>& b) {
  return matrix_from(a.rows, b.columns, [&](std::int64_t i, std::int64_t j) {
    T sum = 0;
    for (std::int64_t k = 0; k < a.columns; ++k) sum += a(i, k) * b(k, j);
    return sum;
  });
}

/// Factors with partial pivoting, L below the diagonal; the determinant, and the places of the rows.
template <class T> struct Elimination {
  MatrixOf<T> factors;
  std::vector<std::int64_t> row_at;
  T determinant = 1;
};
template <class T> Elimination<T> eliminated(MatrixOf<T> a) {
  Elimination<T> result{{}, std::vector<std::int64_t>(static_cast<std::size_t>(a.rows))};
  std::iota(result.row_at.begin(), result.row_at.end(), 0);
  for (std::int64_t k = 0; k < a.rows; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < a.rows; ++i)
      if (size_of_pivot(a(i, k)) > size_of_pivot(a(pivot, k))) pivot = i;
    if (pivot != k) {
      for (std::int64_t j = 0; j < a.columns; ++j) std::swap(a(k, j), a(pivot, j));
      std::swap(result.row_at[static_cast<std::size_t>(k)], result.row_at[static_cast<std::size_t>(pivot)]);
      result.determinant = -result.determinant;
    }
    result.determinant *= a(k, k);
    for (std::int64_t i = k + 1; i < a.rows; ++i) {
      a(i, k) /= a(k, k);
      for (std::int64_t j = k + 1; j < a.columns; ++j) a(i, j) -= a(i, k) * a(k, j);
    }
  }
  result.factors = a;
  return result;
}

/// X with A X = B.
template <class T> MatrixOf<T> solution(const MatrixOf<T>& a, const std::type_identity_t<MatrixOf<T>>& b) {
  const Elimination<T> lu = eliminated(a);
  MatrixOf<T> x = matrix_from(
      b.rows, b.columns, [&](std::int64_t i, std::int64_t j) { return b(lu.row_at[static_cast<std::size_t>(i)], j); });
  for (std::int64_t j = 0; j < b.columns; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t k = 0; k < i; ++k) x(i, j) -= lu.factors(i, k) * x(k, j);
    for (std::int64_t i = a.rows - 1; i >= 0; --i) {
      for (std::int64_t k = i + 1; k < a.rows; ++k) x(i, j) -= lu.factors(i, k) * x(k, j);
      x(i, j) /= lu.factors(i, i);
    }
  }
  return x;
}

/// The lower triangular factor of a positive definite matrix.
template <class T> MatrixOf<T> cholesky_factor(const MatrixOf<T>& a) {
  MatrixOf<T> l{a.rows, a.rows};
  for (std::int64_t j = 0; j < a.rows; ++j)
    for (std::int64_t i = j; i < a.rows; ++i) {
      T rest = a(i, j);
      for (std::int64_t k = 0; k < j; ++k) rest -= l(i, k) * conjugate_of(l(j, k));
      l(i, j) = i == j ? std::sqrt(rest) : rest / l(j, j);
    }
  return l;
}

/// An orthonormal basis of the first columns, as many as the smaller extent, so that Q^H A has a positive diagonal.
template <class T> MatrixOf<T> orthonormal_basis(const MatrixOf<T>& a) {
  MatrixOf<T> q{a.rows, std::min(a.rows, a.columns)};
  for (std::int64_t j = 0; j < q.columns; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) q(i, j) = a(i, j);
    const auto along = [&](std::int64_t k) {
      T sum = 0;
      for (std::int64_t i = 0; i < a.rows; ++i) sum += q(i, j) * conjugate_of(q(i, k));
      return sum;
    };
    for (int twice = 0; twice < 2; ++twice)
      for (std::int64_t k = 0; k < j; ++k) {
        const T part = along(k);
        for (std::int64_t i = 0; i < a.rows; ++i) q(i, j) -= part * q(i, k);
      }
    const T length = std::sqrt(along(j));
    for (std::int64_t i = 0; i < a.rows; ++i) q(i, j) /= length;
  }
  return q;
}

/// A = U diag(s) V^H, with s descending and as many columns as the smaller extent.
template <class T> struct SingularPartsOf {
  MatrixOf<T> u;
  std::vector<double> s;
  MatrixOf<T> v;
};
using SingularParts = SingularPartsOf<double>;
template <class T> SingularPartsOf<T> singular_parts(const MatrixOf<T>& a) {
  if (a.rows < a.columns) {
    SingularPartsOf<T> parts = singular_parts(adjoint_of(a));
    std::swap(parts.u, parts.v);
    return parts;
  }
  MatrixOf<T> u = a;
  MatrixOf<T> v = identity_matrix<T>(a.columns);
  for (int sweep = 0; sweep < 60; ++sweep)
    for (std::int64_t p = 0; p < a.columns; ++p)
      for (std::int64_t q = p + 1; q < a.columns; ++q) { // makes columns p and q orthogonal
        double pp = 0, qq = 0;
        T pq = 0;
        for (std::int64_t i = 0; i < a.rows; ++i) {
          pp += std::norm(u(i, p));
          qq += std::norm(u(i, q));
          pq += conjugate_of(u(i, p)) * u(i, q);
        }
        const double size = std::abs(pq);
        if (size == 0) continue;
        const T phase = conjugate_of(pq) / size; // with it, the product of the columns is real
        const double zeta = (qq - pp) / (2 * size);
        const double t = std::copysign(1 / (std::abs(zeta) + std::hypot(1, zeta)), zeta);
        const double c = 1 / std::hypot(1, t);
        const auto rotate = [&](MatrixOf<T>& x) {
          for (std::int64_t i = 0; i < x.rows; ++i) {
            const T left = x(i, p), right = phase * x(i, q);
            x(i, p) = c * left - c * t * right;
            x(i, q) = c * t * left + c * right;
          }
        };
        rotate(u);
        rotate(v);
      }
  std::vector<double> lengths(static_cast<std::size_t>(a.columns));
  for (std::int64_t j = 0; j < a.columns; ++j) {
    double squares = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) squares += std::norm(u(i, j));
    lengths[static_cast<std::size_t>(j)] = std::sqrt(squares);
  }
  std::vector<std::int64_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int64_t x, std::int64_t y) {
    return lengths[static_cast<std::size_t>(x)] > lengths[static_cast<std::size_t>(y)];
  });
  SingularPartsOf<T> parts{MatrixOf<T>{a.rows, a.columns}, {}, MatrixOf<T>{a.columns, a.columns}};
  for (std::int64_t j = 0; j < a.columns; ++j) {
    const std::int64_t from = order[static_cast<std::size_t>(j)];
    const double length = lengths[static_cast<std::size_t>(from)];
    parts.s.push_back(length);
    for (std::int64_t i = 0; i < a.rows; ++i) parts.u(i, j) = u(i, from) / length;
    for (std::int64_t i = 0; i < a.columns; ++i) parts.v(i, j) = v(i, from);
  }
  return parts;
}

/// The matrices of a stack.
inline std::vector<DenseMatrix> matrices_of(const Array& x) {
  std::vector<DenseMatrix> matrices{};
  const std::int64_t rows = x.shape[x.shape.rank - 2];
  const std::int64_t columns = x.shape[x.shape.rank - 1];
  std::int64_t count = 1;
  for (int axis = 0; axis < x.shape.rank - 2; ++axis) count *= x.shape[axis];
  for (std::int64_t k = 0; k < count; ++k)
    matrices.push_back(matrix_from(rows, columns, [&](std::int64_t i, std::int64_t j) {
      return x.elements[static_cast<std::size_t>((k * rows + i) * columns + j)];
    }));
  return matrices;
}

/// A stack of what f makes of each matrix: matrices of these extents, vectors of one, or numbers of none.
template <class F> Array of_each_matrix(const Array& x, const Dims& extents, const F& f) {
  Array result{x.shape, {}};
  result.shape.rank -= 2;
  for (int axis = 0; axis < extents.rank; ++axis) result.shape[result.shape.rank++] = extents[axis];
  for (const DenseMatrix& a : matrices_of(x)) {
    const std::vector<double> elements = f(a);
    result.elements.insert(result.elements.end(), elements.begin(), elements.end());
  }
  return result;
}

} // namespace twill::test
