// SPDX-License-Identifier: Apache-2.0
//
// Training by connectionist temporal classification: a planned step with its loop, and lengths that do not fit.

#include <twill/nn/linear.hpp>
#include <twill/nn/losses/ctc.hpp>
#include <twill/nn/network.hpp>
#include <twill/optim/adam.hpp>
#include <twill/tensor.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace twill;

namespace {

struct Reader {
  static constexpr auto forward(Input<6, Dim<"batch">, 3> x) {
    return graph::log_softmax(nn::linear(x, 4, "output"), 2);
  }
};

} // namespace

TEST_CASE("a network learns to read sequences by ctc_loss, in batches of any size", "[nn][loss][TRAIN-1]") {
  nn::Network<Reader, Cpu> model{Cpu{0}};
  auto step = train_step(model, nn::ctc_loss, optim::Adam{{.rate = 0.1}});
  // Features say which of three labels a step shows, for two steps each.
  std::vector<float> x(6 * 2 * 3, 0);
  const std::vector<std::int64_t> labels{1, 2, 3, 3, 1, 2};
  for (std::size_t t = 0; t < 6; ++t)
    for (std::size_t row = 0; row < 2; ++row)
      x[(t * 2 + row) * 3 + static_cast<std::size_t>(labels[row * 3 + t / 2]) - 1] = 1;
  const auto input = from_values<Shape<6, dyn, 3>>(x, Dims(6, 2, 3), Cpu{0});
  const auto targets = from_values<Shape<dyn, 3>>(labels, Dims(2, 3), Cpu{0});
  const auto steps = from_values<Shape<dyn>>(std::vector<std::int64_t>{6, 6}, Dims(2), Cpu{0});
  const auto lengths = from_values<Shape<dyn>>(std::vector<std::int64_t>{3, 3}, Dims(2), Cpu{0});
  const float first = step(input, targets, steps, lengths).item();
  float last = first;
  for (int i = 0; i < 60; ++i) last = step(input, targets, steps, lengths).item();
  CHECK(first > 0.5F);
  CHECK(last < 0.1F);
  const auto long_lengths = from_values<Shape<dyn>>(std::vector<std::int64_t>{3, 4}, Dims(2), Cpu{0});
  CHECK_THROWS_WITH(step(input, targets, steps, long_lengths).item(), Catch::Contains("a length of a target"));
}
