#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Cumulative functions on a GPU beside those of a host device: along each axis, of every element type, of views and
// expressions, and of rows that are cut into chunks.

#include <tests/support/same_values.hpp>
#include <tests/support/suite.hpp>

#include <twill/expr/cumulative.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/kernel/gpu/scan.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/random.hpp>

#include <cstdint>

namespace scans_suite { namespace {

using namespace twill;
using test::Case;
using test::require_near;
using test::require_same;
using test::TestedDevice;

/// Integers between -4 and 4, in a shape.
template <class T> Tensor<T, Cpu, Shape<dyn, dyn, dyn>> some_integers(const Dims& extents) {
  const auto x = (rand<double, Shape<dyn, dyn, dyn>>(extents) * 9.0 - 4.5);
  return eval(cast<T>(round(x)));
}

void integers_run_along_every_axis() {
  for (const Dims& extents : {Dims(1, 1, 1), Dims(3, 67, 7), Dims(2, 1, 4099), Dims(5, 2, 0), Dims(1, 9001, 2)}) {
    const auto x = some_integers<std::int64_t>(extents);
    const auto there = x.to(TestedDevice{0});
    require_same(cumsum<0>(there), cumsum<0>(x));
    require_same(cumsum<1>(there), cumsum<1>(x));
    require_same(cumsum<2>(there), cumsum<2>(x));
    require_same(cumsum(there), cumsum(x));
    require_same(cummax<1>(there), cummax<1>(x));
  }
}

void products_and_extremes_run() {
  const auto x = some_integers<std::int64_t>(Dims(3, 5, 131));
  const auto there = x.to(TestedDevice{0});
  require_same(cumprod<2>(there), cumprod<2>(x)); // wraps alike
  require_same(cummin<2>(there), cummin<2>(x));
}

void types_are_converted() {
  const auto x = some_integers<std::int64_t>(Dims(2, 3, 211));
  const Tensor truth = x > 0;
  require_same(cumsum<2>(truth.to(TestedDevice{0})), cumsum<2>(truth));
  require_same(cummax<2>(truth.to(TestedDevice{0})), cummax<2>(truth));
  const auto halves = x.template to<twill::half>();
  require_same(cumsum<2>(halves.to(TestedDevice{0})), cumsum<2>(halves)); // small integers are exact
}

void floats_are_close_and_the_same_again() {
  const auto x = randn<float, Shape<dyn, dyn>>(Dims(3, 50021));
  const auto there = x.to(TestedDevice{0});
  const auto once = cumsum<1>(there);
  require_near(once, cumsum<1>(x), 1e-5, 1e-3);
  require_same(cumsum<1>(there), once);
  require_near(logcumsumexp<1>(there), logcumsumexp<1>(x), 1e-5, 1e-5);
}

void views_and_expressions_run() {
  const auto x = some_integers<std::int64_t>(Dims(4, 37, 19));
  const auto there = x.to(TestedDevice{0});
  require_same(cumsum<0>(there.template permute<2, 0, 1>()), cumsum<0>(x.template permute<2, 0, 1>()));
  require_same(cumsum<2>(there * 2 + 1), cumsum<2>(x * 2 + 1));
}

const Case integers_case{"running sums of integers are the host's along every axis", &integers_run_along_every_axis};
const Case products_case{"running products and extremes are the host's", &products_and_extremes_run};
const Case types_case{"running sums of truth values and halves are the host's", &types_are_converted};
const Case floats_case{"running sums of floats are near the host's, and the same every time",
                       &floats_are_close_and_the_same_again};
const Case views_case{"views and expressions have running sums on a GPU", &views_and_expressions_run};

}} // namespace scans_suite
