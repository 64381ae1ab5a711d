// SPDX-License-Identifier: Apache-2.0
//
// Decompositions and solvers by their definitions: factors multiply to the matrix, solutions solve, over stacks, views,
// both element types, shapes of any proportion and none.

#include <twill/linalg.hpp>
#include <twill/twill.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace twill;
using linalg::MatrixNorm;
using linalg::UpLo;

template <class T> constexpr double tolerance = 200 * double{std::numeric_limits<T>::epsilon()};

/// The largest difference of two tensors.
template <class A, class B> double distance(const A& a, const B& b) {
  const auto left = to_vector(a);
  const auto right = to_vector(b);
  REQUIRE(left.size() == right.size());
  double largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double difference = std::abs(static_cast<double>(left[i]) - static_cast<double>(right[i]));
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

/// Matrices of normal numbers.
template <class T, class S> auto matrices(const Dims& shape) {
  manual_seed_all(7);
  return Tensor<T, Cpu, S>(randn<T, S>(shape, Cpu{0}));
}

/// Swaps the last two axes, in memory.
template <class X> auto turned(const X& x) { return x.template transpose<-2, -1>().contiguous(); }

template <class X> auto identity(const X& like) {
  auto one = zeros_like(like);
  const std::int64_t n = like.shape()[like.shape().rank - 1];
  for (std::int64_t i = 0; i < like.shape().elements(); ++i)
    one.data()[i] = static_cast<typename X::value_type>(i % (n * n) % (n + 1) == 0);
  return one;
}

} // namespace

TEMPLATE_TEST_CASE("solutions solve", "[linalg]", float, double) {
  using T = TestType;
  const auto a = matrices<T, Shape<dyn, dyn, dyn>>(Dims(3, 17, 17));
  const auto b = matrices<T, Shape<dyn, dyn, dyn>>(Dims(3, 17, 5));
  CHECK(distance(eval(matmul(a, linalg::solve(a, b))), b) < 40 * tolerance<T>);
  CHECK(distance(eval(matmul(a, linalg::inv(a))), identity(a)) < 40 * tolerance<T>);

  const auto one = matrices<T, Shape<4, 4>>(Dims(4, 4));
  const auto vector = matrices<T, Shape<4>>(Dims(4));
  CHECK(distance(eval(matmul(one, linalg::solve(one, vector))), vector) < tolerance<T>);
  CHECK(distance(linalg::solve(one.transpose(), vector), linalg::solve(turned(one), vector)) == 0);
  CHECK(distance(linalg::solve(one + one, vector), eval(linalg::solve(one, vector) * T{0.5})) < tolerance<T>);

  const auto sides = matrices<T, Shape<3, 4, 2>>(Dims(3, 4, 2)); // one matrix for all of a stack
  const auto solved = linalg::solve(one, sides);
  REQUIRE(solved.shape() == Dims(3, 4, 2));
  for (int i = 0; i < 3; ++i) CHECK(distance(eval(matmul(one, solved(i).contiguous())), sides(i)) < tolerance<T>);

  const auto upper = triu(one);
  CHECK(distance(eval(matmul(upper, linalg::solve_triangular<UpLo::upper>(one, vector))), vector) < 4 * tolerance<T>);
  const auto products = eval(matmul(one, turned(one)));
  const auto l = linalg::cholesky(products);
  CHECK(distance(eval(matmul(l, turned(l))), products) < tolerance<T>);
  CHECK(distance(linalg::cholesky_solve(vector, l), linalg::solve(products, vector)) < 40 * tolerance<T>);
}

