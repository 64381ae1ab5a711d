// SPDX-License-Identifier: Apache-2.0
//
// Complex tensors beside NumPy's values: tests/golden/scripts/element_types.py.

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include "tests/support/golden.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

using namespace twill;

namespace {

/// A golden array of complex numbers, as pairs of float64.
std::vector<complex128> complex_golden(const std::string& name) {
  const auto values = test::golden("element_types/" + name).values;
  std::vector<complex128> result;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) result.push_back({values[i], values[i + 1]});
  return result;
}

template <class T> auto tensor_from(const std::vector<complex128>& values) {
  return from_values(values).template to<T>();
}

bool is_near(double a, double b, double scale, double tolerance) {
  if (std::isnan(b)) return std::isnan(a);
  if (std::isinf(b) || a == b) return a == b;
  return std::fabs(a - b) <= tolerance * scale;
}

/// Compares parts, relative to the size of the number.
template <class T, class X>
void compare(const std::string& name, const X& own, const complex128* expected, const std::vector<complex128>& points,
             double tolerance) {
  const auto values = to_vector(own);
  REQUIRE(values.size() == points.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const complex128 found = values[i], wanted = expected[i];
    const double size = std::hypot(std::isfinite(wanted.re) ? wanted.re : 0, std::isfinite(wanted.im) ? wanted.im : 0);
    INFO(name << " of " << points[i].re << (points[i].im < 0 ? "" : "+") << points[i].im << "j: " << found.re << " "
              << found.im << ", NumPy " << wanted.re << " " << wanted.im);
    CHECK(is_near(found.re, wanted.re, size, tolerance));
    CHECK(is_near(found.im, wanted.im, size, tolerance));
  }
}

template <class T> void compare_functions(const std::string& from, const std::string& to, double tolerance) {
  const auto points = complex_golden(from);
  const auto expected = complex_golden(to);
  const auto z = tensor_from<T>(points);
  const complex128* next = expected.data();
  const auto check = [&](const std::string& name, const auto& own) {
    compare<T>(name, own, next, points, tolerance);
    next += points.size();
  };
  check("exp", eval(exp(z)));
  check("log", eval(log(z)));
  check("sqrt", eval(sqrt(z)));
  check("sin", eval(sin(z)));
  check("cos", eval(cos(z)));
  check("tan", eval(tan(z)));
  check("sinh", eval(sinh(z)));
  check("cosh", eval(cosh(z)));
  check("tanh", eval(tanh(z)));
  check("square", eval(square(z)));
  check("reciprocal", eval(reciprocal(z))); // of the division 1 / z: NumPy's own function differs at 0
  check("conj", eval(conj(z)));
  check("negative", eval(-z));
  REQUIRE(next == expected.data() + expected.size());
}

} // namespace

TEST_CASE("functions of complex128 have NumPy's values, on both sides of their branch cuts", "[expr]") {
  compare_functions<complex128>("complex_points", "complex_results", 4e-15);
}

TEST_CASE("functions of complex128 have NumPy's infinities and NaN", "[expr]") {
  compare_functions<complex128>("complex_odd", "complex_odd_results", 4e-15);
}

TEST_CASE("magnitudes and angles of complex numbers are real", "[expr]") {
  const auto points = complex_golden("complex_points");
  const auto expected = test::golden("element_types/complex_abs").values;
  const auto z = tensor_from<complex128>(points);
  const Tensor sizes = abs(z);
  const Tensor angles = angle(z);
  STATIC_REQUIRE(std::is_same_v<decltype(sizes)::value_type, double>);
  for (std::size_t i = 0; i < points.size(); ++i) {
    CHECK(to_vector(sizes)[i] == Approx(expected[i]).epsilon(1e-15));
    CHECK(to_vector(angles)[i] == Approx(expected[points.size() + i]).epsilon(1e-15));
  }
}

TEST_CASE("arithmetic of complex tensors has NumPy's values", "[expr]") {
  const auto pairs = complex_golden("complex_pairs");
  const std::size_t count = pairs.size() / 2;
  const std::vector<complex128> left(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(count));
  const std::vector<complex128> right(pairs.begin() + static_cast<std::ptrdiff_t>(count), pairs.end());
  const auto expected = complex_golden("complex_binary");
  const auto a = tensor_from<complex128>(left), b = tensor_from<complex128>(right);
  const complex128* next = expected.data();
  const auto check = [&](const std::string& name, const auto& own, double tolerance) {
    compare<complex128>(name, own, next, left, tolerance);
    next += count;
  };
  check("add", eval(a + b), 1e-15);
  check("subtract", eval(a - b), 1e-15);
  check("multiply", eval(a * b), 1e-15);
  check("divide", eval(a / b), 1e-15);
  check("power", eval(pow(a, b)), 1e-13);
}

TEST_CASE("complex64 computes in float32", "[expr]") {
  const auto points = complex_golden("complex_points");
  const auto z = tensor_from<complex64>(points);
  const auto wide = z.to<complex128>();
  const auto near = [&](const auto& own, const auto& exact) {
    const auto values = to_vector(own);
    const auto wanted = to_vector(exact);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const complex128 w = wanted[i];
      const double size = std::hypot(w.re, w.im);
      INFO(points[i].re << " " << points[i].im << ": " << values[i].re << " " << values[i].im << " " << w.re << " "
                        << w.im);
      if (!(size < 1e30)) continue;
      CHECK(std::fabs(values[i].re - w.re) <= 2e-6 * size);
      CHECK(std::fabs(values[i].im - w.im) <= 2e-6 * size);
    }
  };
  near(eval(exp(z)), eval(exp(wide)));
  near(eval(log(z)), eval(log(wide)));
  near(eval(sqrt(z)), eval(sqrt(wide)));
  near(eval(tanh(z)), eval(tanh(wide)));
  near(eval(z / (z + 3.0)), eval(wide / (wide + 3.0)));
}

