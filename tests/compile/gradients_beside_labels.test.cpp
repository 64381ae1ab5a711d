// SPDX-License-Identifier: Apache-2.0
//
// Gradients of plain functions that take integers beside floats, as a loss takes labels.

#include <twill/compile/function.hpp>
#include <twill/nn/losses.hpp>
#include <twill/tensor/create.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

using namespace twill;

TEST_CASE("labels are passed on, and what is floating has a gradient", "[compile][gradient]") {
  const std::vector<double> numbers{0.5, -1.0, 2.0, 1.5, 0.25, -0.5};
  const std::vector<std::int64_t> places{2, 0};
  const auto logits = from_values<Shape<2, 3>>(numbers, Dims(2, 3));
  const auto labels = from_values<Shape<2>>(places, Dims(2));
  const auto loss = [](auto x, auto y) { return nn::cross_entropy(x, y); };
  const auto [value, by_logits] = value_and_grad(loss)(logits, labels);
  const auto alone = grad(loss)(logits, labels); // one gradient, so no tuple
  double expected_loss = 0;
  for (int row = 0; row < 2; ++row) {
    double total = 0;
    for (int k = 0; k < 3; ++k) total += std::exp(numbers[static_cast<std::size_t>(3 * row + k)]);
    const auto label = places[static_cast<std::size_t>(row)];
    expected_loss -= std::log(std::exp(numbers[static_cast<std::size_t>(3 * row + label)]) / total) / 2;
    for (int k = 0; k < 3; ++k) {
      const double share = std::exp(numbers[static_cast<std::size_t>(3 * row + k)]) / total;
      const double expected = (share - (k == label ? 1 : 0)) / 2;
      CHECK(by_logits(row, k).item() == Approx(expected));
      CHECK(alone(row, k).item() == Approx(expected));
    }
  }
  CHECK(value.item() == Approx(expected_loss));
}