namespace {

template <class T, class S> void check_factors(const Dims& shape) {
  const auto x = matrices<T, S>(shape);
  const auto [q, r] = linalg::qr(x);
  CHECK(distance(eval(matmul(q, r)), x) < tolerance<T>);
  CHECK(distance(r, triu(r)) == 0);
  const auto products = eval(matmul(turned(q), q));
  CHECK(distance(products, identity(products)) < tolerance<T>);
  const auto [u, s, vh] = linalg::svd(x);
  CHECK(distance(eval(matmul(u * s.template unsqueeze<1>(), vh)), x) < tolerance<T>);
  CHECK(distance(linalg::svdvals(x), s) < tolerance<T>);
  const auto inverse = linalg::pinv(x);
  CHECK(distance(eval(matmul(matmul(x, inverse), x)), x) < 10 * tolerance<T>);
  CHECK(distance(eval(matmul(matmul(inverse, x), inverse)), inverse) < 10 * tolerance<T>);
}

} // namespace

TEMPLATE_TEST_CASE("factors multiply to the matrix", "[linalg]", float, double) {
  using T = TestType;
  check_factors<T, Shape<2, 9, 4>>(Dims(2, 9, 4));
  check_factors<T, Shape<2, 4, 9>>(Dims(2, 4, 9));
  check_factors<T, Shape<dyn, 5, 5>>(Dims(1, 5, 5));
  check_factors<T, Shape<3, 1, 1>>(Dims(3, 1, 1));
  check_factors<T, Shape<dyn, dyn, dyn>>(Dims(2, 33, 20)); // which is the smaller is found at run time
  check_factors<T, Shape<dyn, dyn, dyn>>(Dims(2, 20, 33));
  check_factors<T, Shape<dyn, dyn, dyn>>(Dims(0, 4, 4));
}

TEMPLATE_TEST_CASE("eigenvectors keep their direction", "[linalg]", float, double) {
  using T = TestType;
  const auto x = matrices<T, Shape<3, 20, 20>>(Dims(3, 20, 20));
  const auto a = eval(x + turned(x));
  const auto [values, vectors] = linalg::eigh(a);
  CHECK(distance(eval(matmul(a, vectors)), eval(vectors * values.template unsqueeze<1>())) < 20 * tolerance<T>);
  CHECK(distance(linalg::eigvalsh(a), values) < 20 * tolerance<T>);
  for (std::int64_t i = 1; i < 20; ++i) CHECK(values.data()[i] >= values.data()[i - 1]);
}

TEST_CASE("determinants, ranks, norms and functions of matrices are those of NumPy", "[linalg]") {
  const auto a = from_values<Shape<3, 3>>(std::vector<double>{4, 1, 2, 1, 5, 3, 2, 0, 7}, Dims(3, 3), Cpu{0});
  const auto near = [](double value) { return Approx(value).epsilon(1e-13); };
  CHECK(linalg::det(a).item() == near(119));
  CHECK(linalg::det(eval(-a)).item() == near(-119));
  CHECK(linalg::slogdet(eval(-a)).sign.item() == -1);
  CHECK(linalg::slogdet(a).logabsdet.item() == near(std::log(119)));
  const auto singular = from_values<Shape<2, 2>>(std::vector<double>{1, 2, 2, 4}, Dims(2, 2), Cpu{0});
  CHECK(linalg::det(singular).item() == 0);
  CHECK(linalg::slogdet(singular).sign.item() == 0);
  CHECK_THROWS_AS(grad([](graph::Value x) { return linalg::det(x); })(singular), LinAlgError);
  CHECK(linalg::matrix_rank(singular).item() == 1);
  CHECK(linalg::matrix_rank(a).item() == 3);
  CHECK(linalg::matrix_norm(a).item() == near(std::sqrt(109)));
  CHECK(linalg::matrix_norm<MatrixNorm::largest_column>(a).item() == 12);
  CHECK(linalg::matrix_norm<MatrixNorm::smallest_column>(a).item() == 6);
  CHECK(linalg::matrix_norm<MatrixNorm::largest_row>(a).item() == 9);
  CHECK(linalg::matrix_norm<MatrixNorm::smallest_row>(a).item() == 7);
  CHECK(linalg::matrix_norm<MatrixNorm::spectral>(a).item() / linalg::matrix_norm<MatrixNorm::smallest>(a).item() ==
        near(linalg::cond(a).item()));
  CHECK(
      distance(linalg::matrix_power<5>(a),
               from_values<Shape<3, 3>>(std::vector<double>{9361, 3491, 19015, 13805, 5976, 29382, 13858, 3438, 28429},
                                        Dims(3, 3), Cpu{0})) == 0);
  CHECK(distance(linalg::matrix_power<0>(a), identity(a)) == 0);
  CHECK(distance(eval(matmul(linalg::matrix_exp(a), linalg::matrix_exp(eval(-a)))), identity(a)) < 1e-8); // e^20
  const auto turn = from_values<Shape<2, 2>>(std::vector<double>{0, -100, 100, 0}, Dims(2, 2), Cpu{0});
  CHECK(linalg::matrix_exp(turn).data()[1] == Approx(-std::sin(100.0)).epsilon(1e-11));
  const auto x = from_values<Shape<3>>(std::vector<double>{1, 2, 3}, Dims(3), Cpu{0});
  CHECK(distance(linalg::vander<3>(x),
                 from_values<Shape<3, 3>>(std::vector<double>{1, 1, 1, 4, 2, 1, 9, 3, 1}, Dims(3, 3), Cpu{0})) == 0);
  CHECK(distance(linalg::cross(a, x), from_values<Shape<3, 3>>(std::vector<double>{-1, -10, 7, 9, 0, -3, -14, 1, 4},
                                                               Dims(3, 3), Cpu{0})) == 0);
}

