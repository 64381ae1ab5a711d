// SPDX-License-Identifier: Apache-2.0
//
// The example's GPT-2 against PyTorch (tests/golden/scripts/gpt2.py): names, logits, loss, every gradient, five steps of SGD;
// and the number of weights of the published configuration.

#include "examples/models/gpt2.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/numbers.hpp"

#include <twill/nn/losses.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

constexpr models::Gpt2Sizes tiny{.vocabulary = 13, .positions = 9, .width = 8, .layers = 2, .heads = 2};
using Tiny = models::Gpt2<tiny, 7>;

template <class Network> void load(Network& model) {
  for (const auto& view : model.parameters()) {
    const std::vector<double> values = golden("gpt2/" + std::string{view.name}).values;
    REQUIRE(static_cast<std::int64_t>(values.size()) == view.shape.elements());
    std::copy(values.begin(), values.end(), static_cast<typename Network::Element*>(view.buffer.data()));
  }
}

auto token_tensor(const std::string& name) {
  std::vector<std::int64_t> tokens{};
  for (double token : golden(name).values) tokens.push_back(static_cast<std::int64_t>(token));
  return from_values<Shape<3, 7>>(tokens, Dims(3, 7), Cpu{0});
}

template <class T> void check(const T* got, const std::string& name, double relative) {
  const std::vector<double> expected = golden("gpt2/" + name).values;
  double largest = 0;
  for (double value : expected) largest = std::max(largest, std::abs(value));
  INFO(name);
  for (std::size_t i = 0; i < expected.size(); ++i)
    REQUIRE(static_cast<double>(got[i]) == Approx(expected[i]).epsilon(relative).margin(relative * largest));
}

} // namespace

// 124,439,808 weights, as the published model has: counted when this file is compiled.
static_assert(models::weights_of<models::Gpt2<models::gpt2_small, 256>>() == 124439808);

TEST_CASE("a tiny GPT-2 computes PyTorch's logits, loss and gradients", "[training][TRAIN-2]") {
  nn::Network<Tiny, Cpu, double> model{Cpu{0}};
  load(model);
  auto logits = model.forward(token_tensor("gpt2/tokens"));
  check(numbers(logits.value()).data(), "logits", 1e-10);
  auto loss = nn::cross_entropy(logits, token_tensor("gpt2/labels"));
  CHECK(loss.item() == Approx(golden("gpt2/losses").values[0]).epsilon(1e-10));
  loss.backward();
  for (const auto& view : model.parameters())
    check(static_cast<const double*>(view.gradient.data()), "grad_" + std::string{view.name}, 1e-9);
}

TEST_CASE("five planned steps of a tiny GPT-2 stay with PyTorch's, in float32 too", "[training][TRAIN-3]") {
  nn::Network<Tiny, Cpu, float> model{Cpu{0}};
  load(model);
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.5F}});
  for (double expected : golden("gpt2/losses").values)
    CHECK(step(token_tensor("gpt2/tokens"), token_tensor("gpt2/labels")).item() == Approx(expected).epsilon(1e-5));
  check(numbers(model.parameter<"wte.weight">()).data(), "trained_wte.weight", 1e-4);
}
