// SPDX-License-Identifier: Apache-2.0
#include <twill/core/dtype.hpp>

#include "tests/support/golden.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

using namespace twill;

namespace {

/// tests/golden/scripts/element_types.py: all values, and numbers beside and in the middle between them.
template <class T> void compare_with_pytorch(const std::string& name) {
  const auto values = test::golden("element_types/" + name + "_values").values;
  REQUIRE(values.size() == 256);
  for (unsigned code = 0; code < 256; ++code) {
    const T number = T::from_bits(static_cast<std::uint8_t>(code));
    INFO("code " << code);
    const double value = double{float{number}};
    if (std::isnan(values[code])) {
      CHECK(std::isnan(value));
      CHECK(std::isnan(float{T{float{number}}}));
    } else {
      CHECK(value == values[code]);
      CHECK(std::signbit(value) == std::signbit(values[code]));
      CHECK(T{float{number}}.bits == code);
    }
  }
  const auto asked = test::golden("element_types/" + name + "_asked").values;
  const auto codes = test::golden("element_types/" + name + "_codes").values;
  REQUIRE(asked.size() == codes.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    INFO(asked[i]);
    CHECK(T{static_cast<float>(asked[i])}.bits == codes[i]);
    CHECK(T{asked[i]}.bits == codes[i]);
  }
}

} // namespace

TEST_CASE("float8_e4m3fn has PyTorch's values, and rounds and saturates as PyTorch does", "[core]") {
  compare_with_pytorch<float8_e4m3fn>("float8_e4m3fn");
  STATIC_REQUIRE(float{std::numeric_limits<float8_e4m3fn>::max()} == 448.0F);
  STATIC_REQUIRE(float{float8_e4m3fn{1000}} == 448.0F);
  STATIC_REQUIRE(float{std::numeric_limits<float8_e4m3fn>::min()} == 0x1p-6F);
  STATIC_REQUIRE(float{std::numeric_limits<float8_e4m3fn>::denorm_min()} == 0x1p-9F);
}

TEST_CASE("float8_e5m2 has PyTorch's values and infinities, and rounds as PyTorch does", "[core]") {
  compare_with_pytorch<float8_e5m2>("float8_e5m2");
  STATIC_REQUIRE(float{std::numeric_limits<float8_e5m2>::max()} == 57344.0F);
  STATIC_REQUIRE(float{float8_e5m2{1e9}} == std::numeric_limits<float>::infinity());
  STATIC_REQUIRE(float{std::numeric_limits<float8_e5m2>::min()} == 0x1p-14F);
  STATIC_REQUIRE(float{std::numeric_limits<float8_e5m2>::denorm_min()} == 0x1p-16F);
}

TEST_CASE("a double is rounded to 8 bits once", "[core]") {
  // just above the middle of 1 and the next number: a float in between would round to the middle, and that to 1
  REQUIRE(float{float8_e4m3fn{1.0625 + 0x1p-40}} == 1.125F);
  REQUIRE(float{float8_e4m3fn{1.0625}} == 1.0F);
  REQUIRE(float{float8_e5m2{1.125 + 0x1p-40}} == 1.25F);
}
