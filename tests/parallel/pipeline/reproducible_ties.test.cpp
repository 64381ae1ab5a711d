// SPDX-License-Identifier: Apache-2.0
//
// Pipelines under `parallel::Reproducible` whose stages share weights, more than two of them, against one device, bit by bit: a
// table of words that is embedding, gate of two layers and head, and a bias of all layers.

#include "tests/parallel/pipeline/reproducible_pipelines.hpp"

#include <twill/nn/embedding.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/optim/adam.hpp>

#include <cstdint>
#include <random>
#include <utility>

using namespace twill;
using graph::Value;

namespace {

constexpr std::int64_t shared_words = 23, shared_width = 23;

/// Four stages; the last one uses the shared weights twice.
struct Sharing {
  static constexpr auto forward(InputOf<std::int64_t, Dim<"batch">> word) {
    auto& graph = word.graph();
    const Value table = nn::parameter(graph, "table", {shared_words, shared_width}, nn::initialise::normal(0, 0.3));
    const Value bias = nn::parameter(graph, "bias", {shared_width}, nn::initialise::normal(0, 0.3));
    Value x = nn::stage_boundary(nn::embedding(word, table));
    x = nn::stage_boundary(tanh(nn::linear(x, table) + bias));
    x = nn::stage_boundary(tanh(nn::linear(x, 23, "own") * nn::linear(x, table) + bias) + x);
    x = tanh(nn::linear(x, table) + bias);
    return nn::linear(x, table) + bias;
  }
};

struct SharingTask {
  using Network = nn::Network<Sharing, Cpu, float>;
  static constexpr parallel::Reproducible policy{.shards = 6};
  static constexpr std::int64_t rows = 23;
  static constexpr auto loss = nn::cross_entropy;
  static inline const optim::Adam rule{{.rate = 0.003}};

  static auto batch(int step) {
    std::mt19937_64 engine{static_cast<unsigned>(step % 7)};
    Tensor<std::int64_t, Cpu, Shape<dyn>> word(Cpu{0}, Dims(rows)), next(Cpu{0}, Dims(rows));
    for (std::int64_t i = 0; i < rows; ++i) {
      word.data()[i] = static_cast<std::int64_t>(engine() % std::uint64_t{shared_words});
      next.data()[i] = (word.data()[i] * 5 + 2) % shared_words;
    }
    return std::pair{word, next};
  }
};

template <class S> using SharingPipeline = test::ReproduciblePipeline<SharingTask, S, pipeline::Cut<Sharing>>;
constexpr int sharing_steps = 100;

const test::Run& sharing_on_one_device() {
  static const test::Run run = test::ReproducibleRuns<SharingTask>::alone(sharing_steps);
  return run;
}

} // namespace

TEST_CASE("a pipeline whose four stages share weights trains to the bits of one device", "[parallel][PAR-9]") {
  CHECK(SharingPipeline<pipeline::GPipe>::whole(sharing_steps) == sharing_on_one_device());
  CHECK(SharingPipeline<pipeline::ZeroBubbleH1>::whole(sharing_steps) == sharing_on_one_device());
}

TEST_CASE("ranks whose stages share weights train to the bits of one device", "[parallel][PAR-9]") {
  CHECK(SharingPipeline<pipeline::OneForwardOneBackward>::in_parts(sharing_steps) == sharing_on_one_device());
}

TEST_CASE("stages of one rank share weights to the bits of one device", "[parallel][PAR-9]") {
  using TwoOnEach = pipeline::Interleaved<2>;
  CHECK(SharingPipeline<TwoOnEach>::whole(sharing_steps) == sharing_on_one_device());
}
