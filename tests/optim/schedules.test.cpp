// SPDX-License-Identifier: Apache-2.0
//
// The rates of every schedule beside torch.optim.lr_scheduler's over 40 steps, and their use in a training step.

#include "tests/support/golden.hpp"
#include "tests/training/models.hpp"

#include <twill/optim/adam.hpp>
#include <twill/optim/groups.hpp>
#include <twill/optim/schedules.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

constexpr std::int64_t steps = 40;

/// Row `k` of tests/golden/scripts/schedules.py.
std::vector<double> expected_rates(std::size_t k) {
  const Golden all = golden("schedules/rates");
  const auto first = all.values.begin() + static_cast<std::ptrdiff_t>(k * steps);
  return {first, first + steps};
}

template <class S> void check_momenta(std::size_t k, const S& schedule) {
  INFO("schedule " << k);
  const std::vector<double> expected = golden("schedules/momenta").values;
  for (std::int64_t step = 0; step < steps; ++step) {
    INFO("step " << step);
    CHECK(schedule.momentum(step) == Approx(expected[k * steps + static_cast<std::size_t>(step)]).epsilon(1e-12));
  }
}

template <optim::Schedule S> void check(std::size_t k, const S& schedule) {
  INFO("schedule " << k);
  const std::vector<double> expected = expected_rates(k);
  for (std::int64_t step = 0; step < steps; ++step) {
    INFO("step " << step);
    CHECK(schedule(step) == Approx(expected[static_cast<std::size_t>(step)]).epsilon(1e-12).margin(1e-16));
  }
}

} // namespace

TEST_CASE("schedules give the rates of torch.optim.lr_scheduler", "[optim][TRAIN-3]") {
  using namespace optim;
  check(0, StepDecay{.rate = 0.3, .every = 7, .factor = 0.4});
  check(1, MultiStep<3>{.rate = 0.3, .milestones = {3, 11, 30}, .factor = 0.2});
  check(2, Exponential{.rate = 0.3, .factor = 0.93});
  check(3, Cosine{.rate = 0.3, .steps = 40, .least = 0.01});
  check(4, Linear{.rate = 0.3, .steps = 9, .start_factor = 0.2});
  check(5, OneCycle{.max_rate = 0.3, .steps = 40});
  check(6, OneCycle{.max_rate = 0.3,
                    .steps = 41,
                    .rising_part = 0.4,
                    .division = 10,
                    .final_division = 50,
                    .anneal = Anneal::linear});
  check(7, then(Linear{.rate = 0.3, .steps = 6, .start_factor = 0.1}, 6, Exponential{.rate = 0.3, .factor = 0.9}));
  check(10, Constant{.rate = 0.3, .steps = 7, .factor = 0.4});
  check(11, Polynomial{.rate = 0.3, .steps = 30, .power = 2.5});
  check(12, CosineWarmRestarts{.rate = 0.3, .steps = 7, .least = 0.01});
  check(13, CosineWarmRestarts{.rate = 0.3, .steps = 5, .growth = 2});
  check(14, Cyclic{.least = 0.01, .most = 0.3, .rising = 6});
  check(15, Cyclic{.least = 0.01, .most = 0.3, .rising = 4, .falling = 9, .height = CyclicHeight::halved});
  check(16, Cyclic{.least = 0.01, .most = 0.3, .rising = 5, .height = CyclicHeight::exponential, .factor = 0.96});
}

TEST_CASE("schedules that rise and fall give the momenta of torch.optim.lr_scheduler", "[optim][TRAIN-3]") {
  using namespace optim;
  check_momenta(0, OneCycle{.max_rate = 0.3, .steps = 40});
  check_momenta(1, OneCycle{.max_rate = 0.3,
                            .steps = 41,
                            .rising_part = 0.4,
                            .anneal = Anneal::linear,
                            .least_momentum = 0.6,
                            .most_momentum = 0.8});
  check_momenta(2, Cyclic{.least = 0.01, .most = 0.3, .rising = 4, .falling = 9, .height = CyclicHeight::halved});
  check_momenta(3, Cyclic{.least = 0.01,
                          .most = 0.3,
                          .rising = 5,
                          .height = CyclicHeight::exponential,
                          .factor = 0.96,
                          .least_momentum = 0.5,
                          .most_momentum = 0.95});
}

TEST_CASE("a warm-up rises to the first rate of what follows", "[optim][TRAIN-3]") {
  const auto schedule = optim::warm_up(4, optim::Exponential{.rate = 1, .factor = 0.5});
  const std::vector<double> expected{0.2, 0.4, 0.6, 0.8, 1, 0.5, 0.25};
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(schedule(std::int64_t(i)) == Approx(expected[i]));
}

