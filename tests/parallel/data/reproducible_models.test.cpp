// SPDX-License-Identifier: Apache-2.0
//
// Training to the same bits on any number of ranks where shards meet inside a run, and where a row is a sequence: a
// convolutional network with synchronised and other batch norms, and a GPT, weights, running statistics and states after
// 100 steps.

#include "examples/models/gpt2.hpp"
#include "tests/parallel/data/reproducible_runs.hpp"

#include <twill/nn/batch_norm.hpp>
#include <twill/nn/convolution.hpp>
#include <twill/nn/linear.hpp>
#include <twill/optim/adam.hpp>
#include <twill/optim/sgd.hpp>

#include <cstdint>
#include <random>
#include <utility>

using namespace twill;
using twill::test::Run;

namespace {

struct Cnn {
  static constexpr auto forward(Input<Dim<"batch">, 2, 5, 5> x) {
    auto y = nn::conv2d(x, 3, "convolution", {.kernel = 3});
    y = relu(nn::batch_norm(y, "norm", {.is_synchronised = true}));
    return nn::linear(flatten(nn::batch_norm(y, "own")), 4, "output");
  }
};

struct Images {
  using Network = nn::Network<Cnn, Cpu, float>;
  static constexpr parallel::Reproducible policy{.shards = 5};
  static constexpr std::int64_t rows = 13;
  static constexpr auto loss = nn::cross_entropy;
  static inline const optim::MomentumSgd rule{{.rate = 0.05, .momentum = 0.9}};

  static auto batch(int step) {
    const test::LabelledRows<float, 50> data{rows, 4, Cpu{0}, static_cast<unsigned>(step % 7)};
    Tensor<float, Cpu, Shape<dyn, 2, 5, 5>> image(Cpu{0}, Dims(rows, 2, 5, 5));
    std::copy_n(data.x.data(), rows * 50, image.data());
    return std::pair{image, data.label};
  }
};

struct Tokens {
  static constexpr models::Gpt2Sizes sizes{.vocabulary = 11, .positions = 6, .width = 8, .layers = 1, .heads = 2};
  using Network = nn::Network<models::Gpt2<sizes, 6>, Cpu, float>;
  static constexpr parallel::Reproducible policy{.shards = 4};
  static constexpr std::int64_t rows = 10;
  static constexpr models::NextToken loss{};
  static inline const optim::Adam rule{{.rate = 0.01}};

  static auto batch(int step) {
    std::mt19937_64 engine{static_cast<unsigned>(step % 7)};
    Tensor<std::int64_t, Cpu, Shape<dyn, 6>> tokens(Cpu{0}, Dims(rows, 6));
    for (std::int64_t i = 0; i < tokens.elements(); ++i)
      tokens.data()[i] = static_cast<std::int64_t>(engine() % std::uint64_t{11});
    return std::pair{tokens, tokens};
  }
};

} // namespace

TEST_CASE("a network with batch norms trains to the same bits on any number of ranks", "[parallel][PAR-9]") {
  using Runs = test::ReproducibleRuns<Images>;
  const Run one = Runs::shared<0>(1, 100);
  const int ranks = GENERATE(2, 3, 4);
  REQUIRE(Runs::shared<0>(ranks, 100) == one);
  REQUIRE(Runs::shared<2>(ranks, 100) == one);
}

TEST_CASE("a GPT trains to the same bits on any number of ranks", "[parallel][PAR-9]") {
  using Runs = test::ReproducibleRuns<Tokens>;
  const Run one = Runs::shared<0>(1, 100);
  const int ranks = GENERATE(2, 3, 4);
  REQUIRE(Runs::shared<0>(ranks, 100) == one);
  REQUIRE(Runs::shared<2>(ranks, 100) == one);
}
