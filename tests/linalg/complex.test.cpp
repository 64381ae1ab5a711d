// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra of complex matrices by its definitions, as tests/linalg/decompositions.test.cpp has it of real ones: factors
// multiply to the matrix, solutions solve, over stacks, views, both element types, shapes of any proportion and none.

#include <twill/linalg.hpp>
#include <twill/twill.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace {

using namespace twill;
using linalg::MatrixNorm;
using linalg::UpLo;

template <class T> constexpr double complex_tolerance = 200 * double{std::numeric_limits<real_t<T>>::epsilon()};

/// The largest difference of two tensors.
template <class A, class B> double complex_distance(const A& a, const B& b) {
  const auto left = to_vector(a);
  const auto right = to_vector(b);
  REQUIRE(left.size() == right.size());
  double largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const complex128 difference = complex128(left[i]) - complex128(right[i]);
    const double size = std::hypot(difference.re, difference.im);
    if (!(size <= largest)) largest = size;
  }
  return largest;
}

/// Matrices of complex normal numbers.
template <class T, class S> auto complex_matrices(const Dims& shape, unsigned seed = 7) {
  std::mt19937 generator(seed);
  std::normal_distribution<real_t<T>> draw;
  std::vector<T> numbers(static_cast<std::size_t>(shape.elements()));
  for (T& number : numbers) number = {draw(generator), draw(generator)};
  return from_values<S>(numbers, shape, Cpu{0});
}

/// The conjugate transpose, in memory.
template <class X> auto adjoint(const X& x) { return eval(conj(x.template transpose<-2, -1>())); }

template <class X> auto complex_identity(const X& like) {
  auto one = zeros_like(like);
  const std::int64_t n = like.shape()[like.shape().rank - 1];
  for (std::int64_t i = 0; i < like.shape().elements(); ++i)
    one.data()[i] = static_cast<real_t<typename X::value_type>>(i % (n * n) % (n + 1) == 0);
  return one;
}

template <class T, class S> void check_complex_factors(const Dims& shape) {
  const auto x = complex_matrices<T, S>(shape);
  const auto [q, r] = linalg::qr(x);
  CHECK(complex_distance(eval(matmul(q, r)), x) < complex_tolerance<T>);
  CHECK(complex_distance(r, triu(r)) == 0);
  const auto products = eval(matmul(adjoint(q), q));
  CHECK(complex_distance(products, complex_identity(products)) < complex_tolerance<T>);
  const auto [u, s, vh] = linalg::svd(x);
  static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(s)>::value_type, real_t<T>>);
  CHECK(complex_distance(eval(matmul(eval(u * s.template unsqueeze<1>()), vh)), x) < complex_tolerance<T>);
  const auto columns = eval(matmul(adjoint(u), u));
  const auto rows = eval(matmul(vh, adjoint(vh)));
  CHECK(complex_distance(columns, complex_identity(columns)) < complex_tolerance<T>);
  CHECK(complex_distance(rows, complex_identity(rows)) < complex_tolerance<T>);
  CHECK(complex_distance(linalg::svdvals(x), s) < complex_tolerance<T>);
  const auto inverse = linalg::pinv(x);
  const auto left = eval(matmul(x, inverse));
  const auto right = eval(matmul(inverse, x));
  CHECK(complex_distance(eval(matmul(left, x)), x) < 10 * complex_tolerance<T>);
  CHECK(complex_distance(eval(matmul(right, inverse)), inverse) < 10 * complex_tolerance<T>);
  CHECK(complex_distance(adjoint(left), left) < 10 * complex_tolerance<T>);
  CHECK(complex_distance(adjoint(right), right) < 10 * complex_tolerance<T>);
}

} // namespace

