#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What the tables of bytes read: `memory_allocated` between statements as a user writes them. Nothing here allocates on its
// own. Read next: tests/training/memory_table.test.cpp, tests/gpu/memory_tables.suite.hpp.

#include <twill/memory/statistics.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/optimiser.hpp>

#include <array>
#include <cstdint>

namespace twill::test {

template <int Inputs, nn::Bias HasBias> struct Line {
  static constexpr auto forward(Input<Dim<"batch">, Inputs> x) { return nn::linear(x, 1, "line", HasBias); }
};

using Bytes = std::array<std::int64_t, 7>;

/// Start, model, input, output, loss, backward, step.
template <int Inputs, nn::Bias HasBias, class D, class R> Bytes bytes_of_training(D device, std::int64_t rows, R rule) {
  Bytes bytes{};
  bytes[0] = memory_allocated(device);
  nn::Network<Line<Inputs, HasBias>, D> model{device};
  training::Optimiser optimiser{model, rule};
  bytes[1] = memory_allocated(device);
  const auto x = full<float, Shape<dyn, Inputs>>(Dims(rows, Inputs), 0.5F, device);
  bytes[2] = memory_allocated(device);
  const auto y = model.forward(x);
  bytes[3] = memory_allocated(device);
  const auto loss = mean(y);
  bytes[4] = memory_allocated(device);
  loss.backward();
  bytes[5] = memory_allocated(device);
  optimiser.step();
  bytes[6] = memory_allocated(device);
  return bytes;
}

/// A Linear(1, 1) without bias, a second one beside it; alone: Linear(128, 1), Linear(129, 1), one with bias; and nothing.
template <class D> std::array<std::int64_t, 6> bytes_of_layers(D device) {
  using nn::Bias;
  std::array<std::int64_t, 6> bytes{};
  {
    nn::Network<Line<1, Bias::no>, D> model{device};
    bytes[0] = memory_allocated(device);
    nn::Network<Line<1, Bias::no>, D> another{device};
    bytes[1] = memory_allocated(device);
  }
  {
    nn::Network<Line<128, Bias::no>, D> model{device};
    bytes[2] = memory_allocated(device);
  }
  {
    nn::Network<Line<129, Bias::no>, D> model{device};
    bytes[3] = memory_allocated(device);
  }
  {
    nn::Network<Line<1, Bias::yes>, D> model{device};
    bytes[4] = memory_allocated(device);
  }
  bytes[5] = memory_allocated(device);
  return bytes;
}

inline constexpr std::array<std::int64_t, 6> expected_bytes_of_layers{512, 1024, 512, 1024, 1024, 0};

} // namespace twill::test
