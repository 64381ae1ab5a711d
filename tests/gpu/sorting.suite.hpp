#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sorting and selecting on a GPU beside a host device: values, places and ties are the host's.

#include <tests/support/same_values.hpp>
#include <tests/support/suite.hpp>

#include <twill/algorithms.hpp>
#if TWILL_NVCC
#include <twill/algorithms.cuh>
#endif
#include <twill/core/philox.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/kernel/gpu/sort.hpp>
#include <twill/tensor/tensor.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace {

using namespace twill;
using test::Case;
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

} // namespace
