// SPDX-License-Identifier: Apache-2.0
#include <twill/core/dtype.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <tuple>
#include <type_traits>

using namespace twill;

static_assert(Scalar<float> && Scalar<double> && Scalar<half> && Scalar<bfloat16>);
static_assert(Scalar<std::int32_t> && Scalar<std::int64_t> && Scalar<std::uint8_t> && Scalar<bool>);
static_assert(!Scalar<char> && !Scalar<const float> && !Scalar<float&> && !Scalar<char32_t> && !Scalar<void>);
static_assert(Scalar<std::uint64_t> && Scalar<complex64> && Scalar<float8_e5m2> && !Scalar<Complex<long double>>);
static_assert(ComplexScalar<complex128> && !ComplexScalar<double> && IntegerScalar<std::int8_t> &&
              !IntegerScalar<bool>);
static_assert(FloatingScalar<float8_e4m3fn> && !FloatingScalar<complex64>);
static_assert(FloatingScalar<half> && FloatingScalar<double> && !FloatingScalar<std::int32_t> && !FloatingScalar<bool>);

TEMPLATE_TEST_CASE("an element type and its run-time name are twins", "[core]", bool, std::uint8_t, std::int32_t,
                   std::int64_t, half, bfloat16, float, double, std::int8_t, std::int16_t, std::uint16_t, std::uint32_t,
                   std::uint64_t, float8_e4m3fn, float8_e5m2, complex64, complex128) {
  constexpr DType dtype = dtype_of<TestType>;
  STATIC_REQUIRE(std::is_same_v<scalar_t<dtype>, TestType>);
  STATIC_REQUIRE(size_of(dtype) == sizeof(TestType));
  STATIC_REQUIRE(is_floating(dtype) == FloatingScalar<TestType>);
  STATIC_REQUIRE(is_complex(dtype) == ComplexScalar<TestType>);
  STATIC_REQUIRE(with_scalar(dtype, []<class T>() { return dtype_of<T>; }) == dtype);
}

TEST_CASE("element types have the names of NumPy", "[core]") {
  REQUIRE(name(DType::boolean) == "bool");
  REQUIRE(name(DType::uint8) == "uint8");
  REQUIRE(name(DType::int32) == "int32");
  REQUIRE(name(DType::int64) == "int64");
  REQUIRE(name(DType::float16) == "float16");
  REQUIRE(name(DType::bfloat16) == "bfloat16");
  REQUIRE(name(DType::float32) == "float32");
  REQUIRE(name(DType::float64) == "float64");
  REQUIRE(name(DType::int8) == "int8");
  REQUIRE(name(DType::uint16) == "uint16");
  REQUIRE(name(DType::float8_e5m2) == "float8_e5m2");
  REQUIRE(name(DType::complex128) == "complex128");
}
