#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sorting and selecting on a GPU beside a host device: values, places and ties are the host's.

#include <tests/gpu/tied_numbers.hpp>
#include <tests/support/same_values.hpp>
#include <tests/support/suite.hpp>

#include <twill/algorithms.hpp>
#if TWILL_NVCC
#include <twill/algorithms.cuh>
#endif
#include <twill/kernel/gpu/launch.hpp>
#include <twill/kernel/gpu/sort.hpp>
#include <twill/tensor/tensor.hpp>

#include <cstdint>

namespace sorting_suite { namespace {

using namespace twill;
using test::Case;
using test::require_same;
using test::some_integers;
using test::some_numbers;
using test::TestedDevice;
using test::there;

void sorts_are_the_hosts() {
  for (const Dims& extents : {Dims(0, 3), Dims(1, 1), Dims(13, 131), Dims(2, 4099)}) {
    const auto x = some_numbers(extents);
    require_same(argsort(there(x)), argsort(x));
    require_same(argsort<0>(there(x), descending), argsort<0>(x, descending));
    require_same(sort<0>(there(x)), sort<0>(x));
    require_same(sort(there(x), descending), sort(x, descending));
  }
  const auto whole = some_integers(-1000, 2000, 5003);
  require_same(sort(there(whole)), sort(whole));
  require_same(argsort(there(whole)), argsort(whole));
}

void selections_are_the_hosts() {
  const auto x = some_numbers(Dims(7, 211));
  const auto most = topk(there(x), 5);
  require_same(most.values, topk(x, 5).values);
  require_same(most.indices, topk(x, 5).indices);
  require_same(topk<0>(there(x), 3, ascending).indices, topk<0>(x, 3, ascending).indices);
  require_same(kthvalue(there(x), 17).values, kthvalue(x, 17).values);
  test::require_throws<ValueError>([&] { static_cast<void>(topk(there(x), 212)); }, "k is 212");
}

const Case sorts_case{"rows are sorted as on a host device", &sorts_are_the_hosts};
const Case selections_case{"the greatest, the least and the k-th are the host's", &selections_are_the_hosts};

}} // namespace sorting_suite
