// SPDX-License-Identifier: Apache-2.0
//
// Every update rule, groups and clipping beside six steps of torch.optim from given gradients; LAMB beside its paper.

#include "tests/support/golden.hpp"
#include "tests/training/models.hpp"

#include <twill/optim/adafactor.hpp>
#include <twill/optim/adam.hpp>
#include <twill/optim/adaptive.hpp>
#include <twill/optim/averaged.hpp>
#include <twill/optim/clip.hpp>
#include <twill/optim/groups.hpp>
#include <twill/optim/loss_scale.hpp>
#include <twill/optim/maximize.hpp>
#include <twill/optim/muon.hpp>
#include <twill/optim/rmsprop.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/optimiser.hpp>
#include <twill/training/sources.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

/// A matrix, a bias and a scale.
struct Three {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) {
    const auto y = nn::linear(x, 3, "layer");
    return mean(y) * sum(nn::parameter(x.graph(), "norm.weight", {2}, nn::initialise::ones()));
  }
};

/// A tall matrix, and a weight of three axes.
struct Other {
  static constexpr auto forward(Input<Dim<"batch">, 2> x) {
    const auto y = nn::linear(x, 5, "tall", {.bias = false});
    return mean(y) * sum(nn::parameter(x.graph(), "deep", {2, 3, 4}, nn::initialise::ones()));
  }
};

/// The start, the gradients and the trajectories in tests/golden/rules.
struct Files {
  const char* start = "rules/start";
  const char* gradients = "rules/gradients";
  const char* weights = "rules/weights";
};

/// Six steps of rule number `k` of tests/golden/scripts/rules.py. Calls look(optimiser, step) after each.
template <class Model = Three, class R, class Look>
void check(std::size_t k, R rule, const Look& look, const Files& files = {}) {
  INFO("rule " << k);
  const Golden gradients = golden(files.gradients);
  const Golden weights = golden(files.weights);
  const auto steps = static_cast<std::size_t>(gradients.shape[0]);
  const auto elements = static_cast<std::size_t>(gradients.shape[1]);
  const Cpu device{0};
  nn::Network<Model, Cpu, double> model{device};
  set_weights(model, golden(files.start).values);
  training::Optimiser optimiser{model, rule};
  for (std::size_t step = 0; step < steps; ++step) {
    const double* next = gradients.values.data() + step * elements;
    std::vector<memory::Buffer<Cpu>> fresh{};
    for (const auto& view : model.parameters()) {
      fresh.emplace_back(device, view.buffer.bytes());
      copy_bytes(device, fresh.back().data(), Cpu{}, next, fresh.back().bytes(), CopyOptions{});
      next += view.shape.elements();
    }
    optimiser.zero_grad();
    model.state()->add_gradients(std::move(fresh));
    optimiser.step();
    const std::vector<double> got = weights_of(model);
    REQUIRE(got.size() == elements);
    const double* expected = weights.values.data() + (k * steps + step) * elements;
    for (std::size_t i = 0; i < elements; ++i) REQUIRE(got[i] == Approx(expected[i]).epsilon(1e-11));
    look(optimiser, step);
  }
}
template <class R> void check(std::size_t k, R rule) {
  check(k, std::move(rule), [](const auto&, std::size_t) {});
}

} // namespace

TEST_CASE("update rules follow torch.optim step by step", "[optim][TRAIN-3]") {
  using namespace optim;
  check(0, Sgd{{.rate = 0.1, .weight_decay = 0.01}});
  check(1, MomentumSgd{{.rate = 0.1, .momentum = 0.9, .dampening = 0.3}});
  check(2, MomentumSgd{{.rate = 0.1, .momentum = 0.9, .weight_decay = 0.1, .nesterov = true}});
  check(3, Adam{{.rate = 0.01, .weight_decay = 0.1}});
  check(4, AdamW{{.rate = 0.01, .weight_decay = 0.1}});
  check(5, AmsGrad{{.rate = 0.01, .beta1 = 0.5, .beta2 = 0.6}});
  check(6, AmsGradW{{.rate = 0.01, .beta1 = 0.5, .beta2 = 0.6}});
  check(7, RmsProp{});
  check(8, RmsProp{{.rate = 0.02, .alpha = 0.8, .epsilon = 1e-3, .weight_decay = 0.1, .momentum = 0.7}});
  check(9, CentredRmsProp{{.rate = 0.02, .alpha = 0.8}});
  check(10, Adagrad{});
  check(11, Adagrad{{.rate = 0.1, .rate_decay = 0.2, .weight_decay = 0.1, .initial_accumulator = 0.5}});
  check(12, Lamb{{.rate = 0.02, .weight_decay = 0.1}});
}

