// SPDX-License-Identifier: Apache-2.0
//
// topk, kthvalue, unique, searchsorted, bincount and histogram against plain loops.

#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"

#include <twill/algorithms.hpp>
#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <type_traits>
#include <vector>

using namespace twill;
using twill::test::message_of;
using twill::test::numbers;

namespace {
const float nan_value = std::numeric_limits<float>::quiet_NaN();
}

TEMPLATE_TEST_CASE("the greatest and the least elements are found with their places", "[algorithms]", std::uint8_t,
                   std::int64_t, twill::half, float) {
  const auto x = eval(cast<TestType>(floor(rand<float, Shape<13, 3>>() * 20)));
  for (const std::int64_t k : {0, 1, 5, 13}) {
    const auto most = topk<0>(x, k);
    const auto least = topk<0>(x, k, ascending);
    REQUIRE(most.values.shape() == Dims(k, 3));
    for (int column = 0; column < 3; ++column) {
      auto sorted = numbers(x(all, column));
      std::sort(sorted.begin(), sorted.end());
      for (std::int64_t i = 0; i < k; ++i) {
        CHECK(static_cast<double>(least.values(i, column).item()) == sorted[static_cast<std::size_t>(i)]);
        CHECK(static_cast<double>(most.values(i, column).item()) ==
              sorted[sorted.size() - 1 - static_cast<std::size_t>(i)]);
        CHECK(x(most.indices(i, column).item(), column).item() == most.values(i, column).item());
        CHECK(x(least.indices(i, column).item(), column).item() == least.values(i, column).item());
      }
      if (k > 0) {
        const auto kth = kthvalue<0>(x, k);
        CHECK(static_cast<double>(kth.values[column].item()) == sorted[static_cast<std::size_t>(k - 1)]);
        CHECK(x(kth.indices[column].item(), column).item() == kth.values[column].item());
      }
    }
  }
}

TEST_CASE("NaN counts as the greatest, and k has to fit", "[algorithms]") {
  const auto x = tensor({1.F, nan_value, 3.F, 3.F});
  CHECK(numbers<std::int64_t>(topk(x, 3).indices) == std::vector<std::int64_t>{1, 2, 3});
  CHECK(numbers<std::int64_t>(topk(x * -1, 3, ascending, in_parallel).indices) == std::vector<std::int64_t>{2, 3, 0});
  CHECK(kthvalue(x, 2).values.item() == 3);
  CHECK(message_of([&] { static_cast<void>(topk(x, 5)); }) == "topk: k is 5, the axis has 4 elements");
  CHECK(message_of([&] { static_cast<void>(kthvalue(x, 0)); }) == "kthvalue: k is 0, the axis has 4 elements");
}

TEMPLATE_TEST_CASE("distinct elements are counted and found again", "[algorithms]", bool, std::uint8_t, std::int32_t,
                   bfloat16, double) {
  const auto source = eval(cast<TestType>(floor(rand<float, Shape<6, 17>>() * 7)));
  const auto x = source(slice{.step = -1}, slice{.step = 2}).transpose();
  std::map<double, std::vector<std::int64_t>> places;
  const auto flat = numbers(x);
  for (std::size_t i = 0; i < flat.size(); ++i) places[flat[i]].push_back(static_cast<std::int64_t>(i));
  const auto found = unique_all(x);
  CHECK(numbers(unique(x)) == numbers(found.values));
  CHECK(numbers(unique(x, in_parallel)) == numbers(found.values));
  REQUIRE(found.values.elements() == static_cast<std::int64_t>(places.size()));
  REQUIRE(found.inverse_indices.shape() == x.shape());
  std::int64_t k = 0;
  for (const auto& [value, where] : places) {
    CHECK(static_cast<double>(found.values[k].item()) == value);
    CHECK(found.indices[k].item() == where.front());
    CHECK(found.counts[k].item() == static_cast<std::int64_t>(where.size()));
    ++k;
  }
  const auto inverse = numbers<std::int64_t>(found.inverse_indices);
  const auto values = numbers(found.values);
  for (std::size_t i = 0; i < flat.size(); ++i) CHECK(values[static_cast<std::size_t>(inverse[i])] == flat[i]);
}

