// SPDX-License-Identifier: Apache-2.0
//
// Random draws: their distributions with fixed seeds and stated bounds, the same numbers on every device kind, random orders
// and choices. Bounds: tests/support/chi_square.hpp.

#include "tests/support/chi_square.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include "../support/late_device.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using namespace twill;
using twill::test::agrees;
using twill::test::follows;
using twill::test::Late;
using twill::test::mean_of;
using twill::test::message_of;
using twill::test::Numbers;
using twill::test::numbers;
using twill::test::variance_of;

namespace {

constexpr std::int64_t many = 200'000;

} // namespace

TEST_CASE("real draws follow their distributions", "[expr][DEV-7]") {
  manual_seed_all(20260727);
  const auto uniformly = [](double value) { return (value + 2) / 5; };
  const auto normally = [](double value) { return 0.5 * std::erfc(-(value - 3) / (0.5 * std::sqrt(2.0))); };
  const auto exponentially = [](double value) { return -std::expm1(-value / 2.5); };
  CHECK(follows(numbers(uniform<float, Shape<many>>(-2, 3)), uniformly));
  CHECK(follows(numbers(uniform<double, Shape<many>>(-2, 3)), uniformly));
  CHECK(follows(numbers(normal<float, Shape<many>>(3, 0.5)), normally));
  CHECK(follows(numbers(normal<double, Shape<many>>(3, 0.5)), normally));
  CHECK(follows(numbers(exponential<float, Shape<many>>(2.5)), exponentially));
  CHECK(follows(numbers(rand<double, Shape<many>>()), [](double value) { return value; }));
  const Numbers standard = numbers(randn<double, Shape<many>>());
  CHECK(std::abs(mean_of(standard)) < 5 / std::sqrt(static_cast<double>(many)));
  CHECK(std::abs(variance_of(standard) - 1) < 5 * std::sqrt(2.0 / static_cast<double>(many)));
}

TEST_CASE("integer draws are equally likely over any range", "[expr][DEV-7]") {
  manual_seed_all(7);
  for (const std::int64_t range : {2, 3, 7, 10, 64}) {
    Numbers counts(static_cast<std::size_t>(range), 0.0);
    for (const double value : numbers(integers<std::int32_t, Shape<many>>(-3, range - 3)))
      ++counts[static_cast<std::size_t>(value + 3)];
    CHECK(agrees(counts, Numbers(counts.size(), static_cast<double>(many) / static_cast<double>(range))));
  }
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
  Numbers halves(2, 0.0);
  for (const std::int64_t value : to_vector(integers<std::int64_t, Shape<many>>(least, greatest)))
    ++halves[value < 0 ? 0 : 1];
  CHECK(agrees(halves, Numbers(2, many / 2.0)));
  // three quarters of 2^64: a remainder of 64 bits would favour the lower third twice as much
  Numbers thirds(3, 0.0);
  constexpr std::int64_t quarter = std::int64_t{1} << 62;
  for (const std::int64_t value : to_vector(integers<std::int64_t, Shape<many>>(least, quarter)))
    ++thirds[value < -quarter ? 0 : value < 0 ? 1 : 2];
  CHECK(agrees(thirds, Numbers(3, many / 3.0)));
  CHECK(numbers(randint<std::uint8_t, Shape<5>>(255, 256)) == Numbers(5, 255));
  CHECK(message_of<ValueError>([] { (void)integers<std::uint8_t, Shape<2>>(0, 257); }) ==
        "integers: 0 to 257 do not fit uint8");
  CHECK(message_of<ValueError>([] { (void)integers<int, Shape<2>>(3, 3); }) ==
        "integers: there are none from 3 to below 3");
}

TEST_CASE("a uniform draw never reaches its upper end, and a double has 53 bits", "[expr][DEV-7]") {
  manual_seed_all(3);
  const auto largest = [](const auto& x) {
    const Numbers values = numbers(x);
    return *std::max_element(values.begin(), values.end());
  };
  CHECK(largest(rand<half, Shape<many>>()) < 1);
  CHECK(largest(rand<bfloat16, Shape<many>>()) < 1);
  CHECK(largest(uniform<half, Shape<many>>(0, 3)) < 3);
  CHECK(largest(uniform<bfloat16, Shape<many>>(-7, -5)) < -5);
  CHECK(largest(uniform<float, Shape<many>>(1e8, 1e8 + 8)) < 1e8 + 8);
  CHECK(numbers(uniform<float, Shape<3>>(2, 2)) == Numbers(3, 2));
  int fine = 0;
  for (const double value : to_vector(rand<double, Shape<1000>>())) {
    CHECK(value * 0x1p53 == std::floor(value * 0x1p53));
    fine += std::fmod(value * 0x1p53, 2) == 1 ? 1 : 0;
  }
  CHECK(fine > 400);
  manual_seed(Cpu{0}, 5);
  const auto draws = to_vector(rand<double, Shape<37>>(Cpu{0}));
  for (std::size_t i = 0; i < 37; ++i) // as the definition says, whatever packs make of it
    CHECK(draws[i] == static_cast<double>(random_integer(5, 0, 0, std::uint64_t{1} << 53, i)) * 0x1p-53);
  CHECK_THROWS_AS((uniform<float, Shape<2>>(1, 0)), ValueError);
  CHECK_THROWS_AS((normal<float, Shape<2>>(0, -1)), ValueError);
}