TEST_CASE("relatives of Adam and Adagrad follow torch.optim step by step", "[optim][TRAIN-3]") {
  using namespace optim;
  check(16, Adadelta{});
  check(17, Adadelta{{.rate = 0.5, .rho = 0.8, .epsilon = 1e-3, .weight_decay = 0.1}});
  check(18, Adamax{});
  check(19, Adamax{{.rate = 0.02, .beta1 = 0.6, .beta2 = 0.7, .weight_decay = 0.1}});
  check(20, NAdam{});
  check(21, NAdam{{.rate = 0.02, .beta1 = 0.6, .beta2 = 0.7, .weight_decay = 0.1, .momentum_decay = 0.2}});
  check(22, RAdam{});
  check(23, RAdam{{.rate = 0.02, .beta1 = 0.6, .beta2 = 0.9, .weight_decay = 0.1}});
  check(24, Lion{});
  check(25, Lion{{.rate = 0.02, .beta1 = 0.6, .beta2 = 0.7, .weight_decay = 0.1}});
}

TEST_CASE("Adafactor and Muon follow torch.optim step by step", "[optim][TRAIN-3]") {
  using namespace optim;
  check(27, Adafactor{});
  check(28,
        Adafactor{
            {.rate = 0.5, .beta2_decay = -0.5, .epsilon1 = 1e-2, .epsilon2 = 0.3, .clip = 1.05, .weight_decay = 0.1}});
  const auto rest = vectors(AdamW{{.rate = 0.01, .weight_decay = 0.1}});
  check(29, groups(Muon{}, rest));
  check(29, groups(AdamW{{.rate = 0.01, .weight_decay = 0.1}}, group<"layer.weight">(Muon{})));
  check(30, groups(Muon{{.rate = 0.05, .momentum = 0.7, .weight_decay = 0.2, .nesterov = false}}, rest));
  check(31, groups(Muon{{.rate = 0.05, .a = 2, .b = -1.5, .c = 0.5, .matches_adamw = true}}, rest));
  const auto nothing = [](const auto&, std::size_t) {};
  const Files other{"rules/other_start", "rules/other_gradients", "rules/other_weights"};
  check<Other>(0, Adafactor{{.rate = 0.05}}, nothing, other);
  check<Other>(1, groups(Muon{}, group<"deep">(AdamW{{.rate = 0.01, .weight_decay = 0.1}})), nothing, other);
  CHECK_THROWS_WITH(Adafactor({.beta2_decay = 0.5}), Catch::Contains("beta2_decay must not be above 0, got 0.5"));
  CHECK_THROWS_WITH(Adafactor({.clip = 0.5}), Catch::Contains("clip must be at least 1, got 0.5"));
  CHECK_THROWS_WITH(Muon({.momentum = 1}), Catch::Contains("muon: momentum must lie in [0, 1), got 1"));
}

TEST_CASE("Adafactor and Muon count on the device where steps may be skipped", "[optim][TRAIN-6]") {
  using namespace optim;
  constexpr LossScaleOptions unscaled{.initial = 1, .interval = 100};
  check(27, loss_scaled<unscaled>(Adafactor{}));
  const auto rest = vectors(AdamW{{.rate = 0.01, .weight_decay = 0.1}});
  check(29, loss_scaled<unscaled>(groups(Muon{}, rest)));
}

TEST_CASE("rules of matrices refuse other weights, and parts of weights", "[optim][TRAIN-3]") {
  using optim::Adafactor, optim::Muon, optim::Updated;
  constexpr auto problem = []<class R>(R, Updated updated) {
    return training::trace_update<Three, double, R>(updated).fault.problem;
  };
  STATIC_REQUIRE(problem(Muon{}, Updated::whole_weights) == graph::Problem::matrix_needs_two_axes);
  STATIC_REQUIRE(problem(Adafactor{}, Updated::parts) ==
                 graph::Problem::rule_of_matrices_needs_whole_weights_on_each_rank);
  STATIC_REQUIRE(problem(Muon{}, Updated::parts) == graph::Problem::rule_of_matrices_needs_whole_weights_on_each_rank);
  STATIC_REQUIRE(problem(Adafactor{}, Updated::whole_weights) == graph::Problem::none);
}

TEST_CASE("Adafactor keeps rows and columns of a matrix", "[optim][TRAIN-3]") {
  check(27, optim::Adafactor{}, [](const auto& optimiser, std::size_t) {
    const nn::StateDict states = optimiser.state_dict();
    REQUIRE(states.find("layer.weight.row_var") != nullptr);
    CHECK(states.find("layer.weight.row_var")->shape == Dims(3, 1));
    CHECK(states.find("layer.weight.col_var")->shape == Dims(1, 4));
    CHECK(states.find("layer.bias.variance")->shape == Dims(3));
  });
}

TEST_CASE("a rule can maximise", "[optim][TRAIN-3]") {
  using namespace optim;
  check(26, maximize(Adam{{.rate = 0.01, .weight_decay = 0.1}}));
  const Adam rule{{.rate = 0.01, .weight_decay = 0.1}};
  check(26, maximize(groups(rule, group<"*.bias">(rule))));
}

