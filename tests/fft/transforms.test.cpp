// SPDX-License-Identifier: Apache-2.0
//
// Transforms of tensors: types of results, theorems (Parseval, shifts, convolution), round trips, no elements, errors.

#include <twill/expr.hpp>
#include <twill/fft.hpp>
#include <twill/tensor/random.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>
#include <vector>

using namespace twill;

namespace {

template <class T, class S> using Host = Tensor<T, Cpu, S>;
template <class X, class Y> inline constexpr bool is = std::is_same_v<std::remove_cvref_t<X>, Y>;

template <class T, class S> Host<T, S> normal_numbers(const Dims& shape) {
  manual_seed_all(11);
  if constexpr (ComplexScalar<T>) {
    Dims wide = shape;
    wide[wide.rank++] = 2;
    const auto parts = to_vector(randn<real_t<T>, dynamic_shape_t<S::rank + 1>>(wide, Cpu{0}));
    std::vector<T> values;
    for (std::size_t i = 0; i < parts.size(); i += 2) values.push_back(T(parts[i], parts[i + 1]));
    return from_values<S>(values, shape);
  } else {
    return randn<T, S>(shape, Cpu{0});
  }
}

template <class T> double size_of(const T& value) {
  if constexpr (ComplexScalar<T>)
    return std::hypot(double{value.re}, double{value.im});
  else
    return std::abs(double{value});
}

/// The largest difference of two tensors.
template <class A, class B> double distance(const A& a, const B& b) {
  const auto left = to_vector(a);
  const auto right = to_vector(b);
  REQUIRE(left.size() == right.size());
  double largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i)
    if (const double d = size_of(left[i] - right[i]); !(d <= largest)) largest = d;
  return largest;
}

template <class X> double energy(const X& x) {
  double sum = 0;
  for (const auto& value : to_vector(x)) sum += size_of(value) * size_of(value);
  return sum;
}

} // namespace

TEST_CASE("results have the extents that are known in their types", "[fft]") {
  const auto x = normal_numbers<float, Shape<8, 100>>(Dims(8, 100));
  STATIC_REQUIRE(is<decltype(fft::rfft(x)), Host<complex64, Shape<8, 51>>>);
  STATIC_REQUIRE(is<decltype(fft::rfft<0>(x)), Host<complex64, Shape<5, 100>>>);
  STATIC_REQUIRE(is<decltype(fft::rfft(x, 128)), Host<complex64, Shape<8, dyn>>>);
  STATIC_REQUIRE(is<decltype(fft::rfft<-1, 128>(x)), Host<complex64, Shape<8, 65>>>);
  STATIC_REQUIRE(is<decltype(fft::irfft(fft::rfft(x))), Host<float, Shape<8, 100>>>);
  STATIC_REQUIRE(is<decltype(fft::irfft<-1, 99>(fft::rfft(x))), Host<float, Shape<8, 99>>>);
  STATIC_REQUIRE(is<decltype(fft::fft(x)), Host<complex64, Shape<8, 100>>>);
  STATIC_REQUIRE(is<decltype(fft::ifft<0>(fft::fft(x), 16)), Host<complex64, Shape<dyn, 100>>>);
  STATIC_REQUIRE(is<decltype(fft::hfft(fft::fft(x))), Host<float, Shape<8, 198>>>);
  STATIC_REQUIRE(is<decltype(fft::ihfft(x)), Host<complex64, Shape<8, 51>>>);
  STATIC_REQUIRE(is<decltype(fft::fft2(x)), Host<complex64, Shape<8, 100>>>);
  STATIC_REQUIRE(is<decltype(fft::rfftn(x)), Host<complex64, Shape<8, 51>>>);
  STATIC_REQUIRE(is<decltype(fft::irfft2(fft::rfft2(x))), Host<float, Shape<8, 100>>>);
  STATIC_REQUIRE(is<decltype(fft::dct<0>(x)), Host<float, Shape<8, 100>>>);
  STATIC_REQUIRE(is<decltype(fft::fftshift<1>(x)), Host<float, Shape<8, 100>>>);
  STATIC_REQUIRE(is<decltype(fft::fftconvolve<1>(x, x)), Host<float, Shape<8, 199>>>);
  STATIC_REQUIRE(is<decltype(fft::fftconvolve<1>(x, x, fft::same)), Host<float, Shape<8, 100>>>);
  STATIC_REQUIRE(is<decltype(fft::fftconvolve(x, x, fft::valid)), Host<float, Shape<1, 1>>>);
  CHECK(fft::rfft<-1, 128>(x).shape() == Dims(8, 65));
  CHECK(distance(fft::rfft<-1, 128>(x), fft::rfft(x, 128)) == 0);

  const auto counts = tensor({1, 2, 3});
  STATIC_REQUIRE(is<decltype(fft::fft(counts)), Host<complex64, Shape<3>>>);
  STATIC_REQUIRE(is<decltype(fft::rfft(counts.to<double>())), Host<complex128, Shape<2>>>);
  STATIC_REQUIRE(is<decltype(fft::rfft(counts.to<half>())), Host<complex64, Shape<2>>>);
  CHECK(size_of(fft::fft(counts)(0).item() - complex64(6)) == 0);
}

