// SPDX-License-Identifier: Apache-2.0
//
// Training as users see it: a planned step equals the staged run, nets learn, seeds decide everything, weights can be tied
// or frozen, gradients add up, and wrong arguments are refused with both values.

#include "tests/support/late_device.hpp"
#include "tests/support/test_seed.hpp"
#include "tests/training/models.hpp"

#include <twill/optim/adam.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

template <class T> double largest_difference(const std::vector<T>& a, const std::vector<T>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::fabs(double(a[i]) - double(b[i])) / (1 + std::fabs(double(b[i]))));
  return largest;
}

/// Ten batches, the last one smaller, staged and planned.
template <class D, class T, class R> void compare_ways(R rule) {
  INFO("seed " << test_seed());
  const double tolerance = 1e-12;
  const D device{0};
  nn::Network<Classifier, D, T> staged{device};
  nn::Network<Classifier, D, T> planned{device};
  set_weights(planned, weights_of(staged));
  training::Optimiser optimiser{staged, rule};
  auto step = train_step(planned, nn::cross_entropy, rule);
  for (std::uint64_t i = 0; i < 10; ++i) {
    const std::int64_t rows = i == 9 ? 3 : 13;
    const auto x = random_rows<T, 5>(device, rows, i);
    const auto label = random_labels(device, rows, 3, i);
    staged.zero_grad();
    const auto loss = nn::cross_entropy(staged.forward(x), label);
    loss.backward();
    optimiser.step();
    const T planned_loss = step(x, label);
    CHECK(double(planned_loss) == Approx(double(loss.item())).epsilon(tolerance));
    CHECK(largest_difference(weights_of(planned), weights_of(staged)) < tolerance);
  }
}

/// Two layers that share one weight, the second transposed in use.
struct Tied {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) {
    const auto shared = nn::parameter(x.graph(), "shared", {4, 4}, nn::initialise::fan_in_uniform(4));
    return nn::linear(tanh(nn::linear(x, shared)), shared);
  }
};

/// The same with a weight for each layer.
struct Untied {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) {
    const auto first = nn::parameter(x.graph(), "first", {4, 4}, nn::initialise::fan_in_uniform(4));
    const auto second = nn::parameter(x.graph(), "second", {4, 4}, nn::initialise::fan_in_uniform(4));
    return nn::linear(tanh(nn::linear(x, first)), second);
  }
};

struct HalfFrozen {
  static constexpr auto forward(Input<Dim<"batch">, 2> x) {
    const auto frozen =
        nn::parameter(x.graph(), "frozen", {8, 2}, nn::initialise::fan_in_uniform(2), nn::Trainable::no);
    return nn::linear(tanh(nn::linear(x, frozen)), 1, "trained");
  }
};

template <std::int64_t Columns>
Tensor<double, Cpu, Shape<dyn, Columns>> doubles(std::int64_t rows, std::uint64_t salt = 0) {
  return random_rows<double, Columns>(Cpu{0}, rows, salt);
}

} // namespace

TEST_CASE("a planned step equals forward, loss, backward and step", "[training][TRAIN-1]") {
  compare_ways<Cpu, double>(optim::AdamW{{.rate = 0.01, .epsilon = 1e-4}});
}

TEST_CASE("a planned step equals the staged run on a late device", "[training][TRAIN-1]") {
  compare_ways<Late, double>(optim::AdamW{{.rate = 0.01, .epsilon = 1e-4}});
}

TEST_CASE("a small net learns exclusive or", "[training]") {
  manual_seed(Cpu{0}, 7);
  nn::Network<Regressor, Cpu, double> model{Cpu{0}};
  const auto x = from_values<Shape<dyn, 2>>(std::vector<double>{0, 0, 0, 1, 1, 0, 1, 1}, Dims(4, 2));
  const auto target = from_values<Shape<dyn, 1>>(std::vector<double>{0, 1, 1, 0}, Dims(4, 1));
  auto step = train_step(model, nn::mse, optim::AdamW{{.rate = 0.05}});
  for (int i = 0; i < 500; ++i) static_cast<void>(step(x, target));
  CHECK(step(x, target).item() < 1e-3);
  const std::vector<double> y = to_vector(model.infer(x));
  CHECK(y[0] < 0.2);
  CHECK(y[1] > 0.8);
  CHECK(y[2] > 0.8);
  CHECK(y[3] < 0.2);
}

