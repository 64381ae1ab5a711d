// SPDX-License-Identifier: Apache-2.0
#include <twill/core/complex.hpp>
#include <twill/core/dtype.hpp>

#include <catch2/catch.hpp>

#include <complex>
#include <type_traits>

using namespace twill;

static_assert(sizeof(complex64) == 8 && sizeof(complex128) == 16);
static_assert(std::is_trivially_copyable_v<complex64>);
static_assert(std::is_convertible_v<std::complex<float>, complex64>);
static_assert(std::is_convertible_v<std::complex<float>, complex128>);
static_assert(!std::is_convertible_v<std::complex<double>, complex64>);
static_assert(std::is_constructible_v<complex64, std::complex<double>>);
static_assert(std::is_convertible_v<complex64, std::complex<float>>);
static_assert(!std::is_convertible_v<complex128, complex64> && std::is_convertible_v<complex64, complex128>);
static_assert(ComplexNumber<std::complex<double>> && ComplexNumber<complex64> && !ComplexNumber<double>);

TEST_CASE("complex numbers convert to std::complex and back without a cast", "[core]") {
  const std::complex<double> from{1.5, -2};
  const complex128 z = from;
  REQUIRE(z.real() == 1.5);
  REQUIRE(z.imag() == -2);
  const std::complex<double> back = z;
  REQUIRE(back == from);
  const std::complex<double> constructed(z);
  REQUIRE(constructed == from);
  REQUIRE(z == from);
}

TEST_CASE("arithmetic of complex numbers is that of std::complex", "[core]") {
  for (const std::complex<double> a : {std::complex<double>{1.5, -2}, {0, 3}, {-4, 0.25}, {1e200, 1e200}})
    for (const std::complex<double> b : {std::complex<double>{2, 1}, {0, -1}, {1e-3, 5}, {3e200, -1e199}}) {
      const complex128 x = a, y = b;
      const auto near = [](complex128 own, std::complex<double> other) {
        INFO(own.re << " " << own.im << " " << other);
        if (std::isfinite(std::abs(other))) {
          CHECK(own.re == Approx(other.real()).epsilon(1e-14));
          CHECK(own.im == Approx(other.imag()).epsilon(1e-14));
        }
      };
      near(x + y, a + b);
      near(x - y, a - b);
      near(x * y, a * b);
      near(x / y, a / b);
    }
  STATIC_REQUIRE(complex64{1, 2} * 2.0F == complex64{2, 4});
  STATIC_REQUIRE(conj(complex64{1, 2}) == complex64{1, -2});
  STATIC_REQUIRE(-complex64{1, 2} == complex64{-1, -2});
}
