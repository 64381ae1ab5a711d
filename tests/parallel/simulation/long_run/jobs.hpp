#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Small models for long simulations of wrappers, with places for faults inside of kernels, and their weights as numbers.

#include "tests/parallel/simulation/long_run/run.hpp"
#include "tests/training/models.hpp"

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace twill::test::long_run {

inline constexpr int inputs = 4;
inline constexpr int outputs = 3;

struct Plain {
  static constexpr auto forward(Input<Dim<"batch">, inputs> x) {
    return nn::linear(fault_point<Place::forward>(tanh(nn::linear(x, 5, "hidden"))), outputs, "output");
  }
};
struct Middle {
  static constexpr auto forward(Input<Dim<"batch">, inputs> x) {
    return fault_point<Place::forward>(tanh(nn::linear(x, inputs, "middle")));
  }
};
struct Head {
  static constexpr auto forward(Input<Dim<"batch">, inputs> x) {
    return nn::linear(fault_point<Place::forward>(x), outputs, "head");
  }
};

/// Weights that do not depend on the order in which they are drawn, or those of a start.
template <class Network> void begin_at(const Network& network, const Start& from, std::uint64_t salt = 0) {
  std::vector<double> weights = from.weights;
  if (weights.empty()) {
    weights = weights_of(network);
    for (double& weight : weights) weight = 0.3 * static_cast<double>((++salt * 7919) % 101) / 50.5 - 0.3;
  }
  set_weights(network, weights);
}

/// The same for a pipeline or a part of one: the weights of the stages that are here, one stage after another.
template <class P> void begin_stages_at(P& pipe, const Start& from) {
  std::uint64_t salt = 0;
  std::size_t first = 0;
  pipe.for_each_stage([&](auto& network) {
    const std::size_t count = weights_of(network).size();
    Start own{from.step, {}};
    if (!from.weights.empty())
      own.weights.assign(from.weights.begin() + static_cast<std::ptrdiff_t>(first),
                         from.weights.begin() + static_cast<std::ptrdiff_t>(first + count));
    begin_at(network, own, salt += 1000);
    first += count;
  });
}
template <class P> [[nodiscard]] std::vector<double> weights_of_stages(P& pipe) {
  std::vector<double> weights{};
  pipe.for_each_stage([&](auto& network) {
    const std::vector<double> own = weights_of(network);
    weights.insert(weights.end(), own.begin(), own.end());
  });
  return weights;
}

/// The batch of a step, another one at each, on a device: some rows of 16.
template <std::int64_t Columns>
[[nodiscard]] Tensor<double, Cpu, Shape<dyn, Columns>> batch_of(Cpu device, int step, std::int64_t first,
                                                                std::int64_t rows) {
  Tensor<double, Cpu, Shape<dyn, Columns>> x(device, Dims(rows, Columns));
  for (std::int64_t i = 0; i < x.elements(); ++i)
    x.data()[i] = static_cast<double>(((i + first * Columns) * 7919 + step * 104'729) % 2003) / 1001.5 - 1;
  return x;
}

} // namespace twill::test::long_run
