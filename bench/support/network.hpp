#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The models that are benchmarked, and their weights as plain numbers, so that every contender starts from the same.

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

using namespace twill;

/// 2-8-8-1 for regression.
struct TinyNet {
  static constexpr auto forward(Input<Dim<"batch">, 2> x) {
    const auto first = tanh(nn::linear(x, 8, "first"));
    const auto second = tanh(nn::linear(first, 8, "second"));
    return nn::linear(second, 1, "output");
  }
};

/// 784-256-256-10 for classification.
struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 784> image) {
    const auto first = relu(nn::linear(image, 256, "first"));
    const auto second = relu(nn::linear(first, 256, "second"));
    return nn::linear(second, 10, "output");
  }
};

/// All weights of a network, one behind another: each layer's matrix (outputs x inputs), then its bias.
template <class Network> std::vector<float> weights_of(const Network& network) {
  std::vector<float> all;
  for (const auto& view : network.parameters()) {
    const auto* first = static_cast<const float*>(view.buffer.data());
    all.insert(all.end(), first, first + view.shape.elements());
  }
  return all;
}

/// Overwrites all weights of a network with what `weights_of` gave.
template <class Network> void set_weights(const Network& network, const std::vector<float>& values) {
  auto from = values.begin();
  for (const auto& view : network.parameters()) {
    const auto count = static_cast<std::ptrdiff_t>(view.shape.elements());
    std::copy(from, from + count, static_cast<float*>(view.buffer.data()));
    from += count;
  }
}

} // namespace bench
