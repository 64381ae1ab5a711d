// SPDX-License-Identifier: Apache-2.0
//
// Updates made inside the product that gives the gradient: which there are, that they change what the staged run changes, and
// that who looks into a step sees every gradient.

#include "tests/support/late_device.hpp"
#include "tests/support/test_seed.hpp"
#include "tests/training/models.hpp"

#include <twill/compile/plan/fused_sgd.hpp>
#include <twill/optim/adam.hpp>
#include <twill/optim/clip.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

/// Wide enough that a team shares the rows of the second layer.
struct Wide {
  static constexpr auto forward(Input<Dim<"batch">, 19> x) {
    const auto first = relu(nn::linear(x, 180, "first"));
    const auto second = relu(nn::linear(first, 201, "second"));
    return nn::linear(second, 3, "output");
  }
};

/// A weight that is used twice, so that its gradient is a sum of two products.
struct Shared {
  static constexpr auto forward(Input<Dim<"batch">, 16> x) {
    const auto shared = nn::parameter(x.graph(), "shared", {16, 16}, nn::initialise::fan_in_uniform(16));
    return nn::linear(tanh(nn::linear(x, shared)), shared);
  }
};

template <class M, class R>
using Step = training::WholeStep<M, float, std::remove_const_t<decltype(nn::cross_entropy)>, R,
                                 compile::Argument<std::int64_t, Shape<dyn>>>;

template <class M, class R> std::size_t fused_sgd(std::int64_t batch) {
  graph::SymbolValues symbols{};
  symbols.fill(batch);
  return compile::find_fused_sgd(compile::Compiled<Step<M, R>>::view(), symbols).size();
}

/// Steps of so many rows, staged and planned; the weights of both.
template <class D, class T> void compare_ways(const D& device, std::int64_t rows) {
  INFO("seed " << test_seed() << ", " << rows << " rows");
  const optim::Sgd rule{{.rate = 0.05, .weight_decay = rows % 2 == 0 ? 0.01 : 0.0}};
  nn::Network<Wide, D, T> staged{device};
  nn::Network<Wide, D, T> planned{device};
  set_weights(planned, weights_of(staged));
  training::Optimiser optimiser{staged, rule};
  auto step = train_step(planned, nn::cross_entropy, rule);
  for (std::uint64_t i = 0; i < 3; ++i) {
    const auto x = random_rows<T, 19>(device, rows, i);
    const auto label = random_labels(device, rows, 3, i);
    staged.zero_grad();
    const auto loss = nn::cross_entropy(staged.forward(x), label);
    loss.backward();
    optimiser.step();
    static_cast<void>(T(step(x, label)));
    const std::vector<T> one = weights_of(planned);
    const std::vector<T> other = weights_of(staged);
    CHECK(one == other); // the sums are in the same order
  }
}

} // namespace

TEST_CASE("plain descent is made inside products of thin factors, and nothing else is", "[training]") {
  CHECK(fused_sgd<Wide, optim::Sgd>(1) == 3);
  CHECK(fused_sgd<Wide, optim::Sgd>(2) == 3);
  CHECK(fused_sgd<Wide, optim::Sgd>(64) == 0);
  CHECK(fused_sgd<Wide, optim::MomentumSgd>(1) == 0);
  CHECK(fused_sgd<Wide, optim::Adam>(1) == 0);
  CHECK(fused_sgd<Wide, optim::ClipNorm<optim::Sgd>>(1) == 0);
  CHECK(fused_sgd<Shared, optim::Sgd>(1) == 0);
}

TEMPLATE_TEST_CASE("a step that has_fused_sgd inside products changes the weights as a staged one", "[training]", Cpu,
                   Late) {
  const TestType device{0};
  for (const std::int64_t rows : {1, 2}) {
    compare_ways<TestType, float>(device, rows);
    compare_ways<TestType, double>(device, rows);
  }
}

TEST_CASE("who looks into a step that has_fused_sgd inside products sees the gradients, and changes no bit",
          "[training]") {
  const Cpu device{0};
  nn::Network<Wide, Cpu> plain{device};
  nn::Network<Wide, Cpu> watched{device};
  set_weights(watched, weights_of(plain));
  const optim::Sgd rule{{.rate = 0.05}};
  auto step = train_step(plain, nn::cross_entropy, rule);
  auto watched_step = train_step(watched, nn::cross_entropy, rule);
  const auto x = random_rows<float, 19>(device, 1, 0);
  const auto label = random_labels(device, 1, 3, 0);
  for (int i = 0; i < 4; ++i) {
    static_cast<void>(float(step(x, label)));
    int seen = 0;
    const auto look = [&](const compile::Observation&) { ++seen; };
    if (i % 2 == 0)
      static_cast<void>(float(watched_step.tapped("*", look, x, label)));
    else
      static_cast<void>(float(watched_step.checked(x, label)));
    CHECK((i % 2 == 1 || seen > 0));
    CHECK(weights_of(watched) == weights_of(plain));
  }
}
