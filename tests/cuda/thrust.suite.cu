// SPDX-License-Identifier: Apache-2.0
//
// Tensors and expressions on a GPU selected from, scanned and sorted by Thrust, with twill's stream and pool, beside a host
// device.

#include <tests/support/other_launches.cuh>
#include <tests/support/same_values.hpp>
#include <tests/support/suite.hpp>

#include <twill/algorithms/device_iterator.hpp>
#include <twill/algorithms/element_iterator.hpp>
#include <twill/algorithms/on.cuh>
#include <twill/expr.cuh>
#include <twill/tensor/random.hpp>

#include <thrust/copy.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include <cstddef>
#include <cstdint>

namespace {

using namespace twill;
using test::Case;
using test::require_close;
using test::require_near;
using test::require_same;

constexpr Cuda device{0};

struct IsLarge {
  constexpr bool operator()(float x) const { return x > 0.5F; }
};

void thrust_writes_tensors(std::int64_t n) {
  const auto a = rand<float, Shape<dyn>>(Dims(n));
  const auto x = a.to(device).clone();
  const Tensor<float, Cuda, Shape<dyn>> large(device, Dims(n));
  const auto e = lazy(x * 1.F);
  const auto last = thrust::copy_if(on(device), begin(e), end(e), large.data(), IsLarge{});
  require_same(large[slice{0, last - large.data()}], eval(a[a > 0.5F]));
  const Tensor<double, Cuda, Shape<dyn>> sums(device, Dims(n));
  const auto doubles = lazy(cast<double>(x));
  thrust::inclusive_scan(on(device), begin(doubles), end(doubles), sums.data());
  require_near(sums, cumsum(a.template to<double>()), 1e-12);
  thrust::sort(on(device), x.data(), x.data() + x.elements());
  const auto ordered = x.cpu();
  const auto values = to_vector(ordered);
  for (std::size_t i = 1; i < values.size(); ++i) test::require(values[i - 1] <= values[i]);
  require_close(static_cast<double>(sum(ordered).item()), static_cast<double>(sum(a).item()), 1e-4);
}

const Case writes_case{"Thrust selects, scans and sorts on a GPU", +[] {
                         for (const std::int64_t n : {300, 5003, 40'009}) thrust_writes_tensors(test::sized(n));
                       }};

} // namespace
