// SPDX-License-Identifier: Apache-2.0
//
// The tables of bytes, from statements as a user writes them: `memory_allocated` is read between them, and nothing here
// allocates on its own. One source for every kind of device, among them one without memory and one that runs late.

#include "tests/support/late_device.hpp"

#include <twill/memory/statistics.hpp>
#include <twill/nn/linear.hpp>
#include <twill/optim/adam.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/create.hpp>
#include <twill/train/optimiser.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cstdint>

using namespace twill;
using test::Late;

namespace {

template <int Inputs, nn::Bias HasBias> struct Line {
  static constexpr auto forward(Input<Dim<"batch">, Inputs> x) { return nn::linear(x, 1, "line", HasBias); }
};

using Bytes = std::array<std::int64_t, 7>;

/// Start, model, input, output, loss, backward, step.
template <int Inputs, nn::Bias HasBias, class D, class R> Bytes bytes_of_training(D device, std::int64_t rows, R rule) {
  Bytes bytes{};
  bytes[0] = memory_allocated(device);
  nn::Network<Line<Inputs, HasBias>, D> model{device};
  train::Optimiser optimiser{model, rule};
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

} // namespace

TEMPLATE_TEST_CASE("three scalars take 512 bytes each", "[train][MEM-3]", Cpu, Meta, Late) {
  const TestType device{1};
  std::array<std::int64_t, 4> bytes{};
  bytes[0] = memory_allocated(device);
  const auto first = scalar(1.0F, device);
  bytes[1] = memory_allocated(device);
  const auto second = scalar(2.0F, device);
  bytes[2] = memory_allocated(device);
  const auto third = scalar(3.0F, device);
  bytes[3] = memory_allocated(device);
  CHECK(bytes == std::array<std::int64_t, 4>{0, 512, 1024, 1536});
}

TEMPLATE_TEST_CASE("a layer takes its weights, rounded up to 512 bytes", "[train][MEM-3]", Cpu, Meta, Late) {
  using nn::Bias;
  const TestType device{1};
  std::array<std::int64_t, 6> bytes{};
  {
    nn::Network<Line<1, Bias::no>, TestType> model{device};
    bytes[0] = memory_allocated(device);
    nn::Network<Line<1, Bias::no>, TestType> another{device};
    bytes[1] = memory_allocated(device);
  }
  {
    nn::Network<Line<128, Bias::no>, TestType> model{device};
    bytes[2] = memory_allocated(device);
  }
  {
    nn::Network<Line<129, Bias::no>, TestType> model{device};
    bytes[3] = memory_allocated(device);
  }
  {
    nn::Network<Line<1, Bias::yes>, TestType> model{device};
    bytes[4] = memory_allocated(device);
  }
  bytes[5] = memory_allocated(device);
  CHECK(bytes == std::array<std::int64_t, 6>{512, 1024, 512, 1024, 1024, 0});
}

TEMPLATE_TEST_CASE("training without a bias takes the bytes of the table", "[train][MEM-3]", Cpu, Meta, Late) {
  using nn::Bias;
  const TestType device{1};
  CHECK(bytes_of_training<1, Bias::no>(device, 1, optim::Adam{}) == Bytes{0, 512, 1024, 1536, 2048, 2560, 3584});
  CHECK(bytes_of_training<1, Bias::no>(device, 1, optim::AdamW{}) == Bytes{0, 512, 1024, 1536, 2048, 2560, 3584});
  CHECK(bytes_of_training<1, Bias::no>(device, 1, optim::MomentumSgd{}) == Bytes{0, 512, 1024, 1536, 2048, 2560, 3072});
  CHECK(bytes_of_training<1, Bias::no>(device, 1, optim::Sgd{}) == Bytes{0, 512, 1024, 1536, 2048, 2560, 2560});
  CHECK(memory_allocated(device) == 0);
}

TEMPLATE_TEST_CASE("training with a bias takes the bytes of the table", "[train][MEM-3]", Cpu, Meta, Late) {
  const TestType device{1};
  const Bytes bytes = bytes_of_training<1, nn::Bias::yes>(device, 1024, optim::Sgd{});
  CHECK(bytes == Bytes{0, 1024, 5120, 9216, 9728, 10752, 10752});
  CHECK(memory_allocated(device) == 0);
}
