// SPDX-License-Identifier: Apache-2.0
//
// Hooks on layers by name, and taps inside a model: they see what the layers compute, in staged, planned and data-parallel
// runs, and change no bit of it, whatever the element type.

#include "tests/nn/tapped_blocks.hpp"

#include <twill/optim/sgd.hpp>
#include <twill/train/train_step.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

template <class D, class T> using Watched = nn::Network<nn::Hooked<Blocks<true>>, D, T>;
template <class D, class T> using Plain = nn::Network<Blocks<false>, D, T>;

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
  Seen taps{};
  const auto into = [](Seen& list) { return [&list](const compile::Observation& seen) { list.push_back(seen); }; };
  watched.on_layer_begin("*", into(begins));
  watched.on_layer("*", into(results));
  watched.on_layer_backward("*", into(gradients));
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
  for (const auto& each : results) CHECK(each.device == to_string(device));
  for (const auto& each : results) CHECK(each.shape == Dims(7, each.layer == "head" ? 3 : 6));
  for (const auto& each : gradients) CHECK(each.is_gradient);
  CHECK(begins.size() % 6 == 0);
  CHECK(taps.size() == 14);
  CHECK(names_of(Seen(taps.begin(), taps.begin() + 3)) ==
        std::vector<std::string>{"encoder.0.before", "encoder.0.halved", "encoder.0.turned"});
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
