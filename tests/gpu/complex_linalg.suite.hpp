#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra of complex tensors on a GPU, by a library: factors multiply to the matrix and solutions solve, by products
// in complex128 on the host, or closed formulas. Single matrices and stacks, small enough for batched calls and not; both
// element types, none of them; errors and reports. Eigenvectors of general matrices are in tests/gpu/linalg.suite.hpp.

#include <tests/gpu/matrix_stacks.hpp>
#include <tests/support/suite.hpp>

#include <twill/expr.hpp>
#include <twill/linalg.hpp>
#include <twill/linalg/cuda/matrices.cuh>
#include <twill/memory/gpu/capture.hpp>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill::test { namespace complex_linalg_suite {

using namespace matrix_stacks;
using linalg::MatrixNorm;
using linalg::UpLo;

template <class N> StackOf<N> lower_part(const StackOf<N>& x, std::int64_t offset = 0) {
  return stack_of(x.count, x.rows, x.columns,
                  [&](auto matrix, auto i, auto j) { return j <= i + offset ? x.at(matrix, i, j) : N{0}; });
}
/// Matrices whose other triangle would be noticed: it holds NaN.
template <class N> StackOf<N> with_lower_part_alone(const StackOf<N>& x) {
  return stack_of(x.count, x.rows, x.columns, [&](auto matrix, auto i, auto j) {
    return j <= i ? x.at(matrix, i, j) : N{std::numeric_limits<double>::quiet_NaN()};
  });
}
template <class N> StackOf<N> with_upper_part_alone(const StackOf<N>& x) {
  return turned(with_lower_part_alone(turned(x)));
}

template <class T> void factor_is_right(std::int64_t count, std::int64_t n) {
  const auto a = some_definite<T>(count, n);
  const auto l = read(linalg::cholesky(on_device<T>(with_lower_part_alone(a))));
  require_near(l, lower_part(l), 0);
  require_near(product(l, turned(l)), a, error_of<T>);
  const auto u = read(linalg::cholesky<UpLo::upper>(on_device<T>(with_upper_part_alone(a))));
  require_near(turned(u), l, error_of<T>);
}
inline void cholesky_factors_are_right() {
  factor_is_right<complex64>(1, 1);
  factor_is_right<complex64>(1, 37);
  factor_is_right<complex64>(4, 5);
  factor_is_right<complex128>(3, 7);
  factor_is_right<complex128>(2, 130); // more rows than two matrices are batched for
  const auto l = read(linalg::cholesky(on_device<complex128>(stack_of(
      1, 2, 2, [](auto, auto i, auto j) { return i == j ? Number(4.0 + double(i)) : Number(0, i > j ? 2 : -2); }))));
  require_near(
      l, stack_of(1, 2, 2, [](auto, auto i, auto j) { return i == j  ? Number(2)
                                                             : i > j ? Number(0, 1)
                                                                     : Number(0); }),
      1e-15);
}
const Case cholesky_case{"Cholesky factors of Hermitian matrices multiply to the matrix, whichever triangle is read",
                         &cholesky_factors_are_right};

template <class T> void solution_is_right(std::int64_t count, std::int64_t n, std::int64_t k) {
  const auto a = some<T>(count, n, n);
  const auto b = some<T>(count, n, k);
  const double error = static_cast<double>(n) * error_of<T>;
  const auto x = read(linalg::solve(on_device<T>(a), on_device<T>(b)));
  require_near(product(a, x), b, error);
  const auto [y, info] = linalg::solve_ex(on_device<T>(a), on_device<T>(b));
  require_near(read(y), x, 0);
  for (const std::int32_t of_matrix : to_vector(info)) require_equal(of_matrix, std::int32_t{0});
}
inline void solutions_are_right() {
  solution_is_right<complex64>(1, 1, 1);
  solution_is_right<complex64>(1, 38, 3);
  solution_is_right<complex64>(5, 6, 2);
  solution_is_right<complex128>(3, 9, 1);
  solution_is_right<complex128>(2, 130, 2); // more rows than two matrices are batched for
  const auto a = some<complex128>(1, 4, 4);
  const auto reals = some<double>(3, 4, 2); // one matrix for a stack of real right sides
  const auto x = read(linalg::solve(on_device<complex128>(a), on_device<double>(reals)));
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto of_side = [&](const auto& sides) {
      return stack_of(1, 4, 2, [&](auto, auto row, auto column) { return sides.at(i, row, column); });
    };
    require_near(product(a, of_side(x)), of_side(reals), 1e-12);
  }
}
const Case solve_case{"solutions of complex systems solve them, of real right sides too", &solutions_are_right};

