// SPDX-License-Identifier: Apache-2.0
//
// Compiled functions, their gradients and their random draws over the late kind of device: the numbers are those of `Cpu`.

#include "tests/support/late_device.hpp"
#include "tests/support/numbers.hpp"

#include <twill/compile/function.hpp>
#include <twill/graph/random.hpp>
#include <twill/nn/losses.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/random.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <tuple>
#include <vector>

using namespace twill;
using graph::Value;
using twill::test::largest_difference;
using twill::test::Late;

namespace {

constexpr auto layer = [](Value x, Value weight) { return graph::sum(graph::square(graph::tanh(matmul(x, weight)))); };
constexpr auto softmax = [](Value x) { return graph::softmax(x); };
constexpr auto column_means = [](Value x) { return graph::mean(x, {0}); };
constexpr auto noisy = [](Value x) { return x + graph::random_uniform(x.graph(), x.shape()); };
constexpr auto sum_of_squares = [](Value x) { return graph::sum(x * x * x); };
constexpr auto slope_of_gradient = [](Value x) { return graph::sum(grad(sum_of_squares)(x)); };

template <class X> void append(std::vector<double>& numbers, const X& tensor) {
  for (double number : twill::test::numbers(tensor)) numbers.push_back(number);
}

/// Everything that a traced function can become, on one device.
template <class D> std::vector<double> results_on(D device) {
  manual_seed(Cpu{0}, 5);
  const auto x = randn<double, Shape<dyn, 9>>(Dims(13, 9), Cpu{0}).to(device);
  const auto weight = randn<double, Shape<9, 4>>(Cpu{0}).to(device);
  manual_seed(device, 6);
  std::vector<double> numbers{};
  append(numbers, compiled(layer)(x, weight));
  append(numbers, compiled(softmax)(x));
  append(numbers, compiled(softmax)(x.transpose()));
  append(numbers, compiled(column_means)(x));
  append(numbers, compiled(noisy)(x));
  append(numbers, compiled(noisy)(x));
  std::apply([&](const auto&... gradient) { (append(numbers, gradient), ...); }, grad(layer)(x, weight));
  std::apply([&](const auto&... part) { (append(numbers, part), ...); }, value_and_grad(layer)(x, weight));
  append(numbers, grad(slope_of_gradient)(x));
  return numbers;
}

} // namespace

TEST_CASE("compiled functions and their gradients run on a late device", "[ops][TRAIN-1][DEV-3]") {
  const std::vector<double> here = results_on(Cpu{0});
  const std::vector<double> there = results_on(Late{2});
  CHECK(largest_difference(here, there) < 1e-12);
}