TEST_CASE("the rate of a planned step changes at run time", "[training]") {
  nn::Network<Regressor, Cpu, double> model{Cpu{0}};
  auto step = train_step(model, nn::mse, optim::Sgd{{.rate = 0.1}});
  const auto x = doubles<2>(9);
  const auto target = doubles<1>(9, 1);
  static_cast<void>(step(x, target).item());
  const std::vector<double> before = weights_of(model);
  step.rule.options.rate = 0;
  static_cast<void>(step(x, target).item());
  CHECK(weights_of(model) == before);
  step.rule.options.rate = 0.1;
  static_cast<void>(step(x, target).item());
  CHECK(weights_of(model) != before);
}

TEMPLATE_TEST_CASE("the same seed gives the same bits", "[training][DEV-7]", Cpu, Late) {
  const TestType device{0};
  const auto train = [&](std::uint64_t seed) {
    manual_seed(device, seed);
    nn::Network<DropoutClassifier, TestType, double> model{device};
    auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
    for (std::uint64_t i = 0; i < 8; ++i)
      static_cast<void>(step(random_rows<double, 5>(device, 13, i), random_labels(device, 13, 3, i)));
    return weights_of(model);
  };
  const auto first = train(11);
  CHECK(first == train(11));
  CHECK(first != train(12));
}

TEST_CASE("host devices of any kind learn the same bits", "[training][DEV-3]") {
  const auto train = [](auto device) {
    manual_seed(device, 11);
    nn::Network<DropoutClassifier, decltype(device), double> model{device};
    auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
    for (std::uint64_t i = 0; i < 4; ++i)
      static_cast<void>(step(random_rows<double, 5>(device, 13, i), random_labels(device, 13, 3, i)));
    return weights_of(model);
  };
  CHECK(train(Cpu{0}) == train(Cpu{1}));
  CHECK(largest_difference(train(Cpu{0}), train(Late{0})) < 1e-6);
}

TEST_CASE("a tied weight has the sum of the gradients of its uses", "[training][TRAIN-1]") {
  nn::Network<Tied, Cpu, double> tied{Cpu{0}};
  nn::Network<Untied, Cpu, double> untied{Cpu{0}};
  const std::vector<double> shared = weights_of(tied);
  REQUIRE(shared.size() == 16);
  std::vector<double> twice = shared;
  twice.insert(twice.end(), shared.begin(), shared.end());
  set_weights(untied, twice);
  const auto x = doubles<4>(7);
  const auto target = doubles<4>(7, 1);
  nn::mse(tied.forward(x), target).backward();
  nn::mse(untied.forward(x), target).backward();
  const std::vector<double> got = gradients_of(tied);
  const std::vector<double> parts = gradients_of(untied);
  for (std::size_t i = 0; i < 16; ++i) CHECK(got[i] == Approx(parts[i] + parts[16 + i]).epsilon(1e-12));
}

TEST_CASE("frozen weights stay as they are", "[training][TRAIN-2]") {
  nn::Network<HalfFrozen, Cpu, double> model{Cpu{0}};
  const auto frozen = to_vector(model.parameter<"frozen">());
  const auto trained = to_vector(model.parameter<"trained.weight">());
  auto step = train_step(model, nn::mse, optim::Sgd{});
  static_cast<void>(step(doubles<2>(5), doubles<1>(5, 1)).item());
  nn::mse(model.forward(doubles<2>(5)), doubles<1>(5, 1)).backward();
  training::Optimiser optimiser{model, optim::Sgd{}};
  optimiser.step();
  CHECK(to_vector(model.parameter<"frozen">()) == frozen);
  CHECK(to_vector(model.parameter<"trained.weight">()) != trained);
  CHECK_THROWS_AS(model.gradient<"frozen">(), ValueError);
}

