// SPDX-License-Identifier: Apache-2.0
//
// Early stopping: the measurement at which a training ends, by hand-written series, and the weights that it keeps.

#include "tests/training/models.hpp"

#include <twill/training/early_stopping.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

/// The number of measurements after which the training should stop, or -1.
std::int64_t stopped_after(training::EarlyStopping stop, const std::vector<double>& series) {
  std::int64_t count = 0;
  for (const double measured : series) {
    ++count;
    if (stop(measured)) return count;
  }
  return -1;
}

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

} // namespace

TEST_CASE("training stops after as many measurements without improvement as its patience", "[training][TRAIN-3]") {
  CHECK(stopped_after(training::EarlyStopping{{.patience = 1}}, {3, 2, 2, 1}) == 3); // equal is not better
  CHECK(stopped_after(training::EarlyStopping{{.patience = 2}}, {3, 2, 2, 1, 4, 5, 6}) == 6);
  CHECK(stopped_after(training::EarlyStopping{}, {3, 2, 1, 0.5}) == -1);
  CHECK(stopped_after(training::EarlyStopping{{.patience = 2, .larger_is_better = true}}, {0.5, 0.6, 0.5, 0.6}) == 4);
}

TEST_CASE("an improvement is more than min_delta", "[training][TRAIN-3]") {
  // 2.75 improves on 3 by a quarter exactly, which is not more than it; 2.5 does.
  CHECK(stopped_after(training::EarlyStopping{{.patience = 2, .min_delta = 0.25}}, {3, 2.75, 2.5, 2.5, 2.25}) == 5);
  CHECK(stopped_after(training::EarlyStopping{{.patience = 2, .min_delta = 0.25, .larger_is_better = true}},
                      {1, 1.25, 1.5, 1.75, 1.75}) == 5);
  CHECK(stopped_after(training::EarlyStopping{{.patience = 2}}, {3, 2.75, 2.5, 2.5, 2.25}) == -1);
}

TEST_CASE("a number that is not one is no improvement", "[training][TRAIN-3]") {
  CHECK(stopped_after(training::EarlyStopping{{.patience = 2}}, {not_a_number, not_a_number, 1}) == 2);
  training::EarlyStopping stop{{.patience = 2}};
  CHECK_FALSE(stop(not_a_number));
  CHECK_THROWS_WITH(stop.best(), "early_stopping: there is no best number before a measurement");
  CHECK_FALSE(stop(7));
  CHECK_FALSE(stop(not_a_number));
  CHECK(stop.best() == 7);
  CHECK(stop.best_index() == 1);
  CHECK(stop(not_a_number));
  CHECK(stop.should_stop());
}

TEST_CASE("early stopping continues from a saved state", "[training][TRAIN-3]") {
  training::EarlyStopping before{{.patience = 2}};
  static_cast<void>(before(2));
  static_cast<void>(before(3));
  training::EarlyStopping after{{.patience = 2}};
  after.set_state(before.state());
  CHECK(after.best() == 2);
  CHECK(after(2.5));
}

TEST_CASE("the weights of the best measurement come back", "[training][TRAIN-3]") {
  nn::Network<Regressor, Cpu> model{Cpu{0}};
  training::EarlyStopping stop{{.patience = 2}};
  CHECK_THROWS_WITH(stop.restore_best(model),
                    "early_stopping: no weights were kept; give the network with the number: stop(loss, model)");
  const auto count = static_cast<std::int64_t>(weights_of(model).size());
  std::vector<float> best{};
  for (const double measured : {3.0, 1.0, 2.0, 1.5}) {
    const std::vector<float> now = random_values<float>(count, static_cast<std::uint64_t>(10 * measured));
    set_weights(model, now);
    if (measured == 1) best = now;
    if (stop(measured, model)) break;
  }
  CHECK(stop.should_stop());
  CHECK(weights_of(model) != best);
  stop.restore_best(model);
  CHECK(weights_of(model) == best);
}

TEST_CASE("early stopping refuses options that mean nothing", "[training][TRAIN-3]") {
  CHECK_THROWS_WITH(training::EarlyStopping({.patience = 0}), "early_stopping: patience must be at least 1, got 0");
  CHECK_THROWS_WITH(training::EarlyStopping({.min_delta = -0.5}),
                    "early_stopping: min_delta must not be negative, got -0.5");
  CHECK_THROWS_AS(training::EarlyStopping({.min_delta = not_a_number}), ValueError);
}