inline void inverses_are_right() {
  for (const std::int64_t count : {1, 4}) {
    const auto a = some<complex128>(count, 6, 6);
    const auto inverse = read(linalg::inv(on_device<complex128>(a)));
    require_near(product(a, inverse), identity(count, 6), 1e-11);
    require_near(read(linalg::matrix_power<-2>(on_device<complex128>(a))), product(inverse, inverse), 1e-10);
    require_near(read(linalg::matrix_power<3>(on_device<complex128>(a))), product(a, product(a, a)), 1e-12);
    require_near(read(linalg::matrix_power<0>(on_device<complex128>(a))), identity(count, 6), 0);
  }
  // a triangular matrix with i + 1 on its diagonal, its rows in reverse order: 3 exchanges
  const auto matrix = stack_of(2, 6, 6, [](auto number, auto i, auto j) {
    return i + j < 5 ? Number(0) : i + j == 5 ? Number(1, 1) : Number(0.25, double(number));
  });
  const auto [sign, logabsdet] = linalg::slogdet(on_device<complex64>(matrix)); // -(1 + i)^6 = 8i
  for (const float value : to_vector(logabsdet)) require_close(value, std::log(8.0), 1e-5);
  for (const complex64& value : to_vector(sign)) require_close(std::abs(number_of(value) - Number(0, 1)), 0, 0, 1e-6);
  for (const complex64& value : to_vector(linalg::det(on_device<complex64>(matrix))))
    require_close(std::abs(number_of(value) - Number(0, 8)), 0, 0, 1e-5);
  for (const std::int64_t n : {33, 64}) { // (1 + i)^n, by rows of an odd and an even length
    const auto turns = linalg::slogdet(on_device<complex64>(scaled_identity(2, n, Number(1, 1))));
    for (const float value : to_vector(turns.logabsdet)) require_close(value, double(n) * std::log(2.0) / 2, 1e-5);
    for (const complex64& value : to_vector(turns.sign))
      require_close(std::abs(number_of(value) - std::polar(1.0, double(n) * std::atan(1.0))), 0, 0, 1e-5);
  }
  const auto a = some<complex64>(3, 5, 5);
  const auto lu = linalg::lu_factor(on_device<complex64>(a));
  const auto factors = read(lu.factors);
  auto rows = a;
  const auto pivots = to_vector(lu.pivots);
  for (std::int64_t number = 0; number < 3; ++number)
    for (std::int64_t i = 0; i < 5; ++i)
      for (std::int64_t j = 0; j < 5; ++j)
        std::swap(rows.at(number, i, j), rows.at(number, pivots[static_cast<std::size_t>(number * 5 + i)], j));
  auto lower = lower_part(factors, -1);
  for (std::int64_t number = 0; number < 3; ++number)
    for (std::int64_t i = 0; i < 5; ++i) lower.at(number, i, i) = 1;
  const auto upper =
      stack_of(3, 5, 5, [&](auto number, auto i, auto j) { return i <= j ? factors.at(number, i, j) : Number(0); });
  require_near(product(lower, upper), rows, error_of<complex64>);
}
const Case inverse_case{"inverses, powers, determinants and LU factors of complex matrices", &inverses_are_right};

template <class T> void triangles_are_right(std::int64_t count) {
  using linalg::Diagonal;
  const auto a = some_definite<T>(count, 5);
  const auto b = some<T>(count, 5, 4);
  const auto given = on_device<T>(a), sides = on_device<T>(b);
  const auto lower = lower_part(a), upper = turned(lower);
  require_near(product(lower, read(linalg::solve_triangular(given, sides))), b, error_of<T>);
  require_near(product(upper, read(linalg::solve_triangular<UpLo::upper>(given, sides))), b, error_of<T>);
  const auto small = stack_of(count, 5, 5, [&](auto matrix, auto i, auto j) { return a.at(matrix, i, j) / 16.0; });
  auto ones = lower_part(small, -1);
  for (std::int64_t matrix = 0; matrix < count; ++matrix)
    for (std::int64_t i = 0; i < 5; ++i) ones.at(matrix, i, i) = 1;
  const auto x = read(linalg::solve_triangular<UpLo::lower, Diagonal::ones>(on_device<T>(small), sides));
  require_near(product(ones, x), b, 10 * error_of<T>);
  const auto y = read(linalg::cholesky_solve(sides, linalg::cholesky(given)));
  require_near(product(a, y), b, 10 * error_of<T>);
  const auto z = read(linalg::cholesky_solve<UpLo::upper>(sides, linalg::cholesky<UpLo::upper>(given)));
  require_near(product(a, z), b, 10 * error_of<T>);
}
inline void triangular_systems_are_solved() {
  triangles_are_right<complex64>(1);
  triangles_are_right<complex64>(3);
  triangles_are_right<complex128>(3);
}
const Case triangular_case{"complex triangular systems are solved from either side", &triangular_systems_are_solved};

