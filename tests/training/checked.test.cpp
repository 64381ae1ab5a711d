// SPDX-License-Identifier: Apache-2.0
//
// A checked step computes what a step computes, and names the first NaN or infinity by layer, operation and shapes.

#include "tests/training/models.hpp"

#include <twill/optim/sgd.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <limits>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

/// The second block divides by its input.
struct Dividing {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    auto y = nn::linear(x, 7, "first");
    {
      const nn::Scope block{x.graph(), "block", 2};
      y = nn::linear(y, 6, "inner");
      y = 1.0 / matmul(y, nn::parameter(x.graph(), "zeros", {6, 6}, nn::initialise::zeros()));
    }
    return nn::linear(y, 3, "output");
  }
};

/// The square root has an infinite gradient at zero.
struct Rooted {
  static constexpr auto forward(Input<Dim<"batch">, 2> x) {
    const nn::Scope scope{x.graph(), "root"};
    return sqrt(matmul(x, nn::parameter(x.graph(), "weight", {2, 1}, nn::initialise::zeros())));
  }
};

template <class Step, class... X> std::string complaint(Step& step, const X&... x) {
  try {
    static_cast<void>(step.checked(x...));
  } catch (const ValueError& error) {
    return error.what();
  }
  return "";
}

} // namespace

TEST_CASE("a checked step is a step", "[training][TRAIN-2]") {
  const auto x = random_rows<float, 5>(Cpu{0}, 9);
  const auto labels = random_labels(Cpu{0}, 9, 3);
  nn::Network<Classifier> one{Cpu{0}};
  nn::Network<Classifier> two{Cpu{0}};
  set_weights(two, weights_of(one));
  auto step = train_step(one, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
  auto checked = train_step(two, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
  for (int i = 0; i < 3; ++i) CHECK(step(x, labels).item() == checked.checked(x, labels).item());
  CHECK(weights_of(one) == weights_of(two));
}

TEST_CASE("a tap shows what layers compute and changes no bit", "[training][TRAIN-2]") {
  const auto x = random_rows<float, 5>(Cpu{0}, 9);
  const auto labels = random_labels(Cpu{0}, 9, 3);
  nn::Network<Classifier> one{Cpu{0}};
  nn::Network<Classifier> two{Cpu{0}};
  set_weights(two, weights_of(one));
  auto step = train_step(one, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
  auto tapped = train_step(two, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
  const auto weight = to_vector(two.parameter<"first.weight">());
  std::vector<compile::Observation> seen{};
  const float loss = tapped.tapped(
      "fir*", [&](const compile::Observation& each) { seen.push_back(each); }, x, labels);
  CHECK(loss == step(x, labels).item());
  CHECK(weights_of(one) == weights_of(two));
  REQUIRE(seen.size() >= 2);
  CHECK(seen[0].operation == "matmul");
  CHECK(seen[0].shape == Dims(9, 7));
  CHECK(!seen[0].is_gradient);
  double expected = 0; // row 8, column 6
  const auto rows = to_vector(x);
  for (std::size_t k = 0; k < 5; ++k) expected += double(rows[8 * 5 + k]) * double(weight[6 * 5 + k]);
  CHECK(seen[0].values[9 * 7 - 1] == Approx(expected).margin(1e-6));
  bool has_gradient = false;
  for (const auto& each : seen) {
    CHECK(each.layer == "first");
    has_gradient = has_gradient || (each.is_gradient && each.operation == "matmul" && each.shape == Dims(7, 5));
  }
  CHECK(has_gradient);
}

TEST_CASE("a checked step names the first value that is not finite", "[training][TRAIN-2]") {
  nn::Network<Dividing> model{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{});
  const std::string text = complaint(step, random_rows<float, 5>(Cpu{0}, 9), random_labels(Cpu{0}, 9, 3));
  INFO(text);
  CHECK(text.find("checked: step 1: ") == 0);
  CHECK(text.find(" in block2 gives 0 NaN and 54 infinities among 54 elements of shape (9, 6)") != std::string::npos);
  CHECK(text.find("from float32 (9, 6)") != std::string::npos);
}

TEST_CASE("a checked step names the gradient that is not finite", "[training][TRAIN-2]") {
  nn::Network<Rooted> model{Cpu{0}};
  auto step = train_step(model, nn::l1, optim::Sgd{});
  const std::string text = complaint(step, random_rows<float, 2>(Cpu{0}, 4), random_rows<float, 1>(Cpu{0}, 4, 1));
  INFO(text);
  CHECK(text.find(" in the gradient of root gives ") != std::string::npos);
}

TEST_CASE("a checked step names an input or a target that is not finite by what it spoils first",
          "[training][TRAIN-2]") {
  nn::Network<Classifier> model{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{});
  auto x = random_rows<float, 5>(Cpu{0}, 9);
  x.fill(std::numeric_limits<float>::quiet_NaN());
  const auto labels = random_labels(Cpu{0}, 9, 3);
  const std::string text = complaint(step, x, labels);
  INFO(text);
  CHECK(text.find("matmul in first gives 63 NaN and 0 infinities among 63 elements of shape (9, 7)") !=
        std::string::npos);
}