TEST_CASE("bernoulli holds as often as its probability says", "[expr][DEV-7]") {
  manual_seed_all(4);
  for (const double p : {0.0, 0.25, 0.9, 1.0}) {
    const double share = mean_of(numbers(bernoulli<bool, Shape<many>>(p)));
    CHECK(std::abs(share - p) <= 5 * std::sqrt(p * (1 - p) / many));
  }
  const auto each = bernoulli(tensor({{0.F, 1.F}, {1.F, 0.F}}));
  static_assert(std::is_same_v<decltype(each)::value_type, float>);
  CHECK(numbers(each) == Numbers{0, 1, 1, 0});
  CHECK_THROWS_AS((bernoulli<bool, Shape<2>>(1.5)), ValueError);
}

TEST_CASE("one seed gives the same draws on every device kind, and shapes do not matter", "[expr][DEV-7]") {
  const auto same = [](auto draw) {
    manual_seed_all(99);
    const Numbers here = numbers(draw(Cpu{0}, Dims(1003)));
    const Numbers there = numbers(draw(Late{1}, Dims(17, 59)));
    CHECK(here == there);
    CHECK(numbers(draw(Cpu{0}, Dims(1003))) != here);
  };
  const auto any_shape = [&](auto draw) {
    same([draw]<class D>(const D& device, const Dims& extents) {
      if (extents.rank == 1) return draw.template operator()<D, Shape<dyn>>(device, extents).flatten();
      return draw.template operator()<D, Shape<dyn, dyn>>(device, extents).flatten();
    });
  };
  any_shape([]<class D, class S>(const D& device, const Dims& e) { return rand<double, S>(e, device); });
  any_shape([]<class D, class S>(const D& device, const Dims& e) { return normal<float, S>(1, 2, e, device); });
  any_shape([]<class D, class S>(const D& device, const Dims& e) { return integers<int, S>(0, 1000, e, device); });
  manual_seed_all(99);
  const Numbers order = numbers(permutation(100, Cpu{0}));
  CHECK(numbers(permutation(100, Late{0})) == order);
  CHECK(integers<std::int64_t, Shape<1>>(5, 6, Late{0}).device() == Late{0});
}

TEST_CASE("permutations hold each element once, in every order as often as in any other", "[expr][DEV-7]") {
  manual_seed_all(6);
  Numbers sorted = numbers(permutation(57));
  CHECK(sorted != numbers(arange(57)));
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted == numbers(arange(57)));
  Numbers counts(24, 0.0);
  for (int round = 0; round < 2400; ++round) {
    const auto order = to_vector(permutation(4));
    int rank = 0;
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = i + 1; j < 4; ++j) {
        constexpr int weights[] = {6, 2, 1};
        if (order[j] < order[i]) rank += weights[i];
      }
    ++counts[static_cast<std::size_t>(rank)];
  }
  CHECK(agrees(counts, Numbers(24, 100)));
  const auto x = arange(12).reshape<Shape<6, 2>>();
  shuffle(x);
  for (int i = 0; i < 6; ++i) CHECK(x(i, 1).item() == x(i, 0).item() + 1);
  CHECK(sum(x).item() == 66);
  CHECK(permutation(0).elements() == 0);
}

TEST_CASE("multinomial and choice respect weights and replacement", "[expr][DEV-7]") {
  manual_seed_all(8);
  const auto weights = tensor({1.F, 0.F, 2.F, 5.F});
  Numbers counts(3, 0.0);
  for (const std::int64_t place : to_vector(multinomial(weights, 20000, {.replacement = true}))) {
    REQUIRE(place != 1);
    ++counts[static_cast<std::size_t>(place == 0 ? 0 : place - 1)];
  }
  CHECK(agrees(counts, {2500, 5000, 12500}));
  Numbers firsts(3, 0.0);
  const auto rows = weights.expand<Shape<dyn, 4>>(Dims(8000, 4));
  for (const auto& row : {multinomial(rows, 3)}) {
    const auto places = to_vector(row);
    for (std::size_t i = 0; i < places.size(); i += 3) {
      REQUIRE(places[i] + places[i + 1] + places[i + 2] == 5); // 0, 2 and 3 in some order
      ++firsts[static_cast<std::size_t>(places[i] == 0 ? 0 : places[i] - 1)];
    }
  }
  CHECK(agrees(firsts, {1000, 2000, 5000}));
  Numbers chosen = numbers(choice(arange(20), 20));
  std::sort(chosen.begin(), chosen.end());
  CHECK(chosen == numbers(arange(20)));
  CHECK(choice(arange(6).reshape(3, 2), 5, {.replacement = true}).shape() == Dims(5, 2));
  CHECK(message_of<ValueError>([&] { (void)multinomial(weights, 4); }) ==
        "multinomial: 4 are asked for without replacement, and a row has 3 positive weights");
  CHECK_THROWS_AS(multinomial(tensor({-1.F, 2.F}), 1), ValueError);
  CHECK_THROWS_AS(multinomial(tensor({0.F, 0.F}), 1), ValueError);
  CHECK(message_of<ValueError>([] { (void)choice(arange(3), 4); }) ==
        "choice: 4 of 3 cannot be chosen without replacement");
}
