// SPDX-License-Identifier: Apache-2.0
#include <twill/core/dtype.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <tuple>
#include <type_traits>

using namespace twill;

static_assert(Scalar<float> && Scalar<double> && Scalar<half> && Scalar<bfloat16>);
static_assert(Scalar<std::int32_t> && Scalar<std::int64_t> && Scalar<std::uint8_t> && Scalar<bool>);
static_assert(!Scalar<char> && !Scalar<const float> && !Scalar<float&> && !Scalar<std::uint32_t> && !Scalar<void>);
static_assert(FloatingScalar<half> && FloatingScalar<double> && !FloatingScalar<std::int32_t> && !FloatingScalar<bool>);

TEMPLATE_TEST_CASE("an element type and its run-time name are twins", "[core]", bool, std::uint8_t, std::int32_t,
                   std::int64_t, half, bfloat16, float, double) {
  constexpr DType dtype = dtype_of<TestType>;
  STATIC_REQUIRE(std::is_same_v<scalar_t<dtype>, TestType>);
  STATIC_REQUIRE(size_of(dtype) == sizeof(TestType));
  STATIC_REQUIRE(is_floating(dtype) == FloatingScalar<TestType>);
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
}
