// SPDX-License-Identifier: Apache-2.0
//
// What a user of Thrust or of the standard library writes: tensors, views and lazy expressions handed to algorithms that
// know nothing of twill, on both of Thrust's host systems.

#include "tests/support/numbers.hpp"

#include <twill/algorithms.hpp>
#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <thrust/functional.h>
#include <thrust/sort.h>
#include <thrust/system/cpp/execution_policy.h>
#include <thrust/transform_reduce.h>
#if defined(TWILL_WITH_TBB)
#include <thrust/system/tbb/execution_policy.h>
#endif

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <ranges>
#include <vector>

using namespace twill;
using twill::test::numbers;

namespace {
struct Square {
  double operator()(double x) const { return x * x; }
};
} // namespace

TEST_CASE("Thrust transforms and reduces tensors, views and expressions", "[algorithms]") {
  const auto x = arange(1000).reshape<Shape<10, 100>>();
  const auto y = lazy(x(all, slice{.step = -3}) + 0.5);
  const double of_view = sum(square(cast<double>(x.transpose()))).item();
  const double of_expression = sum(square(cast<double>(x(all, slice{.step = -3})) + 0.5)).item();
  const auto reduce = [](const auto& policy, const auto& range) {
    return thrust::transform_reduce(policy, begin(range), end(range), Square{}, 0.0, thrust::plus<double>{});
  };
  CHECK(reduce(thrust::cpp::par, x.transpose()) == of_view);
  CHECK(reduce(thrust::cpp::par, y) == of_expression);
#if defined(TWILL_WITH_TBB)
  CHECK(reduce(thrust::tbb::par, x.transpose()) == of_view);
  CHECK(reduce(thrust::tbb::par, y) == of_expression);
#endif
}

TEST_CASE("Thrust sorts a strided column by another", "[algorithms]") {
  const auto table = rand<float, Shape<101, 3>>();
  const auto before = table.clone();
  const auto keys = table(all, 0);
  const auto values = table(all, 2);
  thrust::sort_by_key(thrust::cpp::par, begin(keys), end(keys), begin(values));
  const auto order = argsort(before(all, 0));
  CHECK(numbers(keys) == numbers(sort(before(all, 0))));
  for (int i = 0; i < 101; ++i) CHECK(values[i].item() == before(order[i].item(), 2).item());
  CHECK(numbers(table(all, 1)) == numbers(before(all, 1)));
}

TEST_CASE("standard algorithms read tensors and expressions", "[algorithms]") {
  const auto x = arange(24).reshape<Shape<4, 6>>();
  const auto view = x.transpose()(slice{.step = -2});
  const auto e = lazy(view * 2 + 1);
  CHECK(std::accumulate(begin(view), end(view), 0) == sum(view).item());
  CHECK(std::accumulate(begin(e), end(e), std::int64_t{0}) == sum(view * 2 + 1).item());
  CHECK(*std::ranges::max_element(e) == 47);
  CHECK(std::ranges::max_element(flat(x)) - begin(x) == 23);
  CHECK(std::inner_product(begin(view), end(view), begin(e), 0) == sum(view * (view * 2 + 1)).item());
  CHECK(std::ranges::count_if(e, [](int v) { return v > 20; }) == sum(view * 2 + 1 > 20).item());
  std::vector<int> even;
  for (const int v : flat(x) | std::views::filter([](int value) { return value % 2 == 0; })) even.push_back(v);
  CHECK(even.size() == 12);
  std::vector<int> copied(12);
  std::ranges::copy(flat(view), copied.begin());
  CHECK(std::ranges::equal(copied, flat(view)));
}
