#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra of tensors on a GPU, by a library: factors multiply to the matrix and solutions solve, by products in
// float64 on the host, or closed formulas. Single matrices and stacks, small enough for batched calls and not; both
// element types, none of them; errors, gradients, recorded graphs and streams side by side.

#include <tests/gpu/matrix_stacks.hpp>
#include <tests/support/suite.hpp>

#include <twill/compile/function.hpp>
#include <twill/expr.hpp>
#include <twill/linalg.hpp>
#include <twill/linalg/cuda/matrices.cuh>
#include <twill/memory/gpu/capture.hpp>
#include <twill/memory/gpu/stream.hpp>
#include <twill/tensor/random.hpp>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <source_location>
#include <string>
#include <type_traits>
#include <vector>

namespace twill::test { namespace linalg_suite {

using namespace matrix_stacks;
using Stack = StackOf<double>;
using graph::Value;

template <class T> void factor_is_right(std::int64_t count, std::int64_t n) {
  const Stack a = some_definite<T>(count, n);
  const Stack l = read(linalg::cholesky(on_device<T>(a)));
  for (std::int64_t matrix = 0; matrix < count; ++matrix)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = i + 1; j < n; ++j) require_equal(l.at(matrix, i, j), 0.0);
  require_near(product(l, turned(l)), a, error_of<T>);
}
inline void cholesky_factors_are_right() {
  factor_is_right<float>(1, 1);
  factor_is_right<float>(1, 37);
  factor_is_right<float>(4, 5);
  factor_is_right<double>(3, 7);
  // more rows than two matrices are batched for
  const Stack l = read(linalg::cholesky(on_device<double>(second_differences(2, 131))));
  const Stack wanted = stack_of(2, 131, 131, [](auto, auto i, auto j) {
    const auto row = static_cast<double>(i);
    return i == j ? std::sqrt((row + 2) / (row + 1)) : i == j + 1 ? -std::sqrt(row / (row + 1)) : 0.0;
  });
  require_near(l, wanted, error_of<double>);
}
const Case cholesky_case{"Cholesky factors multiply to the matrix", &cholesky_factors_are_right};

template <class T> void solution_is_right(std::int64_t count, std::int64_t n, std::int64_t k) {
  const Stack a = some<T>(count, n, n);
  const Stack x =
      stack_of(count, n, k, [](auto matrix, auto i, auto j) { return double(matrix + (i * 5 + j * 3) % 7); });
  Stack b = product(a, x);
  for (double& number : b.numbers) number = static_cast<double>(static_cast<T>(number));
  const Stack found = read(linalg::solve(on_device<T>(a), on_device<T>(b)));
  require_near(product(a, found), b, error_of<T>);
}
inline void solutions_are_right() {
  solution_is_right<float>(1, 1, 1);
  solution_is_right<float>(1, 38, 3);
  solution_is_right<float>(5, 6, 2);
  solution_is_right<double>(3, 9, 1);
  solution_is_right<double>(2, 130, 2); // more rows than two matrices are batched for
}
const Case solve_case{"solutions of stacks of equations solve them", &solutions_are_right};

inline void inverses_are_right() {
  for (const std::int64_t count : {1, 4}) {
    const Stack a = some<float>(count, 6, 6);
    const Stack inverse = read(linalg::inv(on_device<float>(a)));
    require_near(product(a, inverse), identity(count, 6), 1e-4);
  }
  const auto [sign, logabsdet] = linalg::slogdet(on_device<float>(second_differences(3, 7)));
  for (const float value : to_vector(logabsdet)) require_close(value, std::log(8.0), 1e-5);
  for (const float value : to_vector(sign)) require_equal(value, 1.0F);
  // rows in reverse order: 3 exchanges of 6 rows, and 2 of 4
  const auto reversed = [](std::int64_t n) {
    return stack_of(1, n, n, [&](auto, auto i, auto j) { return i + j == n - 1 ? -2.0 : 0.0; });
  };
  require_equal(to_vector(linalg::slogdet(on_device<float>(reversed(6))).sign)[0], -1.0F);
  require_equal(to_vector(linalg::slogdet(on_device<float>(reversed(4))).sign)[0], 1.0F);
  require_equal(
      to_vector(linalg::slogdet(on_device<float>(stack_of(1, 3, 3, [](auto, auto, auto) { return 1.0; }))).sign)[0],
      0.0F);
}
const Case inverse_case{"inverses invert, and determinants have their sign and size", &inverses_are_right};

inline void triangular_systems_are_solved() {
  for (const std::int64_t count : {1, 3}) {
    const Stack a = some_definite<float>(count, 5), b = some<float>(count, 5, 4);
    const auto given = on_device<float>(a);
    const Stack x = read(linalg::solve_triangular<linalg::UpLo::upper>(given, on_device<float>(b)));
    const Stack u =
        stack_of(count, 5, 5, [&](auto matrix, auto i, auto j) { return i <= j ? a.at(matrix, i, j) : 0.0; });
    require_near(product(u, x), b, error_of<float>);
    const Stack y = read(linalg::cholesky_solve(on_device<float>(b), linalg::cholesky(given)));
    require_near(product(a, y), b, error_of<float>);
  }
}
const Case triangular_case{"triangular systems are solved from either side", &triangular_systems_are_solved};

inline void orthonormal_factors_are_right() {
  const auto check = [](std::int64_t count, std::int64_t m, std::int64_t n) {
    const Stack a = some<float>(count, m, n);
    const auto parts = linalg::qr(on_device<float>(a));
    const Stack q = read(parts.Q), r = read(parts.R);
    require_near(product(q, r), a, error_of<float>);
    require_near(product(turned(q), q), identity(count, q.columns), error_of<float>);
    for (std::int64_t i = 0; i < r.rows; ++i)
      for (std::int64_t j = 0; j < i && j < r.columns; ++j) require_equal(r.at(count - 1, i, j), 0.0);
  };
  check(3, 7, 4);
  check(2, 4, 6);
  check(1, 5, 5);
}
const Case qr_case{"QR factors are orthonormal and triangular, of tall and of wide matrices",
                   &orthonormal_factors_are_right};

inline void eigenvectors_are_right() {
  const auto check = [](std::int64_t count, std::int64_t n) {
    const Stack a = some_definite<float>(count, n);
    const auto parts = linalg::eigh(on_device<float>(a));
    const Stack w = read(parts.values), v = read(parts.vectors);
    require_near(product(a, v), product(v, diagonal(w)), error_of<float>);
    require_near(product(turned(v), v), identity(count, n), error_of<float>);
  };
  check(1, 6);
  check(4, 5);
  check(2, 34); // more rows than are batched
  const Stack values = read(linalg::eigvalsh(on_device<float>(second_differences(2, 9))));
  const Stack wanted = stack_of(
      2, 9, 1, [](auto, auto i, auto) { return 2 - 2 * std::cos(std::numbers::pi * static_cast<double>(i + 1) / 10); });
  require_near(values, wanted, error_of<float>);
}
const Case eigh_case{"eigenvectors of symmetric matrices are multiplied by their values", &eigenvectors_are_right};

inline void singular_vectors_are_right() {
  const auto check = [](std::int64_t count, std::int64_t m, std::int64_t n) {
    const Stack a = some<float>(count, m, n);
    const auto parts = linalg::svd(on_device<float>(a));
    const Stack u = read(parts.U), s = read(parts.S), vh = read(parts.Vh);
    require_near(product(product(u, diagonal(s)), vh), a, error_of<float>);
    require_near(product(turned(u), u), identity(count, s.rows), error_of<float>);
    require_near(product(vh, turned(vh)), identity(count, s.rows), error_of<float>);
    for (std::int64_t i = 1; i < s.rows; ++i) require(s.at(count - 1, i, 0) <= s.at(count - 1, i - 1, 0));
  };
  check(3, 7, 4);
  check(3, 4, 7);
  check(1, 5, 3);
  check(2, 35, 6); // more rows than are batched
  check(2, 6, 35);
}
const Case svd_case{"singular vectors are orthonormal, and their products are the matrix", &singular_vectors_are_right};

inline void least_squares_are_solved() {
  const Stack a = some<float>(3, 8, 3), b = some<float>(3, 8, 2);
  const auto found = linalg::lstsq(on_device<float>(a), on_device<float>(b));
  const Stack x = read(found.solution);
  require_near(product(turned(a), product(a, x)), product(turned(a), b), 1e-4);
  for (const std::int64_t rank : to_vector(found.rank)) require_equal(rank, std::int64_t{3});
}
const Case least_squares_case{"solutions of least squares have residuals orthogonal to the columns",
                              &least_squares_are_solved};

/// Generators of rotations by t in the plane of the axes 0 and 2, with -t along axis 1; and their exponentials.
inline Stack generators(const std::vector<double>& t) {
  return stack_of(std::ssize(t), 3, 3, [&](auto matrix, auto i, auto j) {
    const double by = t[static_cast<std::size_t>(matrix)];
    return (i == 1 && j == 1) || (i == 0 && j == 2) ? -by : i == 2 && j == 0 ? by : 0.0;
  });
}
inline Stack rotations(const std::vector<double>& t) {
  return stack_of(std::ssize(t), 3, 3, [&](auto matrix, auto i, auto j) {
    const double by = t[static_cast<std::size_t>(matrix)];
    if (i == 1 || j == 1) return i == j ? std::exp(-by) : 0.0;
    return i == j ? std::cos(by) : i == 0 ? -std::sin(by) : std::sin(by);
  });
}
inline void exponentials_are_right() {
  const std::vector<double> angles{0.25, 3, 40, 6}; // halved three times the third one, once the last one
  require_near(read(linalg::matrix_exp(on_device<double>(generators(angles)))), rotations(angles), 1e-13);
  require_near(read(linalg::matrix_exp(on_device<float>(generators({9})))), rotations({9}), 1e-5);
  // the gradient of the trace is the transposed exponential
  const auto gradient = grad([](Value x) { return graph::sum(linalg::diagonal_of(linalg::matrix_exp(x))); })(
      on_device<double>(generators({0.5, 8})).reshape<Shape<2, 3, 3>>());
  require_near(read(gradient), turned(rotations({0.5, 8})), 1e-13);
}
const Case exponential_case{"exponentials of generators are rotations, each halved as often as its norm asks for",
                            &exponentials_are_right};

template <class X> std::vector<Number> numbers_of(const X& x) {
  std::vector<Number> numbers;
  for (const auto& value : to_vector(x)) numbers.emplace_back(number_of(value));
  return numbers;
}
template <class T> void eigenpairs_are_right(std::int64_t count, std::int64_t n) {
  const auto matrices = on_device<T>(some<T>(count, n, n));
  const auto [values, vectors] = linalg::eig(matrices);
  require(values.shape() == Dims(count, n) && vectors.shape() == Dims(count, n, n));
  const std::vector<Number> a = numbers_of(matrices), w = numbers_of(values), v = numbers_of(vectors);
  const std::vector<Number> alone = numbers_of(linalg::eigvals(matrices));
  const double error = static_cast<double>(n) * error_of<real_t<T>>;
  for (std::int64_t matrix = 0; matrix < count; ++matrix) {
    const auto at = [&](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>((matrix * n + i) * n + j); };
    Number trace = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const auto of_j = static_cast<std::size_t>(matrix * n + j);
      double square = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        Number rest = -w[of_j] * v[at(i, j)];
        for (std::int64_t k = 0; k < n; ++k) rest += a[at(i, k)] * v[at(k, j)];
        require_close(std::abs(rest), 0, 0, error);
        square += std::norm(v[at(i, j)]);
      }
      require_close(square, 1, error);
      trace += a[at(j, j)] - alone[of_j];
    }
    require_close(std::abs(trace), 0, 0, error);
  }
}
inline void general_eigenvectors_are_right() {
  eigenpairs_are_right<float>(3, 6);
  eigenpairs_are_right<complex128>(2, 4);
  eigenpairs_are_right<float>(1, 1);
  const std::vector<Number> roots = numbers_of(linalg::eigvals(on_device<float>(
      stack_of(1, 4, 4, [](auto, auto i, auto j) { return (i + 1) % 4 == j ? 1.0 : 0.0; })))); // 1, i, -1, -i
  Number all = 1, squares = 0;
  for (const Number& root : roots) {
    require_close(std::abs(root), 1, 1e-5);
    all *= root;
    squares += root * root;
  }
  require_close(std::abs(all + 1.0), 0, 0, 1e-5);
  require_close(std::abs(squares), 0, 0, 1e-5);
  Stack broken = some<float>(3, 4, 4);
  broken.at(1, 2, 3) = std::numeric_limits<double>::quiet_NaN();
  require_throws<LinAlgError>([&] { static_cast<void>(linalg::eigvals(on_device<float>(broken))); },
                              "eigvals: matrix 1 of 3 has an element that is not finite");
}
const Case eig_case{"eigenvectors of general matrices, real and complex, are multiplied by their values",
                    &general_eigenvectors_are_right};

