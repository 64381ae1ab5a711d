// SPDX-License-Identifier: Apache-2.0
//
// Update rules against scalar loops written from the formulas in PyTorch's documentation, over 20 steps, in both ways to
// run: `step()` on the gradients of a staged run, and the tail of a planned step.

#include "tests/support/late_device.hpp"
#include "tests/support/test_seed.hpp"
#include "tests/training/models.hpp"

#include <twill/optim/adam.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

/// torch.optim.SGD
struct SgdReference {
  double rate, weight_decay = 0, momentum = 0, dampening = 0;
  bool nesterov = false;
  std::vector<double> buffer{};

  void step(std::vector<double>& weights, const std::vector<double>& gradients) {
    const bool first = buffer.empty();
    if (first) buffer.assign(weights.size(), 0);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      double g = gradients[i];
      if (weight_decay != 0) g += weight_decay * weights[i];
      if (momentum != 0) {
        buffer[i] = first ? g : momentum * buffer[i] + (1 - dampening) * g;
        g = nesterov ? g + momentum * buffer[i] : buffer[i];
      }
      weights[i] -= rate * g;
    }
  }
};

/// torch.optim.Adam, and AdamW where the decay is decoupled
struct AdamReference {
  double rate, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0;
  bool decoupled = false;
  std::vector<double> m{};
  std::vector<double> v{};
  int t = 0;

  void step(std::vector<double>& weights, const std::vector<double>& gradients) {
    m.resize(weights.size());
    v.resize(weights.size());
    ++t;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      double g = gradients[i];
      if (decoupled)
        weights[i] -= rate * weight_decay * weights[i];
      else
        g += weight_decay * weights[i];
      m[i] = beta1 * m[i] + (1 - beta1) * g;
      v[i] = beta2 * v[i] + (1 - beta2) * g * g;
      const double m_hat = m[i] / (1 - std::pow(beta1, t));
      const double v_hat = v[i] / (1 - std::pow(beta2, t));
      weights[i] -= rate * m_hat / (std::sqrt(v_hat) + epsilon);
    }
  }
};

/// Largest distance from the reference, relative to 1 + |reference|.
template <class T> double distance(const std::vector<T>& got, const std::vector<double>& expected) {
  REQUIRE(got.size() == expected.size());
  double largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    largest = std::max(largest, std::fabs(double(got[i]) - expected[i]) / (1 + std::fabs(expected[i])));
  return largest;
}

/// 20 staged steps, and 20 planned ones, beside the reference.
template <class D, class T, class R, class Reference> void check_rule(R rule, Reference reference) {
  INFO("seed " << test_seed());
  const double tolerance = std::is_same_v<T, double> ? 1e-12 : 2e-5;
  const D device{0};
  nn::Network<Regressor, D, T> staged{device};
  nn::Network<Regressor, D, T> planned{device};
  set_weights(planned, weights_of(staged));
  training::Optimiser optimiser{staged, rule};
  auto step = train_step(planned, nn::mse, rule);
  const std::vector<T> start = weights_of(staged);
  std::vector<double> expected(start.begin(), start.end());
  for (std::uint64_t i = 0; i < 20; ++i) {
    const auto x = random_rows<T, 2>(device, 9, i);
    const auto target = random_rows<T, 1>(device, 9, 100 + i);
    staged.zero_grad();
    nn::mse(staged.forward(x), target).backward();
    const std::vector<T> gradients = gradients_of(staged);
    optimiser.step();
    static_cast<void>(step(x, target));
    reference.step(expected, std::vector<double>(gradients.begin(), gradients.end()));
    REQUIRE(distance(weights_of(staged), expected) < tolerance);
    REQUIRE(distance(weights_of(planned), expected) < 10 * tolerance);
  }
}