TEST_CASE("all NaN are one value, and nothing and one number have distinct elements", "[algorithms]") {
  const auto x = tensor({nan_value, 1.F, nan_value, 1.F});
  CHECK(numbers(unique_all(x).counts) == std::vector<double>{2, 2});
  CHECK(std::isnan(unique(x)[1].item()));
  CHECK(unique(zeros<float, Shape<0>>()).elements() == 0);
  CHECK(unique_all(zeros<float, Shape<0, 3>>()).counts.elements() == 0);
  CHECK(numbers(unique(scalar(5))) == std::vector<double>{5});
  CHECK(unique_all(scalar(5)).inverse_indices.item() == 0);
}

TEMPLATE_TEST_CASE("values find their places in a sorted vector", "[algorithms]", std::uint8_t, std::int64_t,
                   twill::half, double) {
  const auto sorted = sort(eval(cast<TestType>(floor(rand<float, Shape<19>>() * 12))));
  const auto x = eval(rand<float, Shape<5, 7>>() * 14 - 1).transpose();
  const auto vector = numbers(sorted);
  const auto lower = searchsorted(sorted, x);
  const auto upper = searchsorted(sorted, x, side_right, in_parallel);
  static_assert(std::is_same_v<typename decltype(lower)::value_type, std::int64_t>);
  REQUIRE(lower.shape() == Dims(7, 5));
  const auto values = numbers(x.template to<promote_t<TestType, float>>());
  const auto found_lower = numbers<std::int64_t>(lower);
  const auto found_upper = numbers<std::int64_t>(upper);
  for (std::size_t i = 0; i < values.size(); ++i) {
    CHECK(found_lower[i] == std::lower_bound(vector.begin(), vector.end(), values[i]) - vector.begin());
    CHECK(found_upper[i] == std::upper_bound(vector.begin(), vector.end(), values[i]) - vector.begin());
  }
}

TEST_CASE("places of NaN, of one number and in nothing", "[algorithms]") {
  const auto sorted = tensor({1.F, 2.F, nan_value});
  CHECK(numbers(searchsorted(sorted, tensor({nan_value, 3.F, 1.F}))) == std::vector<double>{2, 2, 0});
  CHECK(numbers(searchsorted(sorted, tensor({nan_value, 3.F, 1.F}), side_right)) == std::vector<double>{3, 2, 1});
  CHECK(searchsorted(sorted, scalar(1.5F)).item() == 1);
  CHECK(numbers(searchsorted(zeros<float, Shape<0>>(), sorted)) == std::vector<double>{0, 0, 0});
  CHECK(searchsorted(sorted * 2, zeros<float, Shape<0>>()).elements() == 0);
}

TEST_CASE("integers are counted, and numbers fall into bins", "[algorithms]") {
  const auto x = tensor({3, 1, 3, 0, 3});
  CHECK(numbers(bincount(x)) == std::vector<double>{1, 1, 0, 3});
  CHECK(numbers(bincount(x[slice{.step = -2}], 6)) == std::vector<double>{0, 0, 0, 3, 0, 0});
  CHECK(numbers(bincount(zeros<std::uint8_t, Shape<0>>())).empty());
  CHECK(message_of([] {
          static_cast<void>(bincount(tensor({2, -1})));
        }) == "bincount: a value is -1; values are at least 0");
  const auto y = tensor({{0.F, 0.5F, 1.F, 4.F}, {-1.F, 2.F, 2.5F, nan_value}});
  const auto bins = histogram(y, 4, 0, 4);
  CHECK(numbers(bins.counts) == std::vector<double>{2, 1, 2, 1});
  CHECK(numbers(bins.edges) == std::vector<double>{0, 1, 2, 3, 4});
  CHECK(numbers(histogram(scalar(2), 1, 2, 2).counts) == std::vector<double>{1});
  CHECK(numbers(histogram(tensor({1.0, 2.0, 2.5, 5.0}), 4).counts) == std::vector<double>{1, 2, 0, 1}); // from 1 to 5
  CHECK(numbers(histogram(tensor({3.0, 3.0})).edges).front() == 2.5);
  CHECK(message_of([&] { static_cast<void>(histogram(y, 0, 0, 1)); }) ==
        "histogram: there are 0 bins; at least 1 is needed");
  CHECK_THROWS_AS(histogram(y, 2, 1, 0), ValueError);
}
