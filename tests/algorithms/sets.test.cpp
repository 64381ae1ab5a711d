// SPDX-License-Identifier: Apache-2.0
//
// Sets, partial orders, bins, interpolation, convolution and distances against plain loops and NumPy's examples.

#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"

#include <twill/algorithms.hpp>
#include <twill/algorithms/partition.hpp>
#include <twill/algorithms/sampled.hpp>
#include <twill/algorithms/sets.hpp>
#include <twill/expr.hpp>
#include <twill/expr/distances.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <vector>

using namespace twill;
using twill::test::message_of;
using twill::test::numbers;

namespace {
using Doubles = std::vector<double>;
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
} // namespace

TEMPLATE_TEST_CASE("sets of elements are those of the standard library", "[algorithms]", std::uint8_t, std::int64_t,
                   float) {
  manual_seed_all(3);
  const auto a = eval(cast<TestType>(floor(rand<float, Shape<13, 3>>() * 30)));
  const auto b = eval(cast<TestType>(floor(rand<float, Shape<17>>() * 30)));
  const auto left = numbers(a), right = numbers(b);
  const std::set<double> s(left.begin(), left.end()), t(right.begin(), right.end());
  const auto is_in = isin(a, b);
  REQUIRE(is_in.shape() == a.shape());
  for (std::size_t i = 0; i < left.size(); ++i) CHECK((numbers(is_in)[i] != 0) == (t.count(left[i]) == 1));
  const auto combined = [&](auto algorithm) {
    Doubles result{};
    algorithm(s.begin(), s.end(), t.begin(), t.end(), std::back_inserter(result));
    return result;
  };
  CHECK(numbers(intersect1d(a, b)) == combined([](auto... x) { std::set_intersection(x...); }));
  CHECK(numbers(union1d(a, b)) == combined([](auto... x) { std::set_union(x...); }));
  CHECK(numbers(setdiff1d(a, b)) == combined([](auto... x) { std::set_difference(x...); }));
  CHECK(numbers(setxor1d(a, b)) == combined([](auto... x) { std::set_symmetric_difference(x...); }));
}

TEST_CASE("sets of other element types, without elements and with NaN", "[algorithms]") {
  const auto x = tensor({1.5, 2.0, nan_value});
  CHECK(numbers(isin(x, tensor<std::int32_t>({2, 3}))) == Doubles{0, 1, 0});
  CHECK(numbers(isin(x, x)) == Doubles{1, 1, 0});
  const Tensor<double, Cpu, Shape<dyn>> nothing(Cpu{0}, Dims(0));
  CHECK(numbers(isin(x, nothing)) == Doubles{0, 0, 0});
  CHECK(isin(nothing, x).elements() == 0);
  CHECK(numbers(union1d(nothing, tensor({2.0, 1.0, 2.0}))) == Doubles{1, 2});
  CHECK(intersect1d(nothing, x).elements() == 0);
  CHECK(numbers(isin(x[0], x)) == Doubles{1});
}

TEST_CASE("a partition has the element of the sorted order at its place", "[algorithms]") {
  manual_seed_all(4);
  const auto x = randn<float, Shape<4, 37>>();
  for (const std::int64_t k : {0, 5, 36, -1, -20}) {
    const std::int64_t place = k < 0 ? k + 37 : k;
    const auto values = partition(x, k);
    const auto places = argpartition<1>(x, k, in_sequence);
    const auto sorted = sort(x);
    for (int row = 0; row < 4; ++row) {
      const float pivot = sorted(row, place).item();
      CHECK(values(row, place).item() == pivot);
      CHECK(x(row, places(row, place).item()).item() == pivot);
      for (std::int64_t i = 0; i < 37; ++i) {
        CHECK((i < place ? values(row, i).item() <= pivot : values(row, i).item() >= pivot));
        const float there = x(row, places(row, i).item()).item();
        CHECK((i < place ? there <= pivot : there >= pivot));
      }
      auto all_of_row = numbers(values(row, all)), wanted = numbers(sorted(row, all));
      std::sort(all_of_row.begin(), all_of_row.end());
      CHECK(all_of_row == wanted);
    }
  }
  CHECK(numbers(partition<0>(x, 1)(1, all)) == numbers(sort<0>(x)(1, all)));
  CHECK(message_of([&] { static_cast<void>(partition(x, 37)); }) ==
        "partition: place 37 is outside of an axis of 37 elements");
}

