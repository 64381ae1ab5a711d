// SPDX-License-Identifier: Apache-2.0
//
// Hooks on layers by name, and taps inside a model: they see what the layers compute, in staged, planned and data-parallel
// runs, and change no bit of it, whatever the element type.

#include "tests/nn/tapped_blocks.hpp"

#include <twill/graph/checkpoint.hpp>
#include <twill/nn/recurrent_layers.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::Recompute;

namespace {

template <class D, class T> using Watched = nn::Network<nn::Hooked<Blocks<true>>, D, T>;
template <class D, class T> using Plain = nn::Network<Blocks<false>, D, T>;

/// A layer that uses its input three times, beside which somebody else uses it, and a loop.
template <Recompute Mode> struct Shared {
  static constexpr nn::Value block(nn::Value x) {
    const nn::Scope scope{x.graph(), "block"};
    return x * x + nn::linear(x, 4, "inner");
  }
  static constexpr auto forward(Input<3, Dim<"batch">, 5> x) {
    const nn::Value y = nn::linear(x, 4, "stem");
    const nn::Value z = checkpoint([](nn::Value value) { return block(value); }, Mode)(y);
    return sum(nn::gru(0.5 * y + z, 3, "gru").output);
  }
};

/// The gradients with respect to the inputs of layers in one backward pass of T, and those of their results.
template <class Model, class T> struct InputGradients {
  Seen of_inputs{};
  Seen of_results{};
  nn::Network<nn::Hooked<Model>, Cpu, T> network{Cpu{0}};
  std::vector<T> of_weights{};

  InputGradients(const std::vector<T>& weights, const Tensor<T, Cpu, Shape<3, dyn, 5>>& x) {
    set_weights(network, weights);
    network.on_layer_backward_end("*", [this](const compile::Observation& seen) { of_inputs.push_back(seen); });
    network.on_layer_backward("*", [this](const compile::Observation& seen) { of_results.push_back(seen); });
    network.forward(x).backward();
    of_weights = gradients_of(network);
  }
};

} // namespace

TEST_CASE("hooks on layers see inputs, results and gradients, and change no bit", "[nn][TRAIN-2]") {
  using D = Cpu;
  using T = bfloat16; // whose sums would tell whether a value went through memory
  const D device{0};
  Plain<D, T> plain{device};
  Watched<D, T> watched{device};
  const auto before = weights_of(plain);
  set_weights(watched, before);
  const auto x = random_rows<T, 5>(device, 7);
  const auto targets = random_rows<T, 3>(device, 7, 1);

  Seen begins{};
  Seen results{};
  Seen gradients{};
  Seen ends{};
  Seen taps{};
  const auto into = [](Seen& list) { return [&list](const compile::Observation& seen) { list.push_back(seen); }; };
  watched.on_layer_begin("*", into(begins));
  watched.on_layer("*", into(results));
  watched.on_layer_backward("*", into(gradients));
  watched.on_layer_backward_end("*", into(ends));
  watched.on_tap("*", into(taps));

  SECTION("staged") {
    const auto expected = mean(plain.forward(x));
    const auto loss = mean(watched.forward(x));
    CHECK(gradients.empty());
    expected.backward();
    loss.backward();
    CHECK(to_vector(loss.value()) == to_vector(expected.value()));
    CHECK(gradients_of(watched) == gradients_of(plain));
    begins.clear();
    CHECK(to_vector(watched.infer(x)) == to_vector(plain.infer(x)));
    CHECK(begins.size() == 6);
    results.resize(6);
    taps.resize(14);
  }
  SECTION("planned") {
    auto expected = train_step(plain, nn::mse, optim::MomentumSgd{{.rate = 0.1}});
    auto step = train_step(watched, nn::mse, optim::MomentumSgd{{.rate = 0.1}});
    CHECK(step(x, targets).item() == expected(x, targets).item());
    CHECK(weights_of(watched) == weights_of(plain));
  }
  CHECK(names_of(results) ==
        std::vector<std::string>{"stem", "encoder.0.inner", "encoder.0", "encoder.1.inner", "encoder.1", "head"});
  CHECK(names_of(gradients) ==
        std::vector<std::string>{"head", "encoder.1", "encoder.1.inner", "encoder.0", "encoder.0.inner", "stem"});
  CHECK(names_of(ends) ==
        std::vector<std::string>{"head", "encoder.1.inner", "encoder.1", "encoder.0.inner", "encoder.0"});
  for (const auto& each : results) CHECK(each.device == to_string(device));
  for (const auto& each : results) CHECK(each.shape == Dims(7, each.layer == "head" ? 3 : 6));
  for (const auto& each : gradients) CHECK(each.is_gradient);
  CHECK(begins.size() % 6 == 0);
  CHECK(taps.size() == 14);
  CHECK(names_of(Seen(taps.begin(), taps.begin() + 3)) ==
        std::vector<std::string>{"encoder.0.before", "encoder.0.halved", "encoder.0.turned"});
}

