#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What functions of linear algebra are asked for beside their defaults, on a GPU, of real tensors: complete bases, the other
// triangle, tolerances, norms and condition numbers of every order. Those of complex tensors are in
// tests/gpu/complex_linalg.suite.hpp.

#include <tests/gpu/matrix_stacks.hpp>
#include <tests/support/suite.hpp>

#include <twill/expr.hpp>
#include <twill/linalg.hpp>
#include <twill/linalg/cuda/matrices.cuh>

#include <cmath>
#include <cstdint>
#include <limits>

namespace twill::test { namespace linalg_options_suite {

using namespace matrix_stacks;
using linalg::Diagonal;
using linalg::FullMatrices;
using linalg::MatrixNorm;
using linalg::UpLo;

/// The first columns of matrices.
inline StackOf<double> columns_of(const StackOf<double>& x, std::int64_t count) {
  return stack_of(x.count, x.rows, count, [&](auto matrix, auto i, auto j) { return x.at(matrix, i, j); });
}

inline void bases_are_complete() {
  const auto check = [](std::int64_t count, std::int64_t m, std::int64_t n) {
    const auto a = some<double>(count, m, n);
    const auto given = on_device<double>(a);
    const auto factors = linalg::qr<FullMatrices::yes>(given);
    const auto q = read(factors.Q), r = read(factors.R);
    require_near(product(q, r), a, error_of<double>);
    require_near(product(turned(q), q), identity(count, m), error_of<double>);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < i && j < n; ++j) require_equal(r.at(count - 1, i, j), 0.0);
    const auto parts = linalg::svd<FullMatrices::yes>(given);
    const auto u = read(parts.U), s = read(parts.S), vh = read(parts.Vh);
    require_near(product(turned(u), u), identity(count, m), error_of<double>);
    require_near(product(vh, turned(vh)), identity(count, n), error_of<double>);
    const auto right = turned(columns_of(turned(vh), s.rows));
    require_near(product(product(columns_of(u, s.rows), diagonal(s)), right), a, error_of<double>);
  };
  check(3, 7, 4);
  check(2, 4, 6);
  check(1, 5, 5);
  check(2, 35, 3); // more rows than are batched
}
const Case basis_case{"complete bases of QR and singular value decompositions are orthonormal and square",
                      &bases_are_complete};

/// Of matrices whose other part holds NaN.
inline void triangles_are_chosen() {
  for (const std::int64_t count : {1, 3}) {
    const auto a = some_definite<float>(count, 6), b = some<float>(count, 6, 2);
    const auto upper = on_device<float>(stack_of(count, 6, 6, [&](auto matrix, auto i, auto j) {
      return i <= j ? a.at(matrix, i, j) : std::numeric_limits<double>::quiet_NaN();
    }));
    const auto factor = linalg::cholesky<UpLo::upper>(upper);
    const auto u = read(factor);
    require_near(product(turned(u), u), a, error_of<float>);
    for (std::int64_t i = 0; i < 6; ++i)
      for (std::int64_t j = 0; j < i; ++j) require_equal(u.at(count - 1, i, j), 0.0);
    const auto x = read(linalg::cholesky_solve<UpLo::upper>(on_device<float>(b), factor));
    require_near(product(a, x), b, 10 * error_of<float>);
    const auto [values, vectors] = linalg::eigh<UpLo::upper>(upper);
    const auto w = read(values), v = read(vectors);
    require_near(product(a, v), product(v, diagonal(w)), error_of<float>);
    require_near(read(linalg::eigvalsh<UpLo::upper>(upper)), w, error_of<float>);
    const auto ones = stack_of(count, 6, 6, [&](auto matrix, auto i, auto j) {
      return i == j ? 1.0 : i > j ? a.at(matrix, i, j) / 16 : 0.0;
    });
    auto given = ones;
    for (std::int64_t i = 0; i < 6; ++i) given.at(count - 1, i, i) = std::numeric_limits<double>::quiet_NaN();
    const auto y =
        read(linalg::solve_triangular<UpLo::lower, Diagonal::ones>(on_device<float>(given), on_device<float>(b)));
    require_near(product(ones, y), b, 10 * error_of<float>);
  }
}
const Case triangle_case{"Cholesky factors, eigenvectors and systems read the triangle that they are told",
                         &triangles_are_chosen};

inline void tolerances_are_taken() {
  // singular values 4, 2 and 1/2, columns in another order
  const auto values = stack_of(2, 4, 3, [](auto, auto i, auto j) {
    return i == 0 && j == 2 ? -4.0 : i == 1 && j == 0 ? 2.0 : i == 3 && j == 1 ? 0.5 : 0.0;
  });
  const auto given = on_device<double>(values);
  const auto ranks = [&](const linalg::Tolerance& tolerance, std::int64_t wanted) {
    for (const std::int64_t rank : to_vector(linalg::matrix_rank(given, tolerance))) require_equal(rank, wanted);
  };
  for (const std::int64_t rank : to_vector(linalg::matrix_rank(given))) require_equal(rank, std::int64_t{3});
  ranks({.atol = 1}, 2);
  ranks({.rtol = 0.6}, 1);
  ranks({.atol = 0.1, .rtol = 0.2}, 2);
  const auto inverse = stack_of(2, 3, 4, [](auto, auto i, auto j) {
    return i == 2 && j == 0 ? -0.25 : i == 0 && j == 1 ? 0.5 : 0.0;
  });
  require_near(read(linalg::pinv(given, {.atol = 1})), inverse, 1e-14);
  const auto found = linalg::lstsq(
      given, on_device<double>(stack_of(2, 4, 1, [](auto, auto i, auto) { return static_cast<double>(i + 1); })),
      {.rtol = 0.3});
  require_near(read(found.solution),
               stack_of(2, 3, 1, [](auto, auto i, auto) { return i == 0   ? 1.0
                                                                 : i == 2 ? -0.25
                                                                          : 0.0; }), 1e-14);
  for (const std::int64_t rank : to_vector(found.rank)) require_equal(rank, std::int64_t{2});
  for (const std::int64_t n : {33, 64}) { // rows of an odd and an even length
    const auto half = on_device<double>(stack_of(2, n, n, [&](auto, auto i, auto j) {
      return i != j ? 0.0 : i % 2 == 0 ? -2.0 : 1e-3;
    }));
    for (const std::int64_t rank : to_vector(linalg::matrix_rank(half))) require_equal(rank, n);
    for (const std::int64_t rank : to_vector(linalg::matrix_rank(half, {.rtol = 0.1})))
      require_equal(rank, (n + 1) / 2);
    const auto of_half = stack_of(2, n, n, [](auto, auto i, auto j) { return i == j && i % 2 == 0 ? -0.5 : 0.0; });
    require_near(read(linalg::pinv(half, {.rtol = 0.1})), of_half, 1e-13);
    const auto solved = linalg::lstsq(half, on_device<double>(identity(2, n)), {.atol = 0.1});
    require_near(read(solved.solution), of_half, 1e-13);
  }
}
const Case tolerance_case{"ranks, pseudo-inverses and least squares count the singular values beyond a tolerance",
                          &tolerances_are_taken};

inline void norms_are_of_their_order() {
  using enum MatrixNorm;
  const double numbers[] = {1, 2, 3, -4}; // its inverse is [4 2; 3 -1] / 10
  const auto a = on_device<double>(stack_of(2, 2, 2, [&](auto, auto i, auto j) { return numbers[2 * i + j]; }));
  const auto both = [](const auto& found, double wanted) {
    for (const double value : to_vector(found)) require_close(value, wanted, 1e-13);
  };
  const double sum = std::sqrt(30.0 + 2 * 10), difference = std::sqrt(30.0 - 2 * 10); // of both singular values
  const double most = (sum + difference) / 2, least = (sum - difference) / 2;
  both(linalg::matrix_norm(a), std::sqrt(30.0));
  both(linalg::matrix_norm<nuclear>(a), sum);
  both(linalg::matrix_norm<spectral>(a), most);
  both(linalg::matrix_norm<smallest>(a), least);
  both(linalg::matrix_norm<largest_column>(a), 6);
  both(linalg::matrix_norm<smallest_column>(a), 4);
  both(linalg::matrix_norm<largest_row>(a), 7);
  both(linalg::matrix_norm<smallest_row>(a), 3);
  both(linalg::cond(a), most / least);
  both(linalg::cond<smallest>(a), least / most);
  both(linalg::cond<frobenius>(a), 3);
  both(linalg::cond<nuclear>(a), sum * sum / 10);
  both(linalg::cond<largest_column>(a), 6 * 0.7);
  both(linalg::cond<smallest_column>(a), 4 * 0.3);
  both(linalg::cond<largest_row>(a), 7 * 0.6);
  both(linalg::cond<smallest_row>(a), 3 * 0.4);
  const auto singular = on_device<double>(stack_of(2, 2, 2, [](auto, auto, auto) { return 1.0; }));
  both(linalg::cond<frobenius>(singular), std::numeric_limits<double>::infinity());
  for (const std::int64_t n : {33, 64}) { // rows of an odd and an even length
    const auto many = on_device<double>(scaled_identity(2, n, -2.0));
    const auto count = static_cast<double>(n);
    require_norms_of_twos(both, many, n);
    both(linalg::cond<frobenius>(many), count);
    both(linalg::cond<nuclear>(many), count * count);
    both(linalg::cond<largest_column>(many), 1);
    both(linalg::cond<smallest_row>(many), 1);
  }
}
const Case norm_case{"norms and condition numbers are of the order that they are told", &norms_are_of_their_order};

}} // namespace twill::test::linalg_options_suite