TEMPLATE_TEST_CASE("solutions of complex systems solve", "[linalg]", complex64, complex128) {
  using T = TestType;
  const auto a = complex_matrices<T, Shape<dyn, dyn, dyn>>(Dims(3, 17, 17));
  const auto b = complex_matrices<T, Shape<dyn, dyn, dyn>>(Dims(3, 17, 5), 8);
  CHECK(complex_distance(eval(matmul(a, linalg::solve(a, b))), b) < 40 * complex_tolerance<T>);
  CHECK(complex_distance(eval(matmul(a, linalg::inv(a))), complex_identity(a)) < 40 * complex_tolerance<T>);

  const auto one = complex_matrices<T, Shape<4, 4>>(Dims(4, 4));
  const auto vector = complex_matrices<T, Shape<4>>(Dims(4), 9);
  const auto x = linalg::solve(one, vector);
  static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(x)>::shape_type, Shape<4>>);
  CHECK(complex_distance(eval(matmul(one, x)), vector) < complex_tolerance<T>);
  CHECK(complex_distance(linalg::solve(one.transpose(), vector), linalg::solve(one.transpose().contiguous(), vector)) ==
        0);
  CHECK(complex_distance(linalg::solve(one + one, vector), eval(x * real_t<T>{0.5})) < complex_tolerance<T>);
  const auto real_side = real(vector).contiguous(); // real operands beside complex ones
  CHECK(complex_distance(eval(matmul(one, linalg::solve(one, real_side))), real_side) < complex_tolerance<T>);
  const auto real_matrix = real(one).contiguous();
  CHECK(complex_distance(eval(matmul(real_matrix.template to<T>(), linalg::solve(real_matrix, vector))), vector) <
        complex_tolerance<T>);

  const auto sides = complex_matrices<T, Shape<3, 4, 2>>(Dims(3, 4, 2), 10); // one matrix for all of a stack
  const auto solved = linalg::solve(one, sides);
  REQUIRE(solved.shape() == Dims(3, 4, 2));
  for (int i = 0; i < 3; ++i)
    CHECK(complex_distance(eval(matmul(one, solved(i).contiguous())), sides(i)) < complex_tolerance<T>);

  const auto upper = triu(one);
  CHECK(complex_distance(eval(matmul(upper, linalg::solve_triangular<UpLo::upper>(one, vector))), vector) <
        4 * complex_tolerance<T>);
  const auto products = eval(matmul(one, adjoint(one)));
  const auto l = linalg::cholesky(products);
  CHECK(complex_distance(eval(matmul(l, adjoint(l))), products) < complex_tolerance<T>);
  CHECK(complex_distance(l, tril(l)) == 0);
  CHECK(complex_distance(linalg::cholesky_solve(vector, l), linalg::solve(products, vector)) <
        400 * complex_tolerance<T>);
}

TEMPLATE_TEST_CASE("factors of complex matrices multiply to the matrix", "[linalg]", complex64, complex128) {
  using T = TestType;
  check_complex_factors<T, Shape<2, 9, 4>>(Dims(2, 9, 4));
  check_complex_factors<T, Shape<2, 4, 9>>(Dims(2, 4, 9));
  check_complex_factors<T, Shape<3, 1, 1>>(Dims(3, 1, 1));
  check_complex_factors<T, Shape<dyn, dyn, dyn>>(Dims(2, 33, 20));
  check_complex_factors<T, Shape<dyn, dyn, dyn>>(Dims(2, 20, 33));
  check_complex_factors<T, Shape<dyn, dyn, dyn>>(Dims(0, 4, 4));
  const auto lu = linalg::lu_factor(complex_matrices<T, Shape<5, 5>>(Dims(5, 5)));
  const auto a = complex_matrices<T, Shape<5, 5>>(Dims(5, 5));
  auto rows = a.clone();
  for (std::int64_t i = 0; i < 5; ++i) {
    const auto other = static_cast<std::int64_t>(lu.pivots.data()[i]);
    for (std::int64_t j = 0; j < 5; ++j) std::swap(rows.data()[i * 5 + j], rows.data()[other * 5 + j]);
  }
  const auto lower = eval(tril(lu.factors, -1) + complex_identity(a));
  CHECK(complex_distance(eval(matmul(lower, triu(lu.factors))), rows) < complex_tolerance<T>);
}

