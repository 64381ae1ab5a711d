// SPDX-License-Identifier: Apache-2.0
//
// Storage and conversion of every element type, beside PyTorch's: tests/golden/scripts/element_types.py.

#include <twill/tensor.hpp>

#include "tests/support/golden.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

using namespace twill;

namespace {

/// A number as a double; of a complex one the real part.
template <class T> double as_double(T value) {
  if constexpr (ComplexScalar<T>)
    return value.re;
  else
    return static_cast<double>(value);
}

template <class T, class From> void compare_cast(const std::vector<From>& values, const double* expected) {
  const auto own = to_vector(from_values(values).template to<T>());
  for (std::size_t i = 0; i < values.size(); ++i) {
    INFO(name(dtype_of<T>) << " of " << values[i]);
    CHECK(as_double(own[i]) == expected[i]);
    CHECK(as_double(static_cast<T>(values[i])) == expected[i]);
  }
}
/// A pack, the rest of one, and a strided view convert alike.
template <class T, class From> void compare_casts(const std::vector<From>& values, const double* expected) {
  compare_cast<T>(values, expected);
  std::vector<From> many;
  for (int i = 0; i < 40; ++i) many.insert(many.end(), values.begin(), values.end());
  const auto all_of_them = from_values<Shape<40, dyn>>(many, Dims(40, static_cast<std::int64_t>(values.size())));
  const auto column_wise = to_vector(all_of_them.transpose().template to<T>());
  for (std::size_t i = 0; i < column_wise.size(); ++i) CHECK(as_double(column_wise[i]) == expected[i / 40]);
}

template <class From, class... T>
void compare_types(const std::vector<From>& values, const std::vector<double>& expected) {
  REQUIRE(expected.size() == values.size() * sizeof...(T));
  const double* next = expected.data();
  ((compare_casts<T>(values, next), next += values.size()), ...);
}

} // namespace

TEST_CASE("integers convert to every type as in PyTorch, and wrap", "[tensor]") {
  std::vector<std::int64_t> integers;
  for (const double value : test::golden("element_types/integers").values)
    integers.push_back(static_cast<std::int64_t>(value));
  compare_types<std::int64_t, std::uint8_t, std::int32_t, std::int8_t, std::int16_t, std::uint16_t, std::uint32_t, half,
                bfloat16, float, double, complex64, complex128>(integers,
                                                                test::golden("element_types/integers_cast").values);
}

TEST_CASE("real numbers convert to every type as in PyTorch, towards zero", "[tensor]") {
  compare_types<double, std::uint8_t, std::int32_t, std::int8_t, std::int16_t, std::uint16_t, std::uint32_t, half,
                bfloat16, float, double, complex64, complex128>(test::golden("element_types/reals").values,
                                                                test::golden("element_types/reals_cast").values);
}

TEMPLATE_TEST_CASE("tensors of floats of 8 bits hold and convert all codes", "[tensor]", float8_e4m3fn, float8_e5m2) {
  std::vector<TestType> codes;
  for (unsigned code = 0; code < 256; ++code) codes.push_back(TestType::from_bits(static_cast<std::uint8_t>(code)));
  const auto x = from_values(codes);
  const auto wide = to_vector(x.template to<float>());
  const auto back = to_vector(x.template to<float>().template to<TestType>());
  const auto from_double = to_vector(x.template to<double>().template to<TestType>());
  for (unsigned code = 0; code < 256; ++code) {
    INFO(code);
    const float value = codes[code];
    if (std::isnan(value)) {
      CHECK(std::isnan(wide[code]));
      CHECK(std::isnan(float{back[code]}));
    } else {
      CHECK(wide[code] == value);
      CHECK(back[code].bits == code);
      CHECK(from_double[code].bits == code);
    }
  }
}