TEST_CASE("least squares take matrices of any rank", "[linalg]") {
  const auto a = from_values<Shape<3, 2>>(std::vector<double>{1, 2, 2, 4, 3, 6}, Dims(3, 2), Cpu{0});
  const auto b = from_values<Shape<3>>(std::vector<double>{1, 2, 4}, Dims(3), Cpu{0});
  const auto found = linalg::lstsq(a, b);
  CHECK(found.rank.item() == 1);
  CHECK(found.solution.data()[0] == Approx(17.0 / 70)); // NumPy's, of the least norm
  CHECK(found.solution.data()[1] == Approx(34.0 / 70));
}

TEST_CASE("decompositions take matrices of which one extent is known", "[linalg]") {
  const auto b = from_values<Shape<3>>(std::vector<double>{1, 2, 4}, Dims(3), Cpu{0});
  for (const std::int64_t columns : {2, 5}) { // tall, then wide
    const auto known = matrices<double, Shape<dyn, dyn>>(Dims(3, columns));
    const Tensor<double, Cpu, Shape<3, dyn>> rows(known);
    const auto expected = linalg::lstsq(known, from_values(std::vector<double>{1, 2, 4}, Cpu{0}));
    const auto found = linalg::lstsq(known, b); // rows of B that the compiler knows, of A that it does not
    STATIC_REQUIRE(std::same_as<decltype(found.singular_values)::shape_type, Shape<dyn>>);
    CHECK(to_vector(found.solution) == to_vector(expected.solution));
    CHECK(found.rank.item() == expected.rank.item());
    CHECK(to_vector(linalg::lstsq(known, b, {.rtol = 0.0}).solution) == to_vector(expected.solution));
    CHECK(to_vector(linalg::lstsq(rows, b).singular_values) == to_vector(expected.singular_values));
    const auto [q, r] = linalg::qr(rows);
    STATIC_REQUIRE(std::same_as<decltype(q)::shape_type, Shape<3, dyn>>);
    CHECK(q.shape() == Dims(3, std::min<std::int64_t>(columns, 3)));
    CHECK(distance(eval(matmul(q, r)), known) < tolerance<double>);
    CHECK(to_vector(linalg::svdvals(rows)) == to_vector(linalg::svdvals(known)));
    CHECK(to_vector(linalg::pinv(rows)) == to_vector(linalg::pinv(known)));
  }
}

