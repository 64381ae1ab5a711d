#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Distinct elements, places in sorted vectors and counts on a GPU beside a host device.

#include <tests/gpu/tied_numbers.hpp>
#include <tests/support/same_values.hpp>
#include <tests/support/suite.hpp>

#include <twill/algorithms.hpp>
#if TWILL_NVCC
#include <twill/algorithms.cuh>
#endif
#include <twill/kernel/gpu/launch.hpp>
#include <twill/kernel/gpu/search.hpp>
#include <twill/kernel/gpu/sort.hpp>
#include <twill/kernel/gpu/unique.hpp>
#include <twill/tensor/tensor.hpp>

#include <cstdint>

namespace counting_suite { namespace {

using namespace twill;
using test::Case;
using test::require_equal;
using test::require_same;
using test::some_integers;
using test::some_numbers;
using test::TestedDevice;
using test::there;

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

}} // namespace counting_suite