TEST_CASE("the gradient of several losses is the sum of theirs", "[training][TRAIN-1]") {
  nn::Network<Regressor, Cpu, double> model{Cpu{0}};
  const auto x = doubles<2>(6);
  const auto target = doubles<1>(6, 1);
  const auto y = model.forward(x);
  nn::mse(y, target).backward();
  const auto of_mse = gradients_of(model);
  model.zero_grad();
  nn::l1(y, target).backward();
  const auto of_l1 = gradients_of(model);
  model.zero_grad();
  (nn::mse(y, target) + nn::l1(y, target)).backward();
  const auto of_sum = gradients_of(model);
  for (std::size_t i = 0; i < of_sum.size(); ++i)
    CHECK(of_sum[i] == Approx(of_mse[i] + of_l1[i]).epsilon(1e-12).margin(1e-14));
  model.zero_grad();
  const auto weighted = 0.5 * nn::mse(y, target) + -nn::l1(y, target) * 2;
  CHECK(weighted.item() == Approx(0.5 * nn::mse(y, target).item() - 2 * nn::l1(y, target).item()));
  weighted.backward();
  const auto of_weighted = gradients_of(model);
  for (std::size_t i = 0; i < of_weighted.size(); ++i)
    CHECK(of_weighted[i] == Approx(0.5 * of_mse[i] - 2 * of_l1[i]).epsilon(1e-12).margin(1e-14));
}

TEST_CASE("a second backward pass adds to the gradients, zero_grad starts again", "[training][TRAIN-1]") {
  nn::Network<Regressor, Cpu, double> model{Cpu{0}};
  const auto loss = nn::mse(model.forward(doubles<2>(6)), doubles<1>(6, 1));
  loss.backward();
  const auto once = gradients_of(model);
  loss.backward();
  const auto twice = gradients_of(model);
  for (std::size_t i = 0; i < once.size(); ++i) CHECK(twice[i] == 2 * once[i]);
  model.zero_grad();
  CHECK(gradients_of(model).empty());
  loss.backward();
  CHECK(gradients_of(model) == once);
}

TEST_CASE("a backward pass through weights that have changed since is refused", "[training]") {
  nn::Network<Regressor, Cpu, double> model{Cpu{0}};
  training::Optimiser optimiser{model, optim::Sgd{}};
  const auto loss = nn::mse(model.forward(doubles<2>(6)), doubles<1>(6, 1));
  loss.backward();
  loss.backward();
  optimiser.step();
  CHECK_THROWS_WITH(loss.backward(), Catch::Contains("call backward before step"));
}

TEST_CASE("a run-time number that the model lacks is refused with those it has", "[nn]") {
  nn::Network<DropoutClassifier> model{};
  CHECK_THROWS_WITH(model.set("dropuot", 0.1),
                    Catch::Contains("dropuot") && Catch::Contains("there are: ") && Catch::Contains("dropout"));
  nn::Network<Classifier> plain{};
  CHECK_THROWS_WITH(plain.set("dropout", 0.1), Catch::Contains("'dropout'"));
}

TEST_CASE("batches that do not fit are refused with both values", "[training]") {
  const Cpu device{0};
  nn::Network<Classifier, Cpu, double> model{device};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{});
  const auto x = random_rows<double, 5>(device, 4);
  const auto labels = random_labels(device, 3, 3);
  CHECK_THROWS_AS(step(x, labels), ShapeError);
  CHECK_THROWS_WITH(step(x, labels), Catch::Contains("4") && Catch::Contains("3"));
  CHECK_THROWS_AS(nn::cross_entropy(model.forward(x), labels), ShapeError);
  CHECK_THROWS_WITH(nn::cross_entropy(model.forward(x), labels), Catch::Contains("4") && Catch::Contains("3"));
  const auto wide = full<double, Shape<dyn, dyn>>(Dims(4, 6), 0.5, device);
  CHECK_THROWS_AS(step(wide, random_labels(device, 4, 3)), ShapeError);
  CHECK_THROWS_WITH(step(wide, random_labels(device, 4, 3)), Catch::Contains("5") && Catch::Contains("6"));
  CHECK_THROWS_WITH(model.forward(wide), Catch::Contains("5") && Catch::Contains("6"));
  CHECK_THROWS_WITH(model.infer(wide), Catch::Contains("5") && Catch::Contains("6"));
}

