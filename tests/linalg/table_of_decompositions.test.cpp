// SPDX-License-Identifier: Apache-2.0
//
// The table of decompositions and of functions of matrices in models, beside textbook algorithms: both element types, tall and
// wide matrices, stacks, single and empty ones, batches by vmap; derivatives of both orders beside finite differences, forward
// mode beside reverse mode. Factors and solvers: tests/linalg/table_of_systems.test.cpp.

#include "tests/support/matrices_apart.hpp"

#include <twill/linalg/least_squares.hpp>
#include <twill/linalg/matrix_functions.hpp>
#include <twill/linalg/norms.hpp>
#include <twill/linalg/qr.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/slice.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <vector>

using namespace twill;
using namespace twill::test;
using linalg::MatrixNorm;
using enum PartsExtent;

namespace {

/// The signs of R's diagonal, with which Q and R have only one value.
Value parts_signs(Value r) {
  const graph::Extent rows = linalg::rows_of(r.shape());
  const Value diagonal = linalg::on_diagonal(r.graph(), rows, linalg::columns_of(r.shape()));
  return sign(sum(where(diagonal, r, 0), {-1}));
}

template <MatrixNorm Norm, class F> OperationRow parts_norm(std::string_view name, const F&) {
  return {name, parts_shapes(), [](const Value* x) { return linalg::matrix_norm<Norm>(parts_apart(x[0])); },
          [](const Arrays& x) {
            return parts_of(x, none, none,
                            [](const DenseMatrix& a) { return std::vector<double>{F{}(parts_apart(a))}; });
          },
          RowTypes::wide};
}
const OperationRow parts_rows[] = {
    {"qr's Q", parts_shapes(),
     [](const Value* x) {
       const auto [q, r] = linalg::qr(parts_apart(x[0]));
       return q * linalg::as_row(parts_signs(r));
     },
     [](const Arrays& x) {
       return parts_of(x, m, k, [](const DenseMatrix& a) { return orthonormal_basis(parts_apart(a)).elements; });
     },
     RowTypes::wide},
    {"qr's R", parts_shapes(),
     [](const Value* x) {
       const Value r = linalg::qr(parts_apart(x[0])).R;
       return r * linalg::as_column(parts_signs(r));
     },
     [](const Arrays& x) {
       return parts_of(x, k, n, [](const DenseMatrix& a) {
         return product(transposed(orthonormal_basis(parts_apart(a))), parts_apart(a)).elements;
       });
     },
     RowTypes::wide},
    {"eigh's values", parts_squares(), [](const Value* x) { return linalg::eigh(parts_symmetric(x[0])).values; },
     [](const Arrays& x) { return parts_of(x, n, none, [](const DenseMatrix& a) { return parts_eigen(a).s; }); },
     RowTypes::wide},
    {"the squares of eigh's vectors", parts_squares(),
     [](const Value* x) { return square(linalg::eigh(parts_symmetric(x[0])).vectors); },
     [](const Arrays& x) {
       return parts_of(x, m, n, [](const DenseMatrix& a) { return parts_squared(parts_eigen(a).v).elements; });
     },
     RowTypes::wide},
    {"the square root by eigh", parts_squares(),
     [](const Value* x) {
       const auto [values, vectors] = linalg::eigh(parts_symmetric(x[0]));
       return matmul(vectors * linalg::as_row(sqrt(values)), transpose(vectors));
     },
     [](const Arrays& x) {
       return parts_of(x, m, n, [](const DenseMatrix& a) {
         SingularParts parts = parts_eigen(a);
         for (double& value : parts.s) value = std::sqrt(value);
         return product(parts_columns_times(parts.v, parts.s), transposed(parts.v)).elements;
       });
     },
     RowTypes::wide},
    {"eigvalsh", parts_squares(), [](const Value* x) { return linalg::eigvalsh(parts_symmetric(x[0])); },
     [](const Arrays& x) { return parts_of(x, n, none, [](const DenseMatrix& a) { return parts_eigen(a).s; }); },
     RowTypes::wide},
    {"the squares of svd's U", parts_shapes(), [](const Value* x) { return square(linalg::svd(parts_apart(x[0])).U); },
     [](const Arrays& x) {
       return parts_of(x, m, k,
                       [](const DenseMatrix& a) { return parts_squared(singular_parts(parts_apart(a)).u).elements; });
     },
     RowTypes::wide},
    {"the squares of svd's Vh", parts_shapes(),
     [](const Value* x) { return square(linalg::svd(parts_apart(x[0])).Vh); },
     [](const Arrays& x) {
       return parts_of(x, k, n, [](const DenseMatrix& a) {
         return transposed(parts_squared(singular_parts(parts_apart(a)).v)).elements;
       });
     },
     RowTypes::wide},
    {"the polar factor by svd, times singular values", parts_shapes(),
     [](const Value* x) {
       const auto [u, s, vh] = linalg::svd(parts_apart(x[0]));
       return matmul(u * linalg::as_row(log(s)), vh);
     },
     [](const Arrays& x) {
       return parts_of(x, m, n, [](const DenseMatrix& a) {
         SingularParts parts = singular_parts(parts_apart(a));
         for (double& value : parts.s) value = std::log(value);
         return product(parts_columns_times(parts.u, parts.s), transposed(parts.v)).elements;
       });
     },
     RowTypes::wide},
    {"svdvals", parts_shapes(), [](const Value* x) { return linalg::svdvals(parts_apart(x[0])); },
     [](const Arrays& x) {
       return parts_of(x, k, none, [](const DenseMatrix& a) { return singular_parts(parts_apart(a)).s; });
     },
     RowTypes::wide},
    {"pinv", parts_shapes(), [](const Value* x) { return linalg::pinv(parts_apart(x[0])); },
     [](const Arrays& x) {
       return parts_of(x, n, m, [](const DenseMatrix& a) {
         SingularParts parts = singular_parts(parts_apart(a));
         for (double& value : parts.s) value = 1 / value;
         return product(parts_columns_times(parts.v, parts.s), transposed(parts.u)).elements;
       });
     },
     RowTypes::wide},
    {"lstsq",
     {{Dims(4, 2), Dims(4, 3)}, {Dims(2, 3), Dims(2, 1)}, {Dims(1, 1), Dims(1, 1)}},
     [](const Value* x) { return linalg::lstsq(parts_apart(x[0]), x[1]).solution; },
     [](const Arrays& x) {
       const DenseMatrix a = parts_apart(matrices_of(x[0])[0]);
       const DenseMatrix b = matrices_of(x[1])[0];
       const DenseMatrix t = transposed(a);
       const DenseMatrix y =
           a.rows >= a.columns ? solution(product(t, a), product(t, b)) : product(t, solution(product(a, t), b));
       return Array{Dims(a.columns, b.columns), y.elements};
     },
     RowTypes::wide},
    {"matrix_rank",
     parts_shapes(),
     [](const Value* x) { // the last row is the first one
       const Value a = parts_apart(x[0]);
       return linalg::matrix_rank(graph::concatenate({a, narrow(a, a.rank() - 2, 0, 1)}, a.rank() - 2));
     },
     [](const Arrays& x) {
       return parts_of(x, none, none, [](const DenseMatrix& a) {
         return std::vector<double>{static_cast<double>(std::min(a.rows, a.columns))};
       });
     },
     RowTypes::wide,
     {},
     false},
    {"cond", parts_shapes(), [](const Value* x) { return linalg::cond(parts_apart(x[0])); },
     [](const Arrays& x) {
       return parts_of(x, none, none, [](const DenseMatrix& a) {
         const std::vector<double> s = singular_parts(parts_apart(a)).s;
         return std::vector<double>{s.front() / s.back()};
       });
     },
     RowTypes::wide},
    parts_norm<MatrixNorm::frobenius>(
        "matrix_norm", [](const DenseMatrix& a) { return std::sqrt(parts_sum(parts_squared(a).elements)); }),
    parts_norm<MatrixNorm::nuclear>("nuclear matrix_norm",
                                    [](const DenseMatrix& a) { return parts_sum(singular_parts(a).s); }),
    parts_norm<MatrixNorm::spectral>("spectral matrix_norm",
                                     [](const DenseMatrix& a) { return singular_parts(a).s.front(); }),
    parts_norm<MatrixNorm::smallest>("smallest matrix_norm",
                                     [](const DenseMatrix& a) { return singular_parts(a).s.back(); }),
    parts_norm<MatrixNorm::largest_column>("matrix_norm 1",
                                           [](const DenseMatrix& a) { return parts_column_sum(a, true); }),
    parts_norm<MatrixNorm::smallest_column>("matrix_norm -1",
                                            [](const DenseMatrix& a) { return parts_column_sum(a, false); }),
    parts_norm<MatrixNorm::largest_row>("matrix_norm inf",
                                        [](const DenseMatrix& a) { return parts_column_sum(transposed(a), true); }),
    parts_norm<MatrixNorm::smallest_row>("matrix_norm -inf",
                                         [](const DenseMatrix& a) { return parts_column_sum(transposed(a), false); }),
    {"matrix_exp", parts_squares(), [](const Value* x) { return linalg::matrix_exp(x[0] * 0.2); },
     [](const Arrays& x) {
       return parts_of(x, m, n, [](const DenseMatrix& a) {
         DenseMatrix sum = identity_matrix(a.rows), term = sum;
         for (int i = 1; i < 40; ++i) {
           term = product(term, parts_mapped(a, [&](double each, std::int64_t) { return 0.2 * each / i; }));
           for (std::size_t e = 0; e < sum.elements.size(); ++e) sum.elements[e] += term.elements[e];
         }
         return sum.elements;
       });
     },
     RowTypes::wide},
    {"matrix_power of -3", parts_squares(), [](const Value* x) { return linalg::matrix_power<-3>(parts_apart(x[0])); },
     [](const Arrays& x) {
       return parts_of(x, m, n, [](const DenseMatrix& a) {
         const DenseMatrix b = parts_apart(a);
         return solution(product(b, product(b, b)), identity_matrix(a.rows)).elements;
       });
     },
     RowTypes::wide},
    {"vander",
     {{Dims(2, 3)}, {Dims(1)}, {Dims(0)}, {Dims(7)}},
     [](const Value* x) { return linalg::vander<4>(x[0]); },
     [](const Arrays& x) {
       Dims shape = x[0].shape;
       shape[shape.rank++] = 4;
       return array_from(shape, [&](Dims at) {
         const auto power = static_cast<double>(3 - at[--at.rank]);
         return std::pow(element_of(x[0], at), power);
       });
     },
     RowTypes::wide},
    {"cross",
     {{Dims(2, 3), Dims(2, 3)}, {Dims(3), Dims(3)}, {Dims(2, 1, 3), Dims(4, 3)}, {Dims(0, 3), Dims(3)}},
     [](const Value* x) { return linalg::cross(x[0], x[1]); },
     [](const Arrays& x) {
       Dims shape = x[0].shape.rank > x[1].shape.rank ? x[0].shape : x[1].shape;
       for (const Array& each : x)
         for (int axis = 0; axis < each.shape.rank; ++axis)
           if (each.shape[axis] != 1) shape[axis + shape.rank - each.shape.rank] = each.shape[axis];
       return array_from(shape, [&](const Dims& at) {
         const auto read = [&](const Array& array, std::int64_t by) {
           Dims place = array.shape;
           for (int axis = 0; axis < place.rank; ++axis) {
             const std::int64_t index = at[axis + at.rank - place.rank];
             place[axis] = axis == place.rank - 1 ? (index + by) % 3 : array.shape[axis] == 1 ? 0 : index;
           }
           return element_of(array, place);
         };
         return read(x[0], 1) * read(x[1], 2) - read(x[0], 2) * read(x[1], 1);
       });
     },
     RowTypes::wide},
};

} // namespace

TEST_CASE("decompositions and functions of matrices in models agree with textbook algorithms", "[linalg]") {
  for (const OperationRow& row : parts_rows) check_forward(row);
}

TEST_CASE("both derivatives of decompositions are those of differences", "[linalg][gradient]") {
  for (const OperationRow& row : parts_rows) check_both_derivatives(row);
}