template <class T> void orthonormal_factors_are_right(std::int64_t count, std::int64_t m, std::int64_t n) {
  const auto a = some<T>(count, m, n);
  const auto parts = linalg::qr(on_device<T>(a));
  const auto q = read(parts.Q), r = read(parts.R);
  require_near(product(q, r), a, error_of<T>);
  require_near(product(turned(q), q), identity(count, q.columns), error_of<T>);
  for (std::int64_t i = 0; i < r.rows; ++i)
    for (std::int64_t j = 0; j < i && j < r.columns; ++j) require(r.at(count - 1, i, j) == Number(0));
}
inline void qr_is_right() {
  orthonormal_factors_are_right<complex64>(3, 7, 4);
  orthonormal_factors_are_right<complex128>(2, 4, 6);
  orthonormal_factors_are_right<complex128>(1, 5, 5);
}
const Case qr_case{"QR factors of complex matrices are orthonormal and triangular", &qr_is_right};

template <class T> void eigenvectors_are_right(std::int64_t count, std::int64_t n) {
  const auto a = some_definite<T>(count, n);
  const auto parts = linalg::eigh(on_device<T>(with_lower_part_alone(a)));
  static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(parts.values)>::value_type, real_t<T>>);
  const auto w = read(parts.values);
  const auto v = read(parts.vectors);
  require_near(product(a, v), product(v, diagonal(w)), error_of<T>);
  require_near(product(turned(v), v), identity(count, n), error_of<T>);
  for (std::int64_t i = 1; i < n; ++i) require(w.at(count - 1, i, 0) >= w.at(count - 1, i - 1, 0));
  require_near(read(linalg::eigvalsh<UpLo::upper>(on_device<T>(with_upper_part_alone(a)))), w, error_of<T>);
}
inline void eigh_is_right() {
  eigenvectors_are_right<complex64>(1, 6);
  eigenvectors_are_right<complex64>(4, 5);
  eigenvectors_are_right<complex128>(2, 34); // more rows than are batched
}
const Case eigh_case{"eigenvectors of Hermitian matrices are multiplied by their values", &eigh_is_right};

template <class T> void singular_vectors_are_right(std::int64_t count, std::int64_t m, std::int64_t n) {
  const auto a = some<T>(count, m, n);
  const auto given = on_device<T>(a);
  const auto parts = linalg::svd(given);
  static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(parts.S)>::value_type, real_t<T>>);
  const auto u = read(parts.U), vh = read(parts.Vh);
  const auto s = read(parts.S);
  require_near(product(product(u, diagonal(s)), vh), a, error_of<T>);
  require_near(product(turned(u), u), identity(count, s.rows), error_of<T>);
  require_near(product(vh, turned(vh)), identity(count, s.rows), error_of<T>);
  for (std::int64_t i = 1; i < s.rows; ++i) require(s.at(count - 1, i, 0) <= s.at(count - 1, i - 1, 0));
  require_near(read(linalg::svdvals(given)), s, error_of<T>);
  const auto inverse = read(linalg::pinv(given)); // by Penrose's four equations
  const auto left = product(a, inverse), right = product(inverse, a);
  require_near(product(left, a), a, 10 * error_of<T>);
  require_near(product(right, inverse), inverse, 10 * error_of<T>);
  require_near(turned(left), left, 10 * error_of<T>);
  require_near(turned(right), right, 10 * error_of<T>);
}
inline void svd_is_right() {
  singular_vectors_are_right<complex64>(3, 7, 4);
  singular_vectors_are_right<complex64>(3, 4, 7);
  singular_vectors_are_right<complex128>(1, 5, 3);
  singular_vectors_are_right<complex128>(2, 35, 6); // more rows than are batched
  singular_vectors_are_right<complex128>(2, 6, 35);
}
const Case svd_case{"singular vectors of complex matrices are orthonormal, and pseudo-inverses are Penrose's",
                    &svd_is_right};

