// SPDX-License-Identifier: Apache-2.0
//
// Eigenvalues and eigenvectors of general matrices: against NumPy's, and by their definition A v = lambda v, of stacks,
// views, all element types, defective matrices and none.

#include "tests/support/golden.hpp"

#include <twill/expr.hpp>
#include <twill/linalg/eig.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace twill;
using Z = std::complex<double>;

namespace {

/// The numbers of a tensor as complex doubles.
template <class X> std::vector<Z> complexes(const X& x) {
  std::vector<Z> result;
  for (const auto value : to_vector(x)) {
    if constexpr (ComplexScalar<typename X::value_type>)
      result.emplace_back(double{value.re}, double{value.im});
    else
      result.emplace_back(static_cast<double>(value), 0);
  }
  return result;
}

/// Normal numbers, parts of complex ones.
template <class T> std::vector<T> normal_numbers(std::int64_t count) {
  std::mt19937 generator(11);
  std::normal_distribution<double> draw;
  std::vector<T> result;
  for (std::int64_t i = 0; i < count; ++i) {
    using R = real_t<T>;
    const auto re = static_cast<R>(draw(generator));
    if constexpr (ComplexScalar<T>)
      result.push_back(T{re, static_cast<R>(draw(generator))});
    else
      result.push_back(re);
  }
  return result;
}

/// The largest element of A V - V diag(lambda) of a stack, and how far lengths of vectors are from 1.
double defect(const std::vector<Z>& a, const std::vector<Z>& values, const std::vector<Z>& vectors, std::size_t n) {
  double largest = 0;
  for (std::size_t matrix = 0; matrix * n < values.size(); ++matrix)
    for (std::size_t k = 0; k < n; ++k) {
      double square = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const auto at = [&](const std::vector<Z>& x, std::size_t row, std::size_t column) {
          return x[(matrix * n + row) * n + column];
        };
        Z sum = -values[matrix * n + k] * at(vectors, i, k);
        for (std::size_t j = 0; j < n; ++j) sum += at(a, i, j) * at(vectors, j, k);
        largest = std::max(largest, std::abs(sum));
        square += std::norm(at(vectors, i, k));
      }
      largest = std::max(largest, std::abs(square - 1));
    }
  return largest;
}

template <class A> void check_definition(const A& a, double tolerance) {
  const auto [values, vectors] = linalg::eig(a);
  const auto n = static_cast<std::size_t>(a.shape()[a.shape().rank - 1]);
  CHECK(defect(complexes(a), complexes(values), complexes(vectors), n) < tolerance);
  const auto alone = complexes(linalg::eigvals(a)); // in another order for matrices of other algorithms, here LAPACK's
  const auto beside = complexes(values);
  REQUIRE(alone.size() == beside.size());
  for (const Z& value : beside) {
    double nearest = HUGE_VAL;
    for (const Z& other : alone) nearest = std::min(nearest, std::abs(other - value));
    CHECK(nearest < tolerance);
  }
}

/// Compares with the rows of a golden file: an eigenvalue, and the projection onto its eigenvector.
template <class A> void check_golden(const A& a, const std::string& name) {
  const auto [values, vectors] = linalg::eig(a);
  const auto lambda = complexes(values);
  const auto v = complexes(vectors);
  const auto wanted = test::golden("eig/" + name + "_pairs").values;
  constexpr std::size_t n = 5;
  REQUIRE(wanted.size() == lambda.size() * 2 * (1 + n * n));
  const double* at = wanted.data();
  const auto next = [&] {
    const Z number{at[0], at[1]};
    at += 2;
    return number;
  };
  for (std::size_t matrix = 0; matrix < 2; ++matrix) {
    std::vector<std::size_t> order{0, 1, 2, 3, 4};
    std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
      const Z left = lambda[matrix * n + i];
      const Z right = lambda[matrix * n + j];
      return std::pair{left.real(), left.imag()} < std::pair{right.real(), right.imag()};
    });
    for (const std::size_t k : order) {
      CHECK(std::abs(lambda[matrix * n + k] - next()) < 1e-13);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
          const Z product = v[(matrix * n + i) * n + k] * std::conj(v[(matrix * n + j) * n + k]);
          CHECK(std::abs(product - next()) < 1e-13);
        }
    }
  }
}

} // namespace