TEMPLATE_TEST_CASE("eigenvectors of Hermitian matrices keep their direction", "[linalg]", complex64, complex128) {
  using T = TestType;
  const auto x = complex_matrices<T, Shape<3, 20, 20>>(Dims(3, 20, 20));
  const auto a = eval(x + adjoint(x));
  const auto [values, vectors] = linalg::eigh(a);
  static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(values)>::value_type, real_t<T>>);
  CHECK(complex_distance(eval(matmul(a, vectors)), eval(vectors * values.template unsqueeze<1>())) <
        20 * complex_tolerance<T>);
  const auto products = eval(matmul(adjoint(vectors), vectors));
  CHECK(complex_distance(products, complex_identity(products)) < complex_tolerance<T>);
  CHECK(complex_distance(linalg::eigvalsh(a), values) < 20 * complex_tolerance<T>);
  CHECK(complex_distance(linalg::eigvalsh(tril(a)), values) < 20 * complex_tolerance<T>); // of one triangle
  CHECK(complex_distance(linalg::eigvalsh<UpLo::upper>(triu(a)), values) < 20 * complex_tolerance<T>);
  for (std::int64_t i = 1; i < 20; ++i) CHECK(values.data()[i] >= values.data()[i - 1]);
}

TEST_CASE("determinants, ranks, norms and functions of complex matrices", "[linalg]") {
  using Z = complex128;
  const auto near = [](double value) { return Approx(value).epsilon(1e-13); };
  const auto a = from_values<Shape<2, 2>>(std::vector<Z>{{1, 2}, {3, -1}, {0, 4}, {2, 2}}, Dims(2, 2), Cpu{0});
  const Z det = Z{1, 2} * Z{2, 2} - Z{3, -1} * Z{0, 4}; // -6 - 6i
  const Z found = linalg::det(a).item();
  CHECK(found.re == near(det.re));
  CHECK(found.im == near(det.im));
  const auto [sign, logabsdet] = linalg::slogdet(a);
  CHECK(sign.item().re == near(-std::sqrt(0.5)));
  CHECK(sign.item().im == near(-std::sqrt(0.5)));
  CHECK(logabsdet.item() == near(std::log(std::hypot(det.re, det.im))));
  const auto singular = from_values<Shape<2, 2>>(std::vector<Z>{{1, 1}, {2, 0}, {0, 2}, {2, 2}}, Dims(2, 2), Cpu{0});
  CHECK(linalg::det(singular).item() == Z{});
  CHECK(linalg::slogdet(singular).sign.item() == Z{});
  CHECK(linalg::matrix_rank(singular).item() == 1);
  CHECK(linalg::matrix_rank(a).item() == 2);
  CHECK(linalg::matrix_norm(a).item() == near(std::sqrt(39)));
  CHECK(linalg::matrix_norm<MatrixNorm::largest_column>(a).item() == near(std::sqrt(5) + 4));
  CHECK(linalg::matrix_norm<MatrixNorm::smallest_column>(a).item() == near(std::sqrt(10) + std::sqrt(8)));
  CHECK(linalg::matrix_norm<MatrixNorm::largest_row>(a).item() == near(4 + std::sqrt(8)));
  CHECK(linalg::matrix_norm<MatrixNorm::smallest_row>(a).item() == near(std::sqrt(5) + std::sqrt(10)));
  const double spectral = linalg::matrix_norm<MatrixNorm::spectral>(a).item();
  const double smallest = linalg::matrix_norm<MatrixNorm::smallest>(a).item();
  CHECK(linalg::matrix_norm<MatrixNorm::nuclear>(a).item() == near(spectral + smallest));
  CHECK(spectral * smallest == near(std::hypot(det.re, det.im)));
  CHECK(linalg::cond(a).item() == near(spectral / smallest));
  CHECK(linalg::cond<MatrixNorm::smallest>(a).item() == near(smallest / spectral));
  CHECK(linalg::cond<MatrixNorm::frobenius>(a).item() == near(39 / std::hypot(det.re, det.im)));
  CHECK(linalg::matrix_rank(a, {.atol = (spectral + smallest) / 2}).item() == 1);
  CHECK(linalg::matrix_rank(a, {.rtol = 0}).item() == 2);
  CHECK(linalg::matrix_norm(linalg::pinv(a, {.atol = (spectral + smallest) / 2})).item() == near(1 / spectral));
  const auto cube = eval(matmul(eval(matmul(a, a)), a));
  CHECK(complex_distance(linalg::matrix_power<3>(a), cube) < 1e-13);
  CHECK(complex_distance(linalg::matrix_power<-2>(a), linalg::inv(eval(matmul(a, a)))) < 1e-13);
  CHECK(complex_distance(linalg::matrix_power<0>(a), complex_identity(a)) == 0);
  CHECK(complex_distance(eval(matmul(linalg::matrix_exp(a), linalg::matrix_exp(eval(-a)))), complex_identity(a)) <
        1e-12);
  const auto turn = from_values<Shape<1, 1>>(std::vector<Z>{{0.5, 100}}, Dims(1, 1), Cpu{0});
  CHECK(linalg::matrix_exp(turn).item().im == Approx(std::exp(0.5) * std::sin(100.0)).epsilon(1e-11));
}

