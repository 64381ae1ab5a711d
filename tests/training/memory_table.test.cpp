// SPDX-License-Identifier: Apache-2.0
//
// The tables of bytes, from statements as a user writes them: `memory_allocated` is read between them, and nothing here
// allocates on its own. One source for every kind of device, among them one without memory and one that runs late.

#include "tests/support/late_device.hpp"
#include "tests/training/byte_table.hpp"

#include <twill/memory/statistics.hpp>
#include <twill/nn/linear.hpp>
#include <twill/optim/adam.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/optimiser.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cstdint>

using namespace twill;
using namespace twill::test;

TEMPLATE_TEST_CASE("three scalars take 512 bytes each", "[training][MEM-3]", Cpu, Meta, Late) {
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

TEMPLATE_TEST_CASE("a layer takes its weights, rounded up to 512 bytes", "[training][MEM-3]", Cpu, Meta, Late) {
  CHECK(bytes_of_layers(TestType{1}) == expected_bytes_of_layers);
}

TEMPLATE_TEST_CASE("training without a bias takes the bytes of the table", "[training][MEM-3]", Cpu, Meta, Late) {
  using nn::Bias;
  const TestType device{1};
  CHECK(bytes_of_training<1, Bias::no>(device, 1, optim::Adam{}) == Bytes{0, 512, 1024, 1536, 2048, 2560, 3584});
  CHECK(bytes_of_training<1, Bias::no>(device, 1, optim::AdamW{}) == Bytes{0, 512, 1024, 1536, 2048, 2560, 3584});
  CHECK(bytes_of_training<1, Bias::no>(device, 1, optim::MomentumSgd{}) == Bytes{0, 512, 1024, 1536, 2048, 2560, 3072});
  CHECK(bytes_of_training<1, Bias::no>(device, 1, optim::Sgd{}) == Bytes{0, 512, 1024, 1536, 2048, 2560, 2560});
  CHECK(memory_allocated(device) == 0);
}

TEMPLATE_TEST_CASE("training with a bias takes the bytes of the table", "[training][MEM-3]", Cpu, Meta, Late) {
  const TestType device{1};
  const Bytes bytes = bytes_of_training<1, nn::Bias::yes>(device, 1024, optim::Sgd{});
  CHECK(bytes == Bytes{0, 1024, 5120, 9216, 9728, 10752, 10752});
  CHECK(memory_allocated(device) == 0);
}
