// SPDX-License-Identifier: Apache-2.0

#include <twill/core/text.hpp>

#include <catch2/catch.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

using namespace twill;

static_assert(DecimalNumber<int> && DecimalNumber<std::size_t> && DecimalNumber<std::uint8_t>);
static_assert(!DecimalNumber<bool> && !DecimalNumber<char> && !DecimalNumber<double>);
static_assert(!std::convertible_to<bool, TextPart> && !std::convertible_to<double, TextPart>);

TEST_CASE("text is joined from pieces of every kind", "[core]") {
  const std::string owned = "left";
  CHECK(join_text({owned, " has ", 4, " columns, ", std::string_view{"right of"}.substr(0, 5), " has ", 5L}) ==
        "left has 4 columns, right has 5");
  CHECK(join_text({}).empty());
  CHECK(join_text({"", std::string{}, std::string_view{}}).empty());
}

TEST_CASE("numbers are written in decimal, the extreme ones too", "[core]") {
  CHECK(join_text({0, " ", 9, " ", 10, " ", -1, " ", -10, " ", 1234567890}) == "0 9 10 -1 -10 1234567890");
  CHECK(join_text({std::numeric_limits<std::int64_t>::min()}) == "-9223372036854775808");
  CHECK(join_text({std::numeric_limits<std::int64_t>::max()}) == "9223372036854775807");
  CHECK(join_text({std::numeric_limits<std::uint64_t>::max()}) == "18446744073709551615");
  CHECK(join_text({std::uint8_t{255}, ",", std::int8_t{-128}}) == "255,-128");
  for (const std::int64_t number : {7LL, 99LL, 100LL, 4096LL, -999999999999LL})
    CHECK(join_text({number}) == std::to_string(number));
}