TEMPLATE_TEST_CASE("every element type is created, filled, viewed and copied", "[tensor]", bool, std::uint8_t,
                   std::int32_t, std::int64_t, half, bfloat16, float, double, std::int8_t, std::int16_t, std::uint16_t,
                   std::uint32_t, std::uint64_t, float8_e4m3fn, float8_e5m2, complex64, complex128) {
  const auto one = static_cast<TestType>(1);
  auto x = zeros<TestType, Shape<3, 7>>();
  x(1) = one;
  x(all, 2) = ones<TestType, Shape<3>>();
  const auto turned = to_vector(x.transpose().contiguous());
  for (std::size_t i = 0; i < turned.size(); ++i) {
    const bool is_one = i % 3 == 1 || i / 3 == 2;
    CHECK(as_double(static_cast<TestType>(turned[i])) == (is_one ? 1 : 0));
  }
  CHECK(as_double(x.clone()(1, 1).item()) == 1);
  CHECK(as_double(full<TestType, Shape<5>>(one)(4).item()) == 1);
  CHECK(!to_string(x).empty());
  CHECK(as_double(eye<TestType, Shape<2, 2>>()(1, 1).item()) == 1);
}

TEMPLATE_TEST_CASE("ranges of every integer type", "[tensor]", std::int8_t, std::int16_t, std::uint16_t, std::uint32_t,
                   std::uint64_t) {
  const auto values = to_vector(arange<TestType>(static_cast<TestType>(2), static_cast<TestType>(100), TestType{3}));
  REQUIRE(values.size() == 33);
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == static_cast<TestType>(2 + 3 * i));
}

TEST_CASE("complex tensors print as NumPy prints them", "[tensor]") {
  REQUIRE(to_string(tensor({complex64{1, 2}, complex64{3.5F, -1e-3F}})) == "[1. +2.e+00j 3.5-1.e-03j]");
  REQUIRE(to_string(scalar(complex64{1, 2})) == "(1+2j)");
  REQUIRE(to_string(scalar(complex64{0.1F, -2})) == "(0.1-2j)");
  REQUIRE(to_string(scalar(complex64{0, 2})) == "2j");
  REQUIRE(to_string(scalar(complex64{-0.0F, 0})) == "(-0+0j)");
  REQUIRE(to_string(scalar(complex128{1e20, 1e-7})) == "(1e+20+1e-07j)");
  REQUIRE(to_string(tensor({complex128{1, 2}, complex128{std::nan(""), 1}, complex128{INFINITY, -0.0}})) ==
          "[ 1.+2.j nan+1.j inf-0.j]");
  REQUIRE(to_string(tensor({{complex64{1e10F, 2}, complex64{3}}, {complex64{0, 4}, complex64{-5}}})) ==
          "[[ 1.e+10+2.j  3.e+00+0.j]\n [ 0.e+00+4.j -5.e+00+0.j]]");
  REQUIRE(to_source(tensor({complex64{1, -2}})) == "tensor({twill::complex64{1.0F, -2.0F}})");
}

TEST_CASE("the parts of a complex tensor are views", "[tensor]") {
  auto z = zeros<complex128, Shape<2, 3>>();
  real(z) = tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}});
  imag(z)(1) = -1.0;
  REQUIRE(z(1, 2).item() == complex128{6, -1});
  const auto pairs = view_as_real(z);
  STATIC_REQUIRE(std::is_same_v<std::remove_const_t<decltype(pairs)>, Tensor<double, Cpu, Shape<2, 3, 2>>>);
  REQUIRE(pairs(1, 0, 1).item() == -1);
  REQUIRE(view_as_complex(pairs)(1, 2).item() == complex128{6, -1});
  REQUIRE(view_as_complex(pairs).data() == z.data());
  REQUIRE_THROWS_AS(view_as_complex(zeros<float, Shape<dyn, dyn>>(Dims(2, 3))), ShapeError);
  const std::complex<double> number = z(0, 1).item();
  REQUIRE(number == std::complex<double>{2, 0});
  z(0) = std::complex<double>{0, 7};
  REQUIRE(z(0, 2).item() == complex128{0, 7});
}