TEST_CASE("a layer's share of the gradient of its input is shown, in checkpointed parts, too", "[nn][TRAIN-2]") {
  using T = double;
  const nn::Network<Shared<Recompute::no>, Cpu, T> plain{Cpu{0}};
  const auto weights = weights_of(plain);
  const auto x = from_values<Shape<3, dyn, 5>>(random_values<T>(3 * 2 * 5), Dims(3, 2, 5), Cpu{0});
  const InputGradients<Shared<Recompute::no>, T> kept{weights, x};
  const InputGradients<Shared<Recompute::yes>, T> again{weights, x};
  plain.forward(x).backward();
  CHECK(kept.of_weights == gradients_of(plain));
  CHECK(again.of_weights == gradients_of(plain));
  // Nobody differentiates the data, so the first layer has none.
  CHECK(names_of(kept.of_inputs) == std::vector<std::string>{"gru", "block.inner", "block"});
  CHECK(names_of(again.of_inputs) == names_of(kept.of_inputs));
  for (std::size_t i = 0; i < 3; ++i) CHECK(again.of_inputs[i].values == kept.of_inputs[i].values);
  REQUIRE(names_of(kept.of_results) == std::vector<std::string>{"gru", "block", "block.inner", "stem"});
  CHECK(kept.of_inputs[0].values == kept.of_results[1].values); // nothing stands between the two
  // block: y * y + inner(y), to whose gradient somebody else adds a half of the same
  const auto weight = to_vector(kept.network.template parameter<"block.inner.weight">());
  const Seen& results = kept.of_results;
  Seen values{};
  nn::Network<nn::Hooked<Shared<Recompute::no>>, Cpu, T> network{Cpu{0}};
  set_weights(network, weights);
  network.on_layer("stem", [&](const compile::Observation& seen) { values.push_back(seen); });
  static_cast<void>(network.infer(x));
  REQUIRE(values.size() == 1);
  for (std::size_t row = 0; row < 6; ++row)
    for (std::size_t k = 0; k < 4; ++k) {
      double through_inner = 0;
      for (std::size_t j = 0; j < 4; ++j) through_inner += results[2].values[row * 4 + j] * weight[j * 4 + k];
      const std::size_t i = row * 4 + k;
      const double through_block = through_inner + 2 * values[0].values[i] * results[1].values[i];
      CHECK(kept.of_inputs[1].values[i] == Approx(through_inner).epsilon(1e-12).margin(1e-14));
      CHECK(kept.of_inputs[2].values[i] == Approx(through_block).epsilon(1e-12).margin(1e-14));
      CHECK(results[3].values[i] == Approx(through_block + 0.5 * results[1].values[i]).epsilon(1e-12).margin(1e-14));
    }
}

TEST_CASE("a hook on a layer that is not tapped is refused with those that are", "[nn][TRAIN-2]") {
  const auto look = [](const compile::Observation&) {};
  Plain<Cpu, bfloat16> plain{Cpu{0}};
  CHECK_THROWS_WITH(plain.on_layer("stem", look), Catch::Contains("'stem'") && Catch::Contains("nn::Hooked<Model>"));
  CHECK_THROWS_WITH(plain.on_tap("stem", look), Catch::Contains("nn::tap"));
  nn::Network<nn::Hooked<Blocks<false>, "encoder.?">, Cpu, bfloat16> some{Cpu{0}};
  CHECK_THROWS_WITH(some.on_layer("stem", look), Catch::Contains("'stem'") && Catch::Contains("encoder.0, encoder.1"));
  CHECK_THROWS_AS(some.on_layer("encoder.0.inner", look), ValueError);
  int calls = 0;
  nn::HookHandle handle = some.on_layer("encoder.*", [&](const compile::Observation&) { ++calls; });
  const auto x = random_rows<bfloat16, 5>(Cpu{0}, 2);
  static_cast<void>(some.infer(x));
  CHECK(calls == 2);
  handle.remove();
  static_cast<void>(some.infer(x));
  CHECK(calls == 2);
  some.on_layer("encoder.0", [](const compile::Observation&) { throw std::domain_error("not now"); });
  CHECK_THROWS_AS(some.infer(x), std::domain_error);
}
