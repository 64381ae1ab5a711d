// SPDX-License-Identifier: Apache-2.0
#include <twill/core/promotion.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

using namespace twill;

namespace {
constexpr std::array<DType, 8> all{DType::boolean, DType::uint8,    DType::int32,   DType::int64,
                                   DType::float16, DType::bfloat16, DType::float32, DType::float64};
} // namespace

TEST_CASE("two tensors promote as torch.promote_types says", "[core]") {
  // torch.promote_types of PyTorch 2, row by row in the order of `all`
  constexpr std::string_view expected[8][8] = {
      {"bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64"},
      {"uint8", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64"},
      {"int32", "int32", "int32", "int64", "float16", "bfloat16", "float32", "float64"},
      {"int64", "int64", "int64", "int64", "float16", "bfloat16", "float32", "float64"},
      {"float16", "float16", "float16", "float16", "float16", "float32", "float32", "float64"},
      {"bfloat16", "bfloat16", "bfloat16", "bfloat16", "float32", "bfloat16", "float32", "float64"},
      {"float32", "float32", "float32", "float32", "float32", "float32", "float32", "float64"},
      {"float64", "float64", "float64", "float64", "float64", "float64", "float64", "float64"},
  };
  for (std::size_t left = 0; left < 8; ++left)
    for (std::size_t right = 0; right < 8; ++right) {
      INFO(name(all[left]) << " with " << name(all[right]));
      CHECK(name(promote(all[left], all[right])) == expected[left][right]);
    }
}

TEST_CASE("promotion does not depend on the order, and never falls below an operand's kind", "[core]") {
  for (const DType left : all)
    for (const DType right : all) {
      REQUIRE(promote(left, right) == promote(right, left));
      REQUIRE(promote(left, left) == left);
      REQUIRE(category(promote(left, right)) >= category(left));
    }
}

TEST_CASE("C++ scalars are weak: only a higher kind lifts a tensor", "[core]") {
  STATIC_REQUIRE(std::is_same_v<weak_promote_t<float, double>, float>);
  STATIC_REQUIRE(std::is_same_v<weak_promote_t<half, double>, half>);
  STATIC_REQUIRE(std::is_same_v<weak_promote_t<bfloat16, int>, bfloat16>);
  STATIC_REQUIRE(std::is_same_v<weak_promote_t<double, float>, double>);
  STATIC_REQUIRE(std::is_same_v<weak_promote_t<std::int32_t, double>, float>);
  STATIC_REQUIRE(std::is_same_v<weak_promote_t<std::int64_t, float>, float>);
  STATIC_REQUIRE(std::is_same_v<weak_promote_t<std::uint8_t, long long>, std::uint8_t>);
  STATIC_REQUIRE(std::is_same_v<weak_promote_t<std::int32_t, bool>, std::int32_t>);
  STATIC_REQUIRE(std::is_same_v<weak_promote_t<bool, int>, std::int64_t>);
  STATIC_REQUIRE(std::is_same_v<weak_promote_t<bool, double>, float>);
  STATIC_REQUIRE(std::is_same_v<weak_promote_t<bool, bool>, bool>);
  STATIC_REQUIRE(std::is_same_v<weak_promote_t<std::int32_t, half>, float>);
  STATIC_REQUIRE(WeakScalar<unsigned short>);
  STATIC_REQUIRE(!WeakScalar<const char*>);
}

TEST_CASE("sums of booleans and integers count in int64; divisions of them give float32", "[core]") {
  for (const DType dtype : all) {
    REQUIRE(sum_type(dtype) == (is_floating(dtype) ? dtype : DType::int64));
    REQUIRE(floating_type(dtype) == (is_floating(dtype) ? dtype : DType::float32));
  }
  STATIC_REQUIRE(std::is_same_v<sum_t<bool>, std::int64_t>);
  STATIC_REQUIRE(std::is_same_v<sum_t<half>, half>);
  STATIC_REQUIRE(std::is_same_v<floating_t<std::uint8_t>, float>);
  STATIC_REQUIRE(std::is_same_v<compute_t<bfloat16>, float>);
  STATIC_REQUIRE(std::is_same_v<compute_t<double>, double>);
  STATIC_REQUIRE(std::is_same_v<promote_t<half, bfloat16>, float>);
}
