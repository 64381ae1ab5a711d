// SPDX-License-Identifier: Apache-2.0
//
// Expressions and views on a GPU reduced by Thrust and CUB, with twill's stream and pool, beside a host device.

#include <tests/support/other_launches.cuh>
#include <tests/support/same_values.hpp>
#include <tests/support/suite.hpp>

#include <twill/algorithms/device_iterator.hpp>
#include <twill/algorithms/element_iterator.hpp>
#include <twill/algorithms/on.cuh>
#include <twill/expr.cuh>
#include <twill/tensor/random.hpp>

#include <cub/device/device_reduce.cuh>

#include <thrust/reduce.h>
#include <thrust/transform_reduce.h>

#include <cstddef>
#include <cstdint>

namespace {

using namespace twill;
using test::Case;
using test::require_close;
using test::require_equal;

constexpr Cuda device{0};

struct Plus {
  constexpr double operator()(double a, double b) const { return a + b; }
};
struct Square {
  constexpr double operator()(double x) const { return x * x; }
};

using Matrix = Tensor<float, Cpu, Shape<dyn, dyn>>;

void thrust_reduces_expressions() {
  const Matrix a = rand<float, Shape<dyn, dyn>>(Dims(901, 267)), b = rand<float, Shape<dyn, dyn>>(Dims(901, 267));
  const auto x = a.to(device), y = b.to(device);
  const auto product = lazy(x * y.transpose().transpose() + 1);
  const double sum_of_all = thrust::reduce(on(device), begin(product), end(product), 0.0, Plus{});
  require_close(sum_of_all, static_cast<double>(sum(a * b + 1).item()), 1e-5);
  const auto view = x(slice{.step = 2}, slice{1, 60});
  const double squares = thrust::transform_reduce(on(device), begin(view), end(view), Square{}, 0.0, Plus{});
  require_close(squares, static_cast<double>(sum(square(a(slice{.step = 2}, slice{1, 60}))).item()), 1e-5);
}

void cub_reduces_expressions(std::int64_t n) {
  const auto a = rand<double, Shape<dyn>>(Dims(n));
  const auto x = a.to(device);
  const auto e = lazy(x * x + 1);
  const Tensor<double, Cuda, Shape<>> result(device, Dims{});
  const auto count = static_cast<std::int64_t>(end(e) - begin(e));
  std::size_t bytes = 0;
  require_equal(static_cast<int>(cub::DeviceReduce::Reduce(nullptr, bytes, begin(e), result.data(), count, Plus{}, 0.0,
                                                           stream_of(device))),
                0);
  const auto memory = working_memory(device, bytes);
  require_equal(static_cast<int>(cub::DeviceReduce::Reduce(memory.data(), bytes, begin(e), result.data(), count, Plus{},
                                                           0.0, stream_of(device))),
                0);
  require_close(result.item(), sum(a * a + 1).item(), 1e-12);
}

const Case reduces_case{"Thrust reduces expressions and views on a GPU", &thrust_reduces_expressions};
const Case cub_case{"CUB reduces expressions on a GPU", +[] {
                      for (const std::int64_t n : {100, 10'007, 300'007}) cub_reduces_expressions(test::sized(n));
                    }};

} // namespace