inline void least_squares_are_solved() {
  const auto a = some<complex64>(3, 8, 3), b = some<complex64>(3, 8, 2);
  const auto found = linalg::lstsq(on_device<complex64>(a), on_device<complex64>(b));
  const auto x = read(found.solution);
  require_near(product(turned(a), product(a, x)), product(turned(a), b), 1e-4);
  for (const std::int64_t rank : to_vector(found.rank)) require_equal(rank, std::int64_t{3});
  // singular values 4, 2 and 1/2, of which a tolerance takes some
  const auto values = stack_of(1, 3, 3, [](auto, auto i, auto j) {
    return i != j ? Number(0) : i == 0 ? Number(0, 4) : i == 1 ? Number(2) : Number(0, -0.5);
  });
  const auto given = on_device<complex128>(values);
  const auto rank_of = [&](const linalg::Tolerance& tolerance) {
    return to_vector(linalg::matrix_rank(given, tolerance))[0];
  };
  require_equal(to_vector(linalg::matrix_rank(given))[0], std::int64_t{3});
  require_equal(rank_of({.atol = 1}), std::int64_t{2});
  require_equal(rank_of({.rtol = 0.6}), std::int64_t{1});
  require_equal(rank_of({.atol = 0.1, .rtol = 0.2}), std::int64_t{2});
  const auto inverse = read(linalg::pinv(given, {.atol = 1}));
  require_near(inverse,
               stack_of(1, 3, 3,
                        [](auto, auto i, auto j) {
                          return i != j || i == 2 ? Number(0) : i == 0 ? Number(0, -0.25) : Number(0.5);
                        }),
               1e-14);
  for (const std::int64_t n : {33, 64}) {
    const auto half = stack_of(2, n, n, [&](auto, auto i, auto j) {
      return i != j ? Number(0) : i % 2 == 0 ? Number(0, 2) : Number(1e-3);
    });
    for (const std::int64_t rank : to_vector(linalg::matrix_rank(on_device<complex128>(half), {.rtol = 0.1})))
      require_equal(rank, (n + 1) / 2);
    require_near(
        read(linalg::pinv(on_device<complex128>(half), {.rtol = 0.1})),
        stack_of(2, n, n, [](auto, auto i, auto j) { return i == j && i % 2 == 0 ? Number(0, -0.5) : Number(0); }),
        1e-13);
  }
  const auto side = stack_of(1, 3, 1, [](auto, auto, auto) { return Number(1); });
  const auto line = linalg::lstsq(given, on_device<complex128>(side), {.rtol = 0.6});
  require_equal(to_vector(line.rank)[0], std::int64_t{1});
  require_near(read(line.solution),
               product(inverse, stack_of(1, 3, 1, [](auto, auto i, auto) { return i == 0 ? Number(1) : Number(0); })),
               1e-14);
}
const Case least_squares_case{"complex least squares, ranks and pseudo-inverses take a tolerance",
                              &least_squares_are_solved};

/// exp(z [0 1; 1 0]) = [cosh z, sinh z; sinh z, cosh z]
template <class T> void exponentials_of_swaps(const std::vector<Number>& z, double error) {
  const auto count = static_cast<std::int64_t>(z.size());
  const auto of = [&](std::int64_t matrix) { return z[static_cast<std::size_t>(matrix)]; };
  const auto given =
      stack_of(count, 2, 2, [&](auto matrix, auto i, auto j) { return i == j ? Number(0) : of(matrix); });
  const auto wanted = stack_of(
      count, 2, 2, [&](auto matrix, auto i, auto j) { return i == j ? std::cosh(of(matrix)) : std::sinh(of(matrix)); });
  require_near(read(linalg::matrix_exp(on_device<T>(given))), wanted, error);
}
inline void exponentials_are_right() {
  exponentials_of_swaps<complex128>({{0.25, 0.5}, {0, 3}, {0.5, -40}, {3, 4}}, 1e-13); // some halved, one three times
  exponentials_of_swaps<complex64>({{0, 9}}, 1e-5);
  const auto a = some<complex128>(3, 6, 6);
  const auto minus = stack_of(3, 6, 6, [&](auto matrix, auto i, auto j) { return -a.at(matrix, i, j); });
  const auto forth = read(linalg::matrix_exp(on_device<complex128>(a)));
  const auto back = read(linalg::matrix_exp(on_device<complex128>(minus)));
  require_near(product(forth, back), identity(3, 6), 1e-9);
}
const Case exponential_case{"exponentials of complex matrices, each halved as often as its norm asks for",
                            &exponentials_are_right};

