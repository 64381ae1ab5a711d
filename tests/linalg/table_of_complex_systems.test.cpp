// SPDX-License-Identifier: Apache-2.0
//
// The table of factors and solvers of complex matrices in models, beside elimination by the textbook: both element types, stacks,
// single and empty matrices, batches by vmap; derivatives of both orders by real and imaginary parts beside finite differences,
// forward mode beside reverse mode. Other decompositions: tests/linalg/table_of_complex_decompositions.test.cpp; PyTorch's values
// and gradients: tests/linalg/complex_models.test.cpp.

#include "tests/support/complex_matrices.hpp"

#include <twill/linalg/complex_values.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::view_as_complex;
using linalg::Diagonal;
using linalg::UpLo;

namespace {

/// A matrix far from singular, whose rows are not in the order of the pivots.
ComplexValue complex_regular(Value x) {
  const ComplexValue z = view_as_complex(x);
  const Value turned = linalg::on_diagonal(x.graph(), linalg::rows_of(z.shape()), linalg::columns_of(z.shape()));
  const Value ones = flip(cast(turned, x.dtype()), {0});
  return {z.re * 0.3 + ones * 3, z.im * 0.3 + ones};
}
ComplexMatrix complex_regular(const ComplexMatrix& x) {
  return matrix_from(x.rows, x.columns, [&](std::int64_t i, std::int64_t j) {
    return 0.3 * x(i, j) + (i + j == x.rows - 1 ? ComplexDouble{3, 1} : ComplexDouble{});
  });
}

/// A triangular matrix from elements up to 2.
ComplexValue complex_triangle(Value x) {
  const ComplexValue z = view_as_complex(x);
  const Value one = linalg::identity_like(z.re);
  return {z.re * 0.3 + one * 2, z.im * 0.3 + one};
}
ComplexMatrix complex_triangle(const ComplexMatrix& x, UpLo triangle, Diagonal diagonal = Diagonal::stored) {
  return matrix_from(x.rows, x.columns, [&](std::int64_t i, std::int64_t j) {
    if (i == j) return diagonal == Diagonal::ones ? ComplexDouble{1} : 0.3 * x(i, j) + ComplexDouble{2, 1};
    return (triangle == UpLo::lower) == (i > j) ? 0.3 * x(i, j) : ComplexDouble{};
  });
}

/// What f makes of each matrix of a stack and its right sides.
template <class F> Array complex_each(const Arrays& x, const F& f) {
  Array result{x[1].shape, {}};
  const std::vector<ComplexMatrix> a = complex_matrices_of(x[0]);
  const std::vector<ComplexMatrix> b = complex_matrices_of(x[1]);
  for (std::size_t k = 0; k < a.size(); ++k) append_numbers(result, f(a[k], b[k]));
  return result;
}

Array complex_solutions(const Arrays& x) {
  return complex_each(x,
                      [](const ComplexMatrix& a, const ComplexMatrix& b) { return solution(complex_regular(a), b); });
}
Array complex_inverses(const Arrays& x) {
  return of_complex_squares(x[0], [](const ComplexMatrix& a) {
    return solution(complex_regular(a), identity_matrix<ComplexDouble>(a.rows));
  });
}
Array complex_factors(const Arrays& x) {
  return of_complex_squares(x[0], [](const ComplexMatrix& a) { return cholesky_factor(complex_hermitian(a)); });
}
Array complex_upper_factors(const Arrays& x) {
  return of_complex_squares(x[0],
                            [](const ComplexMatrix& a) { return adjoint_of(cholesky_factor(complex_hermitian(a))); });
}
ComplexDouble complex_determinant(const ComplexMatrix& a) { return eliminated(complex_regular(a)).determinant; }

const OperationRow complex_systems[] = {
    {"solve", complex_sides(),
     [](const Value* x) { return view_as_real(linalg::solve(complex_regular(x[0]), view_as_complex(x[1]))); },
     &complex_solutions, RowTypes::wide},
    {"solve of a vector",
     {{Dims(3, 3, 2), Dims(3, 2)}, {Dims(1, 1, 2), Dims(1, 2)}},
     [](const Value* x) { return view_as_real(linalg::solve(complex_regular(x[0]), view_as_complex(x[1]))); },
     [](const Arrays& x) {
       Array sides = x[1];
       sides.shape = Dims(x[1].shape[0], 1, 2);
       Array result = complex_solutions({x[0], sides});
       result.shape = x[1].shape;
       return result;
     },
     RowTypes::wide},
    {"solve of a real right side, and by a real matrix",
     {{Dims(2, 2, 2), Dims(2, 2)}},
     [](const Value* x) {
       const ComplexValue z = complex_regular(x[0]);
       const Value diagonal = linalg::identity_like(x[1]) * 4 + x[1] * 0.1;
       return view_as_real(linalg::solve(z, x[1]) + linalg::solve(diagonal, z));
     },
     [](const Arrays& x) {
       const ComplexMatrix z = complex_regular(complex_matrices_of(x[0])[0]);
       const DenseMatrix r = matrices_of(x[1])[0];
       const auto of = [&](double factor, double one) {
         return matrix_from(2, 2, [&](std::int64_t i, std::int64_t j) {
           return ComplexDouble{factor * r(i, j) + (i == j ? one : 0)};
         });
       };
       const ComplexMatrix left = solution(z, of(1, 0)), right = solution(of(0.1, 4), z);
       Array result{Dims(2, 2, 2), {}};
       for (std::size_t i = 0; i < 4; ++i) append_numbers(result, left.elements[i] + right.elements[i]);
       return result;
     },
     RowTypes::wide},
    {"solve_ex", complex_sides(),
     [](const Value* x) { return view_as_real(linalg::solve_ex(complex_regular(x[0]), view_as_complex(x[1])).result); },
     &complex_solutions, RowTypes::wide},
    {"inv", complex_squares(), [](const Value* x) { return view_as_real(linalg::inv(complex_regular(x[0]))); },
     &complex_inverses, RowTypes::wide},
    {"inv_ex", complex_squares(),
     [](const Value* x) { return view_as_real(linalg::inv_ex(complex_regular(x[0])).result); }, &complex_inverses,
     RowTypes::wide},
    {"det", complex_squares(), [](const Value* x) { return view_as_real(linalg::det(complex_regular(x[0])) * 0.01); },
     [](const Arrays& x) {
       return of_complex_matrices(x[0], Dims(2), [](const ComplexMatrix& a) { return 0.01 * complex_determinant(a); });
     },
     RowTypes::wide},
    {"slogdet's logarithm", complex_squares(),
     [](const Value* x) { return linalg::slogdet(complex_regular(x[0])).logabsdet; },
     [](const Arrays& x) {
       return of_complex_matrices(x[0], Dims{},
                                  [](const ComplexMatrix& a) { return std::log(std::abs(complex_determinant(a))); });
     },
     RowTypes::wide},
    {"slogdet's sign", complex_squares(),
     [](const Value* x) { return view_as_real(linalg::slogdet(complex_regular(x[0])).sign); },
     [](const Arrays& x) {
       return of_complex_matrices(x[0], Dims(2), [](const ComplexMatrix& a) {
         const ComplexDouble d = complex_determinant(a);
         return d / std::abs(d);
       });
     },
     RowTypes::wide},
    {"lu_factor", complex_squares(),
     [](const Value* x) { return view_as_real(linalg::lu_factor(complex_regular(x[0])).factors); },
     [](const Arrays& x) {
       return of_complex_squares(x[0], [](const ComplexMatrix& a) { return eliminated(complex_regular(a)).factors; });
     },
     RowTypes::wide},
    {"lu_factor's pivots",
     {{Dims(2, 5, 5, 2)}, {Dims(1, 1, 2)}, {Dims(0, 2, 2, 2)}},
     [](const Value* x) { return linalg::lu_factor(complex_regular(x[0])).pivots; },
     [](const Arrays& x) { // rows change places with those from the other end, once
       const std::int64_t n = x[0].shape[x[0].shape.rank - 2];
       return of_complex_matrices(x[0], Dims(n), [&](const ComplexMatrix&) {
         std::vector<double> pivots{};
         for (std::int64_t i = 0; i < n; ++i) pivots.push_back(static_cast<double>(std::max(i, n - 1 - i)));
         return pivots;
       });
     },
     RowTypes::wide,
     {},
     false},
    {"cholesky", complex_squares(),
     [](const Value* x) { return view_as_real(linalg::cholesky(complex_hermitian(x[0]))); }, &complex_factors,
     RowTypes::wide},
    {"cholesky_ex", complex_squares(),
     [](const Value* x) { return view_as_real(linalg::cholesky_ex(complex_hermitian(x[0])).result); }, &complex_factors,
     RowTypes::wide},
    {"cholesky of a triangle",
     complex_squares(),
     [](const Value* x) { return view_as_real(linalg::cholesky(linalg::detail::lower_part(complex_hermitian(x[0])))); },
     &complex_factors,
     RowTypes::wide,
     {},
     false}, // the gradient is that of a Hermitian matrix
    {"cholesky of an upper triangle", complex_squares(),
     [](const Value* x) { return view_as_real(linalg::cholesky<UpLo::upper>(complex_hermitian(x[0]))); },
     &complex_upper_factors, RowTypes::wide},
    {"cholesky_ex of an upper triangle, whose other elements are not read",
     complex_squares(),
     [](const Value* x) {
       const ComplexValue upper = linalg::detail::upper_part(complex_hermitian(x[0]));
       return view_as_real(linalg::cholesky_ex<UpLo::upper>(upper).result);
     },
     &complex_upper_factors,
     RowTypes::wide,
     {},
     false},
    {"cholesky_solve", complex_sides(),
     [](const Value* x) { return view_as_real(linalg::cholesky_solve(view_as_complex(x[1]), complex_triangle(x[0]))); },
     [](const Arrays& x) {
       return complex_each(x, [](const ComplexMatrix& a, const ComplexMatrix& b) {
         const ComplexMatrix l = complex_triangle(a, UpLo::lower);
         return solution(product(l, adjoint_of(l)), b);
       });
     },
     RowTypes::wide},
    {"cholesky_solve by an upper factor", complex_sides(),
     [](const Value* x) {
       return view_as_real(linalg::cholesky_solve<UpLo::upper>(view_as_complex(x[1]), complex_triangle(x[0])));
     },
     [](const Arrays& x) {
       return complex_each(x, [](const ComplexMatrix& a, const ComplexMatrix& b) {
         const ComplexMatrix u = complex_triangle(a, UpLo::upper);
         return solution(product(adjoint_of(u), u), b);
       });
     },
     RowTypes::wide},
    {"solve_triangular", complex_sides(),
     [](const Value* x) {
       return view_as_real(linalg::solve_triangular(complex_triangle(x[0]), view_as_complex(x[1])));
     },
     [](const Arrays& x) {
       return complex_each(x, [](const ComplexMatrix& a, const ComplexMatrix& b) {
         return solution(complex_triangle(a, UpLo::lower), b);
       });
     },
     RowTypes::wide},
    {"solve_triangular by an upper triangle with ones", complex_sides(),
     [](const Value* x) {
       return view_as_real(
           linalg::solve_triangular<UpLo::upper, Diagonal::ones>(complex_triangle(x[0]), view_as_complex(x[1])));
     },
     [](const Arrays& x) {
       return complex_each(x, [](const ComplexMatrix& a, const ComplexMatrix& b) {
         return solution(complex_triangle(a, UpLo::upper, Diagonal::ones), b);
       });
     },
     RowTypes::wide},
};

} // namespace

TEST_CASE("factors and solvers of complex matrices in models agree with elimination", "[linalg]") {
  for (const OperationRow& row : complex_systems) check_forward(row);
}

TEST_CASE("both derivatives of factors and solvers of complex matrices are those of differences",
          "[linalg][gradient]") {
  for (const OperationRow& row : complex_systems) check_both_derivatives(row);
}