TEMPLATE_TEST_CASE("bases are completed where a program asks for it", "[linalg]", float, double) {
  using T = TestType;
  using linalg::FullMatrices;
  const auto is_orthonormal = [](const auto& q) {
    return distance(eval(matmul(turned(q), q)), identity(q)) < tolerance<T>;
  };
  for (const auto& shape : {Dims(2, 9, 4), Dims(2, 4, 9), Dims(1, 5, 5), Dims(0, 3, 2), Dims(2, 3, 1)}) {
    const auto x = matrices<T, Shape<dyn, dyn, dyn>>(shape);
    const auto [q, r] = linalg::qr<FullMatrices::yes>(x);
    REQUIRE(q.shape() == Dims(shape[0], shape[1], shape[1]));
    REQUIRE(r.shape() == shape);
    CHECK(distance(eval(matmul(q, r)), x) < tolerance<T>);
    CHECK(distance(r, triu(r)) == 0);
    CHECK(is_orthonormal(q));
    const auto [u, s, vh] = linalg::svd<FullMatrices::yes>(x);
    REQUIRE(u.shape() == Dims(shape[0], shape[1], shape[1]));
    REQUIRE(vh.shape() == Dims(shape[0], shape[2], shape[2]));
    CHECK(is_orthonormal(u));
    CHECK(is_orthonormal(vh));
    auto diagonal = zeros<T, Shape<dyn, dyn, dyn>>(shape);
    const std::int64_t k = std::min(shape[1], shape[2]);
    for (std::int64_t i = 0; i < shape[0] * k; ++i)
      diagonal.data()[(i / k * shape[1] + i % k) * shape[2] + i % k] = s.data()[i];
    CHECK(distance(eval(matmul(matmul(u, diagonal), vh)), x) < tolerance<T>);
  }
}

TEST_CASE("functions read the triangle, the tolerance and the order that they are given", "[linalg]") {
  const auto a = from_values<Shape<2, 2>>(std::vector<double>{4, 2, -100, 5}, Dims(2, 2), Cpu{0});
  const auto u = linalg::cholesky<UpLo::upper>(a); // of 4 2, 2 5
  CHECK(to_vector(u) == std::vector<double>{2, 1, 0, 2});
  CHECK(to_vector(linalg::cholesky_ex<UpLo::upper>(a).result) == std::vector<double>{2, 1, 0, 2});
  const auto b = from_values<Shape<2>>(std::vector<double>{8, 12}, Dims(2), Cpu{0});
  CHECK(to_vector(linalg::cholesky_solve<UpLo::upper>(b, u)) == std::vector<double>{1, 2});
  CHECK(linalg::eigvalsh<UpLo::upper>(a).data()[0] == Approx(4.5 - std::sqrt(4.25)));
  CHECK(linalg::eigh<UpLo::upper>(a).values.data()[1] == Approx(4.5 + std::sqrt(4.25)));

  const auto steps = from_values<Shape<dyn, dyn>>(std::vector<double>{8, 0, 0, 0, 2, 0}, Dims(2, 3), Cpu{0});
  CHECK(linalg::matrix_rank(steps).item() == 2);
  CHECK(linalg::matrix_rank(steps, {.rtol = 0.5}).item() == 1);
  CHECK(linalg::matrix_rank(steps, {.atol = 2.5}).item() == 1);
  CHECK(linalg::matrix_rank(steps, {.atol = 2.5, .rtol = 0.1}).item() == 1);
  CHECK(linalg::matrix_rank(steps * 0, {.atol = 1}).item() == 0);
  CHECK(to_vector(linalg::pinv(steps)) == std::vector<double>{0.125, 0, 0, 0.5, 0, 0});
  CHECK(to_vector(linalg::pinv(steps + 0, {.rtol = 0.5})) == std::vector<double>{0.125, 0, 0, 0, 0, 0});
  const auto found = linalg::lstsq(steps, from_values(std::vector<double>{8, 12}, Cpu{0}), {.rtol = 0.5});
  CHECK(found.rank.item() == 1);
  CHECK(to_vector(found.solution) == std::vector<double>{1, 0, 0});
  CHECK(linalg::matrix_norm<MatrixNorm::nuclear>(steps).item() == Approx(10));

  const auto c = from_values<Shape<dyn, dyn>>(std::vector<double>{1, 2, 3, 4}, Dims(2, 2), Cpu{0});
  CHECK(linalg::cond(c).item() == Approx(14.933034373659));
  CHECK(linalg::cond<MatrixNorm::smallest>(c).item() == Approx(1 / 14.933034373659));
  CHECK(linalg::cond<MatrixNorm::frobenius>(c).item() == Approx(15));
  CHECK(linalg::cond<MatrixNorm::nuclear>(c).item() == Approx(17));
  CHECK(linalg::cond<MatrixNorm::largest_column>(c).item() == Approx(21));
  CHECK(linalg::cond<MatrixNorm::smallest_column>(c).item() == Approx(6));
  CHECK(linalg::cond<MatrixNorm::largest_row>(c).item() == Approx(21));
  CHECK(linalg::cond<MatrixNorm::smallest_row>(c).item() == Approx(6));
  const auto singular = from_values<Shape<2, 2>>(std::vector<double>{1, 2, 2, 4}, Dims(2, 2), Cpu{0});
  CHECK(std::isinf(linalg::cond<MatrixNorm::largest_row>(singular).item()));
}