TEST_CASE("values fall into bins as in NumPy", "[algorithms]") {
  const auto edges = tensor({0.0, 1.0, 2.5, 4.0, 10.0});
  const auto x = tensor({0.2, 6.4, 3.0, 1.6, -1.0, 10.0, 2.5, nan_value});
  CHECK(numbers<std::int64_t>(digitize(x, edges)) == std::vector<std::int64_t>{1, 4, 3, 2, 0, 5, 3, 5});
  CHECK(numbers<std::int64_t>(digitize(x, edges, BinEdge::upper)) == std::vector<std::int64_t>{1, 4, 3, 2, 0, 4, 2, 5});
}

TEST_CASE("interpolation follows the lines between points", "[algorithms]") {
  const auto places = tensor({1.0, 2.0, 4.0});
  const auto values = tensor({3.0, 2.0, 6.0});
  const auto x = tensor({0.0, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0});
  CHECK(numbers(interp(x, places, values)) == Doubles{3, 3, 2.5, 2, 4, 6, 6});
  CHECK(numbers(interp(x, places, values, {.left = -1, .right = 9})) == Doubles{-1, 3, 2.5, 2, 4, 6, 9});
  CHECK(std::isnan(numbers(interp(tensor({nan_value}), places, values))[0]));
  CHECK(numbers(interp(x, tensor({2.0}), tensor({7.0}))) == Doubles(7, 7.0));
  const auto whole = interp(tensor<std::int32_t>({3}), tensor<std::int32_t>({2, 4}), tensor<std::int32_t>({1, 2}));
  CHECK(whole.dtype == DType::float32);
  CHECK(numbers(whole) == Doubles{1.5});
  CHECK(message_of([&] { static_cast<void>(interp(x, places, x)); }) ==
        "interp: there are 3 places and 7 values; as many of both, at least 1");
}

TEST_CASE("convolutions are sums of shifted products", "[algorithms]") {
  manual_seed_all(5);
  for (const auto& [n, m] : {std::pair{7, 3}, {7, 4}, {3, 7}, {1, 1}, {5, 5}, {2, 9}}) {
    const Tensor<double, Cpu, Shape<dyn>> a = randn<double, Shape<dyn>>(Dims(n)),
                                          v = randn<double, Shape<dyn>>(Dims(m));
    Doubles full(static_cast<std::size_t>(n + m - 1), 0.0);
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < m; ++k) full[static_cast<std::size_t>(i + k)] += a[i].item() * v[k].item();
    const std::ptrdiff_t most = std::max(n, m), least = std::min(n, m);
    const Doubles same(full.begin() + (least - 1) / 2, full.begin() + (least - 1) / 2 + most);
    const Doubles valid(full.begin() + least - 1, full.begin() + most);
    const auto check = [&](const auto& got, const Doubles& expected) {
      REQUIRE(got.elements() == static_cast<std::int64_t>(expected.size()));
      for (std::size_t i = 0; i < expected.size(); ++i) CHECK(numbers(got)[i] == Approx(expected[i]).margin(1e-14));
    };
    check(convolve(a, v), full);
    check(convolve(a, v, ConvolveMode::same), same);
    check(convolve(a, v, ConvolveMode::valid), valid);
  }
  const auto whole = convolve(tensor<std::int32_t>({1, 2, 3}), tensor<std::int32_t>({0, 1, 5}));
  CHECK(whole.dtype == DType::int32);
  CHECK(numbers(whole) == Doubles{0, 1, 7, 13, 15});
  const Tensor<double, Cpu, Shape<dyn>> nothing(Cpu{0}, Dims(0));
  CHECK(message_of([&] { static_cast<void>(convolve(nothing, nothing)); }) ==
        "convolve: the vectors have 0 and 0 elements; at least 1 each");
}

TEST_CASE("distances between rows", "[algorithms]") {
  manual_seed_all(6);
  const auto a = randn<double, Shape<2, 3, 5>>();
  const auto b = randn<double, Shape<4, 5>>();
  const auto check = [&](const auto& got, const auto& norm_of) {
    REQUIRE(got.shape() == Dims(2, 3, 4));
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 4; ++k) {
          Doubles way{};
          for (int d = 0; d < 5; ++d) way.push_back(std::fabs(a(i, j, d).item() - b(k, d).item()));
          CHECK(got(i, j, k).item() == Approx(norm_of(way)));
        }
  };
  check(eval(cdist(a, b)), [](const Doubles& w) {
    double sum = 0;
    for (const double e : w) sum += e * e;
    return std::sqrt(sum);
  });
  check(eval(cdist(a, b, order<1>)), [](const Doubles& w) {
    double sum = 0;
    for (const double e : w) sum += e;
    return sum;
  });
  check(eval(cdist(a, b, order_inf)), [](const Doubles& w) { return *std::max_element(w.begin(), w.end()); });
}
