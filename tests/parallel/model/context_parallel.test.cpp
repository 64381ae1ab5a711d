// SPDX-License-Identifier: Apache-2.0
//
// A model whose sequence is divided over two ranks, zigzag, with ring attention, beside the same model on one device: the
// same losses and weights after some steps.

#include <twill/nn.hpp>
#include <twill/nn/ring_attention.hpp>
#include <twill/optim.hpp>
#include <twill/parallel/model/tensor_parallel.hpp>
#include <twill/training.hpp>

#include <catch2/catch.hpp>

#include <cstdint>

using namespace twill;
using graph::Value;

namespace {

constexpr std::int64_t vocabulary = 12;
constexpr std::int64_t words_each = 8;
constexpr std::int64_t model_width = 8;

using Words = InputOf<std::int64_t, Dim<"batch">, words_each>;
using Context = RankAxis<"context", 2>;
constexpr auto zigzag = nn::SequenceDivision::zigzag;

/// A block of a language model, of one device.
struct WholeModel {
  static constexpr auto forward(Words words) {
    const Value places = nn::sequence_positions<RankAxis<"context", 1>>(words.graph(), words_each);
    Value x = nn::embedding(words, vocabulary, model_width, "words") +
              nn::embedding(places, words_each, model_width, "places");
    const Value normed = nn::layer_norm(x, "norm");
    x = x + nn::multi_head_attention(normed, normed, normed, 2, "attention", {.is_causal = true});
    return nn::linear(tanh(nn::linear(x, 16, "wide")), vocabulary, "logits");
  }
};

/// The block with its sequence divided.
struct DividedModel {
  static constexpr auto forward(Words words) {
    const Value own = nn::sequence_part<Context>(words, 1, zigzag);
    const nn::SplitRegion<Context> part{words.graph(), 1};
    const Value places = nn::sequence_positions<Context>(words.graph(), words_each / 2, zigzag);
    Value x = nn::embedding(own, vocabulary, model_width, "words") +
              nn::embedding(places, words_each, model_width, "places");
    x = x + nn::ring_multi_head_attention<Context>(nn::layer_norm(x, "norm"), 2, "attention",
                                                   {.is_causal = true, .division = zigzag});
    return nn::linear(tanh(nn::linear(x, 16, "wide")), vocabulary, "logits");
  }
};

constexpr auto own_loss = nn::loss([](auto logits, auto words) {
  return nn::mean_over_ranks<Context>(nn::cross_entropy(logits, nn::sequence_part<Context>(words, 1, zigzag)));
});

} // namespace

TEST_CASE("a model with a divided sequence trains as on one device", "[parallel][PAR-7]") {
  TensorParallel<DividedModel, Context, Cpu, double> model{{Cpu{0}, Cpu{0}}, {.timeout_ms = 20'000}};
  nn::Network<WholeModel, Cpu, double> one{Cpu{0}};
  nn::load_state_dict(one, model.state_dict());
  Tensor<std::int64_t, Cpu, Shape<dyn, words_each>> x(Cpu{0}, Dims(3, words_each));
  Tensor<std::int64_t, Cpu, Shape<dyn, words_each>> y(Cpu{0}, Dims(3, words_each));
  for (std::int64_t i = 0; i < 3 * words_each; ++i) {
    x.data()[i] = i * 5 % vocabulary;
    y.data()[i] = i * 7 % vocabulary;
  }
  const auto rule = optim::MomentumSgd{{.rate = 0.1}};
  auto step = train_step(model, own_loss, rule);
  auto step_of_one = train_step(one, nn::cross_entropy, rule);
  for (int i = 0; i < 4; ++i) CHECK(step(x, y) == Approx(step_of_one(x, y).item()).epsilon(1e-12));
  const nn::StateDict divided = model.state_dict();
  const nn::StateDict of_one = nn::state_dict(one);
  for (const auto& [name, tensor] : of_one.entries()) {
    CAPTURE(name);
    const auto* const a = reinterpret_cast<const double*>(divided.find(name)->bytes.data());
    const auto* const b = reinterpret_cast<const double*>(tensor.bytes.data());
    for (std::int64_t i = 0; i < tensor.shape.elements(); ++i) CHECK(a[i] == Approx(b[i]).epsilon(1e-11).margin(1e-13));
  }
}
