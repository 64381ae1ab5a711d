// SPDX-License-Identifier: Apache-2.0
//
// The table of decompositions and of functions of complex matrices in models, beside textbook algorithms: both element types, tall
// and wide matrices, stacks, single and empty ones, batches by vmap; derivatives of both orders by real and imaginary parts beside
// finite differences, forward mode beside reverse mode. What depends on no phase of vectors is compared. Factors and solvers:
// tests/linalg/table_of_complex_systems.test.cpp.

#include "tests/support/complex_matrices.hpp"

#include <twill/linalg/complex_values.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::view_as_complex;
using linalg::FullMatrices;
using linalg::MatrixNorm;
using linalg::UpLo;

namespace {

/// The signs of R's diagonal, which is real: with them Q and R have only one value.
Value complex_signs(const ComplexValue& r) {
  const Value diagonal = linalg::on_diagonal(r.graph(), linalg::rows_of(r.shape()), linalg::columns_of(r.shape()));
  return sign(sum(where(diagonal, r.re, 0), {-1}));
}
std::int64_t complex_rows(const Arrays& x) { return x[0].shape[x[0].shape.rank - 3]; }
std::int64_t complex_columns(const Arrays& x) { return x[0].shape[x[0].shape.rank - 2]; }
std::int64_t complex_smaller(const Arrays& x) { return std::min(complex_rows(x), complex_columns(x)); }

/// The projector on the columns of a square matrix from the k-th on.
ComplexValue complex_projector(const ComplexValue& q, std::int64_t k) {
  const ComplexValue added = linalg::detail::columns_between(q, k, q.size(-1));
  return matmul(added, linalg::detail::adjoint(added));
}
std::int64_t complex_smaller(Value x) { return std::min(x.size(-3), x.size(-2)); }
/// What is left of the identity beside the projector on the columns of a matrix.
ComplexMatrix complex_complement(const ComplexMatrix& a) {
  const ComplexMatrix q = orthonormal_basis(a);
  const ComplexMatrix p = product(q, adjoint_of(q));
  return matrix_from(a.rows, a.rows, [&](std::int64_t i, std::int64_t j) {
    return (i == j ? ComplexDouble{1} : ComplexDouble{}) - p(i, j);
  });
}

/// Eigenvalues ascending, with vectors as columns, of a positive definite matrix.
SingularPartsOf<ComplexDouble> complex_eigen(const ComplexMatrix& x) {
  SingularPartsOf<ComplexDouble> parts = singular_parts(complex_hermitian(x));
  const ComplexMatrix v = parts.v;
  std::reverse(parts.s.begin(), parts.s.end());
  parts.v = matrix_from(v.rows, v.columns, [&](std::int64_t i, std::int64_t j) { return v(i, v.columns - 1 - j); });
  parts.u = parts.v;
  return parts;
}
double complex_column_sum(const ComplexMatrix& a, bool is_largest) {
  std::vector<double> sums(static_cast<std::size_t>(a.columns));
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) sums[static_cast<std::size_t>(j)] += std::abs(a(i, j));
  return is_largest ? *std::max_element(sums.begin(), sums.end()) : *std::min_element(sums.begin(), sums.end());
}
double complex_sum(const std::vector<double>& x) {
  double sum = 0;
  for (const double each : x) sum += each;
  return sum;
}

template <MatrixNorm Norm, class F> OperationRow complex_norm(std::string_view name, const F&) {
  return {name,
          {{Dims(3, 2, 2)}, {Dims(2, 5, 7, 2)}},
          [](const Value* x) { return linalg::matrix_norm<Norm>(complex_apart(x[0])); },
          [](const Arrays& x) {
            return of_complex_matrices(x[0], Dims{}, [](const ComplexMatrix& a) { return F{}(complex_apart(a)); });
          },
          RowTypes::wide};
}
template <MatrixNorm Norm, class F> OperationRow complex_condition(std::string_view name, const F&) {
  return {name, complex_squares(), [](const Value* x) { return linalg::cond<Norm>(complex_apart(x[0])); },
          [](const Arrays& x) {
            return of_complex_matrices(x[0], Dims{}, [](const ComplexMatrix& a) { return F{}(complex_apart(a)); });
          },
          RowTypes::wide};
}