TEMPLATE_TEST_CASE("transforms and their inverses undo each other", "[fft]", float, double) {
  using T = TestType;
  const double tolerance = 20 * double{std::numeric_limits<T>::epsilon()};
  for (const std::int64_t n : {1, 2, 3, 16, 45, 101, 1000, 2039, 10007}) {
    CAPTURE(n);
    const auto z = normal_numbers<Complex<T>, Shape<dyn, dyn>>(Dims(3, n));
    const auto x = normal_numbers<T, Shape<dyn, dyn>>(Dims(3, n));
    for (const fft::Norm norm : {fft::backward, fft::ortho, fft::forward}) {
      CHECK(distance(fft::ifft(fft::fft(z, norm), norm), z) < tolerance);
      CHECK(distance(fft::fft<0>(fft::ifft<0>(z, norm), norm), z) < tolerance);
      CHECK(distance(fft::irfft(fft::rfft(x, norm), n, norm), x) < tolerance);
      CHECK(distance(fft::hfft(fft::ihfft(x, norm), n, norm), x) < tolerance);
      CHECK(distance(fft::ifft2(fft::fft2(z, norm), norm), z) < tolerance);
      CHECK(distance(fft::irfftn(fft::rfftn(x, norm), x.shape(), norm), x) < tolerance);
      for (const int type : {2, 3}) {
        const fft::CosineOptions options{.type = type, .norm = norm};
        CHECK(distance(fft::idct(fft::dct(x, options), options), x) < tolerance);
        CHECK(distance(fft::dct<0>(fft::idct<0>(x, options), options), x) < tolerance);
      }
    }
    CHECK(distance(fft::ifftshift(fft::fftshift(z)), z) == 0);
  }
}

TEST_CASE("orthogonal transforms keep the sum of squares", "[fft]") {
  for (const std::int64_t n : {7, 64, 1009, 5000}) {
    const auto z = normal_numbers<complex128, Shape<dyn>>(Dims(n));
    const auto x = normal_numbers<double, Shape<dyn>>(Dims(n));
    CHECK(energy(fft::fft(z, fft::ortho)) == Approx(energy(z)).epsilon(1e-13));
    CHECK(energy(fft::fft(x)) == Approx(static_cast<double>(n) * energy(x)).epsilon(1e-13));
    CHECK(energy(fft::dct(x, {.norm = fft::ortho})) == Approx(energy(x)).epsilon(1e-13));
    CHECK(energy(fft::dct(x, {.type = 3, .norm = fft::ortho})) == Approx(energy(x)).epsilon(1e-13));
  }
}

TEST_CASE("a shift turns each coefficient, and a convolution multiplies them", "[fft]") {
  for (const std::int64_t n : {12, 31, 1000}) {
    const auto z = normal_numbers<complex128, Shape<dyn>>(Dims(n));
    const auto before = to_vector(fft::fft(z));
    const auto after = to_vector(fft::fft(roll<0>(z, 3)));
    const auto other = roll<0>(z, 5);
    const auto w = to_vector(fft::fft(other));
    const auto a = to_vector(z);
    const auto b = to_vector(other);
    for (std::int64_t k = 0; k < n; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const std::complex<double> turn =
          std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(3 * k % n) / static_cast<double>(n));
      CHECK(size_of(before[at] * complex128(turn) - after[at]) < 1e-11);
    }
    std::vector<complex128> cyclic(a.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t j = 0; j < b.size(); ++j) {
        complex128& sum = cyclic[(i + j) % a.size()];
        sum = sum + a[i] * b[j];
      }
    const auto product = to_vector(fft::fft(from_values(cyclic)));
    for (std::size_t k = 0; k < a.size(); ++k) CHECK(size_of(product[k] - before[k] * w[k]) < 1e-9);
    CHECK(distance(fft::ifft(fft::fft(z) * fft::fft(other)), from_values(cyclic)) < 1e-10);
  }
}

