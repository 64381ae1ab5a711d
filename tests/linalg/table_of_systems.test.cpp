// SPDX-License-Identifier: Apache-2.0
//
// The table of factors and solvers in models, beside elimination by the textbook: both element types, stacks, single and empty
// matrices, batches by vmap; derivatives of both orders beside finite differences, forward mode beside reverse mode. Other
// decompositions: tests/linalg/table_of_decompositions.test.cpp.

#include "tests/support/dense_matrix.hpp"

#include <twill/linalg/cholesky.hpp>
#include <twill/linalg/lu.hpp>
#include <twill/linalg/reported.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

using namespace twill;
using namespace twill::test;
using linalg::Diagonal;
using linalg::UpLo;

namespace {

using Arrays = std::vector<Array>;

/// A matrix far from singular, of elements up to 2; its rows are not in the order of the pivots.
Value systems_regular(Value x) {
  const Value turned = linalg::on_diagonal(x.graph(), linalg::rows_of(x.shape()), linalg::columns_of(x.shape()));
  return x * 0.3 + flip(cast(turned, x.dtype()), {0}) * 3;
}
DenseMatrix systems_regular(const DenseMatrix& x) {
  return matrix_from(x.rows, x.columns,
                     [&](std::int64_t i, std::int64_t j) { return 0.3 * x(i, j) + (i + j == x.rows - 1 ? 3 : 0); });
}

/// A positive definite matrix, whose other triangle than the one that is read is not symmetric to it.
Value systems_definite(Value x) { return (x + transpose(x)) * 0.2 + linalg::identity_like(x) * 4; }
DenseMatrix systems_definite(const DenseMatrix& x) {
  return matrix_from(x.rows, x.columns,
                     [&](std::int64_t i, std::int64_t j) { return 0.2 * (x(i, j) + x(j, i)) + (i == j ? 4 : 0); });
}

/// A triangular matrix from elements up to 2.
Value systems_triangle(Value x) { return x * 0.3 + linalg::identity_like(x) * 2; }
DenseMatrix systems_triangle(const DenseMatrix& x, UpLo triangle, Diagonal diagonal = Diagonal::stored) {
  return matrix_from(x.rows, x.columns, [&](std::int64_t i, std::int64_t j) {
    if (i == j) return diagonal == Diagonal::ones ? 1.0 : 0.3 * x(i, j) + 2;
    return (triangle == UpLo::lower) == (i > j) ? 0.3 * x(i, j) : 0;
  });
}

std::vector<std::vector<Dims>> systems_squares() {
  return {{Dims(2, 3, 3)}, {Dims(1, 1)}, {Dims(2, 2)}, {Dims(5, 5)}, {Dims(0, 3, 3)}, {Dims(7, 7)}, {Dims(2, 1, 2, 2)}};
}
std::vector<std::vector<Dims>> systems_sides() {
  return {{Dims(3, 3), Dims(3, 2)},
          {Dims(2, 2, 2), Dims(2, 2, 1)},
          {Dims(1, 1), Dims(1, 3)},
          {Dims(0, 2, 2), Dims(0, 2, 3)},
          {Dims(7, 7), Dims(7, 5)}};
}

/// What f makes of each matrix of a stack and its right sides.
template <class F> Array systems_each(const Arrays& x, const F& f) {
  Array result{x[1].shape, {}};
  const std::vector<DenseMatrix> a = matrices_of(x[0]);
  const std::vector<DenseMatrix> b = matrices_of(x[1]);
  for (std::size_t k = 0; k < a.size(); ++k) {
    const DenseMatrix y = f(a[k], b[k]);
    result.elements.insert(result.elements.end(), y.elements.begin(), y.elements.end());
  }
  return result;
}
template <class F> Array systems_each(const Array& x, const F& f) {
  const std::int64_t n = x.shape[x.shape.rank - 1];
  return of_each_matrix(x, Dims(n, n), [&](const DenseMatrix& a) { return f(a).elements; });
}

Array inverse_reference(const Arrays& x) {
  return systems_each(x[0], [](const DenseMatrix& a) { return solution(systems_regular(a), identity_matrix(a.rows)); });
}
Array solve_reference(const Arrays& x) {
  return systems_each(x, [](const DenseMatrix& a, const DenseMatrix& b) { return solution(systems_regular(a), b); });
}
Array cholesky_reference(const Arrays& x) {
  return systems_each(x[0], [](const DenseMatrix& a) { return cholesky_factor(systems_definite(a)); });
}

Array upper_cholesky_reference(const Arrays& x) {
  return systems_each(x[0], [](const DenseMatrix& a) { return transposed(cholesky_factor(systems_definite(a))); });
}

const OperationRow systems_rows[] = {
    {"solve", systems_sides(), [](const Value* x) { return linalg::solve(systems_regular(x[0]), x[1]); },
     &solve_reference, RowTypes::wide},
    {"solve of a vector, by one matrix for all",
     {{Dims(3, 3), Dims(3)}, {Dims(1, 1), Dims(1)}},
     [](const Value* x) { return linalg::solve(systems_regular(x[0]), x[1]); },
     [](const Arrays& x) {
       const std::int64_t n = x[1].shape[0];
       return Array{x[1].shape, solution(systems_regular(matrices_of(x[0])[0]), {n, 1, x[1].elements}).elements};
     },
     RowTypes::wide},
    {"solve_ex", systems_sides(), [](const Value* x) { return linalg::solve_ex(systems_regular(x[0]), x[1]).result; },
     &solve_reference, RowTypes::wide},
    {"inv", systems_squares(), [](const Value* x) { return linalg::inv(systems_regular(x[0])); }, &inverse_reference,
     RowTypes::wide},
    {"inv_ex", systems_squares(), [](const Value* x) { return linalg::inv_ex(systems_regular(x[0])).result; },
     &inverse_reference, RowTypes::wide},
    {"det", systems_squares(), [](const Value* x) { return linalg::det(systems_regular(x[0])) * 0.01; },
     [](const Arrays& x) {
       return of_each_matrix(x[0], Dims{}, [](const DenseMatrix& a) {
         return std::vector<double>{0.01 * eliminated(systems_regular(a)).determinant};
       });
     },
     RowTypes::wide},
    {"slogdet's logarithm", systems_squares(),
     [](const Value* x) { return linalg::slogdet(systems_regular(x[0])).logabsdet; },
     [](const Arrays& x) {
       return of_each_matrix(x[0], Dims{}, [](const DenseMatrix& a) {
         return std::vector<double>{std::log(std::abs(eliminated(systems_regular(a)).determinant))};
       });
     },
     RowTypes::wide},
    {"slogdet's sign", systems_squares(), [](const Value* x) { return linalg::slogdet(systems_regular(x[0])).sign; },
     [](const Arrays& x) {
       return of_each_matrix(x[0], Dims{}, [](const DenseMatrix& a) {
         return std::vector<double>{eliminated(systems_regular(a)).determinant < 0 ? -1.0 : 1.0};
       });
     },
     RowTypes::wide},
    {"lu_factor", systems_squares(), [](const Value* x) { return linalg::lu_factor(systems_regular(x[0])).factors; },
     [](const Arrays& x) {
       return systems_each(x[0], [](const DenseMatrix& a) { return eliminated(systems_regular(a)).factors; });
     },
     RowTypes::wide},
    {"lu_factor's pivots",
     {{Dims(2, 5, 5)}, {Dims(1, 1)}, {Dims(0, 2, 2)}},
     [](const Value* x) { return linalg::lu_factor(systems_regular(x[0])).pivots; },
     [](const Arrays& x) { // rows change places with those from the other end, once
       const std::int64_t n = x[0].shape[x[0].shape.rank - 1];
       return of_each_matrix(x[0], Dims(n), [&](const DenseMatrix&) {
         std::vector<double> pivots{};
         for (std::int64_t i = 0; i < n; ++i) pivots.push_back(static_cast<double>(std::max(i, n - 1 - i)));
         return pivots;
       });
     },
     RowTypes::wide,
     {},
     false},
    {"cholesky", systems_squares(), [](const Value* x) { return linalg::cholesky(systems_definite(x[0])); },
     &cholesky_reference, RowTypes::wide},
    {"cholesky_ex", systems_squares(),
     [](const Value* x) { return linalg::cholesky_ex(systems_definite(x[0])).result; }, &cholesky_reference,
     RowTypes::wide},
    {"cholesky of a triangle",
     systems_squares(),
     [](const Value* x) { return linalg::cholesky(tril(systems_definite(x[0]))); },
     &cholesky_reference,
     RowTypes::wide,
     {},
     false}, // the gradient is that of a symmetric matrix
    {"cholesky of an upper triangle", systems_squares(),
     [](const Value* x) { return linalg::cholesky<UpLo::upper>(systems_definite(x[0])); }, &upper_cholesky_reference,
     RowTypes::wide},
    {"cholesky_ex of an upper triangle, whose other elements are not read",
     systems_squares(),
     [](const Value* x) { return linalg::cholesky_ex<UpLo::upper>(triu(systems_definite(x[0]))).result; },
     &upper_cholesky_reference,
     RowTypes::wide,
     {},
     false},
    {"cholesky_solve by an upper factor", systems_sides(),
     [](const Value* x) { return linalg::cholesky_solve<UpLo::upper>(x[1], systems_triangle(x[0])); },
     [](const Arrays& x) {
       return systems_each(x, [](const DenseMatrix& a, const DenseMatrix& b) {
         const DenseMatrix u = systems_triangle(a, UpLo::upper);
         return solution(product(transposed(u), u), b);
       });
     },
     RowTypes::wide},
    {"cholesky_solve", systems_sides(),
     [](const Value* x) { return linalg::cholesky_solve(x[1], systems_triangle(x[0])); },
     [](const Arrays& x) {
       return systems_each(x, [](const DenseMatrix& a, const DenseMatrix& b) {
         const DenseMatrix l = systems_triangle(a, UpLo::lower);
         return solution(product(l, transposed(l)), b);
       });
     },
     RowTypes::wide},
    {"solve_triangular", systems_sides(),
     [](const Value* x) { return linalg::solve_triangular(systems_triangle(x[0]), x[1]); },
     [](const Arrays& x) {
       return systems_each(
           x, [](const DenseMatrix& a, const DenseMatrix& b) { return solution(systems_triangle(a, UpLo::lower), b); });
     },
     RowTypes::wide},
    {"solve_triangular by an upper triangle with ones", systems_sides(),
     [](const Value* x) { return linalg::solve_triangular<UpLo::upper, Diagonal::ones>(systems_triangle(x[0]), x[1]); },
     [](const Arrays& x) {
       return systems_each(x, [](const DenseMatrix& a, const DenseMatrix& b) {
         return solution(systems_triangle(a, UpLo::upper, Diagonal::ones), b);
       });
     },
     RowTypes::wide},
    {"identity_like plus diagonal_matrix of diagonal_of", systems_squares(),
     [](const Value* x) {
       return linalg::identity_like(x[0]) + linalg::diagonal_matrix(square(linalg::diagonal_of(x[0])));
     },
     [](const Arrays& x) {
       return systems_each(x[0], [](const DenseMatrix& a) {
         return matrix_from(a.rows, a.rows,
                            [&](std::int64_t i, std::int64_t j) { return i == j ? 1 + a(i, i) * a(i, i) : 0; });
       });
     }},
    {"the outer product of as_column and as_row",
     {{Dims(3), Dims(3)}, {Dims(2, 1), Dims(2, 1)}, {Dims(0, 2), Dims(0, 2)}},
     [](const Value* x) { return linalg::as_column(x[0]) * linalg::as_row(x[1]); },
     [](const Arrays& x) {
       const int last = x[0].shape.rank - 1;
       Dims shape = x[0].shape;
       shape[shape.rank++] = x[1].shape[last];
       return array_from(shape, [&](const Dims& at) {
         Dims i = at, j = at;
         --i.rank;
         --j.rank;
         j[last] = at[last + 1];
         return element_of(x[0], i) * element_of(x[1], j);
       });
     }},
};

} // namespace

TEST_CASE("factors and solvers in models agree with elimination", "[linalg]") {
  for (const OperationRow& row : systems_rows) check_forward(row);
}

TEST_CASE("both derivatives of factors and solvers are those of differences", "[linalg][gradient]") {
  for (const OperationRow& row : systems_rows) check_both_derivatives(row);
}