template <class D, class T> void check_all_rules() {
  using namespace optim;
  check_rule<D, T>(Sgd{{.rate = 0.1}}, SgdReference{.rate = 0.1});
  check_rule<D, T>(Sgd{{.rate = 0.1, .weight_decay = 0.01}}, SgdReference{.rate = 0.1, .weight_decay = 0.01});
  check_rule<D, T>(MomentumSgd{{.rate = 0.05}}, SgdReference{.rate = 0.05, .momentum = 0.9});
  check_rule<D, T>(MomentumSgd{{.rate = 0.05, .momentum = 0.8, .dampening = 0.3, .weight_decay = 0.02}},
                   SgdReference{.rate = 0.05, .weight_decay = 0.02, .momentum = 0.8, .dampening = 0.3});
  check_rule<D, T>(MomentumSgd{{.rate = 0.05, .momentum = 0, .dampening = 0.3}},
                   SgdReference{.rate = 0.05, .dampening = 0.3});
  check_rule<D, T>(MomentumSgd{{.rate = 0.05, .momentum = 0.8, .weight_decay = 0.02, .nesterov = true}},
                   SgdReference{.rate = 0.05, .weight_decay = 0.02, .momentum = 0.8, .nesterov = true});
  check_rule<D, T>(Adam{{.rate = 0.01}}, AdamReference{.rate = 0.01});
  check_rule<D, T>(Adam{{.rate = 0.01, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3, .weight_decay = 0.1}},
                   AdamReference{.rate = 0.01, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3, .weight_decay = 0.1});
  check_rule<D, T>(AdamW{{.rate = 0.01, .weight_decay = 0.1}},
                   AdamReference{.rate = 0.01, .weight_decay = 0.1, .decoupled = true});
  check_rule<D, T>(AdamW{}, AdamReference{.rate = 1e-3, .weight_decay = 1e-2, .decoupled = true});
}

} // namespace

TEMPLATE_TEST_CASE("update rules compute what PyTorch documents", "[optim][TRAIN-3]", float, double) {
  check_all_rules<Cpu, TestType>();
}

TEST_CASE("update rules compute what PyTorch documents on a late device", "[optim][TRAIN-3]") {
  check_all_rules<Late, double>();
}

TEST_CASE("options change between steps without building anything again", "[optim]") {
  const Cpu device{0};
  nn::Network<Regressor, Cpu, double> model{device};
  training::Optimiser optimiser{model, optim::Adam{{.rate = 0.5}}};
  const auto x = random_rows<double, 2>(device, 9);
  const auto target = random_rows<double, 1>(device, 9, 1);
  nn::mse(model.forward(x), target).backward();
  const std::vector<double> before = weights_of(model);
  optimiser.rule.options.rate = 0;
  optimiser.step();
  CHECK(weights_of(model) == before);
  optimiser.rule.options.rate = 0.1;
  optimiser.step();
  CHECK(weights_of(model) != before);
}

TEST_CASE("options outside their range are refused with the value", "[optim]") {
  using namespace optim;
  CHECK_THROWS_WITH(Sgd({.rate = -0.5}), "sgd: rate must not be negative, got -0.500000");
  CHECK_THROWS_WITH(Adam({.beta1 = 1}), "adam: beta1 must lie in [0, 1), got 1.000000");
  CHECK_THROWS_AS(Adam({.epsilon = -1}), ValueError);
  CHECK_THROWS_AS(AdamW({.weight_decay = -1}), ValueError);
  CHECK_THROWS_AS(MomentumSgd({.momentum = 0.9, .dampening = 0.1, .nesterov = true}), ValueError);
  CHECK_THROWS_AS(MomentumSgd({.momentum = 0, .nesterov = true}), ValueError);
}

TEST_CASE("a step without gradients is refused and names the weight", "[optim]") {
  nn::Network<Regressor> model{};
  training::Optimiser optimiser{model, optim::Sgd{}};
  CHECK_THROWS_WITH(optimiser.step(), "step: 'hidden.weight' has no gradient; call backward first");
  CHECK(optimiser.steps() == 0);
}
