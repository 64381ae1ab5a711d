// SPDX-License-Identifier: Apache-2.0
//
// L-BFGS on Rosenbrock's function beside torch.optim.LBFGS: places, values, iterations and evaluations of each step.

#include "tests/support/golden.hpp"

#include <twill/core/error.hpp>
#include <twill/optim/lbfgs.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

/// The sum of 100 (x[i + 1] - x[i]^2)^2 + (1 - x[i])^2.
double rosenbrock(std::span<const double> x, std::span<double> gradient) {
  double value = 0;
  for (double& g : gradient) g = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
    value += 100 * a * a + b * b;
    gradient[i] += -400 * a * x[i] - 2 * b;
    gradient[i + 1] += 200 * a;
  }
  return value;
}

const std::vector<double> start{-1.2, 1.0, 0.5, -0.7, 1.9};

void check(const std::string& name, optim::LbfgsOptions options) {
  INFO(name);
  const Golden expected = golden("closures/" + name);
  optim::Lbfgs method{options};
  std::vector<double> x = start;
  for (std::int64_t step = 0; step < expected.shape[0]; ++step) {
    INFO("step " << step);
    const double value = method.step(x, rosenbrock);
    const double* const row = expected.values.data() + 8 * step;
    for (std::size_t i = 0; i < 5; ++i) CHECK(x[i] == Approx(row[i]).epsilon(1e-7).margin(1e-9));
    CHECK(value == Approx(row[5]).epsilon(1e-7).margin(1e-12));
    REQUIRE(static_cast<double>(method.iterations()) == row[6]);
    REQUIRE(static_cast<double>(method.evaluations()) == row[7]);
  }
}

} // namespace

TEST_CASE("L-BFGS follows torch.optim.LBFGS step by step", "[optim][TRAIN-3]") {
  check("valley", {.iterations = 4});
  check("short_history", {.rate = 0.5, .iterations = 5, .history = 2});
  check("few_evaluations", {.iterations = 8, .evaluations = 3});
  check("long_steps", {.rate = 20});
  check("fixed", {.rate = 0.01, .iterations = 3, .line_search = optim::LineSearch::none});
  check("minimum", {.iterations = 200});
}

TEST_CASE("L-BFGS comes out of places where the function is no number", "[optim][TRAIN-3]") {
  // x - log(x) has its minimum at 1 and is NaN from 0 on downwards, where the first trial is.
  optim::Lbfgs method{{.rate = 10}};
  std::vector<double> x{0.5};
  bool was_outside = false;
  const auto barrier = [&](std::span<const double> at, std::span<double> gradient) {
    const double t = 3 - at[0];
    was_outside = was_outside || t <= 0;
    gradient[0] = -(1 - 1 / t);
    return t - std::log(t);
  };
  for (int i = 0; i < 3; ++i) static_cast<void>(method.step(x, barrier));
  CHECK(was_outside);
  CHECK(x[0] == Approx(2).epsilon(1e-6));
}

TEST_CASE("L-BFGS leaves the place alone when the function throws", "[optim][TRAIN-3]") {
  optim::Lbfgs method{};
  std::vector<double> x = start;
  int calls = 0;
  CHECK_THROWS_AS(method.step(x,
                              [&](std::span<const double> at, std::span<double> gradient) {
                                if (++calls == 3) throw std::runtime_error("no more");
                                return rosenbrock(at, gradient);
                              }),
                  std::runtime_error);
  CHECK(x == start);
}

TEST_CASE("L-BFGS refuses options and places that mean nothing", "[optim][TRAIN-3]") {
  using optim::Lbfgs;
  CHECK_THROWS_WITH(Lbfgs({.rate = -1}), Catch::Contains("lbfgs: rate must not be negative, got -1"));
  CHECK_THROWS_WITH(Lbfgs({.iterations = 0}), "lbfgs: iterations must be at least 1, got 0");
  CHECK_THROWS_WITH(Lbfgs({.evaluations = -1}), "lbfgs: evaluations must be at least 1, got -1");
  CHECK_THROWS_WITH(Lbfgs({.history = 0}), "lbfgs: history must be at least 1, got 0");
  Lbfgs method{};
  std::vector<double> x = start;
  static_cast<void>(method.step(x, rosenbrock));
  x.pop_back();
  CHECK_THROWS_WITH(method.step(x, rosenbrock),
                    "lbfgs: earlier steps were of 5 numbers, this is of 4; call reset() before another function");
  method.reset();
  static_cast<void>(method.step(x, rosenbrock));
}

TEST_CASE("L-BFGS goes on from a state with the bits of an unbroken run", "[optim][TRAIN-3]") {
  for (const optim::LineSearch search : {optim::LineSearch::strong_wolfe, optim::LineSearch::none}) {
    const optim::LbfgsOptions options{.rate = 0.01, .iterations = 3, .history = 4, .line_search = search};
    optim::Lbfgs whole{options}, first{options}, fresh{options};
    std::vector<double> x = start, y = start;
    fresh.load_state_dict(fresh.state_dict()); // of no steps
    CHECK(fresh.size() == 0);
    for (int step = 0; step < 3; ++step) {
      static_cast<void>(whole.step(x, rosenbrock));
      static_cast<void>(first.step(y, rosenbrock));
    }
    const nn::StateDict state = first.state_dict();
    const Dims kept = state.find("changes")->shape;
    CHECK((kept.rank == 2 && kept[0] > 0 && kept[0] <= 4 && kept[1] == 5));
    fresh.load_state_dict(state);
    CHECK(fresh.size() == 5);
    for (int step = 0; step < 3; ++step) CHECK(whole.step(x, rosenbrock) == fresh.step(y, rosenbrock));
    CHECK(x == y);
    CHECK(whole.iterations() == fresh.iterations());
    CHECK(whole.evaluations() == fresh.evaluations());
  }
}

TEST_CASE("L-BFGS refuses states that lack something or do not fit, and keeps its own", "[optim][TRAIN-3]") {
  optim::Lbfgs method{{.iterations = 3}}, other{};
  std::vector<double> x = start, y = start;
  static_cast<void>(method.step(x, rosenbrock));
  static_cast<void>(other.step(y, rosenbrock));
  const nn::StateDict state = method.state_dict();
  const auto without = [&](const std::string& name) {
    return nn::renamed(
        state, [&](const std::string& key) { return key == name ? std::nullopt : std::optional<std::string>{key}; });
  };
  const auto swapped = nn::renamed(state, [](const std::string& key) {
    return std::optional<std::string>{key == "direction" ? "length" : key == "length" ? "direction" : key};
  });
  CHECK_THROWS_WITH(other.load_state_dict(without("scale")), "lbfgs: load_state_dict: the state has no 'scale'");
  CHECK_THROWS_WITH(other.load_state_dict(swapped), "lbfgs: load_state_dict: 'direction' is float64 of shape (), not "
                                                    "float64 of 1 axes, the last of 5");
  CHECK(other.iterations() > method.iterations());
}