TEST_CASE("eigenvalues and eigenvectors of general matrices are NumPy's", "[linalg]") {
  const auto real = from_values<Shape<2, 5, 5>>(test::golden("eig/real").values, Dims(2, 5, 5));
  check_golden(real, "real");
  const auto parts = test::golden("eig/complex").values;
  std::vector<complex128> mixed;
  for (std::size_t i = 0; i < parts.size(); i += 2) mixed.emplace_back(parts[i], parts[i + 1]);
  check_golden(from_values<Shape<2, 5, 5>>(mixed, Dims(2, 5, 5)), "complex");
}

TEMPLATE_TEST_CASE("A v = lambda v for general matrices", "[linalg]", float, double, complex64, complex128) {
  using T = TestType;
  const double tolerance = 500 * double{std::numeric_limits<real_t<T>>::epsilon()};
  const auto a = from_values<Shape<dyn, dyn, dyn, dyn>>(normal_numbers<T>(6 * 17 * 17), Dims(2, 3, 17, 17));
  check_definition(a, tolerance);
  check_definition(a.template transpose<-2, -1>(), tolerance); // a view
}

TEST_CASE("stacks and matrices of no elements have eigenvalues of their shape", "[linalg]") {
  const auto none = linalg::eig(zeros<double, Shape<dyn, 4, 4>>(Dims(0, 4, 4)));
  CHECK(none.values.shape() == Dims(0, 4));
  CHECK(none.vectors.shape() == Dims(0, 4, 4));
  CHECK(linalg::eigvals(zeros<float, Shape<3, 0, 0>>()).shape() == Dims(3, 0));
  static_assert(decltype(none.values)::shape_type::extent(1) == 4);
  static_assert(std::same_as<decltype(none.vectors)::value_type, complex128>);
  const auto one = linalg::eig(from_values<Shape<1, 1>>(std::vector<complex64>{{2, -3}}, Dims(1, 1)));
  CHECK(one.values.item() == complex64{2, -3});
  CHECK(one.vectors.item() == complex64{1});
}

TEST_CASE("eigenvalues of integers, of defective matrices, rotations and expressions", "[linalg]") {
  const auto block = from_values<Shape<2, 2>>(std::vector<std::int64_t>{3, 1, 0, 3}, Dims(2, 2));
  const auto [values, vectors] = linalg::eig(block); // one eigenvector, twice
  static_assert(std::same_as<std::remove_cvref_t<decltype(values)>::value_type, complex64>);
  CHECK(complexes(values) == std::vector<Z>{3, 3});
  const auto v = complexes(vectors);
  CHECK(std::abs(v[0]) == 1);
  CHECK(std::abs(v[1]) == Approx(1));
  CHECK(std::abs(v[2]) + std::abs(v[3]) < 1e-6);
  const auto turn = from_values<Shape<2, 2>>(std::vector<double>{0, -1, 1, 0}, Dims(2, 2));
  const auto rates = complexes(linalg::eigvals(turn * 2.0 + 0.0));
  CHECK(std::abs(rates[0] - Z(0, 2)) < 1e-15); // the positive imaginary part first
  CHECK(std::abs(rates[1] - Z(0, -2)) < 1e-15);
}

TEST_CASE("general matrices without eigenvalues are named", "[linalg]") {
  auto broken = ones<double, Shape<3, 2, 2>>();
  broken.data()[9] = std::numeric_limits<double>::infinity();
  broken.data()[6] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(linalg::eig(broken), "eig: matrix 1 of 3 has an element that is not finite");
  CHECK_THROWS_AS(linalg::eigvals(broken), LinAlgError);
  CHECK_THROWS_WITH(linalg::eigvals(zeros<float, Shape<dyn, dyn>>(Dims(2, 3))),
                    "eigvals: matrices are square; got 2 x 3");
}