TEST_CASE("functions that are asked report LAPACK's info of each matrix instead of an error", "[linalg]") {
  const auto stack = from_values<Shape<2, 2, 2>>(std::vector<double>{4, 2, 2, 5, 1, 2, 2, 4}, Dims(2, 2, 2), Cpu{0});
  const auto factors = linalg::cholesky_ex(stack);
  CHECK(to_vector(factors.info) == std::vector<std::int32_t>{0, 2});
  CHECK(factors.result.data()[0] == Approx(2));
  CHECK(factors.result.data()[3] == Approx(2));
  const auto [x, info] = linalg::solve_ex(stack, ones<double, Shape<2, 2, 1>>());
  CHECK(to_vector(info) == std::vector<std::int32_t>{0, 2});
  CHECK(x.data()[0] == Approx(3.0 / 16));
  CHECK(x.data()[1] == Approx(2.0 / 16));
  const auto inverses = linalg::inv_ex(stack);
  CHECK(to_vector(inverses.info) == std::vector<std::int32_t>{0, 2});
  CHECK(inverses.result.data()[0] == Approx(5.0 / 16));
  CHECK(to_vector(linalg::cholesky_ex(zeros<float, Shape<3, 0, 0>>()).info) == std::vector<std::int32_t>{0, 0, 0});
}

TEST_CASE("functions of the smaller extent can be traced at run time", "[linalg]") {
  graph::Graph graph{DType::float64};
  const graph::Value a{graph, graph.add_input(DType::float64, graph::extents_of(Dims(2, 5, 3)))};
  CHECK(linalg::qr(a).R.shape().evaluate({}) == Dims(2, 3, 3));
  CHECK(linalg::svd(a).U.shape().evaluate({}) == Dims(2, 5, 3));
  CHECK_FALSE(graph.fault.any());
}

TEST_CASE("matrices that a function cannot take are named", "[linalg]") {
  const auto stack = from_values<Shape<2, 2, 2>>(std::vector<double>{1, 2, 3, 4, 1, 2, 2, 4}, Dims(2, 2, 2), Cpu{0});
  CHECK_THROWS_WITH(linalg::inv(stack), "inv: matrix 1 of 2 is singular: pivot 1 is zero");
  CHECK_THROWS_AS(linalg::solve(stack, ones<double, Shape<2, 2, 1>>()), LinAlgError);
  CHECK_THROWS_WITH(linalg::cholesky(stack),
                    "cholesky: matrix 0 of 2 is not positive definite: its leading minor of order 2 is not positive");
  auto broken = zeros<double, Shape<3, 3>>();
  broken.data()[4] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(linalg::cholesky(broken), LinAlgError);
  CHECK_THROWS_AS(linalg::inv(zeros<float, Shape<dyn, dyn>>(Dims(2, 3))), ShapeError);
}