inline void failures_name_the_matrix() {
  Stack a = some_definite<float>(4, 5);
  a.at(2, 2, 2) = a.at(3, 0, 0) = -1;
  require_throws<LinAlgError>(
      [&] { static_cast<void>(linalg::cholesky(on_device<float>(a))); },
      "cholesky: matrix 2 of 4 is not positive definite: its leading minor of order 3 is not positive");
  require_throws<LinAlgError>(
      [&] {
        static_cast<void>(linalg::cholesky(on_device<float>(stack_of(1, 2, 2, [](auto, auto, auto) { return 1.0; }))));
      },
      "cholesky: the matrix is not positive definite: its leading minor of order 2 is not positive");
  Stack b = second_differences(3, 4);
  for (std::int64_t j = 0; j < 4; ++j) b.at(1, 2, j) = 0;
  require_throws<LinAlgError>([&] { static_cast<void>(linalg::inv(on_device<float>(b))); },
                              "inv: matrix 1 of 3 is singular: pivot 3 is zero");
  require_throws<LinAlgError>(
      [&] { static_cast<void>(linalg::solve(on_device<float>(b), on_device<float>(some<float>(3, 4, 2)))); },
      "solve: matrix 1 of 3 is singular: pivot 3 is zero");
  require_near(read(linalg::cholesky(on_device<float>(identity(2, 3)))), identity(2, 3), 0); // the device goes on
}
const Case failures_case{"matrices that a function cannot take are named, with their number in the stack",
                         &failures_name_the_matrix};

