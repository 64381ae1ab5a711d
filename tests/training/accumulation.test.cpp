// SPDX-License-Identifier: Apache-2.0
//
// Gradient accumulation equals the mean over the large batch, with uneven pieces and dropout, and allocates nothing once
// it is warm.

#include "tests/support/late_device.hpp"
#include "tests/support/test_seed.hpp"
#include "tests/training/models.hpp"

#include <twill/memory/statistics.hpp>
#include <twill/optim/adam.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/accumulation.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::fabs(a[i] - b[i]) / (1 + std::fabs(b[i])));
  return largest;
}

} // namespace

TEMPLATE_TEST_CASE("accumulation weighted by rows equals one large batch", "[training][TRAIN-4]", Cpu, Late) {
  INFO("seed " << test_seed());
  const TestType device{0};
  nn::Network<DropoutClassifier, TestType, double> pieces{device};
  nn::Network<DropoutClassifier, TestType, double> whole{device};
  set_weights(pieces, weights_of(whole));
  auto first = accumulated_step(pieces, nn::cross_entropy, optim::MomentumSgd{{.rate = 0.1}});
  auto second = accumulated_step(pieces, nn::cross_entropy, optim::MomentumSgd{{.rate = 0.5, .momentum = 0.25}});
  auto step = train_step(whole, nn::cross_entropy, optim::MomentumSgd{{.rate = 0.1}});
  for (std::uint64_t i = 0; i < 4; ++i) {
    const auto x = random_rows<double, 5>(device, 13, i);
    const auto label = random_labels(device, 13, 3, i);
    manual_seed(device, i);
    const double expected = step(x, label);
    manual_seed(device, i);
    if (i == 2)
      CHECK(second.load_state_dict(first.state_dict()).changed.size() == 2); // goes on with the first one's options
    auto& accumulated = i < 2 ? first : second;
    for (const auto& [begin, end] : std::vector<std::pair<int, int>>{{0, 5}, {5, 10}, {10, 13}})
      accumulated.add(x[slice{begin, end}], label[slice{begin, end}]);
    CHECK(accumulated.batches() == 3);
    CHECK(accumulated.rows() == 13);
    const double loss = accumulated.finish();
    CHECK(loss == Approx(expected).epsilon(1e-12));
    CHECK(largest_difference(weights_of(pieces), weights_of(whole)) < 1e-12);
  }
  CHECK(second.steps() == 4);
}

TEST_CASE("accumulation by sum adds up losses and gradients", "[training][TRAIN-4]") {
  INFO("seed " << test_seed());
  const Cpu device{0};
  nn::Network<Regressor, Cpu, double> pieces{device};
  nn::Network<Regressor, Cpu, double> staged{device};
  set_weights(pieces, weights_of(staged));
  auto accumulated =
      accumulated_step(pieces, nn::mse, optim::Sgd{{.rate = 0.05}}, {.weighting = training::Weighting::sum});
  training::Optimiser optimiser{staged, optim::Sgd{{.rate = 0.05}}};
  double expected = 0;
  for (const std::int64_t rows : {7, 7, 2}) {
    const auto x = random_rows<double, 2>(device, rows);
    const auto target = random_rows<double, 1>(device, rows, 1);
    accumulated.add(x, target);
    const auto loss = nn::mse(staged.forward(x), target);
    loss.backward(); // adds to the gradients there are
    expected += loss.item();
  }
  optimiser.step();
  CHECK(accumulated.finish().item() == Approx(expected).epsilon(1e-12));
  CHECK(largest_difference(weights_of(pieces), weights_of(staged)) < 1e-12);
}

TEST_CASE("accumulation forgets the last update's sums, even if they were not numbers", "[training][TRAIN-4]") {
  const Cpu device{0};
  nn::Network<Regressor, Cpu, double> model{device};
  const std::vector<double> start = weights_of(model);
  auto step = accumulated_step(model, nn::mse, optim::Sgd{{.rate = 0}});
  const auto target = random_rows<double, 1>(device, 4, 1);
  step.add(full<double, Shape<dyn, 2>>(Dims(4, 2), std::nan(""), device), target);
  CHECK(std::isnan(step.finish().item()));
  set_weights(model, start);
  step.add(random_rows<double, 2>(device, 4), target);
  CHECK(std::isfinite(step.finish().item()));
  CHECK(largest_difference(weights_of(model), start) == 0);
}

TEMPLATE_TEST_CASE("steady accumulation asks the pool for nothing", "[training][MEM-9]", Cpu, Late, Meta) {
  const TestType device{0};
  nn::Network<DropoutClassifier, TestType> model{device};
  auto step = accumulated_step(model, nn::cross_entropy, optim::Adam{});
  const auto x = full<float, Shape<dyn, 5>>(Dims(32, 5), 0.5F, device);
  const auto label = full<std::int64_t, Shape<dyn>>(Dims(32), 2, device);
  const auto last_x = full<float, Shape<dyn, 5>>(Dims(11, 5), 0.5F, device);
  const auto last_label = full<std::int64_t, Shape<dyn>>(Dims(11), 2, device);
  const auto update = [&] {
    step.add(x, label);
    step.add(last_x, last_label);
    static_cast<void>(step.finish());
  };
  update();
  const auto before = memory_stats(device).all.allocation.allocated;
  for (int i = 0; i < 10; ++i) update();
  CHECK(memory_stats(device).all.allocation.allocated == before);
}

TEST_CASE("accumulation refuses an update of nothing and arguments elsewhere", "[training]") {
  nn::Network<Regressor> model{Cpu{0}};
  auto step = accumulated_step(model, nn::mse, optim::Sgd{});
  CHECK_THROWS_WITH(step.finish(), "finish: there is no micro-batch; call add first");
  CHECK_THROWS_WITH(step.add(random_rows<float, 2>(Cpu{1}, 4), random_rows<float, 1>(Cpu{0}, 4)),
                    Catch::Contains("cpu:0") && Catch::Contains("cpu:1"));
  CHECK_THROWS_AS(step.add(random_rows<float, 2>(Cpu{0}, 4), random_rows<float, 1>(Cpu{0}, 3)), ShapeError);
  CHECK_THROWS_WITH(step.add(random_rows<float, 2>(Cpu{0}, 0), random_rows<float, 1>(Cpu{0}, 0)),
                    Catch::StartsWith("add(Regressor): the batch is empty") && Catch::Contains("(0, 2), (0, 1)"));
  CHECK(step.batches() == 0);
}
