// SPDX-License-Identifier: Apache-2.0
//
// The table of what decompositions in models are asked for beside their defaults: complete bases, upper triangles, tolerances,
// condition numbers of every order; beside textbook algorithms, with derivatives of both orders and batches by vmap. On tensors:
// tests/linalg/decompositions.test.cpp.

#include "tests/support/matrices_apart.hpp"

#include <twill/linalg/least_squares.hpp>
#include <twill/linalg/norms.hpp>
#include <twill/linalg/qr.hpp>
#include <twill/linalg/svd.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

using namespace twill;
using namespace twill::test;
using linalg::FullMatrices;
using linalg::MatrixNorm;
using linalg::UpLo;
using enum PartsExtent;

namespace {

/// The projector on the columns of an orthonormal matrix from the k-th on, or on its first k.
Value options_projector(Value q, std::int64_t k, bool is_first) {
  const std::int64_t m = q.shape()[q.rank() - 1].factor;
  const Value part = slice_axis(q, q.rank() - 1, {.begin = is_first ? 0 : k, .end = is_first ? k : m});
  return matmul(part, transpose(part));
}
std::int64_t options_smaller(Value x) {
  return std::min(linalg::rows_of(x.shape()).factor, linalg::columns_of(x.shape()).factor);
}
/// What is left of the identity beside a projector on columns.
DenseMatrix options_rest(const DenseMatrix& q) {
  const DenseMatrix on_columns = product(q, transposed(q));
  return matrix_from(q.rows, q.rows,
                     [&](std::int64_t i, std::int64_t j) { return (i == j ? 1 : 0) - on_columns(i, j); });
}

/// f of the singular values that are at least half of the largest, zero of the others.
template <class F> DenseMatrix options_of_large(const DenseMatrix& x, const F& f) {
  SingularParts parts = singular_parts(parts_apart(x));
  const double largest = parts.s.front();
  for (double& value : parts.s) value = value > 0.5 * largest ? f(value) : 0;
  return product(parts_columns_times(parts.v, parts.s), transposed(parts.u));
}

template <MatrixNorm Norm, class F> OperationRow options_cond(std::string_view name, const F&) {
  return {name, parts_squares(), [](const Value* x) { return linalg::cond<Norm>(parts_apart(x[0])); },
          [](const Arrays& x) {
            return parts_of(x, none, none, [](const DenseMatrix& each) {
              const DenseMatrix a = parts_apart(each);
              return std::vector<double>{F{}(a)*F{}(solution(a, identity_matrix(a.rows)))};
            });
          },
          RowTypes::wide};
}

const OperationRow options_rows[] = {
    {"complete qr times its parts", parts_shapes(),
     [](const Value* x) {
       const auto [q, r] = linalg::qr<FullMatrices::yes>(parts_apart(x[0]));
       return matmul(q, r);
     },
     [](const Arrays& x) { return parts_of(x, m, n, [](const DenseMatrix& a) { return parts_apart(a).elements; }); },
     RowTypes::wide},
    {"the projector on the columns that complete qr", parts_shapes(),
     [](const Value* x) {
       return options_projector(linalg::qr<FullMatrices::yes>(parts_apart(x[0])).Q, options_smaller(x[0]), false);
     },
     [](const Arrays& x) {
       return parts_of(x, m, m,
                       [](const DenseMatrix& a) { return options_rest(orthonormal_basis(parts_apart(a))).elements; });
     },
     RowTypes::wide},
    {"the projector on the first columns of complete svd's U", parts_shapes(),
     [](const Value* x) {
       return options_projector(linalg::svd<FullMatrices::yes>(parts_apart(x[0])).U, options_smaller(x[0]), true);
     },
     [](const Arrays& x) {
       return parts_of(x, m, m, [](const DenseMatrix& a) {
         const DenseMatrix u = singular_parts(parts_apart(a)).u;
         return product(u, transposed(u)).elements;
       });
     },
     RowTypes::wide},
    {"the projector on the rows that complete svd's Vh", parts_shapes(),
     [](const Value* x) {
       const Value vh = linalg::svd<FullMatrices::yes>(parts_apart(x[0])).Vh;
       return options_projector(transpose(vh), options_smaller(x[0]), false);
     },
     [](const Arrays& x) {
       return parts_of(x, n, n,
                       [](const DenseMatrix& a) { return options_rest(singular_parts(parts_apart(a)).v).elements; });
     },
     RowTypes::wide},
    {"eigh of an upper triangle",
     parts_squares(),
     [](const Value* x) {
       const auto [values, vectors] = linalg::eigh<UpLo::upper>(triu(parts_symmetric(x[0])));
       return matmul(vectors * linalg::as_row(log(values)), transpose(vectors));
     },
     [](const Arrays& x) {
       return parts_of(x, m, n, [](const DenseMatrix& a) {
         SingularParts parts = parts_eigen(a);
         for (double& value : parts.s) value = std::log(value);
         return product(parts_columns_times(parts.v, parts.s), transposed(parts.v)).elements;
       });
     },
     RowTypes::wide,
     {},
     false}, // the gradient is that of a symmetric matrix
    {"eigvalsh of an upper triangle", parts_squares(),
     [](const Value* x) { return linalg::eigvalsh<UpLo::upper>(parts_symmetric(x[0])); },
     [](const Arrays& x) { return parts_of(x, n, none, [](const DenseMatrix& a) { return parts_eigen(a).s; }); },
     RowTypes::wide},
    {"matrix_rank with a relative tolerance",
     parts_shapes(),
     [](const Value* x) { return linalg::matrix_rank(parts_apart(x[0]), {.rtol = 0.5}); },
     [](const Arrays& x) {
       return parts_of(x, none, none, [](const DenseMatrix& a) {
         const std::vector<double> s = singular_parts(parts_apart(a)).s;
         return std::vector<double>{static_cast<double>(
             std::count_if(s.begin(), s.end(), [&](double value) { return value > 0.5 * s.front(); }))};
       });
     },
     RowTypes::wide,
     {},
     false},
    {"matrix_rank with an absolute tolerance",
     parts_shapes(),
     [](const Value* x) { return linalg::matrix_rank(parts_apart(x[0]), {.atol = 4.5}); },
     [](const Arrays& x) {
       return parts_of(x, none, none, [](const DenseMatrix& a) {
         const std::vector<double> s = singular_parts(parts_apart(a)).s;
         return std::vector<double>{
             static_cast<double>(std::count_if(s.begin(), s.end(), [](double value) { return value > 4.5; }))};
       });
     },
     RowTypes::wide,
     {},
     false},
    {"pinv with a tolerance",
     parts_shapes(),
     [](const Value* x) { return linalg::pinv(parts_apart(x[0]), {.rtol = 0.5}); },
     [](const Arrays& x) {
       return parts_of(x, n, m, [](const DenseMatrix& a) {
         return options_of_large(a, [](double value) { return 1 / value; }).elements;
       });
     },
     RowTypes::wide,
     {},
     false}, // the gradient is that of a matrix whose other singular values are zero
    {"lstsq with a tolerance",
     {{Dims(4, 2), Dims(4, 3)}, {Dims(2, 3), Dims(2, 1)}, {Dims(1, 1), Dims(1, 1)}, {Dims(5, 5), Dims(5, 1)}},
     [](const Value* x) { return linalg::lstsq(parts_apart(x[0]), x[1], {.rtol = 0.5}).solution; },
     [](const Arrays& x) {
       const DenseMatrix inverse = options_of_large(matrices_of(x[0])[0], [](double value) { return 1 / value; });
       const DenseMatrix y = product(inverse, matrices_of(x[1])[0]);
       return Array{Dims(y.rows, y.columns), y.elements};
     },
     RowTypes::wide,
     {},
     false},
    {"cond -2", parts_shapes(), [](const Value* x) { return linalg::cond<MatrixNorm::smallest>(parts_apart(x[0])); },
     [](const Arrays& x) {
       return parts_of(x, none, none, [](const DenseMatrix& a) {
         const std::vector<double> s = singular_parts(parts_apart(a)).s;
         return std::vector<double>{s.back() / s.front()};
       });
     },
     RowTypes::wide},
    options_cond<MatrixNorm::frobenius>(
        "cond fro", [](const DenseMatrix& a) { return std::sqrt(parts_sum(parts_squared(a).elements)); }),
    options_cond<MatrixNorm::nuclear>("cond nuc", [](const DenseMatrix& a) { return parts_sum(singular_parts(a).s); }),
    options_cond<MatrixNorm::largest_column>("cond 1", [](const DenseMatrix& a) { return parts_column_sum(a, true); }),
    options_cond<MatrixNorm::smallest_column>("cond -1",
                                              [](const DenseMatrix& a) { return parts_column_sum(a, false); }),
    options_cond<MatrixNorm::largest_row>("cond inf",
                                          [](const DenseMatrix& a) { return parts_column_sum(transposed(a), true); }),
    options_cond<MatrixNorm::smallest_row>("cond -inf",
                                           [](const DenseMatrix& a) { return parts_column_sum(transposed(a), false); }),
};

} // namespace

TEST_CASE("options of decompositions in models agree with textbook algorithms", "[linalg]") {
  for (const OperationRow& row : options_rows) check_forward(row);
}

TEST_CASE("both derivatives of options of decompositions are those of differences", "[linalg][gradient]") {
  for (const OperationRow& row : options_rows) check_both_derivatives(row);
}
