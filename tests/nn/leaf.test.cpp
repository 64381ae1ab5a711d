// SPDX-License-Identifier: Apache-2.0
#include <twill/nn/leaf.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/create.hpp>

#include <catch2/catch.hpp>

#include <vector>

namespace {

using namespace twill;

TEST_CASE("a leaf collects the gradients of all its uses", "[nn][TRAIN-1]") {
  const nn::Leaf x{from_values<Shape<3>>(std::vector<float>{1, -2, 3})};
  const nn::Leaf copy = x;
  CHECK_FALSE(x.has_gradient());
  CHECK_THROWS_WITH(x.gradient(), "gradient: the leaf has none; call backward first");
  const auto weight = from_values<Shape<3>>(std::vector<float>{5, 7, 11});
  nn::sum(x * weight).backward();
  CHECK(to_vector(x.gradient()) == std::vector<float>{5, 7, 11});
  nn::sum(copy * x).backward(); // twice the same: x + x
  CHECK(to_vector(x.gradient()) == std::vector<float>{7, 3, 17});
  CHECK(to_vector(weight) == std::vector<float>{5, 7, 11});
  CHECK(to_vector(copy.gradient()) == to_vector(x.gradient()));
}

TEST_CASE("a leaf gives up its gradient and takes a new one", "[nn][TRAIN-1]") {
  nn::Leaf x{from_values<Shape<2>>(std::vector<double>{1, 4})};
  nn::mean(x - x.value()).backward();
  CHECK(to_vector(x.gradient()) == std::vector<double>{0.5, 0.5});
  x.zero_grad();
  CHECK_FALSE(x.has_gradient());
  nn::sum(x * x).backward();
  CHECK(to_vector(x.gradient()) == std::vector<double>{2, 8});
}

TEST_CASE("functions and arithmetic of a leaf, tensors and numbers have their gradients", "[nn][TRAIN-1]") {
  nn::Leaf x{tensor({1.0, -2.0, 4.0})};
  const auto target = tensor({3.0, 1.0, 1.0});
  const auto gradient_of = [&](const auto& scalar) {
    x.zero_grad();
    scalar.backward();
    return to_vector(x.gradient());
  };
  CHECK(gradient_of(nn::sum(square(target - x))) == std::vector<double>{-4, -6, 6}); // 2 (x - target)
  CHECK(gradient_of(nn::sum(maximum(x, 0) / 2 + abs(x) - 1)) == std::vector<double>{1.5, -1, 1.5});
  CHECK(gradient_of(nn::sum(1 - 2 * leaky_relu(x, 0.5))) == std::vector<double>{-2, -1, -2});
  CHECK(gradient_of(nn::sum(4 / x)) == std::vector<double>{-4, -1, -0.25}); // -4 / x^2
  CHECK(gradient_of(nn::sum(where(tensor({true, true, false}), x, 0))) == std::vector<double>{1, 1, 0});
  CHECK(to_vector(maximum(target, x).value()) == std::vector<double>{3, 1, 4});
}

TEST_CASE("a loss of plain tensors is a tensor, of the value in a stage", "[nn][TRAIN-1]") {
  const nn::Leaf x{tensor({1.0, -2.0, 4.0})};
  const auto target = tensor({3.0, 1.0, 1.0});
  const Tensor loss = nn::mse(x.value(), target);
  CHECK(loss.item() == (4 + 9 + 9) / 3.0);
  CHECK(loss.item() == nn::mse(x, target).item());
}

} // namespace
