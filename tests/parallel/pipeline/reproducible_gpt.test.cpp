// SPDX-License-Identifier: Apache-2.0
//
// Pipelines of a transformer under `parallel::Reproducible` against one device, bit by bit after 100 steps: its attention weights
// are dropped, and its head is the table of tokens again, so that the first and the last stage share it.

#include "tests/parallel/pipeline/reproducible_pipelines.hpp"

#include "examples/models/gpt2.hpp"

#include <twill/nn/dropout.hpp>
#include <twill/optim/adam.hpp>

#include <cstdint>
#include <random>
#include <utility>

using namespace twill;
using graph::Value;

namespace {

constexpr std::int64_t cut_tokens = 36, cut_width = 40, cut_words = 67; // rows of more packs than accumulators

constexpr Value dropping_block(Value x, std::string_view name) {
  using namespace models::gpt2_parts;
  const nn::Scope scope{x.graph(), name};
  const Value normal = norm(x, "ln_1");
  const Value query = linear(normal, cut_width, "query"), key = linear(normal, cut_width, "key");
  const Value scores = softmax(matmul(query, transpose(key, {0, 2, 1})) * 0.2);
  x = x + matmul(nn::dropout(scores, 0.1), linear(normal, cut_width, "value"));
  return x + nn::dropout(mlp(norm(x, "ln_2"), 0.02), 0.1);
}

struct DroppingGpt {
  static constexpr auto forward(InputOf<std::int64_t, Dim<"batch">, cut_tokens> tokens) {
    auto& graph = tokens.graph();
    const Value table = nn::parameter(graph, "table", {cut_words, cut_width}, nn::initialise::normal(0, 0.02));
    const Value places = nn::parameter(graph, "places", {cut_tokens, cut_width}, nn::initialise::normal(0, 0.02));
    Value x = nn::dropout(nn::embedding(tokens, table) + places, 0.1);
    x = dropping_block(dropping_block(x, "lower"), "upper");
    return nn::linear(models::gpt2_parts::norm(x, "last"), table);
  }
};

struct GptTask {
  using Network = nn::Network<DroppingGpt, Cpu, float>;
  static constexpr parallel::Reproducible policy{.shards = 3};
  static constexpr std::int64_t rows = 7;
  static constexpr models::NextToken loss{};
  static inline const optim::Adam rule{{.rate = 0.003}};

  static auto batch(int step) {
    std::mt19937_64 engine{static_cast<unsigned>(step % 7)};
    Tensor<std::int64_t, Cpu, Shape<dyn, cut_tokens>> tokens(Cpu{0}, Dims(rows, cut_tokens));
    for (std::int64_t i = 0; i < tokens.elements(); ++i)
      tokens.data()[i] = static_cast<std::int64_t>(engine() % std::uint64_t{cut_words});
    return std::pair{tokens, tokens};
  }
};

using HalfGpt = pipeline::CutBefore<DroppingGpt, "upper">;
using ThirdGpt = pipeline::CutBefore<DroppingGpt, "lower.mlp", "upper.query">;
constexpr int gpt_steps = 100;

const test::Run& gpt_on_one_device() {
  static const test::Run run = test::ReproducibleRuns<GptTask>::alone(gpt_steps);
  return run;
}

} // namespace

TEST_CASE("a pipeline of a transformer whose ends share a table trains to the bits of one device",
          "[parallel][PAR-9]") {
  CHECK(test::ReproduciblePipeline<GptTask, pipeline::OneForwardOneBackward, HalfGpt>::whole(gpt_steps) ==
        gpt_on_one_device());
}

TEST_CASE("ranks with stages of a transformer train to the bits of one device", "[parallel][PAR-9]") {
  using P = test::ReproduciblePipeline<GptTask, pipeline::ZeroBubbleH1, ThirdGpt>;
  CHECK(P::in_parts(gpt_steps) == gpt_on_one_device());
}