TEST_CASE("complex least squares take matrices of any rank", "[linalg]") {
  using Z = complex128;
  const auto a = complex_matrices<Z, Shape<dyn, dyn>>(Dims(7, 3));
  const auto b = complex_matrices<Z, Shape<dyn, dyn>>(Dims(7, 2), 8);
  const auto found = linalg::lstsq(a, b);
  CHECK(found.rank.item() == 3);
  const auto rest = eval(matmul(a, found.solution) - b); // orthogonal to the columns
  CHECK(complex_distance(eval(matmul(adjoint(a), rest)), zeros<Z, Shape<3, 2>>()) < 1e-13);
  const auto one = eval(complex(ones<double, Shape<3, 2>>(), ones<double, Shape<3, 2>>()));
  const auto line = linalg::lstsq(one, eval(complex(ones<double, Shape<3>>(), 0.0)));
  CHECK(line.rank.item() == 1);
  CHECK(complex_distance(line.solution, full<Z, Shape<2>>(Z{0.25, -0.25})) < 1e-15); // of the least norm
}

TEST_CASE("complex matrices that a function cannot take are named, or reported", "[linalg]") {
  using Z = complex128;
  const std::vector<Z> numbers{{4, 0}, {0, -2}, {0, 2}, {5, 0}, {1, 0}, {0, -2}, {0, 2}, {4, 0}};
  const auto stack = from_values<Shape<2, 2, 2>>(numbers, Dims(2, 2, 2), Cpu{0});
  CHECK_THROWS_WITH(linalg::inv(stack), "inv: matrix 1 of 2 is singular: pivot 1 is zero");
  const auto sides = full<Z, Shape<2, 2, 1>>(Z{1, 0});
  CHECK_THROWS_AS(linalg::solve(stack, sides), LinAlgError);
  CHECK_THROWS_WITH(linalg::cholesky(stack),
                    "cholesky: matrix 1 of 2 is not positive definite: its leading minor of order 2 is not positive");
  const auto factors = linalg::cholesky_ex(stack);
  CHECK(to_vector(factors.info) == std::vector<std::int32_t>{0, 2});
  CHECK(factors.result.data()[0] == Z{2, 0});
  CHECK(factors.result.data()[2] == Z{0, 1});
  CHECK(factors.result.data()[3] == Z{2, 0});
  const auto upper = linalg::cholesky<UpLo::upper>(stack(0).contiguous());
  CHECK(upper.data()[1] == Z{0, -1});
  CHECK(upper.data()[2] == Z{0, 0});
  const auto half = linalg::cholesky_solve<UpLo::upper>(sides(0).contiguous(), upper);
  CHECK(complex_distance(eval(matmul(stack(0).contiguous(), half)), sides(0)) < 1e-15);
  const auto [x, info] = linalg::solve_ex(stack, sides);
  CHECK(to_vector(info) == std::vector<std::int32_t>{0, 2});
  CHECK(complex_distance(eval(matmul(stack(0).contiguous(), x(0).contiguous())), sides(0)) < 1e-15);
  CHECK(to_vector(linalg::inv_ex(stack).info) == std::vector<std::int32_t>{0, 2});
  CHECK(to_vector(linalg::cholesky_ex(zeros<complex64, Shape<3, 0, 0>>()).info) == std::vector<std::int32_t>{0, 0, 0});
  CHECK(linalg::det(zeros<complex64, Shape<0, 0>>()).item() == complex64{1, 0});

  const auto flat = zeros<complex64, Shape<dyn, dyn>>(Dims(2, 3));
  CHECK_THROWS_WITH(linalg::inv(flat), "inv: matrices are square; got 2 x 3");
  CHECK_THROWS_WITH(linalg::solve(stack, zeros<Z, Shape<dyn, dyn>>(Dims(3, 1))),
                    "solve: right sides have as many rows as the matrix; got 3 for 2");
}

