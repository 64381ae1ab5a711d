// SPDX-License-Identifier: Apache-2.0
//
// The peak of a step as a constant, against what a pool counts while the step runs.

#include "tests/training/models.hpp"

#include <twill/memory/statistics.hpp>
#include <twill/nn/losses.hpp>
#include <twill/optim/adam.hpp>
#include <twill/training/peak_bytes.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

using namespace twill;
using namespace twill::test;

namespace {

using Labels = Tensor<std::int64_t, Cpu, Shape<dyn>>;
using Step = training::StepOf<Classifier, nn::cross_entropy, optim::Adam, Labels>;

static_assert(peak_bytes<Step, nn::Size<"batch", 64>> <= 1_MB);
static_assert(peak_bytes<Step, nn::Size<"batch", 65536>> > 1_MB);
static_assert(1_MB < 1_MiB && 80_GB == 80'000'000'000 && 80_GB < 80_GiB);

} // namespace

TEST_CASE("the peak of a step is a constant of the program", "[training][MEM-2]") {
  const Cpu device{1};
  const auto x = random_rows<float, 5>(device, 1000);
  const auto labels = random_labels(device, 1000, 3);
  const std::int64_t before = memory_allocated(device);
  nn::Network<Classifier, Cpu> model{device};
  auto step = train_step(model, nn::cross_entropy, optim::Adam{});
  step(x, labels);
  reset_peak_memory_stats(device);
  step(x, labels);
  synchronize(device);
  CHECK(max_memory_allocated(device) - before == peak_bytes<Step, nn::Size<"batch", 1000>>);
}