inline void failures_are_reported() {
  Stack a = some_definite<float>(4, 5);
  a.at(2, 2, 2) = -1;
  const auto factors = linalg::cholesky_ex(on_device<float>(a));
  require(to_vector(factors.info) == std::vector<std::int32_t>{0, 0, 3, 0});
  require_close(read(factors.result).at(3, 0, 0), std::sqrt(a.at(3, 0, 0)), 1e-6);
  Stack b = second_differences(3, 4);
  for (std::int64_t j = 0; j < 4; ++j) b.at(1, 2, j) = 0;
  const auto inverses = linalg::inv_ex(on_device<float>(b));
  require(to_vector(inverses.info) == std::vector<std::int32_t>{0, 4, 0});
  require_close(read(inverses.result).at(2, 0, 0), 0.8, 1e-5);
  const Tensor<float, D, Cube> none(D{0}, Dims(2, 0, 0));
  require(to_vector(linalg::cholesky_ex(none).info) == std::vector<std::int32_t>{0, 0});
  require(to_vector(linalg::inv_ex(none).info) == std::vector<std::int32_t>{0, 0});
}
const Case reports_case{"functions that are asked report the info of each matrix instead", &failures_are_reported};

inline void nothing_is_computed_of_no_matrices() {
  require_empty_results<float>();
  for (const Dims shape : {Dims(0, 3, 3), Dims(2, 0, 0)})
    require(linalg::eig(Tensor<float, D, Cube>(D{0}, shape)).vectors.shape() == shape);
  for (const float sign : to_vector(linalg::slogdet(Tensor<float, D, Cube>(D{0}, Dims(2, 0, 0))).sign))
    require_equal(sign, 1.0F);
}
const Case none_case{"stacks of no matrices and matrices of no rows have results of their shape",
                     &nothing_is_computed_of_no_matrices};

