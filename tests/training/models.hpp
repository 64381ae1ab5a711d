#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Small models and batches that the tests of training share. Values are drawn from a fresh seed in each run, which a
// failing test shows.

#include "tests/support/test_seed.hpp"

#include <twill/nn/dropout.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/create.hpp>

#include <cstdint>
#include <random>
#include <vector>

namespace twill::test {

/// 5 inputs, two hidden layers, 3 classes.
struct Classifier {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    const auto first = tanh(nn::linear(x, 7, "first"));
    const auto second = relu(nn::linear(first, 6, "second"));
    return nn::linear(second, 3, "output");
  }
};

/// As above, with dropout.
struct DropoutClassifier {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    const auto hidden = nn::dropout(relu(nn::linear(x, 16, "hidden")), 0.5);
    return nn::linear(hidden, 3, "output");
  }
};

/// One output, for regression.
struct Regressor {
  static constexpr auto forward(Input<Dim<"batch">, 2> x) {
    return nn::linear(tanh(nn::linear(x, 8, "hidden")), 1, "output");
  }
};

template <class T> std::vector<T> random_values(std::int64_t count, std::uint64_t salt = 0) {
  std::mt19937_64 random{test_seed() + salt};
  std::uniform_real_distribution<double> uniform{-1, 1};
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = static_cast<T>(uniform(random));
  return values;
}

/// A matrix of random elements between -1 and 1.
template <class T, std::int64_t Columns, class D>
Tensor<T, D, Shape<dyn, Columns>> random_rows(D device, std::int64_t rows, std::uint64_t salt = 0) {
  return from_values<Shape<dyn, Columns>>(random_values<T>(rows * Columns, salt), Dims(rows, Columns), device);
}

/// Labels below `classes`.
template <class D>
Tensor<std::int64_t, D, Shape<dyn>> random_labels(D device, std::int64_t rows, std::int64_t classes,
                                                  std::uint64_t salt = 0) {
  std::mt19937_64 random{test_seed() + salt + 1};
  std::vector<std::int64_t> labels(static_cast<std::size_t>(rows));
  for (std::int64_t& label : labels) label = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(classes));
  return from_values(labels, Dims(rows), device);
}

/// All weights of a network, one behind another.
template <class Network> std::vector<typename Network::Element> weights_of(const Network& network) {
  using T = typename Network::Element;
  std::vector<T> all{};
  for (const auto& view : network.parameters()) {
    std::vector<T> values(static_cast<std::size_t>(view.shape.elements()));
    copy_bytes(Cpu{}, values.data(), network.device(), view.buffer.data(), values.size() * sizeof(T), CopyOptions{});
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

/// Overwrites all weights of a network of the same model.
template <class Network>
void set_weights(const Network& network, const std::vector<typename Network::Element>& values) {
  using T = typename Network::Element;
  std::size_t first = 0;
  for (const auto& view : network.parameters()) {
    const auto count = static_cast<std::size_t>(view.shape.elements());
    copy_bytes(network.device(), view.buffer.data(), Cpu{}, values.data() + first, count * sizeof(T), CopyOptions{});
    first += count;
  }
}

/// All gradients of a network, one behind another; nothing for a weight without one.
template <class Network> std::vector<typename Network::Element> gradients_of(const Network& network) {
  using T = typename Network::Element;
  std::vector<T> all{};
  for (const auto& view : network.parameters()) {
    if (!view.gradient) continue;
    std::vector<T> values(static_cast<std::size_t>(view.shape.elements()));
    copy_bytes(Cpu{}, values.data(), network.device(), view.gradient.data(), values.size() * sizeof(T), CopyOptions{});
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

} // namespace twill::test
