// SPDX-License-Identifier: Apache-2.0
#include <twill/core/promotion.hpp>

#include "tests/support/golden.hpp"

#include <catch2/catch.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

using namespace twill;

TEST_CASE("two tensors promote as torch.promote_types says, all pairs of element types", "[core]") {
  // tests/golden/scripts/element_types.py: -1 where PyTorch refuses the pair
  const auto expected = test::golden("element_types/promotion").values;
  REQUIRE(expected.size() == dtype_count * dtype_count);
  for (int left = 0; left < dtype_count; ++left)
    for (int right = 0; right < dtype_count; ++right) {
      const auto a = static_cast<DType>(left), b = static_cast<DType>(right);
      INFO(name(a) << " with " << name(b));
      const double own = promote(a, b) == no_type ? -1 : static_cast<double>(promote(a, b));
      CHECK(own == expected[static_cast<std::size_t>(left * dtype_count + right)]);
    }
}

TEST_CASE("promotion does not depend on the order, and never falls below an operand's kind", "[core]") {
  for (int left = 0; left < dtype_count; ++left)
    for (int right = 0; right < dtype_count; ++right) {
      const auto a = static_cast<DType>(left), b = static_cast<DType>(right);
      REQUIRE(promote(a, b) == promote(b, a));
      REQUIRE(promote(a, a) == a);
      if (promote(a, b) != no_type) REQUIRE(category(promote(a, b)) >= category(a));
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
  STATIC_REQUIRE(std::is_same_v<weak_promote_t<std::int8_t, int>, std::int8_t>);
  STATIC_REQUIRE(std::is_same_v<weak_promote_t<std::uint64_t, double>, float>);
  STATIC_REQUIRE(std::is_same_v<weak_promote_t<float, std::complex<double>>, complex64>);
  STATIC_REQUIRE(std::is_same_v<weak_promote_t<double, complex64>, complex128>);
  STATIC_REQUIRE(std::is_same_v<weak_promote_t<complex64, double>, complex64>);
  STATIC_REQUIRE(WeakScalar<unsigned short>);
  STATIC_REQUIRE(!WeakScalar<const char*>);
}

TEST_CASE("sums of booleans and integers count in int64; divisions of them give float32", "[core]") {
  for (int number = 0; number < dtype_count; ++number) {
    const auto dtype = static_cast<DType>(number);
    REQUIRE(sum_type(dtype) == (is_fractional(dtype) ? dtype : DType::int64));
    REQUIRE(floating_type(dtype) == (is_fractional(dtype) ? dtype : DType::float32));
  }
  STATIC_REQUIRE(std::is_same_v<sum_t<bool>, std::int64_t>);
  STATIC_REQUIRE(std::is_same_v<sum_t<half>, half>);
  STATIC_REQUIRE(std::is_same_v<floating_t<std::uint8_t>, float>);
  STATIC_REQUIRE(std::is_same_v<compute_t<bfloat16>, float>);
  STATIC_REQUIRE(std::is_same_v<compute_t<double>, double>);
  STATIC_REQUIRE(std::is_same_v<promote_t<half, bfloat16>, float>);
}