const OperationRow complex_rows_of_decompositions[] = {
    {"qr's Q", complex_shapes(),
     [](const Value* x) {
       const auto [q, r] = linalg::qr(complex_apart(x[0]));
       return view_as_real(q * linalg::as_row(complex_signs(r)));
     },
     [](const Arrays& x) {
       return of_complex_matrices(x[0], Dims(complex_rows(x), complex_smaller(x), 2),
                                  [](const ComplexMatrix& a) { return orthonormal_basis(complex_apart(a)); });
     },
     RowTypes::wide},
    {"qr's R", complex_shapes(),
     [](const Value* x) {
       const ComplexValue r = linalg::qr(complex_apart(x[0])).R;
       return view_as_real(r * linalg::as_column(complex_signs(r)));
     },
     [](const Arrays& x) {
       return of_complex_matrices(x[0], Dims(complex_smaller(x), complex_columns(x), 2), [](const ComplexMatrix& a) {
         return product(adjoint_of(orthonormal_basis(complex_apart(a))), complex_apart(a));
       });
     },
     RowTypes::wide},
    {"the product of a complete qr", complex_shapes(),
     [](const Value* x) {
       const auto [q, r] = linalg::qr<FullMatrices::yes>(complex_apart(x[0]));
       return view_as_real(matmul(q, r));
     },
     [](const Arrays& x) {
       return of_complex_matrices(x[0], Dims(complex_rows(x), complex_columns(x), 2),
                                  [](const ComplexMatrix& a) { return complex_apart(a); });
     },
     RowTypes::wide},
    {"the columns that complete qr's Q",
     {{Dims(4, 2, 2)}, {Dims(2, 3, 1, 2)}, {Dims(7, 5, 2)}},
     [](const Value* x) {
       const auto [q, r] = linalg::qr<FullMatrices::yes>(complex_apart(x[0]));
       return view_as_real(complex_projector(q, complex_smaller(x[0])));
     },
     [](const Arrays& x) {
       return of_complex_matrices(x[0], Dims(complex_rows(x), complex_rows(x), 2),
                                  [](const ComplexMatrix& a) { return complex_complement(complex_apart(a)); });
     },
     RowTypes::wide},
    {"eigh's values", complex_squares(), [](const Value* x) { return linalg::eigh(complex_hermitian(x[0])).values; },
     [](const Arrays& x) {
       return of_complex_matrices(x[0], Dims(complex_rows(x)),
                                  [](const ComplexMatrix& a) { return complex_eigen(a).s; });
     },
     RowTypes::wide},
    {"the sizes of eigh's vectors", complex_squares(),
     [](const Value* x) { return sizes_squared(linalg::eigh(complex_hermitian(x[0])).vectors); },
     [](const Arrays& x) {
       return of_complex_matrices(x[0], Dims(complex_rows(x), complex_rows(x)),
                                  [](const ComplexMatrix& a) { return sizes_squared(complex_eigen(a).v); });
     },
     RowTypes::wide},
    {"the square root by eigh of an upper triangle", complex_squares(),
     [](const Value* x) {
       const auto [values, vectors] = linalg::eigh<UpLo::upper>(complex_hermitian(x[0]));
       return view_as_real(matmul(vectors * linalg::as_row(sqrt(values)), linalg::detail::adjoint(vectors)));
     },
     [](const Arrays& x) {
       return of_complex_squares(x[0], [](const ComplexMatrix& a) {
         return with_values(complex_eigen(a), [](double value) { return std::sqrt(value); });
       });
     },
     RowTypes::wide},
    {"eigvalsh", complex_squares(), [](const Value* x) { return linalg::eigvalsh(complex_hermitian(x[0])); },
     [](const Arrays& x) {
       return of_complex_matrices(x[0], Dims(complex_rows(x)),
                                  [](const ComplexMatrix& a) { return complex_eigen(a).s; });
     },
     RowTypes::wide},
    {"the sizes of svd's U", complex_shapes(),
     [](const Value* x) { return sizes_squared(linalg::svd(complex_apart(x[0])).U); },
     [](const Arrays& x) {
       return of_complex_matrices(x[0], Dims(complex_rows(x), complex_smaller(x)), [](const ComplexMatrix& a) {
         return sizes_squared(singular_parts(complex_apart(a)).u);
       });
     },
     RowTypes::wide},
    {"the sizes of svd's Vh", complex_shapes(),
     [](const Value* x) { return sizes_squared(linalg::svd(complex_apart(x[0])).Vh); },
     [](const Arrays& x) {
       return of_complex_matrices(x[0], Dims(complex_smaller(x), complex_columns(x)), [](const ComplexMatrix& a) {
         return sizes_squared(adjoint_of(singular_parts(complex_apart(a)).v));
       });
     },
     RowTypes::wide},
    {"the polar factor by svd, times singular values", complex_shapes(),
     [](const Value* x) {
       const auto [u, s, vh] = linalg::svd(complex_apart(x[0]));
       return view_as_real(matmul(u * linalg::as_row(log(s)), vh));
     },
     [](const Arrays& x) {
       return of_complex_matrices(x[0], Dims(complex_rows(x), complex_columns(x), 2), [](const ComplexMatrix& a) {
         return with_values(singular_parts(complex_apart(a)), [](double value) { return std::log(value); });
       });
     },
     RowTypes::wide},
    {"the columns that complete svd's U",
     {{Dims(4, 2, 2)}, {Dims(2, 3, 1, 2)}, {Dims(7, 5, 2)}},
     [](const Value* x) {
       return view_as_real(
           complex_projector(linalg::svd<FullMatrices::yes>(complex_apart(x[0])).U, complex_smaller(x[0])));
     },
     [](const Arrays& x) {
       return of_complex_matrices(x[0], Dims(complex_rows(x), complex_rows(x), 2),
                                  [](const ComplexMatrix& a) { return complex_complement(complex_apart(a)); });
     },
     RowTypes::wide},
    {"the rows that complete svd's Vh",
     {{Dims(2, 4, 2)}, {Dims(2, 1, 3, 2)}},
     [](const Value* x) {
       const ComplexValue vh = linalg::svd<FullMatrices::yes>(complex_apart(x[0])).Vh;
       return view_as_real(complex_projector(linalg::detail::adjoint(vh), complex_smaller(x[0])));
     },
     [](const Arrays& x) {
       return of_complex_matrices(x[0], Dims(complex_columns(x), complex_columns(x), 2), [](const ComplexMatrix& a) {
         return complex_complement(adjoint_of(complex_apart(a)));
       });
     },
     RowTypes::wide},
    {"svdvals", complex_shapes(), [](const Value* x) { return linalg::svdvals(complex_apart(x[0])); },
     [](const Arrays& x) {
       return of_complex_matrices(x[0], Dims(complex_smaller(x)),
                                  [](const ComplexMatrix& a) { return singular_parts(complex_apart(a)).s; });
     },
     RowTypes::wide},
    {"pinv", complex_shapes(), [](const Value* x) { return view_as_real(linalg::pinv(complex_apart(x[0]))); },
     [](const Arrays& x) {
       return of_complex_matrices(x[0], Dims(complex_columns(x), complex_rows(x), 2), [](const ComplexMatrix& a) {
         return adjoint_of(with_values(singular_parts(complex_apart(a)), [](double value) { return 1 / value; }));
       });
     },
     RowTypes::wide},
    {"lstsq",
     {{Dims(4, 2, 2), Dims(4, 3, 2)}, {Dims(2, 3, 2), Dims(2, 1, 2)}, {Dims(1, 1, 2), Dims(1, 1, 2)}},
     [](const Value* x) { return view_as_real(linalg::lstsq(complex_apart(x[0]), view_as_complex(x[1])).solution); },
     [](const Arrays& x) {
       const ComplexMatrix a = complex_apart(complex_matrices_of(x[0])[0]);
       const ComplexMatrix b = complex_matrices_of(x[1])[0];
       const ComplexMatrix h = adjoint_of(a);
       const ComplexMatrix y =
           a.rows >= a.columns ? solution(product(h, a), product(h, b)) : product(h, solution(product(a, h), b));
       Array result{Dims(a.columns, b.columns, 2), {}};
       append_numbers(result, y);
       return result;
     },
     RowTypes::wide},
    {"matrix_rank",
     complex_shapes(),
     [](const Value* x) { // the last row is i times the first one
       const ComplexValue a = complex_apart(x[0]);
       const ComplexValue first = narrow(a, a.rank() - 2, 0, 1);
       return linalg::matrix_rank(graph::concatenate({a, ComplexValue{-first.im, first.re}}, a.rank() - 2));
     },
     [](const Arrays& x) {
       return of_complex_matrices(
           x[0], Dims{}, [](const ComplexMatrix& a) { return static_cast<double>(std::min(a.rows, a.columns)); });
     },
     RowTypes::wide,
     {},
     false},
    complex_condition<MatrixNorm::spectral>("cond",
                                            [](const ComplexMatrix& a) {
                                              const std::vector<double> s = singular_parts(a).s;
                                              return s.front() / s.back();
                                            }),
    complex_condition<MatrixNorm::frobenius>(
        "cond by frobenius",
        [](const ComplexMatrix& a) {
          const ComplexMatrix b = solution(a, identity_matrix<ComplexDouble>(a.rows));
          return std::sqrt(complex_sum(sizes_squared(a).elements) * complex_sum(sizes_squared(b).elements));
        }),
    complex_norm<MatrixNorm::frobenius>(
        "matrix_norm", [](const ComplexMatrix& a) { return std::sqrt(complex_sum(sizes_squared(a).elements)); }),
    complex_norm<MatrixNorm::nuclear>("nuclear matrix_norm",
                                      [](const ComplexMatrix& a) { return complex_sum(singular_parts(a).s); }),
    complex_norm<MatrixNorm::spectral>("spectral matrix_norm",
                                       [](const ComplexMatrix& a) { return singular_parts(a).s.front(); }),
    complex_norm<MatrixNorm::smallest>("smallest matrix_norm",
                                       [](const ComplexMatrix& a) { return singular_parts(a).s.back(); }),
    complex_norm<MatrixNorm::largest_column>("matrix_norm 1",
                                             [](const ComplexMatrix& a) { return complex_column_sum(a, true); }),
    complex_norm<MatrixNorm::smallest_column>("matrix_norm -1",
                                              [](const ComplexMatrix& a) { return complex_column_sum(a, false); }),
    complex_norm<MatrixNorm::largest_row>(
        "matrix_norm inf", [](const ComplexMatrix& a) { return complex_column_sum(adjoint_of(a), true); }),
    complex_norm<MatrixNorm::smallest_row>(
        "matrix_norm -inf", [](const ComplexMatrix& a) { return complex_column_sum(adjoint_of(a), false); }),
    {"matrix_exp", complex_squares(),
     [](const Value* x) { return view_as_real(linalg::matrix_exp(view_as_complex(x[0] * 0.2))); },
     [](const Arrays& x) {
       return of_complex_squares(x[0], [](const ComplexMatrix& a) {
         ComplexMatrix sum = identity_matrix<ComplexDouble>(a.rows), term = sum;
         for (int i = 1; i < 40; ++i) {
           term = product(term, complex_mapped(a, [&](const ComplexDouble& each, std::size_t) {
                            return 0.2 * each / static_cast<double>(i);
                          }));
           for (std::size_t e = 0; e < sum.elements.size(); ++e) sum.elements[e] += term.elements[e];
         }
         return sum;
       });
     },
     RowTypes::wide},
    {"matrix_power of -3", complex_squares(),
     [](const Value* x) { return view_as_real(linalg::matrix_power<-3>(complex_apart(x[0]))); },
     [](const Arrays& x) {
       return of_complex_squares(x[0], [](const ComplexMatrix& a) {
         const ComplexMatrix b = complex_apart(a);
         return solution(product(b, product(b, b)), identity_matrix<ComplexDouble>(a.rows));
       });
     },
     RowTypes::wide},
    {"vander",
     {{Dims(2, 3, 2)}, {Dims(1, 2)}, {Dims(0, 2)}, {Dims(7, 2)}},
     [](const Value* x) { return view_as_real(linalg::vander<4>(view_as_complex(x[0]))); },
     [](const Arrays& x) {
       Array result{x[0].shape, {}};
       result.shape[result.shape.rank - 1] = 4;
       result.shape[result.shape.rank++] = 2;
       for (std::size_t i = 0; i < x[0].elements.size(); i += 2) {
         const ComplexDouble z{x[0].elements[i], x[0].elements[i + 1]};
         append_numbers(result, std::vector<ComplexDouble>{z * z * z, z * z, z, 1});
       }
       return result;
     },
     RowTypes::wide},
    {"cross, of real vectors too",
     {{Dims(2, 3, 2), Dims(3)}, {Dims(3, 2), Dims(3)}},
     [](const Value* x) {
       const ComplexValue z = view_as_complex(x[0]);
       return view_as_real(linalg::cross(z, x[1]) + linalg::cross(z, conj(z) * 2));
     },
     [](const Arrays& x) {
       Array result{x[0].shape, {}};
       for (std::size_t at = 0; at < x[0].elements.size(); at += 6) {
         const auto z = [&](std::size_t i) {
           return ComplexDouble{x[0].elements[at + 2 * (i % 3)], x[0].elements[at + 2 * (i % 3) + 1]};
         };
         const auto y = [&](std::size_t i) { return x[1].elements[i % 3] + 2.0 * std::conj(z(i)); };
         for (std::size_t i = 0; i < 3; ++i) append_numbers(result, z(i + 1) * y(i + 2) - z(i + 2) * y(i + 1));
       }
       return result;
     },
     RowTypes::wide},
};

} // namespace

TEST_CASE("decompositions and functions of complex matrices in models agree with textbook algorithms", "[linalg]") {
  for (const OperationRow& row : complex_rows_of_decompositions) check_forward(row);
}

TEST_CASE("both derivatives of decompositions of complex matrices are those of differences", "[linalg][gradient]") {
  for (const OperationRow& row : complex_rows_of_decompositions) check_both_derivatives(row);
}
