#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Quantiles on a GPU beside those of a host device: over each axis, by every method, with NaN and infinities, of short and
// long rows.

#include <tests/support/same_values.hpp>
#include <tests/support/suite.hpp>

#include <twill/expr/quantile.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/kernel/gpu/quantile.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/random.hpp>

#include <limits>

namespace quantiles_suite { namespace {

using namespace twill;
using test::Case;
using test::require_near;
using test::TestedDevice;

constexpr double close = 1e-6; // a GPU fuses products and sums

void quantiles_are_the_hosts() {
  for (const Dims& extents : {Dims(1, 1), Dims(7, 301), Dims(2, 5003), Dims(3, 0)}) {
    const auto x = rand<float, Shape<dyn, dyn>>(extents);
    const auto there = x.to(TestedDevice{0});
    for (const double q : {0.0, 0.31, 0.5, 1.0}) require_near(quantile<1>(there, q), quantile<1>(x, q), close);
    require_near(median<0>(there), median<0>(x), close);
    require_near(median(there), median(x), close);
    const auto several = tensor({0.1, 0.9, 0.5});
    require_near(quantile<1>(there, several), quantile<1>(x, several), close);
  }
}

void methods_are_the_hosts() {
  const auto x = rand<double, Shape<dyn>>(Dims(10));
  const auto there = x.to(TestedDevice{0});
  for (const Interpolation method : {Interpolation::linear, Interpolation::lower, Interpolation::higher,
                                     Interpolation::nearest, Interpolation::midpoint})
    require_near(percentile(there, 37.5, method), percentile(x, 37.5, method), close);
}

void odd_values_are_the_hosts() {
  constexpr float none = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
  const auto x = tensor({{1.F, none, 3.F, 4.F}, {-infinite, 2.F, infinite, infinite}, {0.F, -0.F, 1.F, infinite}});
  const auto there = x.to(TestedDevice{0});
  for (const double q : {0.0, 0.4, 0.5, 1.0}) require_near(quantile<1>(there, q), quantile<1>(x, q), close);
  const auto whole = arange(101).reshape<Shape<dyn>>(Dims(101));
  require_near(median(whole.to(TestedDevice{0})), median(whole), close);
}

const Case quantiles_case{"quantiles over each axis are the host's", &quantiles_are_the_hosts};
const Case methods_case{"quantiles by each method are the host's", &methods_are_the_hosts};
const Case odd_case{"quantiles of NaN, infinities and integers are the host's", &odd_values_are_the_hosts};

}} // namespace quantiles_suite