inline void gradients_are_right() {
  const Stack a = some_definite<float>(2, 4);
  const auto gradient =
      grad([](Value x) { return graph::sum(linalg::slogdet(x).logabsdet); })(on_device<float>(a)); // inv(A)^T
  require_near(product(turned(a), read(gradient)), identity(2, 4), 1e-4);
}
const Case gradient_case{"gradients go through solvers on the device", &gradients_are_right};

inline void graphs_refuse_by_name() {
  const auto a = on_device<float>(identity(1, 3));
  static_cast<void>(linalg::cholesky(a));
  const auto graph = gpu::capture(D{0}, [&] { static_cast<void>(linalg::cholesky(a)); });
  require(!graph);
  require(graph.reason().find("cholesky: this thread records a graph") != std::string::npos);
}
const Case graphs_case{"a recorded graph cannot hold a decomposition, and says which", &graphs_refuse_by_name};

inline void streams_have_handles() {
  const gpu::Stream<D> sides[] = {gpu::Stream<D>{D{0}}, gpu::Stream<D>{D{0}}};
  const Stack a = some_definite<float>(2, 5);
  std::vector<Tensor<float, D, Cube>> factors;
  for (int round = 0; round < 3; ++round)
    for (const auto& side : sides) {
      const StreamGuard<D> guard{D{0}, side.handle()};
      factors.push_back(linalg::cholesky(on_device<float>(a)));
    }
  synchronize(D{0});
  for (const auto& factor : factors) {
    const Stack l = read(factor);
    require_near(product(l, turned(l)), a, error_of<float>);
  }
  const auto handles = [&](const auto& side) { return nvidia::cusolver_of(0, side.handle()).solver; };
  require(handles(sides[0]) != handles(sides[1]));
}
const Case streams_case{"each stream has handles of its own", &streams_have_handles};

inline void failures_of_the_library_are_named() {
  require_throws<GpuError>(
      [] {
        launch(D{0}, [](const auto& queue) {
          const nvidia::Cusolver<float> library(queue, "cholesky", 1, 2, 2);
          library.potrf(-1, nullptr, nullptr, 0, nullptr);
        });
      },
      "potrf on cuda:0: CUSOLVER_STATUS_INVALID_VALUE (3); cholesky of 1 matrix of 2 x 2 float32");
}
const Case library_case{"a failure of the library names its call and the matrices", &failures_of_the_library_are_named};

}} // namespace twill::test::linalg_suite