TEST_CASE("batches on another device are refused with both devices", "[training][DEV-4]") {
  nn::Network<Classifier, Cpu, double> model{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{});
  const auto x = random_rows<double, 5>(Cpu{1}, 4);
  const auto labels = random_labels(Cpu{0}, 4, 3);
  CHECK_THROWS_AS(step(x, labels), DeviceError);
  CHECK_THROWS_WITH(step(x, labels), Catch::Contains("cpu:0") && Catch::Contains("cpu:1"));
  CHECK_THROWS_WITH(model.forward(x), Catch::Contains("cpu:0") && Catch::Contains("cpu:1"));
  CHECK_THROWS_WITH(model.infer(x), Catch::Contains("cpu:0") && Catch::Contains("cpu:1"));
  CHECK_THROWS_WITH(nn::cross_entropy(model.forward(x.to(Cpu{0})), labels.to(Cpu{1})),
                    Catch::Contains("cpu:0") && Catch::Contains("cpu:1"));
  CHECK(step.steps() == 0);
}

TEST_CASE("a loss that a later step has overwritten is refused", "[training]") {
  nn::Network<Classifier, Cpu, double> model{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{});
  const auto x = random_rows<double, 5>(Cpu{0}, 4);
  const auto labels = random_labels(Cpu{0}, 4, 3);
  const auto old = step(x, labels);
  static_cast<void>(step(x, labels));
  CHECK_THROWS_WITH(old.item(), Catch::Contains("step 1") && Catch::Contains("step 2"));
}

TEMPLATE_TEST_CASE("a network and its training move to another device", "[training][DEV-2]", Cpu, Late) {
  using Model = nn::Network<Classifier, TestType, double>;
  Model model{TestType{0}};
  Model staged{TestType{0}};
  Model staying{TestType{0}};
  set_weights(model, weights_of(staying));
  set_weights(staged, weights_of(staying));
  const optim::AdamW rule{{.epsilon = 1e-4}};
  auto step = train_step(model, nn::cross_entropy, rule);
  auto staying_step = train_step(staying, nn::cross_entropy, rule);
  training::Optimiser optimiser{staged, rule};
  for (std::uint64_t i = 0; i < 4; ++i) {
    const TestType device{i < 2 ? 0 : 1};
    model.to(device);
    staged.to(device);
    const auto x = random_rows<double, 5>(device, 4, i);
    const auto label = random_labels(device, 4, 3, i);
    static_cast<void>(step(x, label));
    staged.zero_grad();
    nn::cross_entropy(staged.forward(x), label).backward();
    optimiser.step();
    static_cast<void>(staying_step(x.to(TestType{0}), label.to(TestType{0})));
  }
  CHECK(model.device() == TestType{1});
  CHECK(weights_of(model) == weights_of(staying));
  CHECK(largest_difference(weights_of(staged), weights_of(staying)) < 1e-12);
}

TEST_CASE("a step refuses an empty batch, inference has an empty result", "[training]") {
  nn::Network<Classifier> model{Cpu{0}};
  const auto before = weights_of(model);
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{});
  const auto x = random_rows<float, 5>(Cpu{0}, 0);
  CHECK_THROWS_WITH(step(x, random_labels(Cpu{0}, 0, 3)), "train_step(Classifier): the batch is empty, with arguments "
                                                          "of shapes (0, 5), (0,); a step takes at least one row");
  CHECK(weights_of(model) == before);
  CHECK(step.steps() == 0);
  CHECK(model.infer(x).shape() == Dims(0, 3));
}
