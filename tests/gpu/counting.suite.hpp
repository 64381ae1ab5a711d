#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Distinct elements, places in sorted vectors and counts on a GPU beside a host device.

#include <tests/support/same_values.hpp>
#include <tests/support/suite.hpp>

#include <twill/algorithms.hpp>
#if TWILL_NVCC
#include <twill/algorithms.cuh>
#endif
#include <twill/core/philox.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/kernel/gpu/search.hpp>
#include <twill/kernel/gpu/sort.hpp>
#include <twill/kernel/gpu/unique.hpp>
#include <twill/tensor/tensor.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace {

using namespace twill;
using test::Case;
using test::require_equal;
using test::require_same;
using test::TestedDevice;

template <class X> auto there(const X& x) { return x.to(TestedDevice{0}); }

/// Numbers of which many are equal, some NaN, some zeros of either sign.
Tensor<float, Cpu, Shape<dyn, dyn>> some_numbers(const Dims& extents) {
  const Tensor<float, Cpu, Shape<dyn, dyn>> x(Cpu{0}, extents);
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const float drawn = random_uniform(47, 0, 0, static_cast<std::uint64_t>(i));
    const float whole = std::floor(drawn * 100) - 50;
    x.data()[i] = drawn > 0.9F ? std::numeric_limits<float>::quiet_NaN() : drawn < 0.3F ? whole * 0 : whole;
  }
  return x;
}
/// Integers from low on.
Tensor<std::int64_t, Cpu, Shape<dyn>> some_integers(std::int64_t low, std::uint64_t range, std::int64_t count) {
  const Tensor<std::int64_t, Cpu, Shape<dyn>> x(Cpu{0}, Dims(count));
  for (std::int64_t i = 0; i < count; ++i)
    x.data()[i] = low + static_cast<std::int64_t>(random_integer(48, 0, 0, range, static_cast<std::uint64_t>(i)));
  return x;
}

void distinct_elements_are_the_hosts() {
  for (const Dims& extents : {Dims(0, 3), Dims(1, 1), Dims(19, 307)}) {
    const auto x = some_numbers(extents);
    require_same(unique(there(x)), unique(x));
    const auto found = unique_all(there(x));
    const auto expected = unique_all(x);
    require_same(found.values, expected.values);
    require_same(found.indices, expected.indices);
    require_same(found.counts, expected.counts);
    require_same(found.inverse_indices, expected.inverse_indices);
  }
}

void places_and_counts_are_the_hosts() {
  const auto x = some_numbers(Dims(11, 307));
  const auto sorted = sort(some_numbers(Dims(1, 503)).flatten());
  require_same(searchsorted(there(sorted), there(x)), searchsorted(sorted, x));
  require_same(searchsorted(there(sorted), there(x), side_right), searchsorted(sorted, x, side_right));
  const auto bins = histogram(there(x), 37, -40, 30);
  const auto expected = histogram(x, 37, -40, 30);
  require_same(bins.counts, expected.counts);
  require_same(bins.edges, expected.edges);
  const auto whole = some_integers(0, 100, 3001);
  require_same(bincount(there(whole), 120), bincount(whole, 120));
  require_same(bincount(there(whole)), bincount(whole));
  require_equal(bincount(there(some_integers(0, 1, 0)), 3).elements(), 3);
  test::require_throws<ValueError>([&] { static_cast<void>(bincount(there(some_integers(-100, 100, 7)))); },
                                   "a value is -");
}

const Case distinct_case{"distinct elements are those of a host device", &distinct_elements_are_the_hosts};
const Case places_case{"places in sorted vectors and counts are the host's", &places_and_counts_are_the_hosts};

} // namespace
