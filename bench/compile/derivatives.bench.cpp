// SPDX-License-Identifier: Apache-2.0
//
// Jacobian of a 64-128-128-32 network with tanh by its input, and gradients of each example of a batch of 64 by the weights
// of a 784-256-10 classifier, in one thread. Both are compared with their formulas in double before they are timed.

#include "bench/support/check.hpp"

#include <twill/twill.hpp>

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

using namespace twill;

namespace {

using Numbers = std::vector<double>;

/// Inputs x outputs, small enough that no tanh is at its end.
Numbers weights_of(std::int64_t inputs, std::int64_t outputs, std::uint32_t seed) {
  const auto values = bench::numbers(inputs * outputs, 2 / std::sqrt(static_cast<float>(inputs)), seed);
  return {values.begin(), values.end()};
}
template <class S> auto tensor_of(const Numbers& values, const Dims& shape) {
  const std::vector<float> rounded{values.begin(), values.end()};
  return from_values<S>(std::span{rounded}, shape);
}
void require_equal(const auto& tensor, const Numbers& expected, const char* what) {
  const auto n = static_cast<std::int64_t>(expected.size());
  const std::vector<float> rounded{expected.begin(), expected.end()};
  bench::require_close(tensor.data(), rounded.data(), n, 1e-4F, what);
}

/// a (m x k) times b (k x n).
Numbers product(const Numbers& a, const Numbers& b, std::int64_t m, std::int64_t k, std::int64_t n) {
  Numbers all(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t l = 0; l < k; ++l)
      for (std::int64_t j = 0; j < n; ++j)
        all[static_cast<std::size_t>(i * n + j)] +=
            a[static_cast<std::size_t>(i * k + l)] * b[static_cast<std::size_t>(l * n + j)];
  return all;
}

constexpr auto network = [](auto x, auto first, auto second, auto third) {
  return matmul(tanh(matmul(tanh(matmul(x, first)), second)), third);
};

/// d y / d x, 32 x 64: the transposed product of the weights, with the slopes of tanh between them.
Numbers jacobian_in_double(const Numbers& x, const Numbers& first, const Numbers& second, const Numbers& third) {
  Numbers path(64 * 64); // inputs x units of the layer reached
  for (std::size_t i = 0; i < 64; ++i) path[i * 65] = 1;
  Numbers value = x;
  std::int64_t width = 64;
  for (const Numbers* weights : {&first, &second}) {
    value = product(value, *weights, 1, width, 128);
    path = product(path, *weights, 64, width, 128);
    width = 128;
    for (std::size_t unit = 0; unit < 128; ++unit) {
      value[unit] = std::tanh(value[unit]);
      for (std::size_t input = 0; input < 64; ++input) path[input * 128 + unit] *= 1 - value[unit] * value[unit];
    }
  }
  path = product(path, third, 64, 128, 32);
  Numbers rows(path.size());
  for (std::size_t input = 0; input < 64; ++input)
    for (std::size_t output = 0; output < 32; ++output) rows[output * 64 + input] = path[input * 32 + output];
  return rows;
}

void jacobian_of_network(benchmark::State& state) {
  const Numbers x = weights_of(1, 64, 1), first = weights_of(64, 128, 2), second = weights_of(128, 128, 3),
                third = weights_of(128, 32, 4);
  const auto at = tensor_of<Shape<64>>(x, Dims(64));
  const auto w = tensor_of<Shape<64, 128>>(first, Dims(64, 128));
  const auto v = tensor_of<Shape<128, 128>>(second, Dims(128, 128));
  const auto u = tensor_of<Shape<128, 32>>(third, Dims(128, 32));
  constexpr auto derivative = jacobian<1>(network);
  require_equal(derivative(at, w, v, u), jacobian_in_double(x, first, second, third), "jacobian/twill");
  for (auto _ : state) benchmark::DoNotOptimize(derivative(at, w, v, u).data());
}

constexpr std::int64_t examples = 64;
constexpr auto loss_of_one = [](auto first, auto second, auto image, auto label) {
  const auto logits = matmul(relu(matmul(image, first)), second);
  return nn::cross_entropy(unsqueeze(logits, 0), unsqueeze(label, 0));
};

/// The gradients of one example by both layers.
struct Gradients {
  Numbers first, second;
};
Gradients gradients_in_double(const Numbers& first, const Numbers& second, const Numbers& image, std::size_t label) {
  Numbers hidden = product(image, first, 1, 784, 256);
  for (double& unit : hidden) unit = std::fmax(unit, 0);
  Numbers slope = product(hidden, second, 1, 256, 10);
  double sum = 0;
  for (double& logit : slope) sum += logit = std::exp(logit);
  for (double& share : slope) share /= sum;
  slope[label] -= 1;
  Numbers back = product(second, slope, 256, 10, 1);
  for (std::size_t unit = 0; unit < 256; ++unit) back[unit] = hidden[unit] > 0 ? back[unit] : 0;
  return {product(image, back, 784, 1, 256), product(hidden, slope, 256, 1, 10)};
}

void gradients_of_examples(benchmark::State& state) {
  const Numbers first = weights_of(784, 256, 2), second = weights_of(256, 10, 3), images = weights_of(1, 64 * 784, 4);
  const auto w = tensor_of<Shape<784, 256>>(first, Dims(784, 256));
  const auto v = tensor_of<Shape<256, 10>>(second, Dims(256, 10));
  const auto x = tensor_of<Shape<examples, 784>>(images, Dims(examples, 784));
  std::vector<std::int64_t> classes;
  for (std::int64_t i = 0; i < examples; ++i) classes.push_back(i * 7 % 10);
  const auto labels = from_values<Shape<examples>>(std::span{std::as_const(classes)}, Dims(examples));
  constexpr auto each = vmap<unbatched, unbatched, 0, 0>(grad<2>(loss_of_one));
  const auto [by_first, by_second] = each(w, v, x, labels);
  Gradients expected;
  for (std::int64_t i = 0; i < examples; ++i) {
    const Numbers image(images.begin() + i * 784, images.begin() + (i + 1) * 784);
    const Gradients one = gradients_in_double(first, second, image, static_cast<std::size_t>(i * 7 % 10));
    expected.first.insert(expected.first.end(), one.first.begin(), one.first.end());
    expected.second.insert(expected.second.end(), one.second.begin(), one.second.end());
  }
  require_equal(by_first, expected.first, "per_example_gradients/twill: first layer");
  require_equal(by_second, expected.second, "per_example_gradients/twill: second layer");
  for (auto _ : state) {
    const auto all = each(w, v, x, labels);
    benchmark::DoNotOptimize(&all);
  }
}

BENCHMARK(jacobian_of_network)->Name("jacobian/twill");
BENCHMARK(gradients_of_examples)->Name("per_example_gradients/twill");

} // namespace

BENCHMARK_MAIN();
