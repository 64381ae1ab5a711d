#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Compiled functions that cut, join, pad, gather, scatter, sort and sum along axes, and their gradients: a GPU beside a host.

#include <tests/support/same_values.hpp>
#include <tests/support/suite.hpp>

#include <twill/compile/function.hpp>
#include <twill/expr.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/cumprod.hpp>
#include <twill/ops/cumsum.hpp>
#include <twill/ops/sort.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/random.hpp>

#include <cstdint>
#include <vector>

namespace indexing_suite { namespace {

using namespace twill;
using graph::Value;
using test::Case;
using test::require_near;
using test::require_same;
using test::TestedDevice;

constexpr auto rearranged = [](Value x) {
  const Value y =
      graph::concatenate({graph::flip(x, {1}), graph::slice_axis(x, 1, {.begin = 1, .end = {}, .step = 2})}, 1);
  return graph::pad(graph::roll(y, 2, 2), 0, {1, 2}, 3);
};
constexpr auto rearranged_sum = [](Value x) { return graph::sum(graph::square(rearranged(x))); };

constexpr auto taken = [](Value x, Value index) { return graph::take(x, graph::minimum(index, 9), 1); };
constexpr auto taken_sum = [](Value x, Value index) {
  index = graph::minimum(index, 9); // a host refuses the one outside unless the function has computed it
  return graph::sum(graph::square(graph::index_add(x, 1, index, taken(x, index))));
};

constexpr auto ordered = [](Value x) { return graph::topk(x, 3, 1).indices; };
constexpr auto ordered_sum = [](Value x) {
  const Value running = graph::cumsum(x, 1) + graph::cumprod(x, 1) + graph::cummax(x, 1) * graph::cummin(x, 1);
  return graph::sum(graph::square(graph::sort(x, 1).values) * running);
};

template <class X> void compare(const X& x) {
  const auto there = x.to(TestedDevice{0});
  const auto index = from_values<Shape<6>>(std::vector<std::int64_t>{0, 4, -1, 7, 0, 4}, Dims(6), Cpu{0});
  require_same(compiled(rearranged)(there), compiled(rearranged)(x));
  require_near(grad(rearranged_sum)(there), grad(rearranged_sum)(x), 1e-6);
  require_same(compiled(taken)(there, index.to(TestedDevice{0})), compiled(taken)(x, index));
  require_near(grad(taken_sum)(there, index.to(TestedDevice{0})), grad(taken_sum)(x, index), 1e-6);
  require_same(compiled(ordered)(there), compiled(ordered)(x));
  require_near(grad(ordered_sum)(there), grad(ordered_sum)(x), 1e-5);
}

void functions_of_places_agree() {
  compare(randn<double, Shape<3, 5, 4>>(Cpu{0}));
  compare(randn<double, Shape<1, 5, 1>>(Cpu{0}));
}
const Case places_case{"compiled functions that move elements about agree with a host's, gradients included",
                       &functions_of_places_agree};

void long_rows_agree() {
  constexpr auto sums = [](Value x) {
    return graph::stack({graph::cumsum(x, 1), graph::cummax(x, 1), graph::cummin(x, 1), graph::cumprod(x % 2 + 1, 1)});
  };
  const auto x = eval(cast<std::int64_t>(rand<double, Shape<dyn, dyn>>(Dims(2, 9001)) * 9.0));
  require_same(compiled(sums)(x.to(TestedDevice{0})), compiled(sums)(x));
}
const Case rows_case{"running sums, products and extremes of long rows in a compiled function are those of a host",
                     &long_rows_agree};

}} // namespace indexing_suite