TEST_CASE("averages of weights move beside the rule and are saved with its states", "[optim][TRAIN-3]") {
  using namespace optim;
  const Golden trajectories = golden("rules/weights");
  const auto follow = [&](std::size_t k, auto rule) {
    std::vector<double> expected{};
    check(k, averaged(std::move(rule), 0.7), [&](const auto& optimiser, std::size_t step) {
      const double* weights = trajectories.values.data() + (k * 6 + step) * 17;
      if (step == 0) expected.assign(weights, weights + 17);
      for (std::size_t i = 0; step > 0 && i < 17; ++i) expected[i] = 0.7 * expected[i] + 0.3 * weights[i];
      const nn::StateDict averages = optim::averages(optimiser.state_dict());
      REQUIRE(averages.size() == 3);
      std::vector<double> got{};
      for (const char* name : {"layer.weight", "layer.bias", "norm.weight"}) {
        const nn::StoredTensor* const tensor = averages.find(name);
        REQUIRE(tensor != nullptr);
        for (std::int64_t i = 0; i < tensor->shape.elements(); ++i)
          got.push_back(nn::detail::element_of(tensor->dtype, tensor->bytes.data(), static_cast<std::size_t>(i)));
      }
      for (std::size_t i = 0; i < 17; ++i) CHECK(got[i] == Approx(expected[i]).epsilon(1e-11));
    });
  };
  follow(3, Adam{{.rate = 0.01, .weight_decay = 0.1}});
  const AdamW rule{{.rate = 0.01, .weight_decay = 0.1}};
  follow(13, groups(rule, group<"*.bias">(AdamW{{.rate = 0.05, .weight_decay = 0}})));
  CHECK_THROWS_WITH(averaged(Sgd{}, 1), Catch::Contains("averaged: decay must lie in [0, 1), got 1"));
}

TEST_CASE("groups of weights have rules of their own", "[optim][TRAIN-3]") {
  using namespace optim;
  const AdamW rule{{.rate = 0.01, .weight_decay = 0.1}};
  check(13, groups(rule, group<"*.bias">(AdamW{{.rate = 0.05, .weight_decay = 0}})));
  auto late = groups(rule, group<"nothing*">(Sgd{}), group<"layer.b?as">(AdamW{{.rate = 1, .weight_decay = 0}}));
  late.group<1>().options.rate = 0.05; // a run-time number
  check(13, late);
  STATIC_REQUIRE(matches("*.weight", "layer1.0.weight"));
  STATIC_REQUIRE(matches("layer?.*", "layer1.0.weight"));
  STATIC_REQUIRE(!matches("*.weight", "layer1.0.weights"));
  STATIC_REQUIRE(!matches("", "x"));
  STATIC_REQUIRE(matches("**", ""));
}

TEST_CASE("weight decay can leave vectors out", "[optim][TRAIN-3]") {
  nn::Network<Three, Cpu, double> model{Cpu{0}};
  set_weights(model, std::vector<double>(17, 1.0));
  std::vector<memory::Buffer<Cpu>> zero{};
  for (const auto& view : model.parameters()) {
    zero.emplace_back(Cpu{0}, view.buffer.bytes());
    const std::vector<double> zeros(static_cast<std::size_t>(view.shape.elements()), 0.0);
    copy_bytes(Cpu{0}, zero.back().data(), Cpu{}, zeros.data(), zero.back().bytes(), CopyOptions{});
  }
  model.state()->add_gradients(std::move(zero));
  training::Optimiser optimiser{model, optim::decay_matrices_only(optim::AdamW{{.rate = 0.5, .weight_decay = 0.5}})};
  optimiser.step();
  std::vector<double> expected(12, 0.75);
  expected.resize(17, 1.0);
  CHECK(weights_of(model) == expected);
}

TEST_CASE("gradients are clipped by their common norm, which can be read, and by value", "[optim][TRAIN-3]") {
  using namespace optim;
  const Golden norms = golden("rules/norms");
  check(14, clip_norm(Sgd{{.rate = 0.1}}, 1.5), [&](const auto& optimiser, std::size_t step) {
    CHECK(optimiser.state(gradient_norm_state) == Approx(norms.values[step]).epsilon(1e-12));
  });
  check(15, clip_value(Sgd{{.rate = 0.1}}, 0.5));
  check(14, clip_norm(groups(Sgd{{.rate = 0.1}}, group<"*.bias">(Sgd{{.rate = 0.1}})), 1.5));
}

TEST_CASE("numbers outside their range are refused with the value", "[optim]") {
  CHECK_THROWS_WITH(optim::RmsProp{{.alpha = 1}}, Catch::Contains("rmsprop: alpha must lie in [0, 1), got 1.0"));
  CHECK_THROWS_WITH(optim::Adagrad{{.rate = -1}}, Catch::Contains("adagrad: rate must not be negative, got -1.0"));
  CHECK_THROWS_WITH(optim::clip_norm(optim::Sgd{}, -2), Catch::Contains("clip_norm: max_norm must not be negative"));
  nn::Network<Three> model{Cpu{0}};
  CHECK_THROWS_WITH((training::Optimiser{model, optim::Sgd{}}.state("clip.gradient_norm")),
                    Catch::Contains("state: the rule keeps no single number 'clip.gradient_norm'"));
}