TEST_CASE("complex tensors promote with real tensors and with numbers", "[expr]") {
  const auto z = tensor({complex64{1, 2}, complex64{3, -1}});
  const auto same = [](const auto& own, const auto& expected) {
    STATIC_REQUIRE(std::is_same_v<typename std::remove_cvref_t<decltype(own)>::value_type,
                                  typename std::remove_cvref_t<decltype(expected)>::value_type>);
    REQUIRE(all_of(own == expected).item());
  };
  same(eval(z * 2), tensor({complex64{2, 4}, complex64{6, -2}}));
  same(eval(z * 2.0), tensor({complex64{2, 4}, complex64{6, -2}}));
  same(eval(z * tensor({2.0F, 3.0F})), tensor({complex64{2, 4}, complex64{9, -3}}));
  same(eval(z + tensor({2.0, 3.0})), tensor({complex128{3, 2}, complex128{6, -1}}));
  same(eval(z - tensor({std::int16_t{1}, std::int16_t{2}})), tensor({complex64{0, 2}, complex64{1, -1}}));
  same(eval(tensor({1.0F, 2.0F}) * std::complex<double>{0, 1}), tensor({complex64{0, 1}, complex64{0, 2}}));
  same(eval(tensor({1.0, 2.0}) * complex64{0, 1}), tensor({complex128{0, 1}, complex128{0, 2}}));
  same(eval(tensor({1, 2}) + complex64{0, 1}), tensor({complex64{1, 1}, complex64{2, 1}}));
  same(eval(complex(tensor({1.0F, 2.0F}), 3)), tensor({complex64{1, 3}, complex64{2, 3}}));
}

TEST_CASE("complex statements broadcast, read views and write through them", "[expr]") {
  auto z = zeros<complex64, Shape<3, 4>>();
  real(z) = arange<float>(12.0F).reshape<Shape<3, 4>>();
  imag(z) = ones<float, Shape<3, 4>>() * 2.0F;
  const Tensor row = z(1) * complex64{0, 1};
  REQUIRE(row(0).item() == complex64{-2, 4});
  const Tensor table = z.transpose() + z(0, 1);
  REQUIRE(table(3, 2).item() == complex64{12, 4});
  z(2) = z(0) * 2.0;
  REQUIRE(z(2, 3).item() == complex64{6, 4});
  z += 1.0;
  REQUIRE(z(0, 0).item() == complex64{1, 2});
  auto w = z.clone();
  w = w * w - z;
  REQUIRE(w(0, 0).item() == complex64{-4, 2});
  const Tensor chosen = where(real(z) > 5.0F, z, complex64{});
  REQUIRE(chosen(0, 0).item() == complex64{});
  REQUIRE(chosen(1, 3).item() == z(1, 3).item());
  REQUIRE(allclose(z / sum(abs(z)) * sum(abs(z)), z).item());
  auto large = ones<complex128, Shape<dyn>>(Dims(10007)) * complex128{0, 1};
  const Tensor squared = large * large;
  REQUIRE(all_of(squared == -1.0).item());
  const auto [a, b] = eval(z + 1.0, z * 2.0);
  REQUIRE(a(0, 0).item() == complex64{2, 2});
  REQUIRE(b(0, 0).item() == complex64{2, 4});
}

TEST_CASE("products and reductions of complex tensors have NumPy's values", "[expr]") {
  const auto a = tensor_from<complex128>(complex_golden("complex_left")).reshape<Shape<5, 6>>();
  const auto b = tensor_from<complex128>(complex_golden("complex_right")).reshape<Shape<6, 4>>();
  const auto near = [](const auto& own, const std::vector<complex128>& expected, double tolerance = 1e-14) {
    const auto values = to_vector(own);
    REQUIRE(values.size() == expected.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double size = std::hypot(expected[i].re, expected[i].im) + 1;
      CHECK(std::fabs(complex128(values[i]).re - expected[i].re) <= tolerance * size);
      CHECK(std::fabs(complex128(values[i]).im - expected[i].im) <= tolerance * size);
    }
  };
  const auto product = complex_golden("complex_matmul");
  near(eval(matmul(a, b)), product);
  near(eval(matmul(b.transpose(), a.transpose())).transpose(), product);
  near(eval(einsum<"ij,jk->ik">(a, b)), product);
  near(eval(matmul(a.to<complex64>(), b.to<complex64>())), product, 1e-6);
  near(eval(einsum<"ij,kl->jl">(a, b)), complex_golden("complex_outer"), 1e-13);
  near(eval(vdot(a.transpose()(0), a.transpose()(1))), complex_golden("complex_vdot"));
  const auto reductions = complex_golden("complex_reductions");
  const auto part = [&](std::ptrdiff_t row) {
    return std::vector<complex128>(reductions.begin() + 6 * row, reductions.begin() + 6 * (row + 1));
  };
  near(sum<0>(a), part(0));
  near(mean<0>(a), part(1));
  near(prod<0>(a), part(2));
  REQUIRE(prod(zeros<complex64, Shape<0>>()).item() == complex64{1, 0});
  REQUIRE(sum(a, keepdims).shape() == Dims(1, 1));
  REQUIRE(prod<1>(a, keepdims).shape() == Dims(5, 1));
  // large enough for BLAS
  const auto x = complex(sin(arange<double>(900.0)), cos(arange<double>(900.0)));
  const Tensor m = eval(x).reshape<Shape<30, 30>>();
  const Tensor real_part = matmul(real(m), real(m)) - matmul(imag(m), imag(m));
  REQUIRE(allclose(real(eval(matmul(m, m))), real_part).item());
}