TEMPLATE_TEST_CASE("complete bases of complex matrices are orthonormal, and factors of them too", "[linalg]", complex64,
                   complex128) {
  using T = TestType;
  const auto check = []<class X>(const X& x) {
    const auto [q, r] = linalg::qr<linalg::FullMatrices::yes>(x);
    const Dims shape = x.shape();
    const std::int64_t m = shape[shape.rank - 2], n = shape[shape.rank - 1], k = std::min(m, n);
    REQUIRE(q.shape() == linalg::detail::matrix_extents(shape, m, m));
    REQUIRE(r.shape() == shape);
    CHECK(complex_distance(eval(matmul(q, r)), x) < complex_tolerance<T>);
    CHECK(complex_distance(r, triu(r)) == 0);
    CHECK(complex_distance(narrow<-1>(q, 0, k).contiguous(), linalg::qr(x).Q) == 0);
    const auto [u, s, vh] = linalg::svd<linalg::FullMatrices::yes>(x);
    REQUIRE(u.shape() == linalg::detail::matrix_extents(shape, m, m));
    REQUIRE(vh.shape() == linalg::detail::matrix_extents(shape, n, n));
    const auto left = eval(narrow<-1>(u, 0, k) * s.template unsqueeze<X::rank - 2>());
    CHECK(complex_distance(eval(matmul(left, narrow<-2>(vh, 0, k))), x) < complex_tolerance<T>);
    static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(r)>::shape_type, typename X::shape_type>);
    const auto is_unitary = [](const auto& basis) {
      const auto products = eval(matmul(adjoint(basis), basis));
      return complex_distance(products, complex_identity(products)) < complex_tolerance<T>;
    };
    CHECK(is_unitary(q));
    CHECK(is_unitary(u));
    CHECK(is_unitary(vh));
  };
  check(complex_matrices<T, Shape<2, 9, 4>>(Dims(2, 9, 4)));
  check(complex_matrices<T, Shape<2, 4, 9>>(Dims(2, 4, 9)));
  check(complex_matrices<T, Shape<3, 1, 1>>(Dims(3, 1, 1)));
  check(complex_matrices<T, Shape<dyn, dyn>>(Dims(17, 5)));
  check(complex_matrices<T, Shape<dyn, dyn>>(Dims(5, 17)));
  check(complex_matrices<T, Shape<dyn, dyn, dyn>>(Dims(0, 4, 2)));
  const auto q = linalg::qr<linalg::FullMatrices::yes>(complex_matrices<T, Shape<9, 4>>(Dims(9, 4))).Q;
  static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(q)>::shape_type, Shape<9, 9>>);
}

TEST_CASE("cross products and powers of complex vectors", "[linalg]") {
  using Z = complex128;
  const auto a =
      from_values<Shape<2, 3>>(std::vector<Z>{{1, 2}, {0, 1}, {3, 0}, {2, -1}, {1, 1}, {0, 0}}, Dims(2, 3), Cpu{0});
  const auto b = from_values<Shape<3>>(std::vector<double>{2, 0, 1}, Dims(3), Cpu{0});
  const auto product = linalg::cross(a, b); // of real vectors too, which broadcast
  static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(product)>::shape_type, Shape<2, 3>>);
  CHECK(to_vector(product) == std::vector<Z>{{0, 1}, {5, -2}, {0, -2}, {1, 1}, {-2, 1}, {-2, -2}});
  const auto four = complex_matrices<Z, Shape<dyn>>(Dims(4));
  CHECK_THROWS_WITH(linalg::cross(four, b), "cross: vectors have three elements along the last axis; got 4");
  const auto x = from_values<Shape<2>>(std::vector<Z>{{0, 1}, {2, 1}}, Dims(2), Cpu{0});
  CHECK(to_vector(linalg::vander<4>(x)) ==
        std::vector<Z>{{0, -1}, {-1, 0}, {0, 1}, {1, 0}, {2, 11}, {3, 4}, {2, 1}, {1, 0}});
  CHECK(to_vector(linalg::vander<3, linalg::VanderOrder::increasing>(x + x)) ==
        std::vector<Z>{{1, 0}, {0, 2}, {-4, 0}, {1, 0}, {4, 2}, {12, 16}});
}