inline void norms_are_right() {
  using enum MatrixNorm;
  const std::vector<Number> numbers{{1, 2}, {3, -1}, {0, 4}, {2, 2}}; // the determinant is -6 - 6i
  const auto a = on_device<complex128>(
      stack_of(2, 2, 2, [&](auto, auto i, auto j) { return numbers[static_cast<std::size_t>(2 * i + j)]; }));
  const auto both = [](const auto& found, double wanted) {
    static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(found)>::value_type, double>);
    for (const double value : to_vector(found)) require_close(value, wanted, 1e-13);
  };
  const double det = std::hypot(6.0, 6.0);
  // s1^2 + s2^2 = 39 and s1 s2 = |det|
  const double sum = std::sqrt(39 + 2 * det), difference = std::sqrt(39 - 2 * det);
  const double most = (sum + difference) / 2, least = (sum - difference) / 2;
  both(linalg::matrix_norm(a), std::sqrt(39.0));
  both(linalg::matrix_norm<nuclear>(a), sum);
  both(linalg::matrix_norm<spectral>(a), most);
  both(linalg::matrix_norm<smallest>(a), least);
  both(linalg::matrix_norm<largest_column>(a), std::sqrt(5.0) + 4);
  both(linalg::matrix_norm<smallest_column>(a), std::sqrt(10.0) + std::sqrt(8.0));
  both(linalg::matrix_norm<largest_row>(a), 4 + std::sqrt(8.0));
  both(linalg::matrix_norm<smallest_row>(a), std::sqrt(5.0) + std::sqrt(10.0));
  both(linalg::cond(a), most / least);
  both(linalg::cond<smallest>(a), least / most);
  both(linalg::cond<frobenius>(a), 39 / det);
  both(linalg::cond<nuclear>(a), sum * sum / det);
  both(linalg::cond<largest_column>(a), (std::sqrt(5.0) + 4) * (std::sqrt(8.0) + 4) / det);
  for (const std::int64_t n : {33, 64}) {
    const auto many = on_device<complex128>(scaled_identity(2, n, Number(0, -2)));
    require_norms_of_twos(both, many, n);
  }
}
const Case norm_case{"norms and condition numbers of complex matrices are real", &norms_are_right};

inline void failures_are_named_and_reported() {
  auto a = some_definite<complex64>(4, 5);
  a.at(2, 2, 2) = -1;
  const auto given = on_device<complex64>(a);
  require_throws<LinAlgError>(
      [&] { static_cast<void>(linalg::cholesky(given)); },
      "cholesky: matrix 2 of 4 is not positive definite: its leading minor of order 3 is not positive");
  require(to_vector(linalg::cholesky_ex(given).info) == std::vector<std::int32_t>{0, 0, 3, 0});
  auto b = some<complex128>(3, 4, 4);
  for (std::int64_t i = 0; i < 4; ++i) b.at(1, i, 1) = 0;
  const auto matrices = on_device<complex128>(b);
  require_throws<LinAlgError>([&] { static_cast<void>(linalg::inv(matrices)); },
                              "inv: matrix 1 of 3 is singular: pivot 1 is zero");
  require_throws<LinAlgError>(
      [&] { static_cast<void>(linalg::solve(matrices, on_device<complex128>(some<complex128>(3, 4, 2)))); },
      "solve: matrix 1 of 3 is singular: pivot 1 is zero");
  require(to_vector(linalg::inv_ex(matrices).info) == std::vector<std::int32_t>{0, 2, 0});
  require_throws<ShapeError>([&] { static_cast<void>(linalg::inv(on_device<complex64>(some<complex64>(1, 2, 3)))); },
                             "inv: matrices are square; got 2 x 3");
  const auto graph = gpu::capture(D{0}, [&] { static_cast<void>(linalg::cholesky(given)); });
  require(!graph);
}
const Case failures_case{"complex matrices that a function cannot take are named, or reported",
                         &failures_are_named_and_reported};

inline void nothing_is_computed_of_no_matrices() {
  require_empty_results<complex64>();
  const Tensor<complex64, D, Cube> none(D{0}, Dims(2, 0, 0));
  for (const complex64& value : to_vector(linalg::det(none))) require(value == complex64{1, 0});
  require(to_vector(linalg::cholesky_ex(none).info) == std::vector<std::int32_t>{0, 0});
}
const Case none_case{"stacks of no complex matrices and matrices of no rows have results of their shape",
                     &nothing_is_computed_of_no_matrices};

}} // namespace twill::test::complex_linalg_suite