TEST_CASE("a plateau lowers the rate as PyTorch does, and goes on from a saved state", "[optim][TRAIN-3]") {
  const std::vector<double> metrics = golden("schedules/metrics").values;
  for (const std::size_t k : {8u, 9u}) {
    optim::PlateauOptions options{.rate = 0.3, .factor = 0.5, .patience = 2, .cooldown = 3, .least = 0.02};
    if (k == 9) options = {.rate = 0.3, .larger_is_better = true, .factor = 0.1, .patience = 4, .threshold = 0.01};
    const std::vector<double> expected = expected_rates(k);
    optim::Plateau plateau{options};
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      INFO("schedule " << k << ", step " << i);
      CHECK(plateau(metrics[i]) == Approx(expected[i]).epsilon(1e-12));
      if (i == 17) { // as if saved and loaded
        optim::Plateau fresh{options};
        fresh.set_state(plateau.state());
        plateau = fresh;
      }
    }
  }
  CHECK_THROWS_WITH(optim::Plateau{{.factor = 1.5}}, Catch::Contains("plateau: factor must lie in [0, 1), got 1.5"));
  CHECK_THROWS_WITH(optim::Plateau{{.patience = -1}},
                    Catch::Contains("plateau: patience must not be negative, got -1"));
}

TEST_CASE("a schedule drives the rate of a step", "[optim][TRAIN-3]") {
  const Cpu device{0};
  nn::Network<Regressor, Cpu, double> model{device};
  auto step = train_step(model, nn::mse, optim::Sgd{{.rate = 1}});
  auto driver = optim::scheduled(step, optim::MultiStep<1>{.rate = 0.1, .milestones = {1}, .factor = 0});
  const auto x = random_rows<double, 2>(device, 9);
  const auto target = random_rows<double, 1>(device, 9, 1);
  CHECK(step.rule.options.rate == 0.1);
  const std::vector<double> start = weights_of(model);
  driver.update();
  static_cast<void>(step(x, target).item());
  const std::vector<double> moved = weights_of(model);
  CHECK(moved != start);
  CHECK(driver.update() == 0);
  static_cast<void>(step(x, target).item());
  CHECK(weights_of(model) == moved);
}

namespace {
/// All that a schedule wants of a step.
template <class Rule> struct Counted {
  Rule rule;
  std::int64_t done = 0;
  [[nodiscard]] std::int64_t steps() const { return done; }
};
template <class Rule> Counted(Rule) -> Counted<Rule>;
} // namespace

TEST_CASE("a schedule moves the rates of all groups, as PyTorch's do", "[optim][TRAIN-3]") {
  Counted step{optim::groups(optim::AdamW{{.rate = 0.1}}, optim::vectors(optim::Sgd{{.rate = 0.02}}))};
  auto driver = optim::scheduled(step, optim::Exponential{.rate = 0.1, .factor = 0.5});
  const auto check = [&](double rule, double group) {
    CHECK(step.rule.options.rate == Approx(rule).epsilon(1e-15));
    CHECK(step.rule.template group<0>().options.rate == Approx(group).epsilon(1e-15));
    ++step.done;
    driver.update();
  };
  check(0.1, 0.02);
  check(0.05, 0.01);
  step.rule.group<0>().options.rate *= 3; // by hand: it stays in proportion
  ++step.done;
  driver.update();
  check(0.0125, 0.0075);
  check(0.00625, 0.00375);
}

TEST_CASE("a group keeps its share through a rate of 0", "[optim][TRAIN-3]") {
  Counted step{optim::groups(optim::Sgd{{.rate = 0.1}}, optim::vectors(optim::Sgd{{.rate = 0.2}}))};
  auto driver = optim::scheduled(step, [](std::int64_t at) { return at == 1 ? 0.0 : 0.1; });
  for (const double expected : {0.2, 0.0, 0.2}) {
    CHECK(step.rule.group<0>().options.rate == expected);
    ++step.done;
    driver.update();
  }
}

TEST_CASE("one cycle of few steps has rates", "[optim]") {
  for (const std::int64_t few : {1, 2, 3, 4})
    for (std::int64_t at = 0; at < few; ++at)
      for (const double part : {0.1, 0.25, 0.5, 1.0}) {
        INFO(few << " steps, at " << at << ", " << part << " of them rising");
        const double rate = optim::OneCycle{.max_rate = 0.1, .steps = few, .rising_part = part}(at);
        CHECK((rate > 0 && rate <= 0.1));
      }
}