TEST_CASE("real operands are complex ones without imaginary parts", "[fft]") {
  const auto x = normal_numbers<double, Shape<4, 30>>(Dims(4, 30));
  const auto z = x.to<complex128>();
  CHECK(distance(fft::fft(x), fft::fft(z)) < 1e-13);
  CHECK(distance(fft::rfft(x), narrow<1>(fft::fft(z), 0, 16).contiguous()) < 1e-13);
  CHECK(distance(fft::fft(x + x), fft::fft(eval(2 * x))) == 0);
}

TEST_CASE("a convolution of rows broadcasts over the other axes", "[fft]") {
  const auto x = normal_numbers<float, Shape<3, 50>>(Dims(3, 50));
  const auto kernel = normal_numbers<float, Shape<1, 7>>(Dims(1, 7));
  const auto y = fft::fftconvolve<1>(x, kernel);
  STATIC_REQUIRE(is<decltype(y), Host<float, Shape<3, 56>>>);
  for (std::int64_t row = 0; row < 3; ++row) CHECK(distance(y(row), fft::fftconvolve(x(row), kernel(0))) < 1e-5);
}

TEST_CASE("no lines give no lines, and no points are refused", "[fft]") {
  const Host<complex64, Shape<dyn, dyn>> none(Cpu{0}, Dims(0, 8));
  CHECK(fft::fft(none).shape() == Dims(0, 8));
  CHECK(fft::irfft(none).shape() == Dims(0, 14));
  CHECK(fft::fftn<1>(none, Dims(3)).shape() == Dims(0, 3));
  CHECK(distance(fft::fft<0>(none, 2), zeros<complex64, Shape<2, 8>>()) == 0);
  CHECK_THROWS_WITH(fft::fft<0>(none), "fft: axis 0 is to have 0 points; a transform takes at least 1");
  CHECK_THROWS_WITH(fft::irfft(none, -3), "irfft: axis 1 is to have -3 points; a transform takes at least 1");
  CHECK_THROWS_AS(fft::fftn(none), ValueError);
  CHECK_THROWS_WITH(fft::ifftn(none, Dims(4)), "ifftn: 1 numbers of points for 2 axes; name one for each axis");
  const Host<float, Shape<dyn>> x = ones<float, Shape<dyn>>(Dims(4));
  CHECK_THROWS_WITH(fft::dct(x, {.type = 1}), "dct: type is 1; types 2 and 3 are there");
  CHECK_THROWS_WITH(fft::fftfreq(0), "fftfreq: n is 0; it is at least 1");
  CHECK_THROWS_AS(fft::next_fast_len(0), ValueError);
  CHECK(fft::next_fast_len(1009) == 1024);
  const auto wide = ones<float, Shape<dyn, dyn>>(Dims(2, 9));
  const auto tall = ones<float, Shape<dyn, dyn>>(Dims(9, 2));
  CHECK_THROWS_WITH(
      fft::fftconvolve(wide, tall, fft::valid),
      "fftconvolve: of shapes (2, 9) and (9, 2) neither is inside of the other; `valid` needs one that is at "
      "most as large along every axis");
  CHECK_THROWS_WITH(fft::fftconvolve(ones<float, Shape<dyn>>(Dims(0)), x),
                    "fftconvolve: axis 0 of shapes (0,) and (4,) has no elements");
}

TEST_CASE("zero frequency moves to the middle", "[fft]") {
  CHECK(to_vector(fft::fftshift(tensor({0, 1, 2, 3, 4}))) == std::vector<int>{3, 4, 0, 1, 2});
  CHECK(to_vector(fft::ifftshift(tensor({3, 4, 0, 1, 2}))) == std::vector<int>{0, 1, 2, 3, 4});
  CHECK(to_vector(fft::fftshift<0>(tensor({{0, 1}, {2, 3}}))) == std::vector<int>{2, 3, 0, 1});
  CHECK(to_vector(fft::fftshift(tensor({{0, 1}, {2, 3}}))) == std::vector<int>{3, 2, 1, 0});
}
